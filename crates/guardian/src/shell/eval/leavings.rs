//! What programs leave in files: contents, origins and links, so that what runs or reads them later is known.
//!
//! Owns: taking an outcome's writes into the memory of files. Refuses: deciding what a program writes; its outcome says that.

use super::machine::Machine;
use crate::effects::{Act, Change, Datum, Invocation, Outcome, Stream, Traffic};
use crate::shell::value::{Value, Why};

/// Programs that put the same bytes elsewhere.
const COPIERS: [&str; 6] = ["cp", "mv", "install", "ln", "tee", "cat"];

impl Machine<'_> {
    /// Keeps what a program leaves in files, and where it came from.
    pub(super) fn remember(&mut self, outcome: &Outcome, invocation: &Invocation, by: &str) {
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
            Datum::File(path) => self.files.contents(path).last().cloned(),
            _ => None,
        });
        let copied = if by == "tee" { invocation.input.text.clone() } else { text };
        from.extend(invocation.input.data.iter().cloned());
        for (act, _) in &outcome.acts {
            let Act::Write { path, change, content } = act else { continue };
            if *change == Change::Make && !COPIERS.contains(&by) {
                continue;
            }
            self.files.flow(path, &from);
            if *change == Change::Append {
                self.files.lengthen(path);
            }
            let base = if *change == Change::Append {
                self.files.contents(path).last().cloned().unwrap_or_default()
            } else {
                Value::default()
            };
            let content = content.clone().or_else(|| copied.clone().filter(|_| COPIERS.contains(&by)));
            if content.is_none() && *change != Change::Make {
                self.files.changed(path);
            }
            if content.is_some() {
                self.files.keep(path, &base, &Stream { text: content, data: Vec::new() });
            }
        }
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
