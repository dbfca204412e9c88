//! `belljar runs diff`: attempts against the base, against each other, or both onto the base.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use anyhow::{Result, bail};
use belljar_engine::changes::{Bundle, Held, Look, Thing};
use serde_json::json;

use super::{changes, find, git, items, text};
use crate::{
    args::RunDiff,
    client::Client,
    commands::embedded::field,
    context::Context,
    output::{plain, print_json},
};

pub(super) fn diff(context: &Context, server: &Client, args: &RunDiff) -> Result<ExitCode> {
    let run = find(server, &args.run)?;
    let (from, to) = (args.from.map(|fork| fork.to_string()), args.to.map(|fork| fork.to_string()));
    if args.three_way
        && let (Some(from), Some(to)) = (&from, &to)
    {
        let (one, two) = (changes(server, &run, "base", from)?, changes(server, &run, "base", to)?);
        return three_way(&one, &two, (from, to));
    }
    match (from, to) {
        (Some(from), Some(to)) => show(context, args, &changes(server, &run, &from, &to)?),
        (Some(fork), None) => show(context, args, &changes(server, &run, "base", &fork)?),
        (None, _) => each(context, server, args, &run),
    }
}

/// Every attempt that left something, one after the other.
fn each(context: &Context, server: &Client, args: &RunDiff, run: &str) -> Result<ExitCode> {
    let shown = server.records(&format!("runs/{run}"), &[])?;
    let forks: Vec<String> = items(&shown, "forks")
        .filter(|fork| !field(fork, "diff_stat").is_null())
        .map(|fork| field(fork, "fork").to_string())
        .collect();
    if forks.is_empty() {
        bail!("no attempt of run {} left changes", text(&shown, "id"));
    }
    if context.json {
        let all: Result<BTreeMap<&String, Bundle>> =
            forks.iter().map(|fork| Ok((fork, changes(server, run, "base", fork)?))).collect();
        print_json(&json!(all?))?;
        return Ok(ExitCode::SUCCESS);
    }
    for fork in forks {
        writeln!(io::stdout(), "# attempt {fork}")?;
        show(context, args, &changes(server, run, "base", &fork)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(context: &Context, args: &RunDiff, found: &Bundle) -> Result<ExitCode> {
    if context.json {
        print_json(&json!(found))?;
        return Ok(ExitCode::SUCCESS);
    }
    let terminal = io::stdout().is_terminal();
    let look = match (terminal, context.colour(terminal)) {
        (false, _) => Look::Patch,
        (true, false) => Look::Terminal,
        (true, true) => Look::Colour,
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.stat {
        for held in &found.files {
            let one = Bundle { files: vec![held.clone()], ..Bundle::default() }.extent();
            writeln!(out, " {} | +{} -{}", plain(&held.path), one.additions, one.deletions)?;
        }
        let all = found.extent();
        writeln!(out, " {} files changed, +{} -{}", all.files, all.additions, all.deletions)?;
    } else {
        found.patch(&mut out, look)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Both attempts on the base: what only one changed is named, what both changed is merged, with marks where they disagree.
fn three_way(one: &Bundle, two: &Bundle, names: (&str, &str)) -> Result<ExitCode> {
    let by_path = |bundle: &Bundle| -> BTreeMap<String, Held> {
        bundle.files.iter().map(|held| (held.path.clone(), held.clone())).collect()
    };
    let (first, second) = (by_path(one), by_path(two));
    let paths: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let mut out = io::stdout().lock();
    let is_shown = out.is_terminal();
    for path in paths {
        let name = plain(path);
        match (first.get(path), second.get(path)) {
            (Some(_), None) => writeln!(out, "# {name}: attempt {} alone", names.0)?,
            (None, Some(_)) => writeln!(out, "# {name}: attempt {} alone", names.1)?,
            (Some(a), Some(b)) if a.after == b.after => writeln!(out, "# {name}: both the same")?,
            (Some(a), Some(b)) => {
                let bytes =
                    |thing: &Option<Thing>| thing.as_ref().map_or(Vec::new(), |thing| thing.bytes().to_vec());
                let labels = (format!("attempt {}", names.0), format!("attempt {}", names.1));
                let merged = git::merge(
                    [&bytes(&a.after), &bytes(&a.before), &bytes(&b.after)],
                    (&labels.0, &labels.1),
                )?;
                let word = if merged.clean { "both, and they agree" } else { "both, and they disagree" };
                writeln!(out, "# {name}: {word}")?;
                if is_shown {
                    let text = String::from_utf8_lossy(&merged.text);
                    text.lines()
                        .try_for_each(|line| writeln!(out, "{}", plain(&line.replace('\t', "    "))))?;
                } else {
                    out.write_all(&merged.text)?;
                }
            }
            (None, None) => {}
        }
    }
    Ok(ExitCode::SUCCESS)
}
