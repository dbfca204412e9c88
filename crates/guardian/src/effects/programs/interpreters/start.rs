//! Programs started by code.
//!
//! Owns: lines for a shell, words for a program, and what comes out of them. Refuses: knowing programs; what is started is asked about
//! like everything the shell starts.

use super::verb::Verb;
use super::walk::{Args, Walk};
use super::worth::{Kind, Worth};
use crate::effects::act::{Act, Datum};
use crate::effects::invocation::{Invocation, Next};
use crate::shell::value::{Piece, Value};

impl Walk<'_> {
    /// Starts what a call of this kind starts.
    pub(super) fn start(&mut self, verb: Verb, args: &Args) -> Worth {
        let first = args.either(0, &["args", "cmd", "command"]);
        let cwd =
            args.named(&["cwd", "chdir", "dir"]).map_or_else(|| self.cwd.clone(), |cwd| self.path(&cwd));
        let rest = || {
            args.all
                .get(1..)
                .unwrap_or_default()
                .iter()
                .filter(|arg| !matches!(arg.kind, Kind::Table(_) | Kind::Function(_)))
        };
        match verb {
            Verb::Shell => {
                if first.is_list() {
                    return self.words(&first.elements(), &cwd);
                }
                self.line(&first, &cwd)
            }
            Verb::Program => {
                let shell =
                    args.named(&["shell"]).is_some_and(|shell| !matches!(shell.kind, Kind::Number(0)));
                if first.is_list() && !shell {
                    let mut words = first.elements();
                    // `executable=` is what is really started.
                    if let (Some(program), Some(word)) = (args.named(&["executable"]), words.first_mut()) {
                        *word = program;
                    }
                    return self.words(&words, &cwd);
                }
                if first.is_list() {
                    let line = first.elements().first().cloned().unwrap_or_default();
                    return self.line(&line, &cwd);
                }
                let second = args.get(1);
                if second.is_list() && !shell {
                    return self
                        .words(&std::iter::once(first).chain(second.elements()).collect::<Vec<_>>(), &cwd);
                }
                self.line(&first, &cwd)
            }
            Verb::Words => {
                let words: Vec<Worth> = rest()
                    .flat_map(|arg| if arg.is_list() { arg.elements() } else { vec![arg.clone()] })
                    .collect();
                match (&first.kind, words.is_empty()) {
                    (Kind::List(_), _) => {
                        self.words(&first.elements().into_iter().chain(words).collect::<Vec<_>>(), &cwd)
                    }
                    (_, true) => self.line(&first, &cwd),
                    _ => self.words(&std::iter::once(first).chain(words).collect::<Vec<_>>(), &cwd),
                }
            }
            Verb::LaterWords => {
                let words: Vec<Worth> = rest()
                    .flat_map(|arg| if arg.is_list() { arg.elements() } else { vec![arg.clone()] })
                    .collect();
                self.words(&words, &cwd)
            }
            Verb::Exec => {
                // The name, then the whole argv: its first word is only a name.
                let mut argv: Vec<Worth> = rest()
                    .flat_map(|arg| if arg.is_list() { arg.elements() } else { vec![arg.clone()] })
                    .collect();
                if argv.is_empty() {
                    argv.push(first);
                } else if let Some(word) = argv.first_mut() {
                    *word = first;
                }
                self.words(&argv, &cwd)
            }
            _ => {
                self.shells = true;
                if first.is_list() { self.words(&first.elements(), &cwd) } else { self.words(&[first], &cwd) }
            }
        }
    }

    /// A line for a shell.
    fn line(&mut self, line: &Worth, cwd: &Value) -> Worth {
        let text = line.as_text(&|what| self.why(what));
        let known = text.pieces.iter().any(|piece| matches!(piece, Piece::Known(_)));
        self.shells |=
            is_shell(text.prefix()) || line.data.iter().any(|datum| matches!(datum, Datum::Download(_)));
        let from_network = line.data.iter().any(|datum| matches!(datum, Datum::Download(_)));
        if !known || from_network && text.bytes().is_none() {
            self.runs(line, "a line for a shell that is put together");
            return Worth::unknown(self.why("the output of a command")).with(&line.data);
        }
        let data = spoken(&text, &|path| self.call.context.resolve(path, cwd));
        self.next(Next::Shell {
            text,
            arguments: Vec::new(),
            input: self.call.invocation.input.clone(),
            cwd: cwd.clone(),
            elsewhere: None,
        });
        Worth::unknown(self.why("the output of a command")).with(&data).with(&line.data)
    }

    /// Words for a program.
    fn words(&mut self, words: &[Worth], cwd: &Value) -> Worth {
        let argv: Vec<Value> = words.iter().map(|word| word.as_text(&|what| self.why(what))).collect();
        let Some(first) = argv.first() else {
            self.lost("a program whose name is computed");
            return Worth::default();
        };
        if first.pieces.iter().all(|piece| matches!(piece, Piece::Unknown(_))) {
            self.runs(words.first().unwrap_or(&Worth::default()), "a program whose name is computed");
            return Worth::default();
        }
        self.shells |= is_shell(first.prefix());
        let line = super::super::call::joined(&argv);
        let data = spoken(&line, &|path| self.call.context.resolve(path, cwd));
        let mut flows = self.call.invocation.flows.clone();
        flows.extend(words.iter().flat_map(Worth::flows));
        let invocation =
            Invocation { argv, cwd: cwd.clone(), flows, more: None, ..self.call.invocation.clone() };
        self.next(Next::Program { invocation, elsewhere: None });
        Worth::unknown(self.why("the output of a command")).with(&data)
    }

    fn next(&mut self, next: Next) {
        if !self.outcome.next.contains(&next) && self.outcome.next.len() < 64 {
            self.outcome.next.push(next);
        } else if self.outcome.next.len() >= 64 {
            self.push(Act::Unknown(self.call.why("more programs than a command should start")));
        }
    }
}

/// Whether a line is a shell for somebody to type into.
fn is_shell(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ksh" | "cmd" | "cmd.exe" | "powershell")
        && words.next().is_none_or(|word| {
            matches!(word, "-i" | "-li" | "-il") || word.starts_with(['<', '>', '2', '0', '1'])
        })
}

/// What a command that is known says: files it shows, the environment, a download.
fn spoken(line: &Value, path: &dyn Fn(&Value) -> Value) -> Vec<Datum> {
    let Some(line) = line.text() else { return Vec::new() };
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default();
    match name.rsplit('/').next().unwrap_or_default() {
        "cat" | "head" | "tail" | "less" | "base64" | "xxd" | "od" | "tac" | "strings" | "gzip" | "tar"
        | "grep" => words
            .filter(|word| !word.starts_with('-'))
            .map(|word| Datum::File(path(&Value::known(word))))
            .collect(),
        "env" | "printenv" | "set" | "export" => vec![Datum::Environment(None)],
        "curl" | "wget" => words
            .filter(|word| word.contains("://"))
            .map(|word| Datum::Download(Value::known(word)))
            .collect(),
        _ => Vec::new(),
    }
}
