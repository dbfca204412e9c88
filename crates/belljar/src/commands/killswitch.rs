//! `belljar kill-agent` and `belljar killswitch`: an agent, or everything, now.
//!
//! By the server where one is up, so that it is recorded who did it. Without one, or when it does not answer, directly: who
//! is killed is written down first, so that hooks and the next server go by it.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
    thread,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, Result, bail};
use belljar_domain::{KillCause, SandboxId};
use belljar_engine::service::{Kill, Kills};
use serde_json::{Value, json};

use super::terminate::confirm;
use crate::{
    args::{KillAgent, Killswitch},
    client::{Client, ClientError},
    context::Context,
    killswitch::{KILLSWITCH, tell},
    output::{plain, print_json},
    sandboxes::{Sandboxes, Seen, Wanted},
};

pub(crate) fn kill_agent(context: &Context, args: &KillAgent) -> Result<ExitCode> {
    if args.release {
        return release(context, Some(&args.agent));
    }
    let question = format!("end everything of `{}`, and refuse what it wants?", args.agent);
    kill(context, Some(&args.agent), args.reason.as_deref(), args.force, &question)
}

/// How long a server may take to end everything, here and elsewhere, before it is done without it.
const NEAR: Duration = Duration::from_secs(3);
const FAR: Duration = Duration::from_secs(60);

pub(crate) fn killswitch(context: &Context, args: &Killswitch) -> Result<ExitCode> {
    match (args.status, args.release) {
        (true, _) => status(context),
        (false, true) => release(context, None),
        (false, false) => {
            let question = "end everything in every sandbox, and refuse whatever comes?";
            kill(context, None, args.reason.as_deref(), args.force, question)
        }
    }
}

fn kill(
    context: &Context,
    agent: Option<&str>,
    reason: Option<&str>,
    force: bool,
    question: &str,
) -> Result<ExitCode> {
    if !force && !context.json && io::stdin().is_terminal() && !confirm(question)? {
        return Ok(ExitCode::FAILURE);
    }
    let sandboxes = Sandboxes::open(context)?;
    let wanted = Wanted { agent: agent.map(str::to_owned), ..Wanted::default() };
    // A server of this machine that hangs is not waited for: what lives is the provider's.
    let is_deaf = !sandboxes.is_remote() && !sandboxes.server().is_some_and(Client::answers);
    let meant = if is_deaf { sandboxes.living(&wanted)? } else { sandboxes.list(&wanted)? };
    let patience = if sandboxes.is_remote() { FAR } else { NEAR };
    let server = sandboxes.server().filter(|_| !is_deaf);
    let killed = match server.map(|server| server.kill(agent, reason, patience)) {
        Some(Ok(killed)) => killed,
        // A server that does not answer keeps nobody alive.
        Some(Err(ClientError::Lost { .. })) | None if !sandboxes.is_remote() => {
            directly(context, agent, reason, &sandboxes, &meant)?
        }
        Some(Err(error)) => return Err(error.into()),
        None => bail!("there is no server to ask"),
    };
    let ended = ids(&killed, "/sandboxes");
    for seen in meant.iter().filter(|seen| ended.contains(&seen.id)) {
        tell(&context.config.handlers, seen, KillCause::Killswitch, None);
    }
    let failed = killed.get("failed").and_then(Value::as_array).cloned().unwrap_or_default();
    if context.json {
        print_json(&json!({
            "agent": agent, "terminated": ended, "failed": failed, "duration_ms": killed.get("duration_ms"),
        }))?;
    } else {
        let mut out = io::stdout().lock();
        for id in &ended {
            writeln!(out, "terminated {}", id.short())?;
        }
        let whom = agent.map_or_else(|| "everybody".to_owned(), |agent| format!("`{}`", plain(agent)));
        let undo =
            agent.map_or_else(|| "killswitch".to_owned(), |agent| format!("kill-agent {}", plain(agent)));
        writeln!(out, "{whom} is refused from now on; `belljar {undo} --release` undoes that")?;
    }
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let which: Vec<String> = failed.iter().map(|failure| plain(&failure.to_string())).collect();
    bail!("{} could not be ended: {}", failed.len(), which.join(", "))
}

fn ids(value: &Value, at: &str) -> Vec<SandboxId> {
    let list = value.pointer(at).and_then(Value::as_array).into_iter().flatten();
    let mut ids: Vec<SandboxId> = list.filter_map(|id| id.as_str()?.parse().ok()).collect();
    ids.sort();
    ids
}

/// Ends what this home has, all at once; the answer is in the server's form.
fn directly(
    context: &Context,
    agent: Option<&str>,
    reason: Option<&str>,
    sandboxes: &Sandboxes,
    meant: &[Seen],
) -> Result<Value> {
    let began = Instant::now();
    change(context, |kills| {
        let by = format!("uid:{}", rustix::process::geteuid().as_raw());
        let (agent, why) = (agent.map(str::to_owned), reason.map(str::to_owned));
        kills.add(Kill { by, at: SystemTime::now().into(), agent, why });
        Ok(())
    })?;
    let handles: Vec<_> = meant.iter().filter_map(|seen| sandboxes.handle(seen.id).ok().flatten()).collect();
    let ended: Vec<(SandboxId, Option<String>)> = thread::scope(|scope| {
        let end = |sandbox: &dyn belljar_ports::Sandbox| {
            let ended = sandbox.stop(Some(KillCause::Killswitch));
            (sandbox.info().id, ended.err().map(|error| error.to_string()))
        };
        let each = handles.iter().map(|sandbox| scope.spawn(move || end(&**sandbox)));
        let each: Vec<_> = each.collect();
        each.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let (done, failed): (Vec<_>, Vec<_>) = ended.into_iter().partition(|(_, error)| error.is_none());
    let failed: Vec<Value> =
        failed.into_iter().map(|(id, error)| json!({ "sandbox_id": id, "error": error })).collect();
    let done: Vec<SandboxId> = done.into_iter().map(|(id, _)| id).collect();
    let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(json!({ "sandboxes": done, "failed": failed, "duration_ms": millis }))
}

fn change(context: &Context, change: impl FnOnce(&mut Kills) -> Result<()>) -> Result<()> {
    let path = context.home.join(KILLSWITCH);
    let mut kills = Kills::read(&path);
    change(&mut kills)?;
    kills.keep(&path).with_context(|| format!("write `{}`", path.display()))
}

fn release(context: &Context, agent: Option<&str>) -> Result<ExitCode> {
    match server(context)? {
        Some(server) => server.release(agent)?,
        None => change(context, |kills| match (kills.take(agent), agent) {
            (Some(_), _) => Ok(()),
            (None, Some(agent)) => bail!("there is no kill of `{agent}`"),
            (None, None) => bail!("there is no killswitch to release"),
        })?,
    }
    if context.json {
        print_json(&json!({ "agent": agent, "released": true }))?;
    } else {
        let whom = agent.map_or_else(|| "everybody".to_owned(), |agent| format!("`{}`", plain(agent)));
        writeln!(io::stdout(), "{whom} may act again")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn status(context: &Context) -> Result<ExitCode> {
    let kills = match server(context)? {
        Some(server) => server.kills()?,
        None => {
            let kills = Kills::read(&context.home.join(KILLSWITCH));
            let shown = |kill: &Kill| json!({ "agent_id": kill.agent, "by": kill.by, "at": kill.at, "reason": kill.why });
            let agents: Vec<Value> = kills.agents.values().map(shown).collect();
            json!({ "everything": kills.everything.as_ref().map(shown), "agents": agents })
        }
    };
    if context.json {
        print_json(&kills)?;
        return Ok(ExitCode::SUCCESS);
    }
    let everything = kills.get("everything").filter(|kill| !kill.is_null());
    let agents = kills.get("agents").and_then(Value::as_array).into_iter().flatten();
    let all: Vec<&Value> = everything.into_iter().chain(agents).collect();
    let mut out = io::stdout().lock();
    if all.is_empty() {
        writeln!(out, "nobody is killed")?;
    }
    for kill in all {
        let text = |name: &str| kill.get(name).and_then(Value::as_str).map(plain);
        let why = text("reason").map(|why| format!(": {why}")).unwrap_or_default();
        let whom = text("agent_id").map_or_else(|| "everything".to_owned(), |agent| format!("`{agent}`"));
        let (by, at) = (text("by").unwrap_or_default(), text("at").unwrap_or_default());
        writeln!(out, "{whom} was killed by {by} at {at}{why}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The server, if there is one.
fn server(context: &Context) -> Result<Option<Client>> {
    let remote = context.remote()?;
    Ok(remote.or_else(|| Client::at_home(&context.home)))
}
