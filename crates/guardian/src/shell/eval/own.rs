//! What the command itself has put where programs look: files that are started by path or by `PATH`, the files of a project,
//! paths behind its own links.
//!
//! Owns: finding those, and saying when they are no longer what was seen to be written. Refuses: files nobody wrote here.

use std::borrow::Cow;

use super::machine::Machine;
use super::state::State;
use crate::effects::{Datum, Invocation, Stream, path, programs};
use crate::shell::ast::Span;
use crate::shell::value::{Piece, Value};

/// Programs that do what a file beside them says, and its names.
const PROJECTS: [(&[&str], &[&str]); 4] = [
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (&["npm", "pnpm", "yarn", "bun"], &["package.json"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["rake"], &["Rakefile", "rakefile"]),
];

impl Machine<'_> {
    /// The same with the paths that go up from behind a link of the command as the kernel goes: `ln -s /etc/x l; rm l/../y`.
    pub(super) fn climbing<'i>(&self, invocation: &'i Invocation) -> Cow<'i, Invocation> {
        let mut invocation = Cow::Borrowed(invocation);
        for place in 1..invocation.argv.len() {
            let word = invocation.argv.get(place).and_then(Value::bytes);
            let climbed = word.zip(invocation.cwd.bytes());
            if let Some(path) = climbed.and_then(|(word, cwd)| self.files.climbed(word, cwd))
                && let Some(word) = invocation.to_mut().argv.get_mut(place)
            {
                *word = path;
            }
        }
        invocation
    }

    /// Whether the program is a file the command itself has written; then that is what runs.
    pub(super) fn own_file(&mut self, invocation: &Invocation, by: &str, state: &mut State) -> bool {
        let Some(name) = invocation.argv.first() else { return false };
        if self.elsewhere.is_some() {
            return false;
        }
        let is_place =
            name.pieces.iter().any(|piece| matches!(piece, Piece::Known(bytes) if bytes.contains(&b'/')));
        let path = match is_place {
            true => path::resolve(name, &invocation.cwd),
            false => match self.on_path(name, invocation) {
                Some(path) => path,
                None => return false,
            },
        };
        self.run_origins(&path, by, invocation.span);
        self.run_doubted(&path, invocation.span);
        let contents = self.files.contents(&path).to_vec();
        let is_sure = self.surely_holds(&path, state);
        for content in &contents {
            self.run_content(content, &path, None, invocation, state);
        }
        // A copy of a program is that program, whatever it is called.
        let copied =
            self.files.followed(&[Datum::File(path.clone())]).into_iter().find_map(|datum| match datum {
                Datum::File(from) if from != path && is_program(&from) => Some(from),
                _ => None,
            });
        if let Some(from) = &copied {
            let mut inner = invocation.clone();
            if let Some(first) = inner.argv.first_mut() {
                first.clone_from(from);
            }
            self.start(&inner, state);
        }
        // Of a path that is not known what was written before may be another file.
        path.why().is_none() && (copied.is_some() || is_sure)
    }

    /// What a project's own file says, where the command itself has written that: `Makefile`, `package.json`.
    pub(super) fn own_project(&mut self, invocation: &Invocation, by: &str, state: &mut State) {
        let by = by.split(' ').next().unwrap_or(by);
        let Some(file) = PROJECTS.iter().find(|(names, _)| names.contains(&by)).map(|(_, files)| files)
        else {
            return;
        };
        if self.elsewhere.is_some() {
            return;
        }
        let paths = file.iter().map(|name| path::resolve(&Value::known(*name), &invocation.cwd));
        let Some(text) = paths.into_iter().find_map(|path| self.files.contents(&path).last().cloned()) else {
            return;
        };
        let words: Vec<&str> = invocation.argv.iter().skip(1).filter_map(Value::text).collect();
        match by {
            "make" | "gmake" => {
                self.run_content(&text, &Value::known("Makefile"), Some("make"), invocation, state);
            }
            "rake" => self.run_content(&text, &Value::known("Rakefile"), Some("ruby"), invocation, state),
            _ => self.run_lines(by, &text, &words, invocation, state),
        }
    }

    /// Runs the lines of a project's file that these words ask for.
    pub(super) fn run_lines(
        &mut self,
        by: &str,
        text: &Value,
        words: &[&str],
        invocation: &Invocation,
        state: &mut State,
    ) {
        for line in programs::project_lines(by, text.text().unwrap_or_default(), words) {
            let zero = vec![Value::known("sh")];
            let cwd = invocation.cwd.clone();
            self.shell(&Value::known(line), zero, Stream::default(), cwd, invocation, state);
        }
    }

    /// A file of this name that the command has put into a directory of its own `PATH`.
    fn on_path(&self, name: &Value, invocation: &Invocation) -> Option<Value> {
        let (_, places) = invocation.environment.iter().rev().find(|(name, _)| name == b"PATH")?;
        let places = places.pieces.iter().filter_map(|piece| match piece {
            Piece::Known(bytes) => Some(bytes.split(|byte| *byte == b':')),
            Piece::Unknown(_) | Piece::Glob(_) => None,
        });
        let paths = places.flatten().map(|place| {
            let mut path = Value::known(if place.is_empty() { b"." } else { place });
            path.push(Piece::Known(b"/".to_vec()));
            path.append(name.clone());
            path::resolve(&path, &invocation.cwd)
        });
        paths.into_iter().find(|path| !self.files.contents(path).is_empty())
    }

    /// Says that what is run may be something else than the command was seen to write.
    pub(super) fn run_doubted(&mut self, path: &Value, span: Span) {
        if self.files.is_doubted(path) {
            self.unknown("a script that was changed since it was written", span);
        }
    }
}

/// Whether a file is a program of the machine.
fn is_program(path: &Value) -> bool {
    let places = [b"/bin/".as_slice(), b"/sbin/", b"/usr/bin/", b"/usr/sbin/", b"/usr/local/bin/"];
    places.iter().any(|place| path.prefix().starts_with(place))
}
