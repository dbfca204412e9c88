//! `belljar audit`: the ledger, read beside a running server or without one.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use belljar_ports::{
    Store,
    store::{Finding, Tampering},
};
use belljar_store::SqliteStore;
use serde_json::{Value, json};

use super::logs::deeds;
use crate::{
    args::{Audit, Export, Recent, Verify},
    client::Event,
    context::Context,
    output::{amount, print_json},
    sandboxes::read_store,
};

pub(crate) fn audit(context: &Context, command: Audit) -> Result<ExitCode> {
    let store = read_store(&context.home)?.with_context(|| {
        format!("`{}` has no ledger yet; `belljar serve` begins one", context.home.display())
    })?;
    match command {
        Audit::Verify(args) => verify(context, &store, &args),
        Audit::Export(args) => export(context, &store, &args),
        Audit::Stats => stats(context, &store),
        Audit::List(args) => list(context, &store, &args),
    }
}

fn verify(context: &Context, store: &SqliteStore, args: &Verify) -> Result<ExitCode> {
    let found = store.verify(args.head).context("verify the ledger")?;
    let head = format!("{}:{}", found.head.seq, found.head.hash);
    let verdict = if found.finding.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if context.json {
        let finding = found
            .finding
            .as_ref()
            .map(|finding| json!({"seq": finding.seq, "what": finding.what, "text": describe(finding)}));
        print_json(&json!({
            "intact": found.finding.is_none(),
            "events": found.events,
            "pruned": found.pruned,
            "head": head,
            "keyed": found.keyed,
            "finding": finding,
        }))?;
        return Ok(verdict);
    }
    let mut out = io::stdout().lock();
    match &found.finding {
        None => writeln!(out, "intact: {} events", found.events)?,
        Some(finding) => writeln!(out, "TAMPERED: {}", describe(finding))?,
    }
    if found.pruned > 0 {
        writeln!(
            out,
            "  {} older events were removed by retention, vouched for by checkpoints",
            found.pruned
        )?;
    }
    writeln!(out, "  head {head}")?;
    if !found.keyed {
        writeln!(out, "  without ledger.key only the hashes were checked")?;
    }
    Ok(verdict)
}

fn describe(finding: &Finding) -> String {
    let seq = finding.seq;
    match finding.what {
        Tampering::Changed => format!("event {seq} was changed"),
        Tampering::Dropped { last } if last == seq => format!("event {seq} is gone"),
        Tampering::Dropped { last } => format!("events {seq} to {last} are gone"),
        Tampering::Reordered => format!("event {seq} is not where it was written"),
        Tampering::Inserted => format!("event {seq} was never appended there"),
        Tampering::MissingTail { last } => format!("the events from {seq} to the end, {last}, are gone"),
        Tampering::ForgedCheckpoint => format!("the checkpoint at {seq} was not made by this ledger"),
        Tampering::ForgedHead => format!("the head at {seq} was not made by this ledger"),
        Tampering::Replaced => format!("the ledger does not contain the head noted at {seq}"),
    }
}

fn export(context: &Context, store: &SqliteStore, args: &Export) -> Result<ExitCode> {
    let filter = args.which.filter();
    let Some(path) = &args.output else {
        let mut out = BufWriter::new(io::stdout().lock());
        store.export(&filter, args.format.into(), &mut out).context("export the ledger")?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    };
    let doing = || format!("write `{}`", path.display());
    let mut out = BufWriter::new(File::create(path).with_context(doing)?);
    let count = store.export(&filter, args.format.into(), &mut out).with_context(doing)?;
    // A copy that is not on the disk is none.
    out.into_inner()
        .map_err(io::IntoInnerError::into_error)
        .and_then(|file| file.sync_all())
        .with_context(doing)?;
    if context.json {
        print_json(&json!({"events": count, "file": path}))?;
    } else {
        writeln!(io::stdout(), "{count} events in {}", path.display())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn stats(context: &Context, store: &SqliteStore) -> Result<ExitCode> {
    let stats = store.stats(None).context("count the ledger")?;
    if context.json {
        print_json(&serde_json::to_value(&stats)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{} events, {} of database, {} of artifacts",
        stats.events,
        amount(Some(stats.bytes)),
        amount(Some(stats.artifact_bytes))
    )?;
    if let (Some(oldest), Some(newest)) = (stats.oldest, stats.newest) {
        writeln!(out, "from {oldest} to {newest}")?;
    }
    let groups = [
        ("kind", &stats.by_kind),
        ("operation", &stats.by_operation),
        ("status", &stats.by_status),
        ("decision", &stats.by_decision),
        ("agent", &stats.by_agent),
        ("role", &stats.by_role),
    ];
    for (name, counts) in groups.into_iter().filter(|(_, counts)| !counts.is_empty()) {
        writeln!(out, "by {name}:")?;
        for (what, count) in counts {
            writeln!(out, "  {count:>8}  {}", crate::output::plain(what))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(context: &Context, store: &SqliteStore, args: &Recent) -> Result<ExitCode> {
    let newest = store.events_before(&args.which.filter(), u64::MAX, args.limit.into());
    let mut events: Vec<Event> = newest.context("read the ledger")?.into_iter().map(Event::from).collect();
    events.reverse();
    if context.json {
        print_json(&Value::Array(events.iter().map(deeds::describe).collect()))?;
    } else {
        deeds::print(&events)?;
    }
    Ok(ExitCode::SUCCESS)
}
