//! `belljar list`: what there is.

use std::process::ExitCode;

use anyhow::Result;
use belljar_ports::{SandboxInfo, SandboxProvider};
use serde_json::{Value, json};

use crate::{
    args::List,
    context::{Context, labels},
    output::{ago, print_json, print_table, timestamp},
};

pub(crate) fn list(context: &Context, args: &List) -> Result<ExitCode> {
    let provider = context.provider()?;
    provider.sweep()?;
    let wanted = labels(&args.label)?;
    let fits = |info: &SandboxInfo| {
        (args.all || info.state.is_live())
            && args.agent.as_ref().is_none_or(|agent| info.spec.agent.as_ref() == Some(agent))
            && wanted.iter().all(|(name, value)| info.spec.labels.get(name) == Some(value))
    };
    let found: Vec<_> = provider.list()?.into_iter().filter(fits).collect();
    if context.json {
        print_json(&Value::Array(found.iter().map(describe).collect()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut heading = vec!["ID", "STATE", "AGENT", "CREATED", "COMMAND"];
    if args.detailed {
        heading.extend(["NETWORK", "MEMORY", "CPUS", "DISK", "WORKSPACE"]);
    }
    let rows: Vec<_> = found.iter().map(|info| row(info, args.detailed)).collect();
    print_table(&heading, &rows)?;
    if rows.is_empty() {
        eprintln_hint(args.all);
    }
    Ok(ExitCode::SUCCESS)
}

fn eprintln_hint(all: bool) {
    let text = if all {
        "no sandboxes; start one with `belljar run`\n"
    } else {
        "nothing is running; `belljar list --all` shows ended ones\n"
    };
    // An empty table says the same.
    let _unheard = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
}

fn row(info: &SandboxInfo, detailed: bool) -> Vec<String> {
    let state = match info.cause {
        Some(cause) => format!("{} ({cause})", info.state),
        None => info.state.to_string(),
    };
    let command: String = info.command.join(" ").chars().take(40).collect();
    let agent = info.spec.agent.clone().unwrap_or_else(|| "-".to_owned());
    let mut cells = vec![info.id.short(), state, agent, ago(info.created), command];
    if detailed {
        let limits = &info.spec.limits;
        let workspace = info.spec.workspace.as_ref().map_or("-".to_owned(), ToString::to_string);
        cells.extend([
            info.spec.network.to_string(),
            limits.memory.to_string(),
            limits.cpus.to_string(),
            limits.disk.to_string(),
            workspace,
        ]);
    }
    cells
}

/// A sandbox as JSON. Values of its environment may be secrets and are not shown.
pub(crate) fn describe(info: &SandboxInfo) -> Value {
    let mut spec = serde_json::to_value(&info.spec).unwrap_or_default();
    if let Some(spec) = spec.as_object_mut() {
        spec.insert("env".to_owned(), json!(info.spec.env.keys().collect::<Vec<_>>()));
    }
    json!({
        "id": info.id,
        "name": info.name,
        "state": info.state,
        "status": info.state.status(),
        "provider": info.provider,
        "isolation": info.isolation,
        "spec": spec,
        "created": timestamp(info.created),
        "ended": info.ended.map(timestamp),
        "cause": info.cause,
        "command": info.command,
        "report": info.report,
        "levels": info.levels,
        "dir": info.dir,
    })
}
