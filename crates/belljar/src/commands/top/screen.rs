//! What is on the screen: which sandboxes in which order, which of them is meant, what lies over them.

use std::collections::VecDeque;

use belljar_domain::{SandboxId, SandboxState};

use super::look::{Look, Row, ServerState};
use crate::client::Event;

/// The most events kept to be shown.
const EVENTS: usize = 500;

/// What sandboxes are sorted by.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    Age,
    Cpu,
    Memory,
    Agent,
}

impl Order {
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Age => Self::Cpu,
            Self::Cpu => Self::Memory,
            Self::Memory => Self::Agent,
            Self::Agent => Self::Age,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Age => "age",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Agent => "agent",
        }
    }
}

/// What the keys mean now.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// They move and act.
    #[default]
    Browse,
    /// They write the filter.
    Filter,
    /// They answer whether this sandbox is to be ended.
    Confirm(SandboxId),
    /// They scroll what is known of a sandbox.
    Inspect {
        /// What is shown.
        text: Vec<String>,
        /// Lines scrolled past.
        from: u16,
    },
}

/// What is asked for by a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Pause(SandboxId),
    Resume(SandboxId),
    End(SandboxId),
    Inspect(SandboxId),
}

#[derive(Debug, Default)]
pub(super) struct Screen {
    rows: Vec<Row>,
    pub(super) server: Option<ServerState>,
    /// Newest first.
    pub(super) events: VecDeque<Event>,
    /// Whether anything was looked at yet.
    pub(super) is_ready: bool,
    pub(super) order: Order,
    pub(super) filter: String,
    pub(super) mode: Mode,
    /// What was done last, or went wrong.
    pub(super) word: String,
    meant: Option<SandboxId>,
}

impl Screen {
    /// Takes over a new look.
    pub(super) fn show(&mut self, look: Look) {
        self.rows = look.rows;
        self.server = look.server;
        self.is_ready = true;
        for event in look.events.into_iter().rev() {
            self.happened(event);
        }
        self.sort();
    }

    /// Takes over an event, unless it is there already.
    pub(super) fn happened(&mut self, event: Event) {
        if self.events.front().is_none_or(|newest| newest.seq < event.seq) {
            self.events.push_front(event);
            self.events.truncate(EVENTS);
        }
    }

    /// Every sandbox.
    pub(super) fn all(&self) -> &[Row] {
        &self.rows
    }

    /// Those the filter lets through.
    pub(super) fn visible(&self) -> Vec<&Row> {
        let words = self.filter.to_lowercase();
        let fits = |row: &&Row| {
            let seen = &row.measured.seen;
            let agent = seen.spec.agent.as_deref().unwrap_or_default();
            let about = [&seen.id.to_string(), &seen.name, &seen.state.to_string(), agent, &row.command];
            words.is_empty() || about.iter().any(|text| text.to_lowercase().contains(&words))
        };
        self.rows.iter().filter(fits).collect()
    }

    /// The place of the sandbox that is meant among the visible ones: the first, if the one that was is gone.
    pub(super) fn place(&self) -> usize {
        let visible = self.visible();
        visible.iter().position(|row| Some(row.measured.seen.id) == self.meant).unwrap_or(0)
    }

    /// The sandbox that is meant, and its state.
    pub(super) fn meant(&self) -> Option<(SandboxId, SandboxState)> {
        let row = *self.visible().get(self.place())?;
        Some((row.measured.seen.id, row.measured.seen.state))
    }

    /// Moves on by some places, or back.
    pub(super) fn step(&mut self, by: isize) {
        let visible = self.visible();
        let last = visible.len().saturating_sub(1);
        let place = self.place().saturating_add_signed(by).min(last);
        self.meant = visible.get(place).map(|row| row.measured.seen.id);
    }

    pub(super) fn sort_by_next(&mut self) {
        self.order = self.order.next();
        self.sort();
    }

    fn sort(&mut self) {
        // The one that is meant stays the one that is meant, wherever it goes and whatever hides it.
        if !self.rows.iter().any(|row| Some(row.measured.seen.id) == self.meant) {
            self.meant = self.meant().map(|(id, _)| id);
        }
        let seen = |row: &Row| (row.measured.seen.spec.agent.clone(), row.measured.seen.id);
        match self.order {
            Order::Age => self.rows.sort_by_key(|row| std::cmp::Reverse(row.measured.seen.id)),
            Order::Cpu => self.rows.sort_by_key(|row| std::cmp::Reverse(row.measured.cpu_milli)),
            Order::Memory => self.rows.sort_by_key(|row| std::cmp::Reverse(row.measured.usage.memory_bytes)),
            Order::Agent => self.rows.sort_by_key(seen),
        }
    }
}
