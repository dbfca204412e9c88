//! `belljar hooks`: agents' hooks, one file per act.
//!
//! `place` knows where settings are, `registration` what goes into them, `edit` how it gets in and out, `plan` what that
//! would do to a file, `backup` how it is done.

mod backup;
mod document;
mod edit;
mod install;
mod keys;
mod list;
mod place;
mod plan;
mod plugin;
mod registration;
mod replay;
mod scan;
mod splice;
mod status;
mod trial;

use std::{collections::BTreeMap, process::ExitCode};

use anyhow::{Context as _, Result};
use belljar_capture::Agent;
use serde_json::Value;

use self::place::Scope;
use crate::{
    args::{AgentTarget, Hooks, Trial},
    context::Context,
};

pub(crate) fn hooks(context: &Context, args: &Hooks) -> Result<ExitCode> {
    match args {
        Hooks::Install(args) => install::install(context, args),
        Hooks::Uninstall(args) => install::uninstall(context, args),
        Hooks::Status(args) => status::status(context, args),
        Hooks::List(args) => list::list(context, args),
        Hooks::Test(args) => trial::trial(context, args),
        Hooks::Replay => replay::replay(context),
        Hooks::Keys(args) => keys::keys(context, args),
    }
}

/// Where hooks are and what waits for a server, as programs read it.
pub(crate) fn report(context: &Context) -> Value {
    status::report(context)
}

/// Hooks as an administrator installs them, for every agent that lets one: the files below `/etc`, and what is in them.
pub(crate) fn managed(env: &BTreeMap<String, String>, program: &str) -> Result<BTreeMap<String, String>> {
    let places = place::Places::new(env, Some("/nowhere".into()))?;
    let calling = registration::Calling::anywhere(program);
    let files = [Agent::ClaudeCode, Agent::Gemini, Agent::Cursor].into_iter().map(|agent| {
        let plan = plan::Plan::install(&places, &agent, Scope::Managed, &calling)?;
        let name = plan.path.strip_prefix("/nowhere/etc").context("find the agent's settings")?;
        Ok((name.to_string_lossy().into_owned(), plan.after.unwrap_or_default()))
    });
    files.collect()
}

impl AgentTarget {
    /// The agents that were named, if any were.
    fn agents(&self) -> Option<Vec<Agent>> {
        named(&self.agent)
    }

    fn scope(&self) -> Scope {
        self.scope_given().unwrap_or(Scope::User)
    }

    fn scope_given(&self) -> Option<Scope> {
        let flags = [
            (self.user, Scope::User),
            (self.project, Scope::Project),
            (self.local, Scope::Local),
            (self.managed, Scope::Managed),
        ];
        flags.into_iter().find(|(given, _)| *given).map(|(_, scope)| scope)
    }
}

impl Trial {
    fn agents(&self) -> Option<Vec<Agent>> {
        named(&self.agent)
    }
}

fn named(names: &[String]) -> Option<Vec<Agent>> {
    (!names.is_empty()).then(|| names.iter().map(|name| Agent::from(name.as_str())).collect())
}
