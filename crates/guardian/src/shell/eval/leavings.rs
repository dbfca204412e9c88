//! What programs leave in files: contents, origins and links, so that what runs or reads them later is known.
//!
//! Owns: taking an outcome's writes into the memory of files. Refuses: deciding what a program writes; its outcome says that.

use std::rc::Rc;

use super::files::key;
use super::machine::Machine;
use super::state::State;
use crate::effects::{Act, Change, Datum, Invocation, Outcome, Stream, Traffic};
use crate::shell::ast::Span;
use crate::shell::value::{Piece, Value, Why};

/// Programs that put the same bytes elsewhere.
const COPIERS: [&str; 6] = ["cp", "mv", "install", "ln", "tee", "cat"];

impl Machine<'_> {
    /// Keeps what a program leaves in files, and where it came from.
    pub(super) fn remember(
        &mut self,
        outcome: &Outcome,
        invocation: &Invocation,
        by: &str,
        state: &mut State,
    ) {
        if self.elsewhere.is_some() {
            return;
        }
        let mut from: Vec<Datum> = Vec::new();
        for (act, _) in &outcome.acts {
            match act {
                Act::Read { path, .. } => from.push(Datum::File(path.clone())),
                Act::Network { traffic: Traffic::Fetch, to, .. } => from.push(Datum::Download(to.clone())),
                _ => {}
            }
        }
        if by == "mkfifo" {
            let why = Why { construct: "what others write into a pipe".to_owned(), span: invocation.span };
            for (act, _) in &outcome.acts {
                if let Act::Write { path, .. } = act {
                    self.files.flow(path, &[Datum::Unknown(why.clone())]);
                }
            }
        }
        let text = from.iter().find_map(|datum| match datum {
            Datum::File(path) => self.held(path, state).text,
            _ => None,
        });
        let copied = if by == "tee" { invocation.input.text.clone() } else { text };
        from.extend(invocation.input.data.iter().cloned());
        for (act, _) in &outcome.acts {
            if let Act::Delete { path, .. } = act {
                forget(path, state);
            }
            let Act::Write { path, change, content } = act else { continue };
            if *change == Change::Make && !COPIERS.contains(&by) {
                continue;
            }
            self.files.flow(path, &from);
            if *change == Change::Append {
                self.files.lengthen(path);
            }
            let base = if *change == Change::Append { self.base(path, state) } else { Value::default() };
            let content = content.clone().or_else(|| copied.clone().filter(|_| COPIERS.contains(&by)));
            if content.is_none() && *change != Change::Make {
                self.files.changed(path);
            }
            if content.is_some() {
                self.files.keep(path, &base, &Stream { text: content, data: Vec::new() });
            }
            self.note(path, state);
        }
    }

    /// What a file surely holds here, if it was written on every way to here.
    pub(super) fn held(&self, path: &Value, state: &State) -> Stream {
        let mut stream = self.files.stream(path);
        if !self.surely_holds(path, state) {
            stream.text = None;
        }
        stream
    }

    /// Whether a file was written on every way to here, with what is known of it.
    pub(super) fn surely_holds(&self, path: &Value, state: &State) -> bool {
        let last = self.files.contents(path).last();
        last.is_some() && state.written.get(&key(path)) == last
    }

    /// What is put behind what a file holds is behind this.
    pub(super) fn base(&self, path: &Value, state: &State) -> Value {
        match self.files.contents(path).last() {
            Some(text) if state.written.get(&key(path)) == Some(text) => text.clone(),
            Some(_) => Value::unknown(Why {
                construct: "what was in a file before".to_owned(),
                span: Span::default(),
            }),
            None => Value::default(),
        }
    }

    /// Notes that a file was written on the way to here.
    pub(super) fn note(&self, path: &Value, state: &mut State) {
        let written = Rc::make_mut(&mut state.written);
        match self.files.contents(path).last() {
            Some(text) => written.insert(key(path), text.clone()),
            None => written.remove(&key(path)),
        };
    }

    /// Keeps where a symlink leads: it is made of what is read and what is written, two by two.
    pub(super) fn linked(&mut self, outcome: &Outcome, invocation: &Invocation) {
        let is_symbolic = invocation.argv.iter().filter_map(Value::text).any(|word| {
            word == "--symbolic" || word.starts_with('-') && !word.starts_with("--") && word.contains('s')
        });
        let pairs: Vec<(&Value, &Value)> = outcome
            .acts
            .windows(2)
            .filter_map(|pair| match pair {
                [(Act::Read { path: to, .. }, _), (Act::Write { path, .. }, _)] => Some((path, to)),
                _ => None,
            })
            .collect();
        for (path, to) in pairs.into_iter().filter(|_| is_symbolic) {
            self.files.link(path, to);
        }
    }
}

/// Forgets what files held that may be deleted with a path.
fn forget(path: &Value, state: &mut State) {
    let end = match path.pieces.last() {
        Some(Piece::Known(end)) => end.as_slice(),
        Some(Piece::Unknown(_) | Piece::Glob(_)) | None => b"",
    };
    let is_gone = |file: &[u8]| {
        let below = file.strip_prefix(path.prefix());
        match path.bytes() {
            Some(_) => below.is_some_and(|below| below.is_empty() || below.starts_with(b"/")),
            None => below.is_some() && file.ends_with(end),
        }
    };
    if state.written.keys().any(|file| is_gone(file)) {
        Rc::make_mut(&mut state.written).retain(|file, _| !is_gone(file));
    }
}
