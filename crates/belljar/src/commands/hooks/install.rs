//! `belljar hooks install` and `uninstall`: all files are planned, then written; a file that cannot be read stops both.

use std::{env, fs::DirBuilder, io::Write as _, os::unix::fs::DirBuilderExt as _, process::ExitCode};

use anyhow::{Context as _, Result};
use belljar_capture::Agent;
use serde_json::json;

use super::{
    backup,
    place::{Places, Scope},
    plan::Plan,
    registration::Calling,
};
use crate::{args::Settings, context::Context, output::print_json};

pub(super) fn install(context: &Context, args: &Settings) -> Result<ExitCode> {
    let places = Places::new(&context.env, args.target.root.clone())?;
    let agents = args.target.agents().unwrap_or_else(|| places.found());
    let calling = calling(context, args.target.root.is_some())?;
    let scope = args.target.scope();
    let plans: Vec<Plan> =
        agents.iter().map(|agent| Plan::install(&places, agent, scope, &calling)).collect::<Result<_>>()?;
    writable(&plans)?;
    if !args.dry_run {
        // A home that is not there would not be taken for the one that was pinned.
        DirBuilder::new().recursive(true).mode(0o700).create(&context.home).context("make belljar's home")?;
        for plan in plans.iter().filter(|plan| plan.changes()) {
            backup::install(plan, &context.home)?;
        }
    }
    told(context, args, &plans)
}

pub(super) fn uninstall(context: &Context, args: &Settings) -> Result<ExitCode> {
    let places = Places::new(&context.env, args.target.root.clone())?;
    let scope = args.target.scope();
    let agents = args.target.agents().unwrap_or_else(|| {
        Agent::KNOWN.into_iter().filter(|agent| places.file(agent, scope).is_ok()).collect()
    });
    let calling = calling(context, args.target.root.is_some())?;
    let plans: Vec<Plan> = agents
        .iter()
        .map(|agent| Plan::uninstall(&places, agent, scope, &calling, &context.home))
        .collect::<Result<_>>()?;
    writable(&plans)?;
    if !args.dry_run {
        for plan in plans.iter().filter(|plan| plan.changes()) {
            backup::uninstall(plan, &context.home)?;
        }
    }
    told(context, args, &plans)
}

/// Nothing is changed where something cannot be.
fn writable(plans: &[Plan]) -> Result<()> {
    plans.iter().filter(|plan| plan.changes()).try_for_each(|plan| {
        backup::check_writable(&plan.path).with_context(|| format!("`{}`", plan.path.display()))
    })
}

/// How an agent is to call this program: with this home, and this server if the hooks are to tell another than the home's.
/// In an image nothing of this machine is pinned.
pub(super) fn calling(context: &Context, is_for_image: bool) -> Result<Calling> {
    let mut calling = Calling::anywhere(&program()?);
    if !is_for_image {
        calling.pinned = vec!["--home".to_owned(), context.home.display().to_string()];
        let url = context.env.get("BELLJAR_URL").filter(|url| !url.is_empty());
        calling.pinned.extend(url.into_iter().flat_map(|url| ["--url".to_owned(), url.clone()]));
    }
    Ok(calling)
}

/// This program, as an agent will call it.
pub(super) fn program() -> Result<String> {
    let path = env::current_exe().context("find this program")?;
    path.into_os_string().into_string().ok().context("the path of this program is not valid UTF-8")
}

fn told(context: &Context, args: &Settings, plans: &[Plan]) -> Result<ExitCode> {
    if context.json {
        let files: Vec<_> = plans
            .iter()
            .map(|plan| {
                let mut file = plan.json();
                if let Some(file) = file.as_object_mut().filter(|_| args.dry_run) {
                    file.insert("diff".to_owned(), json!(plan.diff()));
                }
                file
            })
            .collect();
        print_json(&json!({"dry_run": args.dry_run, "files": files}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = std::io::stdout().lock();
    for plan in plans {
        if args.dry_run {
            write!(out, "{}", plan.diff())?;
            continue;
        }
        let Plan { state, agent, hooks, .. } = plan;
        writeln!(out, "{state}: {hooks} hooks of {agent} in {}", plan.path.display())?;
        if *agent == Agent::Codex && *state == "installed" && plan.scope != Scope::Managed {
            writeln!(out, "  Codex runs them once you trust them: it asks when it starts")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
