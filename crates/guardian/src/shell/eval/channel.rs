//! Descriptors: where what is written goes and where what is read comes from.
//!
//! Owns: the kinds of channels, reading from and writing to them. Refuses: opening them; redirections do that.

use super::machine::Machine;
use super::state::State;
use crate::effects::{Act, Change, Datum, Effort, Stream};
use crate::shell::ast::Span;
use crate::shell::value::{Piece, Value, Why};

/// What a descriptor leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Channel {
    /// What the shell itself was given, or nothing of interest.
    Given,
    Closed,
    Null,
    /// Something to read.
    Source(Stream),
    /// Kept in a buffer of the state: a pipe, a substitution.
    Capture(usize),
    File {
        path: Value,
        /// What was in it when it was opened, if it is kept.
        base: Value,
        /// What is written through it gathers here.
        buffer: usize,
        /// Its effect, to be told what was written.
        effect: Option<usize>,
    },
    Network {
        to: Value,
        effect: Option<usize>,
    },
}

impl Machine<'_> {
    /// What a program can read from a descriptor.
    pub(super) fn input(&self, state: &State, descriptor: u32) -> Stream {
        match state.descriptors.get(&descriptor) {
            None | Some(Channel::Given | Channel::Closed | Channel::Null) => Stream::default(),
            Some(Channel::Source(stream)) => presentable(stream.clone()),
            Some(Channel::Capture(buffer)) => {
                presentable(state.buffers.get(*buffer).cloned().unwrap_or_default())
            }
            Some(Channel::File { path, .. }) => presentable(self.held(path, state)),
            // Whoever is at the other end says what comes, and nobody can read it before.
            Some(Channel::Network { to, .. }) => {
                let mut from = Value::known("tcp://");
                from.append(to.clone());
                Stream { text: None, data: vec![Datum::Download(from)] }
            }
        }
    }

    /// Writes to a descriptor.
    pub(super) fn write(&mut self, state: &mut State, descriptor: u32, stream: Stream, by: &str, span: Span) {
        match state.descriptors.get(&descriptor) {
            None | Some(Channel::Given) => self.shown(&stream, by, span),
            Some(Channel::Closed | Channel::Null | Channel::Source(_)) => {}
            Some(Channel::Capture(buffer)) => {
                let buffer = *buffer;
                if let Some(buffer) = state.buffers.get_mut(buffer) {
                    pour(buffer, stream, by, span);
                }
            }
            Some(Channel::File { path, base, buffer, effect }) => {
                let (path, base, buffer, effect) = (path.clone(), base.clone(), *buffer, *effect);
                if let Some(buffer) = state.buffers.get_mut(buffer) {
                    pour(buffer, stream, by, span);
                    let buffer = buffer.clone();
                    self.written(effect, &buffer);
                    self.files.keep(&path, &base, &buffer);
                    self.note(&path, state);
                }
            }
            Some(Channel::Network { effect, .. }) => {
                let effect = *effect;
                let mut data = stream.data;
                if let Some(text) = stream.text.filter(|text| !text.pieces.is_empty()) {
                    data.push(Datum::Text(text));
                }
                if let Some(Act::Network { data: sent, .. }) =
                    effect.and_then(|place| self.effects.get_mut(place)).map(|e| &mut e.act)
                {
                    for datum in data {
                        if !sent.contains(&datum) {
                            sent.push(datum);
                        }
                    }
                }
            }
        }
    }

    /// What a command may have said of its errors, where somebody hears that and not its output: `2>&1 >file |`.
    pub(super) fn complained(&mut self, state: &mut State, span: Span) {
        let (output, errors) = (state.descriptors.get(&1), state.descriptors.get(&2));
        if matches!(errors, Some(Channel::Capture(_))) && output != errors {
            self.write(state, 2, Stream::default(), "a command that fails", span);
        }
    }

    /// What comes to be seen: credentials among it are an effect of their own.
    fn shown(&mut self, stream: &Stream, by: &str, span: Span) {
        if self.elsewhere.is_some() {
            return;
        }
        if stream.data.contains(&Datum::Environment(None)) {
            // What a file has put into the environment is shown with it.
            for path in self.sourced.clone() {
                self.record(Act::Read { path, deep: false }, by, span, Effort::Done);
            }
        }
        for datum in &stream.data {
            if let Datum::Environment(Some(name)) = datum
                && crate::redact::is_telling(name)
            {
                let what = format!("the variable {name}");
                self.record(Act::Reveal { what }, by, span, Effort::Done);
            }
        }
    }

    /// Tells a write's effect what was written.
    fn written(&mut self, effect: Option<usize>, buffer: &Stream) {
        let Some(effect) = effect.and_then(|place| self.effects.get_mut(place)) else { return };
        let Act::Write { content, change, .. } = &mut effect.act else { return };
        if buffer.text.as_ref().is_some_and(|text| text.pieces.is_empty()) {
            return;
        }
        if *change == Change::Empty {
            *change = Change::Replace;
        }
        if buffer.text.as_ref().is_none_or(super::variables::is_opaque) {
            return;
        }
        match content {
            Some(before) if !begins_with(buffer.text.as_ref(), before) => {
                let mut other = effect.clone();
                if let Act::Write { content, .. } = &mut other.act {
                    content.clone_from(&buffer.text);
                }
                self.effects.push(other);
            }
            Some(_) | None => content.clone_from(&buffer.text),
        }
    }
}

fn begins_with(longer: Option<&Value>, shorter: &Value) -> bool {
    match (longer.and_then(Value::bytes), shorter.bytes()) {
        (Some(longer), Some(shorter)) => longer.starts_with(shorter),
        _ => {
            longer.is_some_and(|longer| longer.pieces.starts_with(&shorter.pieces))
                || shorter.pieces.is_empty()
        }
    }
}

/// Puts a stream behind another. What is not known is named by who wrote it.
pub(super) fn pour(buffer: &mut Stream, stream: Stream, by: &str, span: Span) {
    let text =
        stream.text.unwrap_or_else(|| Value::unknown(Why { construct: format!("the output of {by}"), span }));
    buffer.text.get_or_insert_with(Value::default).append(text);
    for datum in stream.data {
        if !buffer.data.contains(&datum) {
            buffer.data.push(datum);
        }
    }
}

/// A stream as programs are shown it: text only where some of it is known.
pub(super) fn presentable(mut stream: Stream) -> Stream {
    if stream.text.as_ref().is_some_and(|text| {
        !text.pieces.is_empty() && text.pieces.iter().all(|piece| matches!(piece, Piece::Unknown(_)))
    }) {
        if stream.data.is_empty()
            && let Some(why) = stream.text.as_ref().and_then(Value::why)
        {
            stream.data.push(Datum::Unknown(why.clone()));
        }
        stream.text = None;
    }
    stream
}
