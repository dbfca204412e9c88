//! Runs one probe in a child under a clock and turns whatever becomes of it into a report.

use std::path::Path;

use crate::context::Context;
use crate::probes::{Death, Probe};
use crate::report::{Report, Verdict};
use crate::sys::fork::{Outcome, in_child};

/// The directory bulky probes put their files in; removed after every probe, also one that was killed.
pub const SCRATCH: &str = ".belljar-probe-scratch";

/// Runs `probe` and reports. Never fails: not knowing is reported as not contained.
#[must_use]
pub fn run(probe: &Probe, context: &Context) -> Report {
    let outcome = in_child(probe.limit, || {
        let verdict = (probe.run)(context);
        serde_json::to_string(&verdict).unwrap_or_default()
    });
    for place in context.writable_places() {
        sweep(&place);
    }
    let verdict = match outcome {
        Ok(Outcome::Said(text)) => serde_json::from_str(&text)
            .unwrap_or_else(|error| Verdict::unknown(format!("garbled verdict: {error}"))),
        Ok(Outcome::Killed(libc::SIGSYS)) => Verdict::contained("killed by SIGSYS (seccomp)"),
        Ok(Outcome::Killed(signal)) if probe.death == Death::Contains => {
            Verdict::contained(format!("killed by signal {signal}"))
        }
        Ok(other) => Verdict::unknown(format!("the probe gave no answer: {other:?}")),
        Err(errno) => Verdict::unknown(format!("cannot start the probe: {errno}")),
    };
    report(probe, verdict)
}

/// Gives a verdict its probe's name.
#[must_use]
pub fn report(probe: &Probe, verdict: Verdict) -> Report {
    Report {
        probe: probe.name.to_owned(),
        promise: probe.promise.to_owned(),
        contained: verdict.contained,
        detail: verdict.detail,
    }
}

fn sweep(place: &Path) {
    // Most places have none; and a place that cannot be cleaned cannot have been written to either.
    _ = std::fs::remove_dir_all(place.join(SCRATCH));
}
