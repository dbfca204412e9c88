//! Words, part by part: what each comes to, and whether it may still be split and globbed.
//!
//! Owns: the order in which the parts of a word are expanded. Refuses: splitting; that needs the whole word (`fields`).

use std::rc::Rc;

use super::channel::Channel;
use super::machine::{Feed, Machine};
use super::state::State;
use crate::effects::Stream;
use crate::shell::ast::{Kind, Part, Script, Span, Target, Word};
use crate::shell::value::{Piece, Value, Why};

/// A stretch of an expanded word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Text(Vec<u8>, Origin),
    Unknown(Why, Origin),
    /// A glob, and whether it stands here as it is; one that a variable holds stands for a file already, one that came out of
    /// text for any number of them.
    Glob(Vec<u8>, Origin),
    Ext(u8, Vec<Vec<Self>>),
    /// The end of one field and the beginning of another; and what stands between them where nothing is split.
    Break(Vec<u8>),
    /// Any number of fields.
    Any(Why),
}

/// Where a stretch comes from, and so what may still happen to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Quotes protect it from everything.
    Quoted,
    /// It stands in the word as it is: not split.
    Written,
    /// It came out of an expansion without quotes: split and globbed.
    Expanded,
}

impl Machine<'_> {
    /// Expands a word, part by part.
    pub(super) fn items(&mut self, word: &Word, state: &mut State) -> Vec<Item> {
        let mut out = Vec::new();
        if self.step(word.span) {
            self.deeper(word.span, |machine| machine.parts(word, state, &mut out));
        }
        out
    }

    fn parts(&mut self, word: &Word, state: &mut State, out: &mut Vec<Item>) {
        for part in &word.parts {
            match part {
                Part::Literal { text, quoted } => {
                    self.literal(text, if *quoted { Origin::Quoted } else { Origin::Written }, out);
                }
                Part::Parameter { name, index, operation, quoted, span } => {
                    self.parameter(
                        &super::parameter::Use {
                            name,
                            index: index.as_deref(),
                            operation,
                            quoted: *quoted,
                            is_apart: word.parts.len() == 1,
                            span: *span,
                        },
                        state,
                        out,
                    );
                }
                Part::Command { script, quoted, span } => {
                    let value = self.substitute(script, *span, state);
                    // How many names a glob came to is lost in text: what stands beside it is beside the first or the last.
                    match word.parts.len() == 1 && !quoted {
                        true => push_names(out, value, *quoted),
                        false => push_value(out, unnamed(value), *quoted),
                    }
                }
                Part::Arithmetic { expression, quoted, span } => {
                    let text = self.single(expression, state);
                    let value = self.number_value(&text, *span, state);
                    push_value(out, value, *quoted);
                }
                Part::Process { output, script, span } => self.process(*output, script, *span, state, out),
                Part::Tilde(user) => {
                    let home = self.tilde(user, state);
                    push_value(out, home, true);
                }
                Part::Glob(pattern) => out.push(Item::Glob(pattern.clone(), Origin::Written)),
                Part::ExtGlob { operator, alternatives } => {
                    let inner = alternatives.iter().map(|word| self.items(word, state)).collect();
                    out.push(Item::Ext(*operator, inner));
                }
                Part::Braces(words) => {
                    // Where braces are not expanded they are only letters.
                    self.literal(b"{", Origin::Written, out);
                    for (place, word) in words.iter().enumerate() {
                        if place > 0 {
                            self.literal(b",", Origin::Written, out);
                        }
                        out.extend(self.items(word, state));
                    }
                    self.literal(b"}", Origin::Written, out);
                }
                Part::Sequence(written) => {
                    self.literal(&[b"{".as_slice(), written, b"}"].concat(), Origin::Written, out);
                }
                Part::Array(elements) => {
                    for (_, word) in elements {
                        out.extend(self.items(word, state));
                        out.push(Item::Break(b" ".to_vec()));
                    }
                }
                Part::Unknown(unknown) => {
                    self.unknown("text that cannot be read before it runs", unknown.span);
                    out.push(Item::Any(Why {
                        construct: "text that cannot be read before it runs".to_owned(),
                        span: unknown.span,
                    }));
                }
            }
        }
    }

    /// Text, in which places of unknown text may be marked.
    fn literal(&self, text: &[u8], origin: Origin, out: &mut Vec<Item>) {
        for piece in self.unmarked(text) {
            match piece {
                Piece::Known(bytes) => out.push(Item::Text(bytes, origin)),
                Piece::Unknown(why) => {
                    out.push(Item::Unknown(
                        why,
                        if origin == Origin::Quoted { Origin::Quoted } else { Origin::Expanded },
                    ));
                }
                Piece::Glob(pattern) => out.push(Item::Glob(pattern, Origin::Quoted)),
            }
        }
        if text.is_empty() {
            out.push(Item::Text(Vec::new(), origin));
        }
    }

    fn tilde(&mut self, written: &[u8], state: &State) -> Value {
        match written {
            b"" => self.scalar(state, b"HOME").unwrap_or_else(|| Value::known(self.context.home.clone())),
            b"+" => self.scalar(state, b"PWD").unwrap_or_else(|| Value::clone(&state.cwd)),
            b"-" => self.scalar(state, b"OLDPWD").unwrap_or_else(|| Value::known("~-")),
            [b'+' | b'-', user @ ..] | user if user.iter().all(u8::is_ascii_digit) => Value::unknown(Why {
                construct: "a directory of the stack".to_owned(),
                span: Span::default(),
            }),
            user if is_login(user) => {
                // Where nobody is called so, it is only letters.
                let is_known = user == b"root" || user == self.context.user.as_bytes();
                match is_known || self.choose(2) == 0 {
                    true => Value::known(self.context.home_of(user)),
                    false => Value::known([b"~", user].concat()),
                }
            }
            other => Value::known([b"~", other].concat()),
        }
    }

    /// `$(…)`: runs it, and gives what it writes, without the newlines at its end.
    pub(super) fn substitute(&mut self, script: &Script, span: Span, state: &mut State) -> Value {
        trimmed(self.written_by(script, span, state))
    }

    /// What a script within a word writes.
    fn written_by(&mut self, script: &Script, span: Span, state: &mut State) -> Value {
        let mut outputs: Vec<Stream> = Vec::new();
        let mut status: Option<Option<i32>> = None;
        let buffer = state.buffers.len();
        let mut inner = state.clone();
        inner.options.errexit &= inner.options.inherit_errexit || inner.options.posix;
        inner.buffers.push(Stream { text: Some(Value::default()), data: Vec::new() });
        inner.descriptors.insert(1, Channel::Capture(buffer));
        let conditions = std::mem::take(&mut self.conditions);
        let worlds = self.isolated(span, |machine| {
            let loops = inner.loops;
            machine.subshell(inner, |machine, mut state| {
                // Unlike other shells within a shell, this one may still break its loop.
                state.loops = loops;
                machine.substituted_script(script, buffer, state)
            })
        });
        self.conditions = conditions;
        if let Some(first) = worlds.first() {
            state.written = Rc::clone(&first.written);
        }
        for inner in &worlds {
            state.keep_written(inner);
        }
        for state in worlds {
            let output = state.buffers.get(buffer).cloned().unwrap_or_default();
            if !outputs.contains(&output) {
                outputs.push(output);
            }
            status = Some(match status {
                None => state.status,
                Some(before) if before == state.status => before,
                Some(_) => None,
            });
        }
        self.substituted = Some(status.unwrap_or(None));
        // `$?` in the next word is its status.
        state.status = status.unwrap_or(None);
        if outputs.len() > 4 {
            let mut joined = outputs.swap_remove(0);
            outputs.into_iter().for_each(|other| super::state::join_streams(&mut joined, other));
            outputs = vec![joined];
        }
        let place = if outputs.len() > 1 { self.choose(outputs.len()) } else { 0 };
        let output = outputs.into_iter().nth(place).unwrap_or_default();
        for datum in output.data {
            if !self.flows.contains(&datum) {
                self.flows.push(datum);
            }
        }
        output
            .text
            .unwrap_or_else(|| Value::unknown(Why { construct: "the output of a command".to_owned(), span }))
    }

    fn substituted_script(&mut self, script: &Script, buffer: usize, state: State) -> Vec<State> {
        // `$(< file)` reads the file.
        if let [command] = script.commands.as_slice()
            && let Kind::Simple { assignments, words } = &command.kind
            && assignments.is_empty()
            && words.is_empty()
            && let [redirect] = command.redirects.as_slice()
            && matches!(redirect.target, Target::Read(_))
        {
            return self.with_redirects(&command.redirects, state, "bash", |machine, mut state| {
                let stream = machine.input(&state, 0);
                let channel = Channel::Capture(buffer);
                state.descriptors.insert(1, channel);
                machine.write(&mut state, 1, stream, "a file", command.span);
                vec![state]
            });
        }
        self.script(script, state)
    }

    /// `<(…)` and `>(…)`: a descriptor, and what runs at its other end.
    fn process(&mut self, output: bool, script: &Script, span: Span, state: &mut State, out: &mut Vec<Item>) {
        // Without a command there is no descriptor either: `<()rm` is `rm`.
        if script.commands.is_empty() && script.unknown.is_empty() {
            return;
        }
        self.has_left = true;
        let number = (10..=63).rev().find(|number| !state.descriptors.contains_key(number)).unwrap_or(63);
        let channel = if output {
            state.buffers.push(Stream { text: Some(Value::default()), data: Vec::new() });
            let buffer = state.buffers.len() - 1;
            self.feeds.push(Feed { buffer, script: script.clone(), span, before: state.clone() });
            Channel::Capture(buffer)
        } else {
            let flows = std::mem::take(&mut self.flows);
            let (status, substituted) = (state.status, self.substituted);
            let text = self.written_by(script, span, state);
            // Nobody waits for it.
            state.status = status;
            self.substituted = substituted;
            let data = std::mem::replace(&mut self.flows, flows);
            Channel::Source(Stream { text: Some(text), data })
        };
        state.descriptors.insert(number, channel);
        out.push(Item::Text(format!("/dev/fd/{number}").into_bytes(), Origin::Quoted));
    }

    /// Runs something whose words are its own.
    pub(super) fn isolated<R: Default>(&mut self, span: Span, run: impl FnOnce(&mut Self) -> R) -> R {
        let flows = std::mem::take(&mut self.flows);
        let feeds = std::mem::take(&mut self.feeds);
        let given_up = std::mem::take(&mut self.given_up);
        let result = self.deeper(span, run).unwrap_or_default();
        self.flows = flows;
        self.feeds = feeds;
        self.given_up = given_up;
        result
    }
}

/// Whether somebody may be called so; of nobody else there is a home.
fn is_login(name: &[u8]) -> bool {
    name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

/// A value among the items of a word.
pub(super) fn push_value(out: &mut Vec<Item>, value: Value, quoted: bool) {
    let origin = if quoted { Origin::Quoted } else { Origin::Expanded };
    if quoted {
        out.push(Item::Text(Vec::new(), Origin::Quoted));
    }
    for piece in value.pieces {
        out.push(match piece {
            Piece::Known(bytes) => Item::Text(bytes, origin),
            Piece::Unknown(why) => Item::Unknown(why, origin),
            Piece::Glob(pattern) => Item::Glob(pattern, Origin::Quoted),
        });
    }
}

/// The same of a value in which a glob is any number of names.
pub(super) fn push_names(out: &mut Vec<Item>, value: Value, quoted: bool) {
    let from = out.len();
    push_value(out, value, quoted);
    for item in out.iter_mut().skip(from) {
        if let Item::Glob(_, origin) = item {
            *origin = Origin::Expanded;
        }
    }
}

/// A value in which a glob has become text nobody knows.
pub(super) fn unnamed(mut value: Value) -> Value {
    for piece in &mut value.pieces {
        if matches!(piece, Piece::Glob(_)) {
            *piece = Piece::Unknown(globbed());
        }
    }
    value
}

/// Why text made of names of files is not known.
pub(super) fn globbed() -> Why {
    Why { construct: "what a glob matches".to_owned(), span: Span::default() }
}

/// Text as a substitution gives it: without NULs, and without newlines at its end.
fn trimmed(mut value: Value) -> Value {
    for piece in &mut value.pieces {
        if let Piece::Known(bytes) = piece {
            bytes.retain(|byte| *byte != 0);
        }
    }
    // What is not known may be nothing, and then the newlines before it are the end.
    let is_open = |piece: &Piece| matches!(piece, Piece::Unknown(why) if why.may_be_empty());
    let ending = value.pieces.iter().rposition(|piece| !is_open(piece));
    if let Some(place) = ending
        && let Some(Piece::Known(bytes)) = value.pieces.get_mut(place)
    {
        while bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        if bytes.is_empty() {
            value.pieces.remove(place);
        }
    }
    value
}
