//! `belljar list`: what there is.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;

use crate::{
    args::List,
    context::{Context, labels},
    output::{ago, print_json, print_table},
    sandboxes::{Sandboxes, Seen, Wanted},
};

pub(crate) fn list(context: &Context, args: &List) -> Result<ExitCode> {
    let wanted = Wanted { all: args.all, agent: args.agent.clone(), labels: labels(&args.label)? };
    let found = Sandboxes::open(context)?.list(&wanted)?;
    if context.json {
        print_json(&Value::Array(found.iter().map(Seen::json).collect()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut heading = vec!["ID", "STATE", "AGENT", "CREATED", "COMMAND"];
    if args.detailed {
        heading.extend(["NAME", "NETWORK", "MEMORY", "CPUS", "DISK", "WORKSPACE"]);
    }
    let rows: Vec<_> = found.iter().map(|seen| row(seen, args.detailed)).collect();
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

fn row(seen: &Seen, detailed: bool) -> Vec<String> {
    let command: String = seen.command.join(" ").chars().take(40).collect();
    let agent = seen.spec.agent.clone().unwrap_or_else(|| "-".to_owned());
    let mut cells = vec![seen.id.short(), seen.fate(), agent, ago(seen.created), command];
    if detailed {
        let limits = &seen.spec.limits;
        let workspace = seen.spec.workspace.as_ref().map_or("-".to_owned(), ToString::to_string);
        cells.extend([
            seen.name.clone(),
            seen.spec.network.to_string(),
            limits.memory.to_string(),
            limits.cpus.to_string(),
            limits.disk.to_string(),
            workspace,
        ]);
    }
    cells
}
