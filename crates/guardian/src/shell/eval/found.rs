//! Scripts that lie on the disk: read where somebody handed in what they say.
//!
//! Owns: what of a found script counts. That one is run is said anyway, so what is not known of it adds nothing; what it
//! would surely do is done by whoever starts it. Refuses: to let a long script use up what the command itself is read with.

use super::machine::Machine;
use super::state::State;
use crate::effects::{Act, Code, Effect, Invocation, Traffic};
use crate::shell::value::Value;

impl Machine<'_> {
    /// What a file is known to hold.
    pub(super) fn found_text(&self, path: &Value) -> Option<Value> {
        let fact = self.context.facts.get(path.bytes()?)?;
        fact.text.clone().map(Value::known)
    }

    /// Runs a script that was found, if it was.
    pub(super) fn run_found(&mut self, path: &Value, with: &str, invocation: &Invocation, state: &mut State) {
        let Some(text) = self.found_text(path) else { return };
        // A file that is started by its name says in its first line what reads it.
        let is_own = path.text().is_some_and(|path| path.rsplit('/').next() == Some(with));
        let with = Some(with).filter(|_| !is_own);
        self.aside(|machine| machine.run_content(&text, path, with, invocation, state));
    }

    /// Does something on a budget of its own, and keeps of its effects what is sure; none if that budget is used up.
    pub(super) fn aside<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> Option<R> {
        let from = self.effects.len();
        let result = self.budgeted(run)?;
        for effect in self.effects.iter_mut().skip(from) {
            if !is_sure(effect) {
                effect.act = Act::Compute;
            }
        }
        Some(result)
    }
}

/// Whether an effect of a script counts beside that it is run.
fn is_sure(effect: &Effect) -> bool {
    match &effect.act {
        Act::Read { path, .. }
        | Act::Write { path, .. }
        | Act::Delete { path, .. }
        | Act::Permit { path, .. } => path.why().is_none(),
        Act::Disk { device: value } | Act::Signal { target: value, .. } => value.why().is_none(),
        Act::Network { traffic, to, .. } => *traffic == Traffic::Listen || to.why().is_none(),
        Act::Run { code, .. } => matches!(code, Code::Download(_) | Code::Package(_)),
        Act::Look { .. } | Act::Compute | Act::Unknown(_) => false,
        _ => true,
    }
}
