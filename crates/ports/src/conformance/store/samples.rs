//! Measurements: steps of a history, and what is left of them later.

use belljar_domain::{SandboxId, Timestamp, Usage};

use super::{Bench, DAY, append, fresh, ok};
use crate::{
    conformance::{Verdict, expect},
    store::{Batch, History, Sample, Store, UsagePoint},
};

/// A whole hour, so that steps fall where the numbers below say.
const START: i64 = 1_700_000_000 / 3600 * 3600 * 1_000_000;

fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(START + second * 1_000_000)
}

/// One sample every ten seconds for two hours.
fn fill(store: &dyn Store, sandbox: SandboxId) -> Verdict {
    let samples = (0..720_u32).map(|number| {
        let usage = Usage {
            cpu_micros: Some(u64::from(number) * 1_000),
            memory_bytes: Some(u64::from(number % 2) * 100),
            pids: Some(3),
            ..Usage::default()
        };
        Sample { sandbox, time: at(i64::from(number) * 10), usage }
    });
    append(store, Batch { samples: samples.collect(), ..Batch::default() }).map(drop)
}

fn ask(
    store: &dyn Store,
    sandbox: SandboxId,
    until: i64,
    step_seconds: u32,
) -> Result<Vec<UsagePoint>, String> {
    ok(store.history(&History { sandbox, from: at(0), until: at(until), step_seconds }))
}

pub(super) fn history(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let sandbox = fresh("sbx_")?;
    fill(&*store, sandbox)?;
    let minutes = ask(&*store, sandbox, 600, 60)?;
    expect("points", &minutes.len(), &10)?;
    let second = minutes.get(1).copied();
    let wanted = UsagePoint {
        time: at(60),
        samples: 6,
        cpu_micros: Some(11_000),
        memory_bytes: Some(50),
        memory_max_bytes: Some(100),
        disk_bytes: None,
        net_rx_bytes: None,
        net_tx_bytes: None,
        pids: Some(3),
    };
    expect("a point", &second, &Some(wanted))?;
    expect("another sandbox", &ask(&*store, fresh("sbx_")?, 600, 60)?.len(), &0)?;
    match ask(&*store, sandbox, 1_000_000, 1) {
        Err(_) => Ok(()),
        Ok(points) => Err(format!("a history of a million steps gave {} points", points.len())),
    }
}

pub(super) fn roll_up(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let sandbox = fresh("sbx_")?;
    fill(&*store, sandbox)?;
    let before = ask(&*store, sandbox, 7200, 3600)?;
    // Seven days after the middle of the second hour: the first hour and a half are summed up.
    let pruned = ok(store.prune(at(5400).plus(DAY * 7)))?;
    expect("summed up", &pruned.samples, &540)?;
    expect("the same in hours", &ask(&*store, sandbox, 7200, 3600)?, &before)?;
    ok(store.prune(at(7200).plus(DAY * 7)))?;
    expect("the same in hours", &ask(&*store, sandbox, 7200, 3600)?, &before)?;
    expect("no minutes any more", &ask(&*store, sandbox, 7200, 60)?.len(), &2)?;
    ok(store.prune(at(7200).plus(DAY * 91)))?;
    expect("nothing after 90 days", &ask(&*store, sandbox, 7200, 3600)?.len(), &0)
}
