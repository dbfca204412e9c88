//! `belljar events query`: a page of the ledger, newest first.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use anyhow::Result;
use serde_json::{Value, json};

use super::{
    line::Style,
    source::{Seen, Source, place_of},
};
use crate::{args::QueryEvents, context::Context, output::print_json, terminal};

pub(super) fn query(context: &Context, args: &QueryEvents) -> Result<ExitCode> {
    let source = Source::new(context, args.which.clone(), args.until.map(|moment| moment.0));
    let found = collect(&source, args)?;
    if context.json {
        print_json(&json!({ "items": found }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let at_terminal = io::stdout().is_terminal();
    let width = terminal::window().filter(|_| at_terminal).map_or(120, |window| usize::from(window.cols));
    let style = Style { colour: context.colour(at_terminal), width };
    let mut out = io::stdout().lock();
    for seen in found.iter().filter_map(Seen::of) {
        writeln!(out, "{}", style.entry(&seen))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// With a place to begin after, oldest first from there; else the newest.
fn collect(source: &Source, args: &QueryEvents) -> Result<Vec<Value>> {
    let limit = usize::from(args.limit);
    let mut found: Vec<Value> = Vec::new();
    let (mut after, mut before) = (args.which.after, None);
    while found.len() < limit {
        let page = match after {
            Some(place) => source.after(place)?,
            None => source.newest(before, limit)?,
        };
        let Some(last) = page.last().and_then(place_of) else { break };
        match after {
            Some(_) => after = Some(last),
            None => before = Some(last),
        }
        found
            .extend(page.into_iter().filter(|event| Seen::of(event).is_some_and(|seen| source.wants(&seen))));
    }
    found.truncate(limit);
    Ok(found)
}
