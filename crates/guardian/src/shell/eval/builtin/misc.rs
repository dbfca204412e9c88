//! `test`, `break`, `exit`, `bind`: the rest of the builtins.
//!
//! Owns: leaving loops, functions and shells. Refuses: leaving where bash would stay: with too many arguments nobody leaves.

use super::super::machine::Machine;
use super::super::simple::Job;
use super::super::state::{Flow, State};
use super::options;
use crate::shell::value::Value;

impl Machine<'_> {
    pub(super) fn run_test(&mut self, job: &Job, arguments: &[Value], state: &mut State) -> Option<i32> {
        if job.more.is_some() {
            return None;
        }
        let (truth, hint) = self.test(arguments, job.span, state);
        state.hint = hint;
        truth.map(|truth| i32::from(!truth))
    }

    /// `break` and `continue`.
    pub(super) fn leave(&mut self, job: &Job, state: &mut State, flow: fn(u32) -> Flow) -> Option<i32> {
        // Outside of a loop bash only complains, and goes on.
        match job.argv.as_slice() {
            _ if state.loops == 0 => {}
            [_] if job.more.is_none() => state.flow = flow(1),
            [_, levels] => {
                if let Some(levels) =
                    levels.text().and_then(|text| text.parse::<u32>().ok()).filter(|levels| *levels > 0)
                {
                    state.flow = flow(levels.min(state.loops));
                }
            }
            _ => {}
        }
        Some(0)
    }

    /// `return` and `exit`.
    pub(super) fn end(&mut self, job: &Job, state: &mut State, flow: Flow) -> Option<i32> {
        // Outside of functions and sourced scripts `return` only complains.
        if flow == Flow::Return && state.locals.is_empty() && self.sourcing == 0 {
            return Some(2);
        }
        match job.argv.as_slice() {
            [_] if job.more.is_none() => {
                state.flow = flow;
                state.status
            }
            [_, status] => match status.text().map(str::parse::<i32>) {
                Some(Ok(status)) => {
                    state.flow = flow;
                    Some(status & 0xff)
                }
                // What is no number is told, and it ends all the same.
                Some(Err(_)) | None => {
                    state.flow = flow;
                    None
                }
            },
            _ => None,
        }
    }

    /// `bind -x` keeps a command for a key.
    pub(super) fn run_bind(&mut self, job: &Job, _state: &mut State) -> Option<i32> {
        if options(job, b"xmfquru", false).has(b'x') {
            self.unknown("a command bound to a key", job.span);
        }
        None
    }
}
