//! Measuring again and again, so that what is used can be told as a rate.

use std::{collections::HashMap, time::Instant};

use belljar_domain::{Alert, SandboxId, Thresholds, Usage};
use serde_json::{Value, json};

use super::{Sandboxes, Seen};

/// Remembers the last measurement of each sandbox.
#[derive(Debug)]
pub(crate) struct Meter {
    thresholds: Thresholds,
    before: HashMap<SandboxId, (Instant, Usage)>,
}

/// A sandbox and what it uses.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) seen: Seen,
    /// What this host cannot tell, or what cannot be asked any more, is absent.
    pub(crate) usage: Usage,
    /// Processor time per wall time since the last measurement, in thousandths of a core.
    pub(crate) cpu_milli: Option<u64>,
    pub(crate) alerts: Vec<Alert>,
}

impl Meter {
    pub(crate) fn new(thresholds: Thresholds) -> Self {
        Self { thresholds, before: HashMap::new() }
    }

    /// Measures sandboxes, and forgets those that are no longer among them.
    pub(crate) fn measure(&mut self, sandboxes: &Sandboxes, all: Vec<Seen>) -> Vec<Measured> {
        let mut now = HashMap::with_capacity(all.len());
        let mut measured = Vec::with_capacity(all.len());
        for seen in all {
            // One that ended meanwhile is still shown, without numbers.
            let usage = sandboxes.usage(seen.id).unwrap_or_default();
            let at = Instant::now();
            let (since, before) = self.before.get(&seen.id).copied().unwrap_or((at, usage));
            let micros = u64::try_from(at.duration_since(since).as_micros()).unwrap_or(u64::MAX);
            let spent = usage.cpu_micros.zip(before.cpu_micros).map(|(now, then)| now.saturating_sub(then));
            let cpu_milli =
                spent.filter(|_| micros > 0).map(|spent| spent.saturating_mul(1000) / micros.max(1));
            let alerts = self.thresholds.alerts(&before, &usage, micros, &seen.spec.limits);
            now.insert(seen.id, (at, usage));
            measured.push(Measured { seen, usage, cpu_milli, alerts });
        }
        self.before = now;
        measured
    }
}

impl Measured {
    /// Memory as a share of its limit, in percent.
    pub(crate) fn memory_percent(&self) -> Option<u64> {
        let limit = self.seen.spec.limits.memory.as_bytes().max(1);
        self.usage.memory_bytes.map(|used| used.saturating_mul(100) / limit)
    }

    /// Processor use in percent of one core, to a tenth.
    pub(crate) fn cpu_percent(&self) -> String {
        self.cpu_milli.map_or_else(|| "-".to_owned(), |milli| format!("{}.{}", milli / 10, milli % 10))
    }

    pub(crate) fn json(&self) -> Value {
        let (seen, usage) = (&self.seen, &self.usage);
        json!({
            "id": seen.id,
            "name": seen.name,
            "agent": seen.spec.agent,
            "state": seen.state,
            "age_seconds": seen.age().as_secs(),
            "cpu_percent": self.cpu_milli.map(tenths),
            "memory_mb": usage.memory_bytes.map(|bytes| bytes >> 20),
            "memory_bytes": usage.memory_bytes,
            "memory_limit_bytes": seen.spec.limits.memory.as_bytes(),
            "disk_bytes": usage.disk_bytes,
            "disk_limit_bytes": seen.spec.limits.disk.as_bytes(),
            "net_rx_bytes": usage.net_rx_bytes,
            "net_tx_bytes": usage.net_tx_bytes,
            "pids": usage.pids,
            "alerts": self.alerts,
        })
    }
}

/// Thousandths of a core as percent.
#[expect(clippy::cast_precision_loss, reason = "no machine has that many cores")]
pub(crate) fn tenths(milli: u64) -> f64 {
    milli as f64 / 10.0
}
