//! `set`, `shift`, `shopt`, `alias`, `hash`, `trap`: what the shell is told about itself.
//!
//! Owns: positional parameters, options, aliases, traps. Refuses: options that change nothing of what is read.

use std::rc::Rc;

use super::super::machine::Machine;
use super::super::simple::Job;
use super::super::state::{Options as Shell, State};
use super::options;
use crate::shell::ast::Span;
use crate::shell::value::{Value, Why};

/// Signals bash surely knows; of others it may say that there are none.
const SIGNALS: [&[u8]; 18] = [
    b"EXIT", b"0", b"ERR", b"DEBUG", b"RETURN", b"HUP", b"INT", b"QUIT", b"TERM", b"USR1", b"USR2", b"PIPE",
    b"ALRM", b"CHLD", b"CONT", b"TSTP", b"WINCH", b"ABRT",
];

/// Options `shopt` surely knows.
const SWITCHES: [&[u8]; 15] = [
    b"dotglob",
    b"expand_aliases",
    b"extdebug",
    b"extglob",
    b"failglob",
    b"globstar",
    b"huponexit",
    b"inherit_errexit",
    b"lastpipe",
    b"nocaseglob",
    b"nocasematch",
    b"nullglob",
    b"patsub_replacement",
    b"sourcepath",
    b"xpg_echo",
];

impl Machine<'_> {
    pub(super) fn run_set(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        if job.argv.len() == 1 && job.more.is_none() {
            let data = vec![crate::effects::Datum::Environment(None)];
            self.write(state, 1, crate::effects::Stream { text: None, data }, "set", job.span);
            return Some(0);
        }
        let mut at = 1;
        let mut replaced = false;
        while let Some(argument) = job.argv.get(at) {
            let Some(bytes) = argument.bytes().map(<[u8]>::to_vec) else { break };
            match bytes.as_slice() {
                b"--" => {
                    at += 1;
                    replaced = true;
                    break;
                }
                b"-" => {
                    at += 1;
                    replaced = job.argv.len() > at;
                    break;
                }
                [sign @ (b'-' | b'+'), flags @ ..] if !flags.is_empty() => {
                    at += 1;
                    if !flags.iter().all(|flag| b"abefhkmnoptuvxBCEHPT".contains(flag)) {
                        return Some(2);
                    }
                    for flag in flags {
                        if *flag == b'o' {
                            if let Some(name) = job.argv.get(at).and_then(Value::bytes) {
                                if name == b"history" && *sign == b'+' {
                                    self.forgets(job.span);
                                }
                                self.keywords(name == b"keyword" && *sign == b'-', job.span);
                                set_named_option(&mut state.options, name, *sign == b'-');
                                at += 1;
                            }
                        } else {
                            self.keywords(*flag == b'k' && *sign == b'-', job.span);
                            set_option(&mut state.options, *flag, *sign == b'-');
                        }
                    }
                }
                _ => break,
            }
        }
        let rest = job.argv.get(at..).unwrap_or_default();
        if replaced || !rest.is_empty() || job.more.is_some() {
            state.positional = rest.to_vec();
            state.more.clone_from(&job.more);
            // What a function sets is its own.
            self.reset |= self.calls.is_empty();
        }
        if job.argv.len() == 1 {
            self.show(job, state);
        }
        Some(0)
    }

    /// `set -k`: whatever looks like an assignment is one, wherever it stands.
    fn keywords(&mut self, are_on: bool, span: Span) {
        if are_on {
            self.unknown("assignments behind the name of a command", span);
        }
    }

    pub(super) fn run_shift(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let count = match job.argv.get(1) {
            None => Some(1),
            Some(count) => count.text().and_then(|text| text.parse::<usize>().ok()),
        };
        match count {
            Some(count)
                if count > 0 && state.more.is_none() && state.positional.iter().any(Value::has_glob) =>
            {
                // What is left of a glob is still what it stands for.
                None
            }
            Some(count) if state.more.is_none() && count <= state.positional.len() => {
                state.positional.drain(..count);
                Some(0)
            }
            Some(_) if state.more.is_none() => Some(1),
            _ => {
                state.positional.clear();
                state.more = Some(Why { construct: "positional parameters".to_owned(), span: job.span });
                None
            }
        }
    }

    pub(super) fn run_shopt(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let options = options(job, b"", false);
        let on = if options.has(b's') {
            true
        } else if options.has(b'u') {
            false
        } else {
            return self.show(job, state);
        };
        // Bash tells of a name it does not know.
        let is_known = |name: &Value| name.bytes().is_some_and(|name| SWITCHES.contains(&name));
        let status = if options.rest.iter().all(is_known) { Some(0) } else { None };
        for name in options.rest {
            match name.bytes() {
                Some(name) => set_named_option(&mut state.options, name, on),
                None => self.unknown("an option of the shell that is not known", job.span),
            }
        }
        status
    }

    pub(super) fn run_alias(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let mut status = Some(0);
        for argument in job.argv.iter().skip(1) {
            match argument.bytes() {
                Some(bytes) => {
                    if let Some(place) = bytes.iter().position(|byte| *byte == b'=') {
                        let (name, value) = bytes.split_at(place);
                        let value = value.get(1..).unwrap_or_default().to_vec();
                        let before = Rc::make_mut(&mut state.aliases).insert(name.to_vec(), value);
                        self.former.extend(before.map(|text| (name.to_vec(), text)));
                    } else {
                        // One that is shown may not be there.
                        status = None;
                    }
                }
                None if state.options.expand_aliases => self.unknown("an alias that is not known", job.span),
                None => {}
            }
        }
        if job.argv.len() == 1 {
            self.show(job, state);
        }
        status
    }

    pub(super) fn run_unalias(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let options = options(job, b"", false);
        if options.has(b'a') {
            self.former.extend(state.aliases.iter().map(|(name, text)| (name.clone(), text.clone())));
            state.aliases = Rc::default();
        }
        for name in options.rest {
            if let Some(name) = name.bytes() {
                let before = Rc::make_mut(&mut state.aliases).remove(name);
                self.former.extend(before.map(|text| (name.to_vec(), text)));
            }
        }
        None
    }

    /// `hash -p path name` makes a name another program.
    pub(super) fn run_hash(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let options = options(job, b"p", false);
        if options.has(b'r') {
            state.hashed = Rc::default();
        }
        match options.value(b'p') {
            Some(path) => {
                for name in options.rest {
                    match name.bytes() {
                        Some(name) => {
                            Rc::make_mut(&mut state.hashed).insert(name.to_vec(), path.clone());
                        }
                        None => self.unknown("a program that is given another's name", job.span),
                    }
                }
            }
            None if options.has(b'd') => {
                for name in options.rest {
                    if let Some(name) = name.bytes() {
                        Rc::make_mut(&mut state.hashed).remove(name);
                    }
                }
            }
            None => {}
        }
        None
    }

    pub(super) fn run_trap(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let options = options(job, b"", false);
        match options.rest {
            [] => {
                if job.argv.len() > 1 {
                    self.show(job, state);
                }
                if let Some(why) = &job.more {
                    self.unknown(format!("a trap in {}", why.construct), job.span);
                }
            }
            [signal] => {
                if let Some(signal) = signal.bytes() {
                    Rc::make_mut(&mut state.traps).remove(signal);
                }
                // What is no signal is only complained about.
                return None;
            }
            [action, signals @ ..] => {
                let mut status = Some(0);
                for signal in signals {
                    let name = signal.bytes().unwrap_or(b"?").to_ascii_uppercase();
                    let name = name.strip_prefix(b"SIG").map_or(name.clone(), <[u8]>::to_vec);
                    if !SIGNALS.contains(&name.as_slice()) {
                        status = None;
                    }
                    match action.bytes() {
                        Some(b"-" | b"") => {
                            Rc::make_mut(&mut state.traps).remove(&name);
                        }
                        _ => {
                            // It may run at any time from here on, also before something else takes its place.
                            if name != b"EXIT" && name != b"0" {
                                let mut early = state.clone();
                                early.traps = Rc::default();
                                self.isolated(job.span, |machine| {
                                    machine.text(action, job.span, "a trap", early)
                                });
                            }
                            Rc::make_mut(&mut state.traps).insert(name, action.clone());
                        }
                    }
                }
                return status;
            }
        }
        Some(0)
    }
}

pub(in super::super) fn set_option(shell: &mut Shell, flag: u8, on: bool) {
    match flag {
        b'f' => shell.noglob = on,
        b'a' => shell.allexport = on,
        b'x' => shell.xtrace = on,
        b'B' => shell.plain_braces = !on,
        b'C' => shell.noclobber = on,
        b'm' => shell.monitor = on,
        b'P' => shell.physical = on,
        b'e' => {
            shell.errexit = on;
            shell.hasty |= on;
        }
        b'u' => {
            shell.nounset = on;
            shell.hasty |= on;
        }
        _ => {}
    }
}

pub(in super::super) fn set_named_option(shell: &mut Shell, name: &[u8], on: bool) {
    match name {
        b"noglob" => shell.noglob = on,
        b"nullglob" => shell.nullglob = on,
        b"failglob" => {
            shell.failglob = on;
            shell.nullglob = on;
        }
        b"allexport" => shell.allexport = on,
        b"xtrace" => shell.xtrace = on,
        b"expand_aliases" => shell.expand_aliases = on,
        b"posix" => {
            shell.posix = on;
            shell.expand_aliases |= on;
        }
        b"noclobber" => shell.noclobber = on,
        b"braceexpand" => shell.plain_braces = !on,
        b"monitor" => shell.monitor = on,
        b"xpg_echo" => shell.xpg_echo = on,
        b"physical" => shell.physical = on,
        b"lastpipe" => shell.lastpipe = on,
        b"pipefail" => shell.pipefail = on,
        b"errexit" => {
            shell.errexit = on;
            shell.hasty |= on;
        }
        b"inherit_errexit" => shell.inherit_errexit = on,
        b"nounset" => {
            shell.nounset = on;
            shell.hasty |= on;
        }
        b"nocasematch" => shell.nocasematch = on,
        b"nocaseglob" => shell.nocaseglob = on,
        b"extglob" => shell.extglob = on,
        _ => {}
    }
}
