//! `eval`, `source`, `exec`, `command`, `builtin`, `enable`, `compgen`: builtins that run something else.
//!
//! Owns: finding what that is. Refuses: losing sight of it: what is not known here is said to be unknown.

use super::super::channel::Channel;
use super::super::device::device;
use super::super::machine::Machine;
use super::super::simple::{Job, Lookup};
use super::super::state::{Flow, State};
use super::super::worlds::{Worlds, settle};
use super::{Builtin, options};
use crate::effects::{Act, Code, Datum, Effort, Stream, path};
use crate::shell::value::{Piece, Value, Why};

impl Machine<'_> {
    pub(super) fn run_builtin(&mut self, job: &Job, mut state: State) -> Worlds {
        let inner = shifted(job, 1);
        match inner.argv.first().and_then(Value::bytes).and_then(Builtin::named) {
            Some(_) => self.perform_job(inner, Lookup::NoFunctions, state),
            None => {
                if inner.argv.first().is_some_and(|name| name.bytes().is_none()) {
                    self.unknown("a builtin whose name is not known", job.span);
                }
                state.status = Some(1);
                vec![state]
            }
        }
    }

    pub(super) fn run_command(&mut self, job: &Job, mut state: State) -> Worlds {
        let options = options(job, b"", false);
        if options.has(b'v') || options.has(b'V') {
            state.status = None;
            self.write(&mut state, 1, Stream::default(), "command", job.span);
            return vec![state];
        }
        let inner = shifted(job, options.taken);
        if inner.argv.is_empty() && inner.more.is_none() {
            state.status = Some(0);
            return vec![state];
        }
        self.perform_job(inner, Lookup::NoFunctions, state)
    }

    /// `exec` with a command replaces the shell, unless that fails; then what follows may still run.
    pub(super) fn run_exec(&mut self, job: &Job, mut state: State) -> Worlds {
        let options = options(job, b"a", false);
        let inner = shifted(job, options.taken);
        if inner.argv.is_empty() && inner.more.is_none() {
            state.status = Some(0);
            return vec![state];
        }
        self.perform_job(inner, Lookup::Programs, state)
    }

    pub(super) fn run_eval(&mut self, job: &Job, state: State) -> Worlds {
        let mut text = Value::default();
        let arguments = job.argv.get(1..).unwrap_or_default();
        let arguments = arguments.strip_prefix(&[Value::known("--")]).unwrap_or(arguments);
        for (place, argument) in arguments.iter().enumerate() {
            if place > 0 {
                text.push(Piece::Known(b" ".to_vec()));
            }
            text.append(argument.clone());
        }
        if let (Some(why), true) = (&job.more, text.why().is_none()) {
            text.push(Piece::Unknown(why.clone()));
        }
        self.downloads_run(&job.flows, "eval", job);
        self.text(&text, job.span, "a script", state)
    }

    /// Says that something that came over the network is run.
    fn downloads_run(&mut self, data: &[Datum], with: &str, job: &Job) {
        for datum in self.files.followed(data) {
            if let Datum::Download(from) = datum {
                self.record(
                    Act::Run { code: Code::Download(from), with: with.to_owned() },
                    with,
                    job.span,
                    Effort::Done,
                );
            }
        }
    }

    pub(super) fn run_source(&mut self, job: &Job, mut state: State) -> Worlds {
        let inner = shifted(job, options(job, b"", false).taken);
        let Some(name) = inner.argv.first() else {
            if let Some(why) = &inner.more {
                self.unknown(format!("a script in {}", why.construct), job.span);
            }
            state.status = None;
            return vec![state];
        };
        let path = match &inner.more {
            Some(why) if name.bytes().is_none() => Value::unknown(why.clone()),
            _ => path::resolve(name, &state.cwd),
        };
        let is_device = device(&path, &state).is_some();
        let is_sure = is_device || self.surely_holds(&path, &state);
        let contents = match device(&path, &state) {
            Some(Channel::Source(stream)) => {
                self.downloads_run(&stream.data, "source", job);
                if stream.text.is_none() {
                    self.unknown("a script that is read from another command", job.span);
                }
                stream.text.into_iter().collect()
            }
            Some(_) => Vec::new(),
            None => {
                self.downloads_run(&[Datum::File(path.clone())], "source", job);
                self.run_doubted(&path, job.span);
                let contents = self.files.contents(&path).to_vec();
                if !is_sure {
                    if self.elsewhere.is_none() && !self.sourced.contains(&path) {
                        self.sourced.push(path.clone());
                    }
                    self.record(
                        Act::Run { code: Code::File(path.clone()), with: "source".to_owned() },
                        "source",
                        job.span,
                        Effort::Done,
                    );
                    if contents.is_empty()
                        && let Some(found) = self.found_text(&path)
                    {
                        state.status = None;
                        let before = state.clone();
                        return self
                            .aside(|machine| machine.sourced(&found, &inner, state))
                            .unwrap_or_else(|| vec![before]);
                    }
                }
                contents
            }
        };
        let mut worlds = Vec::new();
        for content in &contents {
            worlds.extend(self.sourced(content, &inner, state.clone()));
        }
        if worlds.is_empty() || !is_sure {
            state.status = None;
            worlds.push(state);
        }
        settle(worlds)
    }

    fn sourced(&mut self, content: &Value, inner: &Job, mut state: State) -> Worlds {
        let arguments: Vec<Value> = inner.argv.iter().skip(1).cloned().collect();
        let given = !arguments.is_empty() || inner.more.is_some();
        let before = given.then(|| {
            let before = std::mem::replace(&mut state.positional, arguments.clone());
            (before, std::mem::replace(&mut state.more, inner.more.clone()))
        });
        let outer = self.reset;
        self.reset &= !given;
        self.sourcing += 1;
        let mut worlds = self.text(content, inner.span, "a script", state);
        self.sourcing -= 1;
        let is_reset = given && self.reset;
        self.reset |= outer;
        for state in &mut worlds {
            if let Some((positional, more)) = &before {
                if !is_reset {
                    state.positional.clone_from(positional);
                    state.more.clone_from(more);
                } else if state.positional == arguments {
                    // Whether these were set or given is not known any more.
                    state.positional.clear();
                    state.more =
                        Some(Why { construct: "positional parameters".to_owned(), span: inner.span });
                }
            }
            if state.flow == Flow::Return {
                state.flow = Flow::Normal;
            }
        }
        worlds
    }

    /// `enable -f` loads code into the shell.
    pub(super) fn run_enable(&mut self, job: &Job, mut state: State) -> Worlds {
        let options = options(job, b"f", false);
        if let Some(file) = options.value(b'f') {
            let path = path::resolve(file, &state.cwd);
            self.record(
                Act::Run { code: Code::File(path), with: "enable".to_owned() },
                "enable",
                job.span,
                Effort::Done,
            );
        }
        if options.has(b'n') {
            let names = options.rest.iter().filter_map(Value::bytes).map(<[u8]>::to_vec);
            std::rc::Rc::make_mut(&mut state.disabled).extend(names);
        }
        state.status = None;
        vec![state]
    }

    /// `compgen -C` runs a command, `-W` expands words, and functions are called.
    pub(super) fn run_compgen(&mut self, job: &Job, mut state: State) -> Worlds {
        let options = options(job, b"ACFGPSWoX", false);
        let generates = job.argv.first().and_then(Value::bytes) == Some(b"compgen");
        state.status = None;
        let mut worlds = vec![state];
        for (letter, wrap) in [(b'C', b"".as_slice()), (b'F', b""), (b'W', b": ")] {
            let Some(value) = options.value(letter).cloned() else { continue };
            if letter == b'W'
                && !generates
                && value.bytes().is_some_and(|bytes| !bytes.iter().any(|byte| matches!(byte, b'$' | b'`')))
            {
                continue;
            }
            let mut text = Value::known(wrap);
            text.append(value);
            worlds = self.each(worlds, |machine, state| {
                let inner = machine.subshell(state.clone(), |machine, state| {
                    machine.text(&text, job.span, "a completion", state)
                });
                vec![state.after(inner)]
            });
        }
        for state in &mut worlds {
            self.write(state, 1, Stream::default(), "compgen", job.span);
        }
        worlds
    }
}

/// The same command without its first words.
pub(super) fn shifted(job: &Job, count: usize) -> Job {
    let mut inner = job.clone();
    inner.argv = job.argv.iter().skip(count).cloned().collect();
    inner.arrays = job
        .arrays
        .iter()
        .filter_map(|(place, values)| Some((place.checked_sub(count)?, values.clone())))
        .collect();
    if inner.argv.is_empty() && inner.more.is_none() && count > job.argv.len() {
        inner.more = Some(Why { construct: "a missing argument".to_owned(), span: job.span });
    }
    inner
}
