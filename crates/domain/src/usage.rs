//! What a sandbox uses, and when that deserves a word.

use serde::{Deserialize, Serialize};

use crate::Limits;

/// One measurement. What a host cannot tell is `None`, never zero.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Processor time since creation, in microseconds.
    pub cpu_micros: Option<u64>,
    /// Time spent waiting because of the processor limit, in microseconds.
    pub throttled_micros: Option<u64>,
    /// Memory now.
    pub memory_bytes: Option<u64>,
    /// The most memory ever.
    pub memory_peak_bytes: Option<u64>,
    /// Processes and threads now.
    pub pids: Option<u64>,
    /// Bytes on the private disk.
    pub disk_bytes: Option<u64>,
    /// Inodes on the private disk.
    pub inodes: Option<u64>,
    /// Bytes received from the network.
    pub net_rx_bytes: Option<u64>,
    /// Bytes sent to the network.
    pub net_tx_bytes: Option<u64>,
    /// Times the kernel killed for memory.
    pub oom_kills: Option<u64>,
    /// Forks refused by the process limit.
    pub forks_refused: Option<u64>,
}

/// What an alert is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlertTrigger {
    /// Processor share.
    Cpu,
    /// Memory.
    Memory,
    /// Private disk.
    Disk,
    /// Processes.
    Pids,
}

/// How loud an alert is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look.
    Warning,
    /// About to fail.
    Critical,
}

/// A threshold passed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    /// What passed it.
    pub trigger: AlertTrigger,
    /// How far.
    pub severity: Severity,
    /// The measured share of the limit, in percent.
    pub percent: u64,
    /// The amount measured (bytes, processes, or percent of the processor share).
    pub current: u64,
    /// The limit in the same unit.
    pub limit: u64,
}

/// Percentages of a limit at which to warn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thresholds {
    /// Processor: warning and critical.
    pub cpu: (u64, u64),
    /// Memory: warning and critical.
    pub memory: (u64, u64),
    /// Disk and inodes: warning and critical.
    pub disk: (u64, u64),
    /// Processes: warning and critical.
    pub pids: (u64, u64),
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { cpu: (70, 90), memory: (80, 95), disk: (80, 95), pids: (80, 95) }
    }
}

impl Thresholds {
    /// Compares two successive measurements, `elapsed_micros` apart, with the limits.
    #[must_use]
    pub fn alerts(&self, before: &Usage, now: &Usage, elapsed_micros: u64, limits: &Limits) -> Vec<Alert> {
        let cpu = before.cpu_micros.zip(now.cpu_micros).filter(|_| elapsed_micros > 0).map(|(a, b)| {
            let share = elapsed_micros.saturating_mul(u64::from(limits.cpus.as_milli())) / 1000;
            (b.saturating_sub(a), share.max(1))
        });
        let memory = now.memory_bytes.map(|used| (used, limits.memory.as_bytes()));
        let disk = now.disk_bytes.map(|used| (used, limits.disk.as_bytes()));
        let pids = now.pids.map(|used| (used, u64::from(limits.pids)));
        [
            (AlertTrigger::Cpu, cpu, self.cpu),
            (AlertTrigger::Memory, memory, self.memory),
            (AlertTrigger::Disk, disk, self.disk),
            (AlertTrigger::Pids, pids, self.pids),
        ]
        .into_iter()
        .filter_map(|(trigger, measured, levels)| {
            measured.and_then(|(used, limit)| alert(trigger, used, limit, levels))
        })
        .collect()
    }
}

fn alert(trigger: AlertTrigger, current: u64, limit: u64, (warning, critical): (u64, u64)) -> Option<Alert> {
    let percent = current.saturating_mul(100) / limit.max(1);
    let severity = match percent {
        p if p >= critical => Severity::Critical,
        p if p >= warning => Severity::Warning,
        _ => return None,
    };
    Some(Alert { trigger, severity, percent, current, limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_speak_once_passed_and_stay_silent_below() {
        let limits = Limits::default();
        let calm =
            Usage { memory_bytes: Some(100 << 20), pids: Some(3), cpu_micros: Some(0), ..Usage::default() };
        let busy =
            Usage { memory_bytes: Some(500 << 20), pids: Some(420), cpu_micros: Some(750_000), ..calm };
        assert!(Thresholds::default().alerts(&calm, &calm, 1_000_000, &limits).is_empty());
        let found = Thresholds::default().alerts(&calm, &busy, 1_000_000, &limits);
        let seen: Vec<_> = found.iter().map(|a| (a.trigger, a.severity)).collect();
        assert_eq!(
            seen,
            [
                (AlertTrigger::Cpu, Severity::Warning),
                (AlertTrigger::Memory, Severity::Critical),
                (AlertTrigger::Pids, Severity::Warning)
            ]
        );
    }
}
