//! `belljar hooks replay`: the spool, handed to the server in order, each entry once.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use crate::{context::Context, hook::Server, output::print_json, replay, spool::Spool};

pub(super) fn replay(context: &Context) -> Result<ExitCode> {
    let server = Server::by_environment(Some(&context.home));
    let done = replay::replay(&context.home, &server, || false).context("read the spool")?;
    if done.is_none() && Spool::of(&context.home).held()?.entries > 0 {
        bail!("somebody else is replaying the spool");
    }
    let replay::Replayed { taken, refused, stopped } = done.unwrap_or_default();
    if let Some(why) = stopped {
        bail!("{taken} replayed, then the server was gone: {why}");
    }
    if context.json {
        print_json(&json!({"replayed": taken, "refused": refused}))?;
    } else {
        println!("{taken} replayed, {refused} refused");
    }
    Ok(ExitCode::SUCCESS)
}
