//! `belljar metrics`: processor, memory, disk, network and alerts, by sandbox and by agent.

use std::{collections::BTreeMap, process::ExitCode, thread, time::Duration};

use anyhow::Result;
use serde_json::{Value, json};

use crate::{
    args::Metrics,
    context::Context,
    output::{amount, print_json, print_table},
    sandboxes::{Measured, Meter, Sandboxes, Wanted, tenths},
};

/// How far two measurements are apart.
const APART: Duration = Duration::from_millis(250);

pub(crate) fn metrics(context: &Context, args: &Metrics) -> Result<ExitCode> {
    let sandboxes = Sandboxes::open(context)?;
    let live = sandboxes.list(&Wanted { agent: args.agent.clone(), ..Wanted::default() })?;
    let mut meter = Meter::new(context.config.thresholds);
    if !live.is_empty() {
        meter.measure(&sandboxes, live.clone());
        thread::sleep(APART);
    }
    let measured = meter.measure(&sandboxes, live);
    if context.json {
        let all: Vec<_> = measured.iter().map(Measured::json).collect();
        print_json(&json!({"sandboxes": all, "agents": agents(&measured), "alerts": alerts(&measured)}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |one: &Measured| {
        let usage = &one.usage;
        vec![
            one.seen.id.short(),
            one.seen.spec.agent.clone().unwrap_or_else(|| "-".to_owned()),
            one.cpu_percent(),
            format!("{}/{}", amount(usage.memory_bytes), one.seen.spec.limits.memory),
            format!("{}/{}", amount(usage.disk_bytes), one.seen.spec.limits.disk),
            format!("{}/{}", amount(usage.net_rx_bytes), amount(usage.net_tx_bytes)),
            one.alerts.len().to_string(),
        ]
    };
    let heading = ["ID", "AGENT", "CPU %", "MEMORY", "DISK", "NET RX/TX", "ALERTS"];
    print_table(&heading, &measured.iter().map(row).collect::<Vec<_>>())?;
    Ok(ExitCode::SUCCESS)
}

fn alerts(measured: &[Measured]) -> usize {
    measured.iter().map(|one| one.alerts.len()).sum()
}

/// What each agent's sandboxes use, on average.
fn agents(measured: &[Measured]) -> Value {
    let mut by_agent: BTreeMap<&str, Vec<&Measured>> = BTreeMap::new();
    for one in measured {
        by_agent.entry(one.seen.spec.agent.as_deref().unwrap_or("-")).or_default().push(one);
    }
    let average = |numbers: Vec<u64>| {
        let count = u64::try_from(numbers.len()).unwrap_or(0);
        numbers.iter().sum::<u64>().checked_div(count)
    };
    let sum_up = |(agent, all): (&str, Vec<&Measured>)| {
        let summary = json!({
            "sandboxes": all.len(),
            "cpu_percent": average(all.iter().filter_map(|one| one.cpu_milli).collect()).map(tenths),
            "memory_bytes": average(all.iter().filter_map(|one| one.usage.memory_bytes).collect()),
            "alerts": all.iter().map(|one| one.alerts.len()).sum::<usize>(),
        });
        (agent.to_owned(), summary)
    };
    Value::Object(by_agent.into_iter().map(sum_up).collect())
}
