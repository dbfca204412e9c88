//! The second stage: what the policy says, and what the agent's role permits.
//!
//! Owns: what it means that no rule speaks: on the host the agent's own rules decide, in a sandbox its walls do. The
//! stricter of policy and role counts.

use belljar_domain::Ruling;
use belljar_guardian::{
    policy::{Call, Policy, Reach, Scene, Walls},
    roles::{Rights, Wanted},
};

use super::{Finding, Place, Proof, Request, Service, identity::Known, links, memo::Acted, tool};
use crate::service::explain_here;

/// A request as a policy looks at it.
pub(super) fn scene<'r>(service: &Service, request: &'r Request) -> (Call<'r>, Scene) {
    let (act, place) = (&request.act, &request.place);
    let call = Call { tool: &act.tool, input: &act.input, cwd: place.cwd(), home: place.home() };
    let workspace = workspace(service, request);
    let scene = Scene::on_host(place.cwd(), place.home(), workspace.as_deref());
    let scene = match place {
        Place::Host { .. } => scene,
        // What is shown to a sandbox is the host's own, and no wall stands before it.
        Place::Sandbox { .. } if act.tool == tool::MOUNT => {
            let home = std::env::var("HOME").ok();
            Scene::on_host(None, home.as_deref(), None)
        }
        // How far its network reaches is not known here, so nothing is taken for held in by it.
        Place::Sandbox { .. } => scene.behind(Walls { network: Reach::Anywhere }),
    };
    (call, Scene { agent: request.who.agent.clone(), ..scene })
}

/// What the policy looks at of a request, where that is all it looks at.
pub(super) fn acted(service: &Service, request: &Request) -> Option<Acted> {
    let Place::Sandbox { isolation, cwd, .. } = &request.place else { return None };
    Some(Acted {
        act: request.act.clone(),
        isolation: *isolation,
        cwd: cwd.clone(),
        workspace: workspace(service, request),
        agent: request.who.agent.clone(),
    })
}

/// What policy and role say of a request.
pub(super) fn stage(service: &Service, policy: &Policy, request: &Request, known: &Known) -> Finding {
    let (act, place) = (&request.act, &request.place);
    let (call, scene) = scene(service, request);
    // Whoever signs may be on another machine, whose disk is not this one's.
    let is_here = matches!(place, Place::Host { .. }) && request.who.proof == Proof::Key;
    let explained = if is_here { explain_here(policy, &call, &scene) } else { policy.explain(&call, &scene) };
    let ruling = match known.approved() {
        None => explained.ruling,
        Some(entry) => {
            let rights = Rights::of(entry);
            let workspace = workspace(service, request);
            let wanted = wanted(&call, Wanted::of(&call, &explained, workspace.as_deref()));
            let wanted = if matches!(place, Place::Host { .. }) { led(wanted) } else { wanted };
            let role = if is_of_sandbox(&act.tool) {
                rights.judge_effects(&call, &wanted)
            } else {
                rights.judge(&call, &wanted)
            };
            let ruled = explained.ruling.map(|ruling| rights.eased(&ruling).unwrap_or(ruling));
            stricter(ruled, role)
        }
    };
    match (ruling, place) {
        (Some(ruling), _) => ruling.into(),
        (None, Place::Host { .. }) => Finding::allow("no rule speaks of it; the agent's own rules decide"),
        (None, Place::Sandbox { isolation, .. }) => {
            let walls = isolation.map_or_else(|| "isolation".to_owned(), |level| level.to_string());
            Finding::allow(format!("no rule speaks of it, and it is contained by the sandbox's {walls}"))
        }
    }
}

/// Where scopes begin: a sandbox's workspace, what a session is about, or where the agent is. What is done to a sandbox
/// without a workspace is done to nothing anybody keeps.
fn workspace(service: &Service, request: &Request) -> Option<String> {
    let live = request.place.sandbox().and_then(|id| service.0.registry.sandbox(id));
    let own = live.and_then(|live| live.view().spec.workspace).map(|path| path.to_string());
    let place = &request.place;
    let about = || place.workspace().or_else(|| place.cwd()).filter(|_| !is_of_sandbox(&request.act.tool));
    own.or_else(|| about().map(str::to_owned))
}

/// What is done to a sandbox from outside. Starting an agent in it is such an act, so that its tools are not asked for;
/// what it would do to files counts as ever.
fn is_of_sandbox(tool: &str) -> bool {
    [tool::EXEC, tool::READ, tool::WRITE, tool::CREATE, tool::MOUNT, tool::NETWORK].contains(&tool)
}

/// Files that are used from outside name themselves.
fn wanted(call: &Call<'_>, wanted: Wanted) -> Wanted {
    let is_written = match call.tool {
        tool::READ => false,
        tool::WRITE => true,
        _ => return wanted,
    };
    match call.input.get("path").and_then(serde_json::Value::as_str) {
        Some(path) => wanted.with_file(path, is_written),
        None => wanted,
    }
}

/// The same, with links of the host worked out. A workspace that is reached by a link is where it leads.
fn led(mut wanted: Wanted) -> Wanted {
    if let Some((before, after)) =
        wanted.workspace.clone().and_then(|at| Some((at.clone(), links::real(&at)?)))
    {
        for path in wanted.reads.iter_mut().chain(&mut wanted.writes) {
            let inside = path.strip_prefix(&before).filter(|rest| rest.is_empty() || rest.starts_with('/'));
            if let Some(inside) = inside {
                *path = format!("{after}{inside}");
            }
        }
        wanted.workspace = Some(after);
    }
    links::followed(&mut wanted.reads);
    links::followed(&mut wanted.writes);
    wanted
}

fn stricter(one: Option<Ruling>, other: Option<Ruling>) -> Option<Ruling> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other.verdict > one.verdict { other } else { one }),
        (one, other) => one.or(other),
    }
}
