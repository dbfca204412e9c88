//! `belljar snapshot` and `belljar restore`.

use std::{collections::BTreeMap, io::Write, process::ExitCode};

use anyhow::{Result, bail};
use belljar_domain::{ExecSpec, SandboxSpec, SnapshotId, TemplateRef};
use belljar_ports::{Keep, SandboxProvider, SnapshotInfo};
use serde_json::{Value, json};

use super::follow::{self, View};
use crate::{
    args::{Restore, Snapshot},
    context::{Context, new_sandbox_id},
    output::{ago, print_json, print_table, timestamp},
    sandboxes::Sandboxes,
    secrets,
};

pub(crate) fn snapshot(context: &Context, args: &Snapshot) -> Result<ExitCode> {
    let sandboxes = Sandboxes::open(context)?;
    if args.list {
        return list(context, &sandboxes.snapshots()?);
    }
    if let Some(id) = args.remove {
        sandboxes.remove_snapshot(id)?;
        return Ok(ExitCode::SUCCESS);
    }
    let taken = sandboxes.snapshot(&sandboxes.find(&args.id)?, args.name.as_deref())?;
    if context.json {
        print_json(&describe(&taken))?;
    } else {
        writeln!(std::io::stdout(), "{}", taken.id)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list(context: &Context, all: &[SnapshotInfo]) -> Result<ExitCode> {
    if context.json {
        print_json(&Value::Array(all.iter().map(describe).collect()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |info: &SnapshotInfo| {
        let size = belljar_domain::ByteSize::bytes(info.bytes).to_string();
        vec![
            info.id.to_string(),
            info.name.clone().unwrap_or_else(|| "-".to_owned()),
            info.of.short(),
            ago(info.created),
            size,
        ]
    };
    print_table(&["ID", "NAME", "OF", "TAKEN", "SIZE"], &all.iter().map(row).collect::<Vec<_>>())?;
    Ok(ExitCode::SUCCESS)
}

fn describe(info: &SnapshotInfo) -> Value {
    json!({"id": info.id, "name": info.name, "of": info.of, "created": timestamp(info.created), "bytes": info.bytes})
}

pub(crate) fn restore(context: &Context, args: &Restore) -> Result<ExitCode> {
    let sandboxes = Sandboxes::open(context)?;
    let id = find(&sandboxes.snapshots()?, &args.snapshot)?;
    if !args.command.is_empty() {
        if sandboxes.is_remote() {
            bail!("a command runs on this machine only; start the sandbox without one, or unset BELLJAR_URL");
        }
        return run_in(context, id, &args.command);
    }
    let id = sandboxes.restore(id)?;
    if context.json {
        print_json(&json!({"sandbox": id, "status": "running"}))?;
    } else {
        writeln!(std::io::stdout(), "{id}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Like `belljar run`, this needs no server.
fn run_in(context: &Context, id: SnapshotId, command: &[String]) -> Result<ExitCode> {
    let provider = context.provider()?;
    let spec = SandboxSpec { template: TemplateRef::Snapshot(id), ..provider.snapshot_spec(id)? };
    let sandbox = provider.create(new_sandbox_id(), &spec, Keep::WithMaker)?;
    let exec = ExecSpec {
        argv: command.to_vec(),
        cwd: None,
        env: BTreeMap::new(),
        user: None,
        terminal: None,
        timeout: Some(spec.clocks.exec_timeout),
    };
    let view = View::choose(context, false);
    let done = follow::follow(context, &*sandbox, exec, view);
    let done = match done {
        Ok(done) => done,
        Err(error) => {
            sandbox.destroy()?;
            return Err(error);
        }
    };
    if sandbox.is_untouched()? {
        sandbox.destroy()?;
    } else {
        sandbox.note(&secrets::command(&context.home, command)?, Some(&done.report))?;
        sandbox.stop(done.report.cause)?;
    }
    if view == View::Json {
        follow::print_done(sandbox.info().id, &done, json!({}))?;
    }
    Ok(ExitCode::from(done.report.exit_code()))
}

fn find(all: &[SnapshotInfo], name: &str) -> Result<SnapshotId> {
    let fits = |info: &&SnapshotInfo| {
        info.name.as_deref() == Some(name) || (name.len() >= 4 && info.id.to_string().ends_with(name))
    };
    match all.iter().filter(fits).collect::<Vec<_>>().as_slice() {
        [one] => Ok(one.id),
        [] => bail!("there is no snapshot `{name}`; `belljar snapshot --list` shows what there is"),
        several => bail!("`{name}` fits {} snapshots; write the whole id", several.len()),
    }
}
