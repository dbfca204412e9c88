//! `belljar ports`: what something in a sandbox listens on.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};

use crate::{
    args::Target,
    context::Context,
    output::{print_json, print_table},
    sandboxes::Sandboxes,
};

pub(crate) fn ports(context: &Context, args: &Target) -> Result<ExitCode> {
    let sandboxes = Sandboxes::open(context)?;
    let found = sandboxes.ports(sandboxes.find(&args.id)?.id)?;
    if context.json {
        let all = found.iter().map(|at| json!({"port": at.port, "address": at.address, "url": at.url}));
        print_json(&Value::Array(all.collect()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |at: &crate::sandboxes::Listening| {
        vec![at.port.to_string(), at.address.clone(), at.url.clone().unwrap_or_else(|| "-".to_owned())]
    };
    print_table(&["PORT", "ADDRESS", "URL"], &found.iter().map(row).collect::<Vec<_>>())?;
    Ok(ExitCode::SUCCESS)
}
