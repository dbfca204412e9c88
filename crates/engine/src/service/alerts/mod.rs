//! Alerts without Prometheus: rules over what the service sees of itself, raised and resolved with patience.
//!
//! Owns: the rules, when one is raised or resolved, and telling the operator's AlertManager or webhook. Refuses: to act
//! on an alert; what is raised and resolved is in the ledger, and whoever subscribed to `alert` hears of it there.

mod facts;
mod rules;
mod state;
mod targets;
mod watch;

use std::time::Duration;

pub(super) use watch::begin;

/// What the operator wants to be told of. A threshold of 0 turns its rule off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertSettings {
    /// Percent of commands in the window that ran out of time.
    pub timeout_rate: u64,
    /// Percent of sandboxes in the window that could not be made or removed.
    pub error_rate: u64,
    /// What agents may cost within the window, in millionths of a dollar.
    pub cost_micros: u64,
    /// Percent of the places for those who wait for a sandbox.
    pub queue: u64,
    /// How long the oldest write may wait.
    pub writer_lag: Duration,
    /// Percent of a sandbox's memory.
    pub memory: u64,
    /// Percent of a sandbox's disk.
    pub disk: u64,
    /// How far rates look back.
    pub window: Duration,
    /// How long something must be so before it is told, and before it is taken back.
    pub hold: Duration,
    /// How often the rules are looked at.
    pub interval: Duration,
    /// Where an AlertManager is, such as `http://127.0.0.1:9093`.
    pub alertmanager: Option<String>,
    /// Where to post alerts.
    pub webhook: Option<String>,
    /// What those posts are signed with.
    pub secret: Option<String>,
}

impl Default for AlertSettings {
    fn default() -> Self {
        Self {
            timeout_rate: 10,
            error_rate: 5,
            cost_micros: 0,
            queue: 80,
            writer_lag: Duration::from_secs(5),
            memory: 95,
            disk: 95,
            window: Duration::from_secs(300),
            hold: Duration::from_secs(30),
            interval: Duration::from_secs(5),
            alertmanager: None,
            webhook: None,
            secret: None,
        }
    }
}
