//! `belljar terminate` and `belljar kill-agent`: the person's killswitch.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    process::ExitCode,
};

use anyhow::{Result, bail};
use belljar_domain::{KillCause, SandboxId};
use belljar_ports::{SandboxError, SandboxProvider};
use serde_json::json;

use crate::{
    args::{KillAgent, Terminate},
    context::Context,
    killswitch,
    output::print_json,
};

pub(crate) fn terminate(context: &Context, args: &Terminate) -> Result<ExitCode> {
    let provider = context.provider()?;
    let ids = match &args.id {
        Some(name) => vec![context.find(&provider, name)?.info().id],
        None => live(&provider, |_| true)?,
    };
    end(context, &provider, &ids, args.force)
}

pub(crate) fn kill_agent(context: &Context, args: &KillAgent) -> Result<ExitCode> {
    let provider = context.provider()?;
    let ids = live(&provider, |agent| agent == Some(args.agent.as_str()))?;
    if ids.is_empty() {
        bail!("agent `{}` has no running sandbox", args.agent);
    }
    end(context, &provider, &ids, args.force)
}

fn live(provider: &dyn SandboxProvider, fits: impl Fn(Option<&str>) -> bool) -> Result<Vec<SandboxId>> {
    let all = provider.list()?.into_iter();
    Ok(all
        .filter(|info| info.state.is_live() && fits(info.spec.agent.as_deref()))
        .map(|info| info.id)
        .collect())
}

fn end(
    context: &Context,
    provider: &dyn SandboxProvider,
    ids: &[SandboxId],
    force: bool,
) -> Result<ExitCode> {
    if !force && !context.json && io::stdin().is_terminal() && !ids.is_empty() && !confirmed(ids.len())? {
        return Ok(ExitCode::FAILURE);
    }
    for id in ids {
        let sandbox = match provider.find(*id) {
            Ok(sandbox) => sandbox,
            // It ended and was removed since it was listed.
            Err(SandboxError::Unknown(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        sandbox.stop(Some(KillCause::Killswitch))?;
        killswitch::tell(&context.config.handlers, &sandbox.info(), KillCause::Killswitch, None);
    }
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
    write!(io::stderr(), "end {count} running sandbox{}? [y/N] ", if count == 1 { "" } else { "es" })?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
