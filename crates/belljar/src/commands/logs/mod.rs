//! `belljar logs`: what commands printed, what was done, and where words occur.

pub(super) mod deeds;
mod output;
mod search;

use std::process::ExitCode;

use anyhow::Result;

use crate::{args::Logs, context::Context, sandboxes::Sandboxes};

pub(crate) fn logs(context: &Context, args: &Logs) -> Result<ExitCode> {
    let sandboxes = Sandboxes::open(context)?;
    let asks_for_deeds =
        args.agent.is_some() || args.sandbox.is_some() || args.operation.is_some() || args.limit.is_some();
    match &args.search {
        Some(words) => search::search(context, &sandboxes, args, words),
        None if asks_for_deeds => deeds::deeds(context, &sandboxes, args),
        None => output::output(context, &sandboxes, args),
    }
}
