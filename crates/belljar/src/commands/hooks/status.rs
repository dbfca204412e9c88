//! `belljar hooks status`: where hooks are installed, whether a server listens, and what waits in the spool.

use std::{os::unix::net::UnixStream, process::ExitCode};

use anyhow::Result;
use belljar_capture::Agent;
use serde_json::json;

use super::{
    install::program,
    place::{Places, Scope},
    plan::{Plan, has_ours},
};
use crate::{
    args::AgentTarget,
    context::Context,
    output::{amount, print_json, print_table},
    spool::Spool,
};

struct Seen {
    agent: Agent,
    scope: Scope,
    state: String,
    path: String,
}

pub(super) fn status(context: &Context, args: &AgentTarget) -> Result<ExitCode> {
    let places = Places::new(&context.env, args.root.clone())?;
    let program = program()?;
    let agents = args.agents().unwrap_or_else(|| Agent::KNOWN.to_vec());
    let scopes = args.scope_given().map_or_else(|| Scope::ALL.to_vec(), |scope| vec![scope]);
    let mut seen = Vec::new();
    for agent in &agents {
        for scope in &scopes {
            let Ok(path) = places.file(agent, *scope) else { continue };
            let state = match Plan::install(&places, agent, *scope, &program) {
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
    if context.json {
        let hooks: Vec<_> = seen
            .iter()
            .map(|s| json!({"agent": s.agent, "scope": s.scope.as_str(), "state": s.state, "path": s.path}))
            .collect();
        let spool = json!({"entries": held.entries, "bytes": held.bytes, "lost": held.lost});
        print_json(&json!({"hooks": hooks, "server": is_served, "spool": spool}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row =
        |s: &Seen| vec![s.agent.to_string(), s.scope.as_str().to_owned(), s.state.clone(), s.path.clone()];
    print_table(&["AGENT", "SCOPE", "STATE", "FILE"], &seen.iter().map(row).collect::<Vec<_>>())?;
    println!("server: {}", if is_served { "up" } else { "not running; hooks are spooled" });
    println!("spool: {} hooks, {}, {} lost", held.entries, amount(Some(held.bytes)), held.lost);
    Ok(ExitCode::SUCCESS)
}
