//! Evaluation of scripts: what a shell would do, without doing it.
//!
//! Owns: bash's order of expansions, its state, its builtins and redirections, and every way a script can go. Refuses: knowing
//! what programs do (they are asked about), and certainty it does not have: what cannot be known is an effect of its own.

mod alias;
mod arithmetic;
mod assigning;
mod braces;
mod builtin;
mod call;
mod channel;
mod condition;
mod control;
mod device;
mod endless;
mod fields;
mod files;
mod found;
mod giving;
mod indirect;
mod items;
mod leavings;
mod list;
mod machine;
mod names;
mod operation;
mod own;
mod parameter;
mod pattern;
mod program;
mod redirect;
mod simple;
mod state;
#[cfg(test)]
mod tests;
mod text;
mod traps;
mod turns;
mod variables;
mod worlds;

use crate::effects::{Context, Effect, Invocation};
use crate::shell::value::Value;

/// What a script would do.
#[must_use]
pub fn effects(script: &[u8], context: &Context) -> Vec<Effect> {
    let mut machine = machine::Machine::new(context);
    machine.whole(script);
    let mut effects: Vec<Effect> = Vec::with_capacity(machine.effects.len());
    // What is done again in the same words is one effect, where it is done first.
    for effect in machine.effects {
        let is_same = |other: &Effect| {
            other.effort == effect.effort && other.by == effect.by && other.act == effect.act
        };
        if !effects.iter().any(is_same) {
            effects.push(effect);
        }
    }
    effects
}

/// Every program a script may start, with what it is given.
#[must_use]
pub fn trace(script: &[u8], context: &Context) -> (Vec<Invocation>, Vec<Effect>) {
    let mut machine = machine::Machine::new(context);
    machine.invocations = Some(Vec::new());
    machine.whole(script);
    (machine.invocations.unwrap_or_default(), machine.effects)
}

/// How many steps of work a script takes to read: bounded, whatever it is.
#[must_use]
pub fn steps(script: &[u8], context: &Context) -> u32 {
    let mut machine = machine::Machine::new(context);
    machine.whole(script);
    machine.steps()
}

impl machine::Machine<'_> {
    /// Reads a script from its beginning to its end.
    fn whole(&mut self, script: &[u8]) {
        let state = state::State::new(Value::known(self.context.cwd.clone()));
        self.keeps_last = script.windows(2).any(|pair| matches!(pair, b"$_" | b"{_"));
        let worlds = self.text_known(script, state);
        for state in worlds {
            self.traps(state);
        }
        self.rows();
    }
}
