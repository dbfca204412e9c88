//! What goes on for ever, or over a whole row: loops that start process after process, and scans written as loops.
//!
//! Owns: what only shows in many commands together. Refuses: single commands; they say themselves what they do.

use super::machine::Machine;
use crate::effects::{Act, Effect, Effort, Traffic};
use crate::shell::ast::{Command, Kind, Link, Part, Script};
use crate::shell::value::Value;

/// Hosts and ports asked one after the other before that is a scan.
const ROW: usize = 16;

/// Whether a loop without an end starts processes and never waits for one.
pub(super) fn is_flood(until: bool, condition: &Script, body: &Script) -> bool {
    let always = if until { "false" } else { "true" };
    let [only] = condition.commands.as_slice() else { return false };
    let is_always = first(only).is_some_and(|word| word == always.as_bytes() || word == b":" && !until);
    let mut words = Vec::new();
    let mut behind = false;
    for command in &body.commands {
        gather(command, &mut words, &mut behind);
    }
    let pauses: [&[u8]; 7] = [b"wait", b"sleep", b"break", b"exit", b"read", b"return", b"inotifywait"];
    is_always && behind && !words.iter().any(|word| pauses.contains(&word.as_slice()))
}

fn first(command: &Command) -> Option<&[u8]> {
    let Kind::Simple { words, .. } = &command.kind else { return None };
    match words.first().map(|word| word.parts.as_slice()) {
        Some([Part::Literal { text, .. }]) => Some(text),
        _ => None,
    }
}

/// The programs a body starts by itself, and whether one of them is left behind.
fn gather(command: &Command, words: &mut Vec<Vec<u8>>, behind: &mut bool) {
    match &command.kind {
        Kind::List(parts) => {
            for (command, link) in parts {
                *behind |= *link == Link::Background;
                gather(command, words, behind);
            }
        }
        Kind::Pipeline { stages, .. } => {
            for stage in stages {
                gather(stage, words, behind);
            }
        }
        Kind::Group(script) | Kind::Subshell(script) => {
            for command in &script.commands {
                gather(command, words, behind);
            }
        }
        _ => words.extend(first(command).map(<[u8]>::to_vec)),
    }
}

impl Machine<'_> {
    /// Says that many hosts or ports asked one after the other are a scan.
    pub(super) fn rows(&mut self) {
        let mut asked: Vec<&Value> = Vec::new();
        let mut last = None;
        for effect in &self.effects {
            let Act::Network { traffic: Traffic::Fetch | Traffic::Send, to, .. } = &effect.act else {
                continue;
            };
            let prefix = to.prefix();
            let is_page = prefix.windows(3).any(|window| window == b"://") && !prefix.starts_with(b"tcp://");
            if !is_page && !asked.contains(&to) {
                asked.push(to);
                last = effect.span;
            }
        }
        if asked.len() >= ROW {
            let to = Value::known(format!("{} addresses in a row", asked.len()));
            let act = Act::Network { traffic: Traffic::Scan, to, data: Vec::new() };
            self.effects.push(Effect { act, by: "a loop".to_owned(), span: last, effort: Effort::Done });
        }
    }
}
