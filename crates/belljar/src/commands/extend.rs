//! `belljar extend`: more time for a sandbox.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Result;
use serde_json::json;

use crate::{args::Extend, context::Context, output::print_json, sandboxes::Sandboxes};

pub(crate) fn extend(context: &Context, args: &Extend) -> Result<ExitCode> {
    let sandboxes = Sandboxes::open(context)?;
    let seen = sandboxes.find(&args.id)?;
    sandboxes.extend(seen.id, args.ttl)?;
    if context.json {
        print_json(&json!({"id": seen.id, "ttl_seconds": args.ttl.as_millis() / 1000}))?;
    } else {
        writeln!(io::stdout(), "{} lives for {} from now", seen.id.short(), args.ttl)?;
    }
    Ok(ExitCode::SUCCESS)
}
