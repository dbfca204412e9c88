//! Traps: what is kept for a signal, for a command that fails, for the end.
//!
//! Owns: when they run, and in which shell. Refuses: saying when a signal comes; it may come after any command, or never.

use std::rc::Rc;

use super::machine::Machine;
use super::state::{Flow, State};
use super::worlds::{Worlds, settle};
use crate::shell::ast::{Command, Kind, Span};
use crate::shell::value::Value;

/// Places at which a shell may have ended early that are kept apart.
const ENDINGS: usize = 16;

impl Machine<'_> {
    /// What a signal, or a command that fails, sets off after a command, as the shell is then; and how it leaves the shell, if it
    /// came.
    pub(super) fn interrupted(&mut self, worlds: Worlds, span: Span) -> Worlds {
        let is_waiting = |state: &State| !state.traps.is_empty() && state.flow == Flow::Normal;
        if self.is_trapping || !worlds.iter().any(is_waiting) {
            return worlds;
        }
        let mut left = Vec::new();
        for state in worlds.iter().filter(|state| is_waiting(state)) {
            if state.options.hasty && state.status != Some(0) && state.traps.keys().any(|name| ends(name)) {
                self.may_end(state);
            }
            let is_due = |name: &[u8]| match name {
                b"ERR" => state.status != Some(0),
                name => !ends(name),
            };
            for text in state.traps.iter().filter(|(name, _)| is_due(name)).map(|(_, text)| text) {
                left.extend(self.trapped(text, span, state));
            }
        }
        if left.is_empty() {
            return worlds;
        }
        settle(worlds.into_iter().chain(left).collect())
    }

    /// The shell before a command, and as what is kept for every command may leave it.
    pub(super) fn watched(&mut self, command: &Command, state: State) -> Worlds {
        let is_told = match &command.kind {
            Kind::Simple { .. }
            | Kind::For { .. }
            | Kind::ForArithmetic { .. }
            | Kind::Case { .. }
            | Kind::Condition(_)
            | Kind::Arithmetic(_) => !state.traps.is_empty() && !self.is_trapping,
            Kind::Pipeline { .. }
            | Kind::List(_)
            | Kind::Group(_)
            | Kind::Subshell(_)
            | Kind::If { .. }
            | Kind::While { .. }
            | Kind::Function { .. }
            | Kind::Coprocess { .. } => false,
        };
        let Some(text) = state.traps.get(b"DEBUG".as_slice()).filter(|_| is_told).cloned() else {
            return vec![state];
        };
        let left = self.trapped(&text, command.span, &state);
        settle(std::iter::once(state).chain(left).collect())
    }

    /// How a trap leaves the shell, where that is not as it was.
    fn trapped(&mut self, text: &Value, span: Span, state: &State) -> Worlds {
        self.is_trapping = true;
        let mut after = self.isolated(span, |machine| machine.text(text, span, "a trap", state.clone()));
        self.is_trapping = false;
        // That the whole script may end here is not followed: it may end anywhere.
        after.retain(|left| left.flow == Flow::Normal || left.flow == Flow::Exit && self.nested > 0);
        for left in after.iter_mut().filter(|left| left.flow == Flow::Normal) {
            left.status = state.status;
        }
        after.retain(|left| !left.is_but_for_status(state));
        after
    }

    /// Keeps the shell as it is where `set -e` may end it.
    fn may_end(&mut self, state: &State) {
        let is_same = |other: &State| other.cwd == state.cwd && other.variables == state.variables;
        if self.endings.iter().any(is_same) {
            return;
        }
        let is_full = self.endings.len() >= ENDINGS;
        match self.endings.last_mut() {
            Some(last) if is_full => *last = last.clone().join(state),
            _ => self.endings.push(state.clone()),
        }
    }

    /// Keeps what a shell within a shell has written where `set -e` may end it.
    pub(super) fn may_stop(&mut self, command: &Command, worlds: &[State]) {
        let is_one = match &command.kind {
            Kind::Simple { .. } | Kind::Condition(_) | Kind::Arithmetic(_) | Kind::Subshell(_) => true,
            Kind::Pipeline { negated, stages } => !negated && stages.len() > 1,
            Kind::For { .. }
            | Kind::ForArithmetic { .. }
            | Kind::Case { .. }
            | Kind::List(_)
            | Kind::Group(_)
            | Kind::If { .. }
            | Kind::While { .. }
            | Kind::Function { .. }
            | Kind::Coprocess { .. } => false,
        };
        if !is_one || self.conditions > 0 {
            return;
        }
        for state in worlds {
            let stops = state.options.errexit
                && state.flow == Flow::Normal
                && state.status != Some(0)
                && !state.buffers.is_empty();
            if !stops {
                continue;
            }
            if let Some(other) = self.stops.iter_mut().find(|other| other.is_but_for_status(state)) {
                other.blur(state);
                continue;
            }
            let is_full = self.stops.len() >= ENDINGS;
            match self.stops.last_mut() {
                Some(last) if is_full => *last = last.clone().join(state),
                _ => self.stops.push(state.clone()),
            }
        }
    }

    /// Runs a condition: what fails in it does not end the shell.
    pub(super) fn as_condition(&mut self, run: impl FnOnce(&mut Self) -> Worlds) -> Worlds {
        self.conditions += 1;
        let worlds = run(self);
        self.conditions -= 1;
        worlds
    }

    /// Runs what was left for the end: `trap … EXIT` and its kin. The shell ends with the status it had, unless they end it.
    pub(super) fn traps(&mut self, mut state: State) -> Worlds {
        let traps = std::mem::take(&mut state.traps);
        state.flow = Flow::Normal;
        if state.options.hasty {
            state.status = None;
        }
        // A signal may come before the end, or never.
        let at_end = traps.iter().filter(|(name, _)| ends(name)).map(|(_, text)| text);
        let others: Vec<&Value> =
            traps.iter().filter(|(name, _)| !ends(name)).map(|(_, text)| text).collect();
        for early in std::mem::take(&mut self.endings) {
            let kept = Rc::clone(&early.traps);
            let early = early.before(&state);
            for (_, text) in kept.iter().filter(|(name, _)| ends(name)) {
                self.isolated(Span::default(), |machine| {
                    machine.text(text, Span::default(), "a trap", early.clone())
                });
            }
        }
        let again = at_end.clone().filter(|_| !others.is_empty());
        let before = state.status;
        let mut worlds = vec![state];
        for text in at_end.clone().chain(others.iter().copied()).chain(again) {
            worlds = self.each(worlds, |machine, state| {
                let kept = state.clone();
                let mut after = machine.text(text, Span::default(), "a trap", state);
                for state in &mut after {
                    let is_ended = state.flow == Flow::Exit && state.status != before;
                    state.status = if is_ended { None } else { before };
                    state.flow = Flow::Normal;
                }
                if after.is_empty() { vec![kept] } else { after }
            });
        }
        worlds
    }
}

/// Whether what is kept under a name runs at the end.
fn ends(name: &[u8]) -> bool {
    matches!(name, b"EXIT" | b"0")
}
