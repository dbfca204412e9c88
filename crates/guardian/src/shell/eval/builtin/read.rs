//! `read`, `mapfile`, `getopts`: variables filled from what comes in.
//!
//! Owns: taking lines off a stream that is known. Refuses: knowing what a stream holds that is not.

use super::super::channel::Channel;
use super::super::machine::Machine;
use super::super::simple::{Elements, Job};
use super::super::state::{Content, FAILED, State, Variable};
use super::super::variables::{Index, subscripted};
use super::super::worlds::Worlds;
use super::options;
use crate::effects::{Datum, Stream};
use crate::shell::ast::Span;
use crate::shell::value::{Piece, Value, Why};

/// What could be read.
enum Line {
    Known(Vec<u8>, Vec<Datum>),
    /// The last one, without its end: it is read, and counts as failure.
    Last(Vec<u8>, Vec<Datum>),
    /// Nothing is left.
    End,
    Unknown(Vec<Datum>),
}

impl Machine<'_> {
    pub(super) fn run_read(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let options = options(job, b"adinNptu", false);
        let descriptor =
            options.value(b'u').and_then(Value::text).and_then(|text| text.parse().ok()).unwrap_or(0);
        let delimiter = match options
            .value(b'd')
            .map(|value| value.bytes().map(|bytes| bytes.first().copied().unwrap_or(0)))
        {
            None => Some(b'\n'),
            Some(delimiter) => delimiter,
        };
        let raw = options.has(b'r');
        let counted = options.has(b'n') || options.has(b'N');
        let line = match delimiter {
            Some(delimiter) if !counted => take_line(state, descriptor, delimiter, raw),
            _ => unknown_line(state, descriptor, self),
        };
        let (text, data, status) = match line {
            Line::Known(bytes, data) => (Some(bytes), data, Some(0)),
            Line::Last(bytes, data) => (Some(bytes), data, Some(1)),
            Line::End => (Some(Vec::new()), Vec::new(), Some(1)),
            Line::Unknown(data) => (None, data, None),
        };
        let names = options.rest;
        // A name that is none is told before anything is read into the others.
        if let Some(first) = names.first().and_then(Value::bytes)
            && !is_variable(first)
        {
            return Some(FAILED);
        }
        self.flows = data;
        if let Some(array) = options.value(b'a') {
            let values = text.map(|text| split(&unescape(&text, raw), &self.separators(state), usize::MAX));
            let more = values.is_none().then(|| input(job.span));
            if let Some(name) = array.bytes() {
                let known =
                    values.unwrap_or_default().into_iter().map(|value| (None, Value::known(value))).collect();
                self.assign_array(state, name, Elements { known, more }, false, job.span);
            }
        } else if names.is_empty() {
            let value = text.map_or_else(
                || Value::unknown(input(job.span)),
                |text| Value::known(bare(&unescape(&text, raw))),
            );
            self.assign(state, b"REPLY", &Index::None, value, false, job.span);
        } else {
            let values = text.map(|text| split(&unescape(&text, raw), &self.separators(state), names.len()));
            for (place, name) in names.iter().enumerate() {
                // Those before a name that is none, or keeps what it has, are filled, those behind it are left alone.
                let keeps = |name: &[u8]| state.variables.get(name).is_some_and(|variable| variable.readonly);
                if name.bytes().is_some_and(|name| !is_variable(name) || keeps(name)) {
                    self.flows.clear();
                    return Some(FAILED);
                }
                let value = match &values {
                    Some(values) => Value::known(values.get(place).cloned().unwrap_or_default()),
                    None => Value::unknown(input(job.span)),
                };
                if !self.set_named(name, value, job.span, state) {
                    self.flows.clear();
                    return Some(FAILED);
                }
            }
        }
        self.flows.clear();
        status
    }

    pub(super) fn run_mapfile(&mut self, job: &Job, mut state: State) -> Worlds {
        let options = options(job, b"dnOsuCc", false);
        let name = options.rest.first().and_then(Value::bytes).unwrap_or(b"MAPFILE").to_vec();
        let descriptor =
            options.value(b'u').and_then(Value::text).and_then(|text| text.parse().ok()).unwrap_or(0);
        let trim = options.has(b't');
        let stream = self.input(&state, descriptor);
        let plain = options.letters.iter().all(|(_, letter, _)| matches!(letter, b't' | b'u' | b'C' | b'c'));
        let known = stream.text.as_ref().and_then(Value::bytes).filter(|_| plain).map(<[u8]>::to_vec);
        self.flows = stream.data;
        match known {
            Some(bytes) => {
                let known = bytes
                    .split_inclusive(|byte| *byte == b'\n')
                    .map(|line| if trim { line.strip_suffix(b"\n").unwrap_or(line) } else { line })
                    .map(|line| (None, Value::known(line)))
                    .take(1024)
                    .collect();
                let lines = Elements { known, more: None };
                self.assign_array(&mut state, &name, lines, false, job.span);
            }
            None if self.keeps(&state, &name) => {}
            None => {
                let variable = Variable {
                    content: Content::Any(input(job.span)),
                    data: self.flows.clone(),
                    ..Variable::default()
                };
                state.set(&name, variable);
            }
        }
        self.flows.clear();
        state.status = None;
        match options.value(b'C') {
            Some(callback) => {
                let mut text = callback.clone();
                text.push(Piece::Known(b" ".to_vec()));
                text.push(Piece::Unknown(Why { construct: "a number, the line".to_owned(), span: job.span }));
                text.push(Piece::Known(b" ".to_vec()));
                text.push(Piece::Unknown(input(job.span)));
                self.text(&text, job.span, "a callback", state)
            }
            None => vec![state],
        }
    }

    pub(super) fn run_getopts(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        if let Some(name) = job.argv.get(2) {
            let why = Why { construct: "an option of the script".to_owned(), span: job.span };
            self.set_named(name, Value::unknown(why.clone().filled()), job.span, state);
            self.assign(state, b"OPTARG", &Index::None, Value::unknown(why), false, job.span);
            let number = Why { construct: "a number, of options".to_owned(), span: job.span };
            self.assign(state, b"OPTIND", &Index::None, Value::unknown(number), false, job.span);
        }
        let none = state.positional.is_empty() && state.more.is_none() && job.argv.len() < 4;
        none.then_some(1)
    }
}

fn is_variable(name: &[u8]) -> bool {
    super::super::variables::is_name(name) || subscripted(name).is_some()
}

fn input(span: Span) -> Why {
    Why { construct: "what is read".to_owned(), span }
}

fn unknown_line(state: &mut State, descriptor: u32, machine: &Machine<'_>) -> Line {
    let data = machine.input(state, descriptor).data;
    let stream = Stream { text: None, data: data.clone() };
    if matches!(state.descriptors.get(&descriptor), Some(Channel::Source(_))) {
        state.descriptors.insert(descriptor, Channel::Source(stream));
    }
    Line::Unknown(data)
}

/// Takes a line off what is known of a stream.
fn take_line(state: &mut State, descriptor: u32, delimiter: u8, raw: bool) -> Line {
    match state.descriptors.get_mut(&descriptor) {
        Some(Channel::Null | Channel::Closed) => Line::End,
        Some(Channel::Source(stream)) => {
            let Some(text) = &mut stream.text else { return Line::Unknown(stream.data.clone()) };
            if text.pieces.is_empty() {
                return Line::End;
            }
            if let Some(Piece::Known(bytes)) = text.pieces.first_mut()
                && let Some(end) = end_of_line(bytes, delimiter, raw)
            {
                let rest = bytes.split_off(end + 1);
                let mut line = std::mem::replace(bytes, rest);
                line.pop();
                if bytes.is_empty() {
                    text.pieces.remove(0);
                }
                return Line::Known(line, stream.data.clone());
            }
            if let Some(bytes) = text.bytes().map(<[u8]>::to_vec) {
                text.pieces.clear();
                return Line::Last(bytes, stream.data.clone());
            }
            let data = stream.data.clone();
            stream.text = None;
            Line::Unknown(data)
        }
        Some(Channel::Network { to, .. }) => Line::Unknown(vec![Datum::Download(to.clone())]),
        Some(Channel::File { path, .. }) => Line::Unknown(vec![Datum::File(path.clone())]),
        Some(Channel::Given | Channel::Capture(_)) | None => Line::Unknown(Vec::new()),
    }
}

/// Where a line ends; a backslash before the delimiter keeps it open, unless it is only a letter.
fn end_of_line(text: &[u8], delimiter: u8, raw: bool) -> Option<usize> {
    let mut escaped = false;
    text.iter().position(|byte| {
        let ends = *byte == delimiter && !escaped;
        escaped = !raw && *byte == b'\\' && !escaped;
        ends
    })
}

/// A byte of a line, and whether a backslash keeps it from being a separator.
type Letter = (u8, bool);

/// A line with its backslashes taken off; one before a newline takes that along.
fn unescape(text: &[u8], raw: bool) -> Vec<Letter> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        if raw || *byte != b'\\' {
            out.push((*byte, false));
        } else if let Some(next) = rest.next().filter(|next| **next != b'\n') {
            out.push((*next, true));
        }
    }
    out
}

fn bare(letters: &[Letter]) -> Vec<u8> {
    letters.iter().map(|(byte, _)| *byte).collect()
}

/// Splits a line as `read` does: the last name takes all that is left.
fn split(text: &[Letter], separators: &[u8], most: usize) -> Vec<Vec<u8>> {
    let separates = |letter: &Letter| !letter.1 && separators.contains(&letter.0);
    let blank = |letter: &Letter| separates(letter) && matches!(letter.0, b' ' | b'\t' | b'\n');
    let mut fields = Vec::new();
    let mut rest = text;
    loop {
        while let Some((_, after)) = rest.split_first().filter(|(first, _)| blank(first)) {
            rest = after;
        }
        if rest.is_empty() {
            break;
        }
        if fields.len() + 1 == most {
            let mut last = rest;
            while let Some((_, before)) = last.split_last().filter(|(end, _)| blank(end)) {
                last = before;
            }
            // One separator at the end goes too, when nothing else of its kind is there.
            if let Some((end, before)) = last.split_last()
                && separates(end)
                && !before.iter().any(separates)
            {
                last = before;
            }
            fields.push(bare(last));
            break;
        }
        let end = rest.iter().position(separates).unwrap_or(rest.len());
        let (field, after) = rest.split_at(end);
        fields.push(bare(field));
        rest = after;
        while let Some((_, after)) = rest.split_first().filter(|(first, _)| blank(first)) {
            rest = after;
        }
        if let Some((first, after)) = rest.split_first()
            && separates(first)
            && !blank(first)
            && after.len() < rest.len()
            && (field.is_empty() || text.len() > after.len())
        {
            rest = after;
        }
    }
    fields
}
