//! Functions: their definition, and a call as their body with arguments.
//!
//! Owns: scopes, recursion and its end. Refuses: endless recursion; at some depth arguments become unknown, and one more call shows
//! what is done with that. A function that only starts itself again and again is told from one that works its way down.

use std::rc::Rc;

use super::machine::Machine;
use super::simple::Job;
use super::state::{Flow, Function, Hidden, State};
use super::worlds::{Worlds, settle};
use crate::effects::{Act, Effort, Power};
use crate::shell::ast::{Command, Kind, Link, Part, Redirect, Script};
use crate::shell::value::Why;

/// Calls of one function within itself that are followed with their own arguments.
const RECURSION: usize = 3;
/// The same where all it is given are numbers.
const COUNTED: usize = 24;

impl Machine<'_> {
    pub(super) fn define(
        &mut self,
        name: &[u8],
        body: &Command,
        redirects: &[Redirect],
        mut state: State,
    ) -> Worlds {
        if state.kept.contains(name) {
            state.status = Some(1);
            return vec![state];
        }
        let function =
            Function { body: body.clone(), redirects: redirects.to_vec(), source: Rc::clone(&self.source) };
        Rc::make_mut(&mut state.functions).insert(name.to_vec(), vec![Rc::new(function)]);
        state.status = Some(0);
        vec![state]
    }

    pub(super) fn call(
        &mut self,
        name: &[u8],
        functions: &[Rc<Function>],
        job: &Job,
        state: State,
    ) -> Worlds {
        let within = self.calls.iter().filter(|call| *call == name).count();
        if within > 0 && functions.iter().any(|function| multiplies(name, &function.body)) {
            self.record(Act::Power(Power::Exhaust), &String::from_utf8_lossy(name), job.span, Effort::Done);
            return vec![state];
        }
        // Numbers that are counted down come to an end by themselves.
        let counts = !job.argv.is_empty()
            && job.more.is_none()
            && job.argv.iter().skip(1).all(|arg| arg.text().is_some_and(|text| text.parse::<i64>().is_ok()));
        let limit = if counts && job.argv.len() > 1 { COUNTED } else { RECURSION };
        if within > limit {
            let mut state = state;
            state.status = None;
            return vec![state];
        }
        let mut worlds = Vec::new();
        self.calls.push(name.to_vec());
        for function in functions {
            let state = state.clone();
            let after = self.deeper(job.span, |machine| {
                machine.with_environment(job, state, |machine, state| {
                    machine.call_one(function, job, (within, limit), state)
                })
            });
            worlds.extend(after.unwrap_or_default());
        }
        self.calls.pop();
        if worlds.is_empty() { vec![state] } else { settle(worlds) }
    }

    fn call_one(
        &mut self,
        function: &Function,
        job: &Job,
        (within, limit): (usize, usize),
        mut state: State,
    ) -> Worlds {
        let positional = std::mem::replace(&mut state.positional, job.argv.iter().skip(1).cloned().collect());
        let more = std::mem::replace(&mut state.more, job.more.clone());
        if within == limit {
            // However deep it goes, this stands for all that follows.
            state.more = Some(Why {
                construct: "the arguments of a function that calls itself".to_owned(),
                span: job.span,
            });
        }
        let loops = std::mem::take(&mut state.loops);
        let depth = state.locals.len();
        state.locals.push(Hidden::default());
        let source = std::mem::replace(&mut self.source, Rc::clone(&function.source));
        let mut worlds = if function.redirects.is_empty() {
            self.command(&function.body, state)
        } else {
            self.with_redirects(&function.redirects, state, "bash", |machine, state| {
                machine.command(&function.body, state)
            })
        };
        self.source = source;
        for state in &mut worlds {
            state.loops = loops;
            state.positional.clone_from(&positional);
            state.more.clone_from(&more);
            while state.locals.len() > depth {
                let hidden = state.locals.pop().unwrap_or_default();
                if let Some(options) = hidden.options {
                    state.options = options;
                }
                for (name, variable) in hidden.variables.into_iter().rev() {
                    match variable {
                        Some(variable) => state.set(&name, variable),
                        None => {
                            Rc::make_mut(&mut state.variables).remove(&name);
                        }
                    }
                }
            }
            if state.flow == Flow::Return {
                state.flow = Flow::Normal;
            }
            if within >= limit {
                state.status = None;
            }
        }
        worlds
    }
}

/// Whether a function's body starts the function itself more than once, or without waiting, whatever happens: a fork bomb.
fn multiplies(name: &[u8], body: &Command) -> bool {
    starts(name, body, false) > 1
}

/// How many of the function's own calls run side by side.
fn starts(name: &[u8], command: &Command, background: bool) -> u32 {
    let weight = if background { 2 } else { 1 };
    match &command.kind {
        Kind::Simple { words, .. } => match words.first().map(|word| word.parts.as_slice()) {
            Some([Part::Literal { text, .. }]) if text == name => weight,
            _ => 0,
        },
        Kind::Pipeline { stages, .. } => stages.iter().map(|stage| starts(name, stage, background)).sum(),
        Kind::List(parts) => {
            let unconditional = parts.iter().scan(Link::Then, |before, (command, link)| {
                let runs = matches!(before, Link::Then | Link::Background)
                    .then_some((command, *link == Link::Background));
                *before = *link;
                Some(runs)
            });
            unconditional.flatten().map(|(command, behind)| starts(name, command, background || behind)).sum()
        }
        Kind::Group(script) | Kind::Subshell(script) => of_script(name, script, background),
        Kind::Coprocess { body, .. } => starts(name, body, true),
        Kind::If { .. }
        | Kind::While { .. }
        | Kind::For { .. }
        | Kind::ForArithmetic { .. }
        | Kind::Case { .. }
        | Kind::Condition(_)
        | Kind::Arithmetic(_)
        | Kind::Function { .. } => 0,
    }
}

fn of_script(name: &[u8], script: &Script, background: bool) -> u32 {
    script.commands.iter().map(|command| starts(name, command, background)).sum()
}
