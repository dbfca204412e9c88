//! `belljar quality`: how hard code is to change, or what a change did to it.
//!
//! Owns: which files there are, what git says, and how the answer is shown. What is found is `belljar-quality`'s.

mod git;
mod json;
mod read;
mod sarif;
mod text;
mod walk;

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use anyhow::Result;
use belljar_quality::{Delta, Gate, Scorecard, Source};

use crate::{args::Quality, context::Context, output::print_json};

/// Something does not pass that had to.
const REFUSED: u8 = 1;

pub(crate) fn quality(context: &Context, args: &Quality) -> Result<ExitCode> {
    match &args.diff {
        Some(range) => change(context, args, range),
        None => state(context, args),
    }
}

/// The code as it is.
fn state(context: &Context, args: &Quality) -> Result<ExitCode> {
    let found = walk::walk(&args.path)?;
    let card = Scorecard::of(read::read(&found));
    let gate = args.fail_under.map_or_else(Gate::default, Gate::flat);
    let below: Vec<&str> = card
        .files
        .iter()
        .filter(|file| file.score < gate.threshold(&file.path))
        .map(|file| file.path.as_str())
        .collect();
    if args.sarif {
        print_json(&sarif::log(&card.findings, &card.suppressed))?;
    } else if context.json {
        print_json(&json::card(&card, &found.unknown, &gate))?;
    } else {
        let page = text::Page { colour: context.colour(io::stdout().is_terminal()), all: args.all };
        show(&page.card(&card, &found.unknown, &gate))?;
    }
    let is_judged = args.gate || args.fail_under.is_some();
    Ok(exit(is_judged && !below.is_empty()))
}

/// What a change did.
fn change(context: &Context, args: &Quality, range: &str) -> Result<ExitCode> {
    let sides = git::sides(&args.path, range)?;
    let delta = belljar_quality::delta(&borrow(&sides.base), &borrow(&sides.head));
    if args.sarif {
        print_json(&sarif::log(&delta.new, &[]))?;
    } else if context.json {
        print_json(&json::delta(&delta, &sides))?;
    } else {
        let page = text::Page { colour: context.colour(io::stdout().is_terminal()), all: args.all };
        show(&page.delta(&delta, &sides))?;
    }
    Ok(exit(refuses(args, &delta)))
}

fn borrow(files: &[(String, String)]) -> Vec<Source<'_>> {
    files.iter().map(|(path, text)| Source { path, text }).collect()
}

fn refuses(args: &Quality, delta: &Delta) -> bool {
    args.gate && delta.blocking().next().is_some()
        || args.fail_under.is_some_and(|least| delta.quality < least)
}

fn show(page: &str) -> io::Result<()> {
    io::stdout().lock().write_all(page.as_bytes())
}

fn exit(is_refused: bool) -> ExitCode {
    if is_refused { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS }
}
