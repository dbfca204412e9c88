//! `belljar hooks replay`: the spool, handed to the server in order, each entry once.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use belljar_capture::Envelope;
use serde_json::json;

use crate::{
    context::Context,
    hook::{Moment, Server, Told, post},
    output::print_json,
    spool::Spool,
};

pub(super) fn replay(context: &Context) -> Result<ExitCode> {
    let spool = Spool::of(&context.home);
    let server = Server::of(Some(&context.home));
    let (mut taken, mut refused) = (0_usize, 0_usize);
    let Some(taking) = spool.take().context("open the spool")? else {
        if spool.held()?.entries > 0 {
            bail!("somebody else is replaying the spool");
        }
        return told(context, taken, refused);
    };
    for entry in taking {
        let entry = entry.context("read the spool")?;
        let Ok(envelope) = Envelope::parse(&entry.line) else {
            entry.refused()?;
            refused += 1;
            continue;
        };
        match post(&server, envelope.agent.as_str(), &entry.line, Moment::Later) {
            Told::Taken(_) => {
                entry.taken()?;
                taken += 1;
            }
            Told::Refused(_) => {
                entry.refused()?;
                refused += 1;
            }
            // What follows was said later; it must not overtake.
            Told::Lost(why) => bail!("{taken} replayed, then the server was gone: {why}"),
        }
    }
    told(context, taken, refused)
}

fn told(context: &Context, taken: usize, refused: usize) -> Result<ExitCode> {
    if context.json {
        print_json(&json!({"replayed": taken, "refused": refused}))?;
    } else {
        println!("{taken} replayed, {refused} refused");
    }
    Ok(ExitCode::SUCCESS)
}
