//! `belljar pause` and `belljar resume`.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Result;
use belljar_domain::{SandboxId, SandboxState};
use serde_json::json;

use crate::{args::Target, context::Context, output::print_json, sandboxes::Sandboxes};

pub(crate) fn pause(context: &Context, args: &Target) -> Result<ExitCode> {
    let sandboxes = Sandboxes::open(context)?;
    let id = sandboxes.find(&args.id)?.id;
    tell(context, id, sandboxes.pause(id)?)
}

pub(crate) fn resume(context: &Context, args: &Target) -> Result<ExitCode> {
    let sandboxes = Sandboxes::open(context)?;
    let id = sandboxes.find(&args.id)?.id;
    tell(context, id, sandboxes.resume(id)?)
}

fn tell(context: &Context, id: SandboxId, state: SandboxState) -> Result<ExitCode> {
    if context.json {
        print_json(&json!({"id": id, "state": state}))?;
    } else {
        writeln!(io::stdout(), "{} is {state}", id.short())?;
    }
    Ok(ExitCode::SUCCESS)
}
