//! Scripts, lists, pipelines and subshells: what runs after what, in which shell.
//!
//! Owns: `;`, `&&`, `||`, `&`, `|`, `( )`, `{ }`. Refuses: skipping a side unless it is certain that bash would.

use std::rc::Rc;

use super::channel::Channel;
use super::machine::Machine;
use super::state::{Content, FAILED, Flow, Hint, State};
use super::worlds::{Worlds, settle};
use crate::effects::Stream;
use crate::shell::ast::{Command, Kind, Link, Reason, Script, Span};
use crate::shell::value::{Value, Why};

impl Machine<'_> {
    /// Runs a script, command by command.
    pub(super) fn script(&mut self, script: &Script, state: State) -> Worlds {
        let mut worlds = vec![state];
        for command in &script.commands {
            worlds = self.each(worlds, |machine, state| machine.command(command, state));
        }
        for unknown in &script.unknown {
            let construct = match unknown.reason {
                Reason::Syntax => "text bash would refuse",
                Reason::Limit => "a script too long or too deep to read",
                Reason::Nul => "a NUL byte",
                Reason::Version => "text that other versions of bash read otherwise",
                Reason::Expansion => "text bash first reads when it runs it",
            };
            self.unknown(construct, unknown.span);
        }
        worlds
    }

    /// Runs one command.
    pub(super) fn command(&mut self, command: &Command, mut state: State) -> Worlds {
        if !self.step(command.span) {
            return vec![state];
        }
        if !matches!(command.kind, Kind::List(_) | Kind::Pipeline { .. }) && state.hint != Hint::default() {
            state.hint = Hint::default();
        }
        let mut worlds = Vec::new();
        for state in self.watched(command, state) {
            let mut state = Some(state);
            let after = self.deeper(command.span, |machine| machine.dispatch(command, state.take()));
            worlds.extend(after.unwrap_or_else(|| state.into_iter().collect()));
        }
        let worlds = self.interrupted(worlds, command.span);
        self.may_stop(command, &worlds);
        worlds
    }

    fn dispatch(&mut self, command: &Command, state: Option<State>) -> Worlds {
        let Some(state) = state else { return Vec::new() };
        let span = command.span;
        match &command.kind {
            Kind::Simple { assignments, words } => {
                self.simple(assignments, words, &command.redirects, span, state)
            }
            Kind::Function { name, body } => self.define(name, body, &command.redirects, state),
            Kind::Pipeline { negated, stages } => self.pipeline(*negated, stages, span, state),
            Kind::List(parts) => self.list(parts, state),
            Kind::Group(script) => {
                self.redirected(command, &state, |machine, state| machine.script(script, state))
            }
            Kind::Subshell(script) => self.redirected(command, &state, |machine, state| {
                let inner = machine.subshell(state.clone(), |machine, state| machine.script(script, state));
                vec![state.after(inner)]
            }),
            Kind::If { arms, otherwise } => self.redirected(command, &state, |machine, state| {
                machine.branches(arms, otherwise.as_ref(), state)
            }),
            Kind::While { until, condition, body } => self.redirected(command, &state, |machine, state| {
                in_loop(state, |state| machine.repeat(*until, condition, body, span, state))
            }),
            Kind::For { select, name, words, body } => self.redirected(command, &state, |machine, state| {
                in_loop(state, |state| machine.for_each(*select, name, words.as_deref(), body, span, state))
            }),
            Kind::ForArithmetic { parts, body } => self.redirected(command, &state, |machine, state| {
                in_loop(state, |state| machine.for_count(parts, body, span, state))
            }),
            Kind::Case { subject, arms } => {
                self.redirected(command, &state, |machine, state| machine.case(subject, arms, state))
            }
            Kind::Condition(test) => self.redirected(command, &state, |machine, mut state| {
                let (truth, hint) = machine.condition(test, &mut state);
                machine.onward(state, |_, mut state| {
                    state.status = truth.map(|truth| i32::from(!truth));
                    state.hint = hint;
                    vec![state]
                })
            }),
            Kind::Arithmetic(word) => self.redirected(command, &state, |machine, mut state| {
                let text = machine.single(word, &mut state);
                let value = machine.number(&text, span, &mut state);
                machine.onward(state, |_, mut state| {
                    state.status = value.map(|value| i32::from(value == 0));
                    vec![state]
                })
            }),
            Kind::Coprocess { name, body } => self.redirected(command, &state, |machine, mut state| {
                machine.has_left = true;
                let name = name.as_ref().map(|word| machine.single(word, &mut state));
                let mut within = state.clone();
                let why = Why { construct: "what is written to a coprocess".to_owned(), span };
                let given = Stream { text: Some(Value::unknown(why)), data: Vec::new() };
                within.descriptors.insert(0, Channel::Source(given));
                let inner = machine.subshell(within, |machine, state| machine.command(body, state));
                let mut state = state.after(inner);
                let name = name.as_ref().and_then(Value::bytes).unwrap_or(b"COPROC").to_vec();
                let end = Value::unknown(super::variables::number(b"a descriptor"));
                let content = Content::Indexed([(0, end.clone()), (1, end)].into());
                state.set(&name, super::state::Variable { content, ..Default::default() });
                vec![state]
            }),
        }
    }

    /// A compound command with its redirections, once for each way its words can go.
    fn redirected(
        &mut self,
        command: &Command,
        state: &State,
        mut run: impl FnMut(&mut Self, State) -> Worlds,
    ) -> Worlds {
        self.forked(state, command.span, |machine, state| {
            machine.given_up.clear();
            if command.redirects.is_empty() {
                return run(machine, state);
            }
            machine.with_redirects(&command.redirects, state, "bash", &mut run)
        })
    }

    fn list(&mut self, parts: &[(Command, Link)], state: State) -> Worlds {
        let mut worlds = vec![state];
        for chain in parts.split_inclusive(|(_, link)| matches!(link, Link::Then | Link::Background)) {
            let background = matches!(chain.last(), Some((_, Link::Background)));
            worlds = self.each(worlds, |machine, state| {
                if !background {
                    return machine.chain(chain, state);
                }
                let inner = machine.subshell(state.clone(), |machine, state| machine.chain(chain, state));
                machine.has_left = true;
                let mut state = state.after(inner);
                state.has_left = true;
                state.status = Some(0);
                vec![state]
            });
        }
        worlds
    }

    /// `a && b || c`
    fn chain(&mut self, chain: &[(Command, Link)], state: State) -> Worlds {
        let mut worlds = vec![state];
        let mut link = Link::Then;
        let last = chain.len().saturating_sub(1);
        for (place, (command, next)) in chain.iter().enumerate() {
            let mut after = Vec::new();
            for state in worlds {
                if state.flow != Flow::Normal {
                    after.push(state);
                    continue;
                }
                let (run, skip) = match link {
                    Link::Then | Link::Background => (Some(state), None),
                    Link::And => decided(state),
                    Link::Or => {
                        let (yes, no) = decided(state);
                        (no, yes)
                    }
                };
                after.extend(skip);
                if let Some(state) = run {
                    after.extend(match place < last {
                        true => self.as_condition(|machine| machine.command(command, state)),
                        false => self.command(command, state),
                    });
                }
            }
            worlds = settle(after);
            link = *next;
        }
        worlds
    }

    fn pipeline(&mut self, negated: bool, stages: &[Command], span: Span, state: State) -> Worlds {
        let mut worlds = match stages {
            [] => vec![state],
            [one] if negated => self.as_condition(|machine| machine.command(one, state)),
            [one] => self.command(one, state),
            _ if negated => self.as_condition(|machine| machine.piped(stages, span, state)),
            _ => self.piped(stages, span, state),
        };
        if negated {
            for state in &mut worlds {
                state.status = state.status.map(|status| i32::from(status == 0));
                let hint = std::mem::take(&mut state.hint);
                state.hint = Hint { filled: hint.unfilled, unfilled: hint.filled, ..Hint::default() };
            }
        }
        worlds
    }

    fn piped(&mut self, stages: &[Command], span: Span, mut state: State) -> Worlds {
        let mut carried: Option<Stream> = None;
        let before = state.status;
        let mut statuses = Vec::with_capacity(stages.len());
        for (place, stage) in stages.iter().enumerate() {
            let last = place + 1 == stages.len();
            let mut inner = state.clone();
            // All stages are started at once: none sees how another ended.
            inner.status = before;
            if let Some(stream) = carried.take() {
                inner.descriptors.insert(0, Channel::Source(stream));
            }
            if last && state.options.lastpipe && !state.options.monitor {
                let given = state.descriptors.get(&0).cloned();
                let mut worlds = self.command(stage, inner);
                for state in &mut worlds {
                    put_back(state, 0, given.clone());
                    if state.options.pipefail {
                        statuses.push(state.status);
                        state.status = failed_in(&statuses);
                        statuses.pop();
                    }
                }
                return worlds;
            }
            let buffer = inner.buffers.len();
            if !last {
                inner.buffers.push(Stream { text: Some(Value::default()), data: Vec::new() });
                inner.descriptors.insert(1, Channel::Capture(buffer));
            }
            let worlds = self.subshell(inner, |machine, state| machine.command(stage, state));
            if !last {
                carried = output_of(&worlds, buffer);
            }
            state = state.after(worlds);
            statuses.push(state.status);
            if self.is_spent() {
                self.step(span);
                break;
            }
        }
        if state.options.pipefail {
            state.status = failed_in(&statuses);
        }
        vec![state]
    }

    /// Runs something in a shell of its own: what it remembers is lost, what it does is done.
    pub(super) fn subshell(
        &mut self,
        mut inner: State,
        run: impl FnOnce(&mut Self, State) -> Worlds,
    ) -> Worlds {
        inner.traps = Rc::default();
        inner.flow = Flow::Normal;
        inner.loops = 0;
        let endings = std::mem::take(&mut self.endings);
        let stops = std::mem::take(&mut self.stops);
        let mut worlds = Vec::new();
        self.nested += 1;
        let mut after = run(self, inner);
        self.nested -= 1;
        after.extend(std::mem::replace(&mut self.stops, stops));
        let after = settle(after);
        for mut state in after {
            state.flow = Flow::Normal;
            if state.traps.is_empty() && self.endings.is_empty() {
                worlds.push(state);
            } else {
                worlds.extend(self.traps(state));
            }
        }
        self.endings = endings;
        worlds
    }
}

/// What a pipeline ends with under `pipefail`: the last of its commands that failed says it.
fn failed_in(statuses: &[Option<i32>]) -> Option<i32> {
    statuses.iter().rev().find(|status| **status != Some(0)).copied().unwrap_or(Some(0))
}

/// The states in which the last command succeeded, and in which it failed.
pub(super) fn decided(state: State) -> (Option<State>, Option<State>) {
    match state.status {
        Some(0) => (Some(state), None),
        Some(_) => (None, Some(state)),
        None => {
            let mut failed = state.clone();
            let mut succeeded = state;
            let hint = std::mem::take(&mut failed.hint);
            succeeded.hint = Hint::default();
            succeeded.status = Some(0);
            failed.status = Some(FAILED);
            if let Some(cwd) = hint.stayed {
                failed.cwd = Rc::new(cwd);
            }
            if let Some(stack) = hint.stack {
                failed.stack = stack;
            }
            fill(&mut succeeded, &hint.filled);
            fill(&mut failed, &hint.unfilled);
            (Some(succeeded), Some(failed))
        }
    }
}

fn fill(state: &mut State, names: &[Vec<u8>]) {
    for name in names {
        let value = match state.variables.get(name).map(|variable| &variable.content) {
            Some(Content::Scalar(value)) => value.clone(),
            None => Value::unknown(super::variables::variable(name)),
            Some(_) => continue,
        };
        if super::variables::is_opaque(&value) {
            let mut variable = state.variables.get(name).cloned().unwrap_or_default();
            variable.content = Content::Scalar(super::parameter::not_empty(value));
            state.set(name, variable);
        }
    }
}

/// Does something with one more loop around it.
fn in_loop(mut state: State, run: impl FnOnce(State) -> Worlds) -> Worlds {
    state.loops += 1;
    let mut worlds = run(state);
    for state in &mut worlds {
        state.loops = state.loops.saturating_sub(1);
    }
    worlds
}

/// What a buffer holds after something ran, whichever way it went.
pub(super) fn output_of(worlds: &[State], buffer: usize) -> Option<Stream> {
    let mut output: Option<Stream> = None;
    for state in worlds {
        let next = state.buffers.get(buffer).cloned().unwrap_or_default();
        match &mut output {
            None => output = Some(next),
            Some(before) => super::state::join_streams(before, next),
        }
    }
    output
}

pub(super) fn put_back(state: &mut State, number: u32, channel: Option<Channel>) {
    match channel {
        Some(channel) => state.descriptors.insert(number, channel),
        None => state.descriptors.remove(&number),
    };
}
