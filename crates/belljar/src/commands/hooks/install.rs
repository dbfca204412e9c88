//! `belljar hooks install` and `uninstall`: all files are planned, then written; a file that cannot be read stops both.

use std::{env, io::Write as _, process::ExitCode};

use anyhow::{Context as _, Result};
use belljar_capture::Agent;
use serde_json::json;

use super::{
    backup,
    place::{Places, Scope},
    plan::Plan,
};
use crate::{args::Settings, context::Context, output::print_json};

pub(super) fn install(context: &Context, args: &Settings) -> Result<ExitCode> {
    let places = Places::new(&context.env, args.target.root.clone())?;
    let agents = args.target.agents().unwrap_or_else(|| places.found());
    let program = program()?;
    let scope = args.target.scope();
    let plans: Vec<Plan> =
        agents.iter().map(|agent| Plan::install(&places, agent, scope, &program)).collect::<Result<_>>()?;
    if !args.dry_run {
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
    let program = program()?;
    let plans: Vec<Plan> = agents
        .iter()
        .map(|agent| Plan::uninstall(&places, agent, scope, &program, &context.home))
        .collect::<Result<_>>()?;
    if !args.dry_run {
        for plan in plans.iter().filter(|plan| plan.changes()) {
            backup::uninstall(plan, &context.home)?;
        }
    }
    told(context, args, &plans)
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
