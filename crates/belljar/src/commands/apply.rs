//! `belljar apply`: bring a sandbox's changes into the host's directory.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::Result;
use belljar_engine::changes::{self, Applied, ApplyError, ApplyOptions, GitInternals, OnConflict};
use serde_json::json;

use crate::{args::Apply, context::Context, output::print_json};

pub(crate) fn apply(context: &Context, args: &Apply) -> Result<ExitCode> {
    let provider = context.provider()?;
    let sandbox = context.find(&provider, &args.id)?;
    let options = ApplyOptions {
        git_internals: if args.allow_git_internals { GitInternals::Allow } else { GitInternals::HoldBack },
        on_conflict: if args.three_way { OnConflict::Merge } else { OnConflict::Refuse },
    };
    let found = sandbox.changes()?;
    let applied = match changes::apply(&found, options) {
        Ok(applied) => applied,
        Err(ApplyError::Conflicts(conflicts)) => {
            let list: Vec<_> =
                conflicts.iter().map(|c| format!("  {}: {}", c.path.display(), c.reason)).collect();
            anyhow::bail!(
                "nothing was applied: the host's directory changed since the sandbox was made\n{}\n  hint: `belljar apply --3way` merges text files in a git repository; `belljar diff` shows the sandbox's side",
                list.join("\n")
            );
        }
        Err(error) => return Err(error.into()),
    };
    let clean = applied.conflicted.is_empty();
    let over = !sandbox.info().state.is_live();
    if over && clean && !args.keep && applied.held_back.is_empty() {
        sandbox.destroy()?;
    }
    if context.json {
        print_json(&as_json(&applied))?;
    } else {
        tell(&applied)?;
    }
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn as_json(applied: &Applied) -> serde_json::Value {
    json!({
        "written": applied.written,
        "removed": applied.removed,
        "already": applied.already,
        "merged": applied.merged,
        "conflicted": applied.conflicted,
        "held_back": applied.held_back,
        "skipped": applied.skipped,
        "kept": applied.kept,
        "outside_links": applied.outside_links,
    })
}

fn tell(applied: &Applied) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let groups: [(&str, &[PathBuf]); 8] = [
        ("wrote", &applied.written),
        ("removed", &applied.removed),
        ("merged", &applied.merged),
        ("CONFLICT, marked in the file", &applied.conflicted),
        ("held back (runs code on this host; --allow-git-internals brings it)", &applied.held_back),
        ("skipped (neither file, directory nor link)", &applied.skipped),
        ("kept (not empty on the host)", &applied.kept),
        ("points outside the workspace", &applied.outside_links),
    ];
    let mut any = false;
    for (what, paths) in groups {
        for path in paths {
            any = true;
            writeln!(out, "{what}: {}", path.display())?;
        }
    }
    if !any {
        writeln!(out, "nothing to apply")?;
    }
    Ok(())
}
