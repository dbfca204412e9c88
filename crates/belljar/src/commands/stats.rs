//! `belljar stats`: what sandboxes use, now or in the past.

use std::{
    fs,
    io::{self, Write},
    process::ExitCode,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};
use belljar_domain::{ByteSize, SandboxId, Usage};
use belljar_ports::{Sandbox, SandboxProvider};
use serde_json::{Value, json};

use crate::{
    args::Stats,
    context::Context,
    output::{print_json, print_table},
};

pub(crate) fn stats(context: &Context, args: &Stats) -> Result<ExitCode> {
    let provider = context.provider()?;
    if let (Some(name), true) = (&args.id, args.history) {
        let sandbox = context.find(&provider, name)?;
        let path = sandbox.info().dir.join("usage.jsonl");
        let text = fs::read_to_string(&path)
            .context("this sandbox has no history: its command was over too soon")?;
        io::stdout().write_all(text.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        let measured = measure(context, &provider, args)?;
        print(context, &measured)?;
        if !args.follow || measured.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        thread::sleep(Duration::from_secs(1));
    }
}

fn measure(
    context: &Context,
    provider: &dyn SandboxProvider,
    args: &Stats,
) -> Result<Vec<(SandboxId, Usage)>> {
    let one = |sandbox: Box<dyn Sandbox>| sandbox.usage().map(|usage| (sandbox.info().id, usage));
    match &args.id {
        Some(name) => Ok(vec![one(context.find(provider, name)?)?]),
        None => {
            let live = provider.list()?.into_iter().filter(|info| info.state.is_live());
            Ok(live.filter_map(|info| provider.find(info.id).and_then(one).ok()).collect())
        }
    }
}

fn print(context: &Context, measured: &[(SandboxId, Usage)]) -> Result<()> {
    if context.json {
        let all = measured.iter().map(|(id, usage)| json!({"id": id, "usage": usage})).collect();
        return Ok(print_json(&Value::Array(all))?);
    }
    let size = |bytes: Option<u64>| bytes.map_or("-".to_owned(), |bytes| ByteSize::bytes(bytes).to_string());
    let count = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let row = |(id, usage): &(SandboxId, Usage)| {
        let cpu = usage.cpu_micros.map_or("-".to_owned(), |micros| {
            format!("{}.{:02}s", micros / 1_000_000, micros % 1_000_000 / 10_000)
        });
        vec![
            id.short(),
            cpu,
            size(usage.memory_bytes),
            size(usage.memory_peak_bytes),
            count(usage.pids),
            size(usage.disk_bytes),
            count(usage.inodes),
            format!("{}/{}", size(usage.net_rx_bytes), size(usage.net_tx_bytes)),
        ]
    };
    let rows: Vec<_> = measured.iter().map(row).collect();
    Ok(print_table(&["ID", "CPU", "MEMORY", "PEAK", "PIDS", "DISK", "INODES", "NET RX/TX"], &rows)?)
}
