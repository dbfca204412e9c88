//! `belljar pause` and `belljar resume`.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::{args::Target, context::Context, output::print_json};

pub(crate) fn pause(context: &Context, args: &Target) -> Result<ExitCode> {
    let provider = context.provider()?;
    let sandbox = context.find(&provider, &args.id)?;
    sandbox.pause()?;
    tell(context, &*sandbox)
}

pub(crate) fn resume(context: &Context, args: &Target) -> Result<ExitCode> {
    let provider = context.provider()?;
    let sandbox = context.find(&provider, &args.id)?;
    sandbox.resume()?;
    tell(context, &*sandbox)
}

fn tell(context: &Context, sandbox: &dyn belljar_ports::Sandbox) -> Result<ExitCode> {
    let info = sandbox.info();
    if context.json {
        print_json(&json!({"id": info.id, "state": info.state}))?;
    } else {
        std::io::Write::write_fmt(
            &mut std::io::stdout(),
            format_args!("{} is {}\n", info.id.short(), info.state),
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
