//! `belljar hooks status`: where hooks are installed, whether a server listens, and what waits in the spool.

use std::{os::unix::net::UnixStream, process::ExitCode};

use anyhow::Result;
use belljar_capture::Agent;
use serde_json::{Value, json};

use super::{
    install::calling,
    place::{Places, Scope},
    plan::{Plan, has_ours},
};
use crate::{
    args::AgentTarget,
    context::Context,
    output::{amount, print_json, print_table},
    spool::{Held, Spool},
};

struct Seen {
    agent: Agent,
    scope: Scope,
    state: String,
    path: String,
}

/// What was found.
struct Found {
    seen: Vec<Seen>,
    held: Held,
    is_served: bool,
}

pub(super) fn status(context: &Context, args: &AgentTarget) -> Result<ExitCode> {
    let found = look(context, args)?;
    if context.json {
        print_json(&found.json())?;
        return Ok(ExitCode::SUCCESS);
    }
    let Found { seen, held, is_served } = found;
    let row =
        |s: &Seen| vec![s.agent.to_string(), s.scope.as_str().to_owned(), s.state.clone(), s.path.clone()];
    print_table(&["AGENT", "SCOPE", "STATE", "FILE"], &seen.iter().map(row).collect::<Vec<_>>())?;
    println!("server: {}", if is_served { "up" } else { "not running; hooks are spooled" });
    println!("spool: {} hooks, {}, {} lost", held.entries, amount(Some(held.bytes)), held.lost);
    Ok(ExitCode::SUCCESS)
}

/// The same as programs read it; what cannot be found out says why.
pub(super) fn report(context: &Context) -> Value {
    let found = look(context, &AgentTarget::default());
    found.map_or_else(|error| json!({ "error": format!("{error:#}") }), |found| found.json())
}

fn look(context: &Context, args: &AgentTarget) -> Result<Found> {
    let places = Places::new(&context.env, args.root.clone())?;
    let calling = calling(context, args.root.is_some())?;
    let agents = args.agents().unwrap_or_else(|| Agent::KNOWN.to_vec());
    let scopes = args.scope_given().map_or_else(|| Scope::ALL.to_vec(), |scope| vec![scope]);
    let mut seen = Vec::new();
    for agent in &agents {
        for scope in &scopes {
            let Ok(path) = places.file(agent, *scope) else { continue };
            let state = match Plan::install(&places, agent, *scope, &calling) {
                Ok(plan) if !plan.changes() => "installed".to_owned(),
                Ok(plan) if plan.before.as_deref().is_some_and(|text| has_ours(agent, text)) => {
                    "outdated".to_owned()
                }
                Ok(_) => "absent".to_owned(),
                Err(error) => format!("unreadable: {error:#}"),
            };
            seen.push(Seen { agent: agent.clone(), scope: *scope, state, path: path.display().to_string() });
        }
    }
    let held = Spool::of(&context.home).held()?;
    let is_served = UnixStream::connect(context.home.join("belljar.sock")).is_ok();
    Ok(Found { seen, held, is_served })
}

impl Found {
    fn json(&self) -> Value {
        let hook =
            |s: &Seen| json!({"agent": s.agent, "scope": s.scope.as_str(), "state": s.state, "path": s.path});
        let Held { entries, bytes, lost } = self.held;
        json!({
            "hooks": self.seen.iter().map(hook).collect::<Vec<_>>(),
            "server": self.is_served,
            "spool": { "entries": entries, "bytes": bytes, "lost": lost },
        })
    }
}
