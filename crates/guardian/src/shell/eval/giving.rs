//! Where bash gives up: an expansion that fails takes more with it than its word.
//!
//! Owns: what is left then. Bash leaves functions, loops and groups, skips what is left of the line and goes on with the next one;
//! a shell within the shell ends. Refuses: guessing that a value nobody knows is one bash refuses.

use super::machine::Machine;
use super::state::{FAILED, Flow, State};
use super::worlds::Worlds;

/// Places in one command's words that are kept apart.
const PLACES: usize = 4;

/// A place where bash gives up.
#[derive(Debug)]
pub(super) struct GivenUp {
    /// The shell as it is left.
    state: State,
    /// Whether there is no other way.
    is_certain: bool,
}

impl Machine<'_> {
    /// Bash surely gives up the line here.
    pub(super) fn give_up(&mut self, state: &State) {
        self.leave_off(state, Flow::Discard, true);
    }

    /// Bash may give up the line here.
    pub(super) fn may_give_up(&mut self, state: &State) {
        self.leave_off(state, Flow::Discard, false);
    }

    /// The shell may end here.
    pub(super) fn may_quit(&mut self, state: &State) {
        self.leave_off(state, Flow::Exit, false);
    }

    fn leave_off(&mut self, state: &State, flow: Flow, is_certain: bool) {
        if self.given_up.len() < PLACES && !self.given_up.iter().any(|other| other.is_certain) {
            let mut state = state.clone();
            state.flow = flow;
            state.status = Some(if flow == Flow::Exit { FAILED } else { 1 });
            self.given_up.push(GivenUp { state, is_certain });
        }
    }

    /// Goes on with what the words just read are for, unless bash surely gave up in them.
    pub(super) fn onward(&mut self, state: State, run: impl FnOnce(&mut Self, State) -> Worlds) -> Worlds {
        if self.given_up.is_empty() {
            return run(self, state);
        }
        let (is_over, mut worlds) = self.left_off();
        if !is_over {
            worlds.extend(run(self, state));
        }
        worlds
    }

    /// The shells that bash gave up in the words just read, and whether none goes on.
    pub(super) fn left_off(&mut self) -> (bool, Worlds) {
        let all = std::mem::take(&mut self.given_up);
        let is_over = all.iter().any(|place| place.is_certain);
        (is_over, all.into_iter().map(|place| place.state).collect())
    }
}
