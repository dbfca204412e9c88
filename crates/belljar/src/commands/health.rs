//! `belljar health`: whether sandboxes can run commands, and which promises do not hold.

use std::process::ExitCode;

use anyhow::Result;
use belljar_domain::SandboxState;
use serde_json::{Value, json};

use crate::{
    args::Health,
    context::Context,
    output::{print_json, print_table},
    sandboxes::{Sandboxes, Seen, Wanted},
};

pub(crate) fn health(context: &Context, args: &Health) -> Result<ExitCode> {
    let sandboxes = Sandboxes::open(context)?;
    let asked = match (&args.id, args.all) {
        (Some(name), false) => vec![sandboxes.find(name)?],
        (None, _) | (Some(_), true) => sandboxes.list(&Wanted::default())?,
    };
    let found: Vec<_> = asked.into_iter().map(|seen| (trouble(&sandboxes, &seen), seen)).collect();
    if context.json {
        let all = found.iter().map(|(trouble, seen)| {
            let degraded: Vec<_> = seen.levels.iter().filter(|level| !level.enforced).collect();
            json!({"id": seen.id, "healthy": trouble.is_none(), "state": seen.state, "reason": trouble,
                "degraded": degraded})
        });
        print_json(&Value::Array(all.collect()))?;
    } else {
        let row = |(trouble, seen): &(Option<String>, Seen)| {
            let word = if trouble.is_none() { "yes" } else { "no" };
            let degraded = seen.levels.iter().filter(|level| !level.enforced);
            let degraded: Vec<_> = degraded.map(|level| level.promise.as_str()).collect();
            let why = trouble.clone().unwrap_or_else(|| "-".to_owned());
            let lacks = if degraded.is_empty() { "-".to_owned() } else { degraded.join(", ") };
            vec![seen.id.short(), seen.state.to_string(), word.to_owned(), why, lacks]
        };
        let rows: Vec<_> = found.iter().map(row).collect();
        print_table(&["ID", "STATE", "HEALTHY", "WHY NOT", "NOT ENFORCED"], &rows)?;
    }
    let is_well = found.iter().all(|(trouble, _)| trouble.is_none());
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What keeps a sandbox from running commands. One whose keeper is gone cannot be measured, which is how one notices.
fn trouble(sandboxes: &Sandboxes, seen: &Seen) -> Option<String> {
    match seen.state {
        SandboxState::Running => sandboxes.usage(seen.id).err().map(|error| format!("{error:#}")),
        state => Some(format!("it is {state}")),
    }
}
