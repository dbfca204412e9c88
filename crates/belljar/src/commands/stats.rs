//! `belljar stats`: what sandboxes use, now or in the past.

use std::{
    fs,
    io::{self, Write},
    process::ExitCode,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};
use belljar_domain::{SandboxId, Usage};
use serde_json::{Value, json};

use crate::{
    args::Stats,
    context::Context,
    output::{amount, print_json, print_table},
    sandboxes::{Sandboxes, Wanted},
};

pub(crate) fn stats(context: &Context, args: &Stats) -> Result<ExitCode> {
    let sandboxes = Sandboxes::open(context)?;
    if let (Some(name), true) = (&args.id, args.history) {
        let dir = sandboxes.find(name)?.dir.context("its history is on another machine, or gone")?;
        let path = dir.join("usage.jsonl");
        let text = fs::read_to_string(&path)
            .context("this sandbox has no history: its command was over too soon")?;
        io::stdout().write_all(text.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        let measured = measure(&sandboxes, args)?;
        print(context, &measured)?;
        if !args.follow || measured.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        thread::sleep(Duration::from_secs(1));
    }
}

fn measure(sandboxes: &Sandboxes, args: &Stats) -> Result<Vec<(SandboxId, Usage)>> {
    if let (Some(name), false) = (&args.id, args.all) {
        let id = sandboxes.find(name)?.id;
        return Ok(vec![(id, sandboxes.usage(id)?)]);
    }
    let live = sandboxes.list(&Wanted::default())?.into_iter();
    Ok(live.filter_map(|seen| Some((seen.id, sandboxes.usage(seen.id).ok()?))).collect())
}

fn print(context: &Context, measured: &[(SandboxId, Usage)]) -> Result<()> {
    if context.json {
        let all = measured.iter().map(|(id, usage)| json!({"id": id, "usage": usage})).collect();
        return Ok(print_json(&Value::Array(all))?);
    }
    let count = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let row = |(id, usage): &(SandboxId, Usage)| {
        let cpu = usage.cpu_micros.map_or("-".to_owned(), |micros| {
            format!("{}.{:02}s", micros / 1_000_000, micros % 1_000_000 / 10_000)
        });
        vec![
            id.short(),
            cpu,
            amount(usage.memory_bytes),
            amount(usage.memory_peak_bytes),
            count(usage.pids),
            amount(usage.disk_bytes),
            count(usage.inodes),
            format!("{}/{}", amount(usage.net_rx_bytes), amount(usage.net_tx_bytes)),
        ]
    };
    let rows: Vec<_> = measured.iter().map(row).collect();
    Ok(print_table(&["ID", "CPU", "MEMORY", "PEAK", "PIDS", "DISK", "INODES", "NET RX/TX"], &rows)?)
}
