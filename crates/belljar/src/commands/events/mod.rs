//! `belljar events`: what agents did, live, by question, or as a file. `source` gets events, `line` shows them, `calls` puts
//! the two halves of a call together, `purse` counts the money, `board` knows which line is final.

mod board;
mod calls;
mod export;
mod import;
mod line;
mod purse;
mod query;
mod source;
mod tail;

use std::process::ExitCode;

use anyhow::Result;

use crate::{args::Events, context::Context};

pub(crate) fn events(context: &Context, args: &Events) -> Result<ExitCode> {
    match args {
        Events::Tail(args) => tail::tail(context, args),
        Events::Query(args) => query::query(context, args),
        Events::Export(args) => export::export(context, args),
        Events::Import(args) => import::import(context, args),
    }
}
