//! `belljar diff`: what a sandbox changed.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use anyhow::Result;
use belljar_engine::changes::{self, Look};

use crate::{args::Diff, context::Context, output::print_json};

pub(crate) fn diff(context: &Context, args: &Diff) -> Result<ExitCode> {
    let provider = context.provider()?;
    let sandbox = context.find(&provider, &args.id)?;
    let found = changes::find_renames(sandbox.changes()?);
    let terminal = io::stdout().is_terminal();
    let look = match (terminal, context.colour(terminal)) {
        (false, _) => Look::Patch,
        (true, false) => Look::Terminal,
        (true, true) => Look::Colour,
    };
    if context.json {
        print_json(&changes::json(&found)?)?;
    } else if args.stat {
        write!(io::stdout(), "{}", changes::stat(&found, look)?)?;
    } else {
        let mut out = io::BufWriter::new(io::stdout().lock());
        changes::diff(&found, &mut out, look)?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}
