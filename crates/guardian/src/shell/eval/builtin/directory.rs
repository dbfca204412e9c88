//! `cd`, `pushd`, `popd`, `pwd`: where the shell is.
//!
//! Owns: the logical directory. Refuses: following symlinks without facts; `..` takes a name away, as bash does.

use std::rc::Rc;

use super::super::machine::Machine;
use super::super::simple::Job;
use super::super::state::{Hint, State, Variable};
use super::options;
use crate::effects::{FileKind, Stream, path};
use crate::shell::ast::Span;
use crate::shell::value::{Piece, Value, Why};

impl Machine<'_> {
    pub(super) fn run_cd(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let options = options(job, b"", false);
        let physical = options.has(b'P') || state.options.physical && !options.has(b'L');
        if options.rest.len() > 1 {
            return Some(1);
        }
        let target = match (options.rest.first(), &job.more) {
            (None, Some(why)) => Value::unknown(why.clone()),
            (None, None) => self.scalar(state, b"HOME").unwrap_or_default(),
            (Some(target), _) => target.clone(),
        };
        self.go(&target, physical, state, job.span)
    }

    /// Goes to a directory.
    pub(super) fn go(
        &mut self,
        target: &Value,
        physical: bool,
        state: &mut State,
        span: Span,
    ) -> Option<i32> {
        if target.bytes() == Some(b"") {
            return Some(0);
        }
        let before = Value::clone(&state.cwd);
        let next = if target.bytes() == Some(b"-") {
            let back =
                self.scalar(state, b"OLDPWD").unwrap_or_else(|| Value::unknown(directory(target, span)));
            let mut shown = back.clone();
            shown.push(Piece::Known(b"\n".to_vec()));
            self.write(state, 1, Stream { text: Some(shown), data: Vec::new() }, "cd", span);
            back
        } else if self.searched(target, state) {
            Value::unknown(Why { construct: "a directory found through CDPATH".to_owned(), span })
        } else if target.pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_)))
            && target.prefix().is_empty()
        {
            Value::unknown(directory(target, span))
        } else {
            let climbed = target.bytes().zip(state.cwd.bytes()).filter(|_| physical);
            climbed
                .and_then(|(target, cwd)| self.files.climbed(target, cwd))
                .unwrap_or_else(|| path::resolve(target, &state.cwd))
        };
        let kind = next.bytes().and_then(|next| self.context.facts.get(next)).map(|fact| fact.kind);
        let next = if physical { self.real(next) } else { next };
        state.cwd = Rc::new(next);
        Rc::make_mut(&mut state.variables).remove(b"PWD".as_slice());
        state.set(b"OLDPWD", Variable { exported: true, ..Variable::scalar(before.clone()) });
        state.hint = Hint { stayed: Some(before.clone()), ..Hint::default() };
        if matches!(kind, Some(FileKind::File | FileKind::Other)) {
            state.cwd = Rc::new(before);
            return Some(1);
        }
        None
    }

    fn real(&self, path: Value) -> Value {
        let path = self.files.real(&path, true).unwrap_or(path);
        match path.bytes() {
            Some(bytes) => Value::known(self.context.facts.real(bytes)),
            None => path,
        }
    }

    /// Whether `CDPATH` may send it elsewhere.
    fn searched(&self, target: &Value, state: &State) -> bool {
        let plain = !matches!(target.prefix(), [b'/', ..] | [b'.', b'/', ..] | [b'.', b'.', ..] | [b'.']);
        let path = state
            .variables
            .get(b"CDPATH".as_slice())
            .and_then(|variable| super::super::variables::scalar_of(variable.content.clone()));
        plain && path.is_some_and(|path| path.bytes() != Some(b""))
    }

    pub(super) fn run_pwd(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let mut text = if options(job, b"", false).has(b'P') || state.options.physical {
            self.real(Value::clone(&state.cwd))
        } else {
            Value::clone(&state.cwd)
        };
        text.push(Piece::Known(b"\n".to_vec()));
        self.write(state, 1, Stream { text: Some(text), data: Vec::new() }, "pwd", job.span);
        Some(0)
    }

    pub(super) fn run_pushd(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let arguments: Vec<&Value> = job
            .argv
            .iter()
            .skip(1)
            .filter(|argument| !matches!(argument.bytes(), Some(b"-n" | b"--")))
            .collect();
        let before = Value::clone(&state.cwd);
        let stack = state.stack.clone();
        let status = match arguments.first() {
            None => match state.stack.pop() {
                Some(top) => {
                    state.stack.push(before);
                    self.go(&top, state.options.physical, state, job.span)
                }
                None => return Some(1),
            },
            Some(argument) if rotates(argument) => {
                state.stack = vec![Value::unknown(directory(argument, job.span))];
                self.go(&Value::unknown(directory(argument, job.span)), false, state, job.span)
            }
            Some(target) => {
                state.stack.push(before);
                self.go(&(*target).clone(), state.options.physical, state, job.span)
            }
        };
        state.hint.stack = Some(stack);
        self.show(job, state);
        status
    }

    pub(super) fn run_popd(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let stack = state.stack.clone();
        if let Some(argument) = job.argv.get(1) {
            state.stack = vec![Value::unknown(directory(argument, job.span))];
            return self.go(&Value::unknown(directory(argument, job.span)), false, state, job.span);
        }
        let Some(top) = state.stack.pop() else { return Some(1) };
        let status = self.go(&top, state.options.physical, state, job.span);
        state.hint.stack = Some(stack);
        self.show(job, state);
        status
    }
}

/// `+1` and `-1`
fn rotates(argument: &Value) -> bool {
    matches!(argument.bytes(), Some([b'+' | b'-', digits @ ..]) if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
}

/// Why a directory is not known.
fn directory(target: &Value, span: Span) -> Why {
    let construct =
        target.why().map_or_else(|| "the stack of directories".to_owned(), |why| why.construct.clone());
    Why { construct: format!("the directory in {construct}"), span }.filled()
}
