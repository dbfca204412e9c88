//! `belljar terminate`: a person ends sandboxes.

use std::{
    io::{self, BufRead, Write},
    process::ExitCode,
};

use anyhow::Result;
use belljar_domain::{KillCause, SandboxId};
use serde_json::json;

use crate::{
    args::Terminate,
    context::Context,
    killswitch,
    output::{print_json, remark},
    sandboxes::{Sandboxes, Seen, Wanted},
};

pub(crate) fn terminate(context: &Context, args: &Terminate) -> Result<ExitCode> {
    let sandboxes = Sandboxes::open(context)?;
    let meant = match &args.id {
        Some(name) => vec![sandboxes.find(name)?],
        None => sandboxes.list(&Wanted::default())?,
    };
    end(context, &sandboxes, &meant, args.force)
}

fn end(context: &Context, sandboxes: &Sandboxes, meant: &[Seen], force: bool) -> Result<ExitCode> {
    // Who asks for JSON is a program, and meant it.
    if !force && !context.json && !meant.is_empty() && !confirmed(meant.len())? {
        remark("nothing was ended; `--force` does not ask");
        return Ok(ExitCode::FAILURE);
    }
    for seen in meant {
        if sandboxes.end(seen)? {
            killswitch::tell(&context.config.handlers, seen, KillCause::Killswitch, None);
        }
    }
    let ids: Vec<SandboxId> = meant.iter().map(|seen| seen.id).collect();
    if context.json {
        print_json(&json!({"terminated": ids}))?;
    } else {
        for id in ids {
            writeln!(io::stdout(), "terminated {}", id.short())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn confirmed(count: usize) -> Result<bool> {
    confirm(&format!("end {count} running sandbox{}?", if count == 1 { "" } else { "es" }))
}

/// Asks whoever is at the other end of standard input; silence is a no.
pub(super) fn confirm(question: &str) -> Result<bool> {
    write!(io::stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
