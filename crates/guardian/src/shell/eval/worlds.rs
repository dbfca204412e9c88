//! Every way a script can go: states side by side, and the choices where a word may be one thing or another.
//!
//! Owns: how many ways are followed, and which become one. Refuses: deciding where ways part; whoever does not know says so.

use super::machine::Machine;
use super::state::{Flow, State};
use crate::shell::ast::Span;

/// States a shell may be in after a command.
pub(super) type Worlds = Vec<State>;

/// States that are followed apart from each other.
const WORLDS: usize = 6;
/// Alternatives of one command that are followed.
const ALTERNATIVES: usize = 16;

/// Which alternatives are taken, in the order they come up.
#[derive(Debug, Default)]
pub(super) struct Choices {
    taken: Vec<usize>,
    at: usize,
    open: Vec<(usize, usize)>,
}

impl Machine<'_> {
    /// Picks one of several alternatives; the others are tried too when the command is evaluated again.
    pub(super) fn choose(&mut self, count: usize) -> usize {
        let at = self.choices.at;
        self.choices.at += 1;
        if let Some(taken) = self.choices.taken.get(at) {
            return *taken;
        }
        self.choices.taken.push(0);
        self.choices.open.push((at, count));
        0
    }

    /// Does something once for each way its choices can go.
    pub(super) fn forked(
        &mut self,
        state: &State,
        span: Span,
        mut run: impl FnMut(&mut Self, State) -> Worlds,
    ) -> Worlds {
        let outer = std::mem::take(&mut self.choices);
        let mut worlds = run(self, state.clone());
        let mut pending: Vec<Vec<usize>> = Vec::new();
        let mut runs = 1;
        loop {
            let done = std::mem::take(&mut self.choices);
            for (at, count) in done.open {
                for other in 1..count {
                    let mut next: Vec<usize> = done.taken.iter().take(at).copied().collect();
                    next.push(other);
                    pending.push(next);
                }
            }
            let Some(taken) = pending.pop().filter(|_| !self.is_spent()) else { break };
            runs += 1;
            if runs > ALTERNATIVES {
                self.unknown("too many alternatives", span);
                break;
            }
            self.choices = Choices { taken, at: 0, open: Vec::new() };
            worlds.extend(run(self, state.clone()));
        }
        self.choices = outer;
        settle(worlds)
    }

    /// Goes on in every state that has not left.
    pub(super) fn each(
        &mut self,
        mut worlds: Worlds,
        mut run: impl FnMut(&mut Self, State) -> Worlds,
    ) -> Worlds {
        // Mostly there is one.
        if worlds.len() == 1
            && let Some(state) = worlds.pop_if(|state| state.flow == Flow::Normal && !self.is_spent())
        {
            return settle(run(self, state));
        }
        let mut after = Vec::with_capacity(worlds.len());
        for state in worlds {
            if state.flow == Flow::Normal && !self.is_spent() {
                after.extend(run(self, state));
            } else {
                after.push(state);
            }
        }
        settle(after)
    }
}

/// Takes equal states together, and joins what are too many. Where only the status and `$_` differ they may be either, which is
/// what values that are not known say.
pub(super) fn settle(worlds: Worlds) -> Worlds {
    if worlds.len() <= 1 {
        return worlds;
    }
    let mut kept: Worlds = Vec::new();
    for state in worlds {
        match kept.iter_mut().find(|other| other.is_but_for_status(&state)) {
            Some(other) => other.blur(&state),
            None => kept.push(state),
        }
    }
    if kept.len() <= WORLDS {
        return kept;
    }
    let mut joined: Worlds = Vec::new();
    for state in kept {
        match joined.iter_mut().find(|other| other.flow == state.flow) {
            Some(other) => *other = other.clone().join(&state),
            None => joined.push(state),
        }
    }
    joined
}
