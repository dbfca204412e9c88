//! The killswitch: an agent, or everything, now.

use axum::{extract::State, http::StatusCode};
use belljar_api as api;
use belljar_engine::service::{Kill, Killed, ServiceError};

use crate::{
    answer::Json,
    app::App,
    extract::{Caller, Named, OptionalJson},
    problem::Answer,
};

/// The longest name of an agent, and the longest reason.
const LONGEST_NAME: usize = 256;
const LONGEST_REASON: usize = 1024;

/// Says who is killed.
#[utoipa::path(get, path = "/api/v1/killswitch", tag = "killswitch", responses((status = 200, body = api::Kills)))]
pub(crate) async fn show(State(app): State<App>, Caller(who): Caller) -> Answer<Json<api::Kills>> {
    let kills = app.ask(&who, |service, _| Ok(service.kills())).await?;
    let everything = kills.everything.as_ref().map(shown);
    Ok(Json(api::Kills { everything, agents: kills.agents.values().map(shown).collect() }))
}

/// Ends everything that runs in any sandbox, and refuses whatever comes, until a person releases it.
#[utoipa::path(post, path = "/api/v1/killswitch", tag = "killswitch", request_body = api::KillRequest,
    responses((status = 200, body = api::Killed)))]
pub(crate) async fn pull(
    State(app): State<App>,
    Caller(who): Caller,
    OptionalJson(asked): OptionalJson<api::KillRequest>,
) -> Answer<Json<api::Killed>> {
    let reason = bounded(asked.reason)?;
    let killed = app.ask(&who, move |service, who| service.pull_killswitch(who, None, reason)).await?;
    Ok(Json(answered(None, killed)))
}

/// Undoes the killswitch for everything. Agents that were killed by name stay so.
#[utoipa::path(delete, path = "/api/v1/killswitch", tag = "killswitch", responses((status = 204)))]
pub(crate) async fn release(State(app): State<App>, Caller(who): Caller) -> Answer<StatusCode> {
    app.ask(&who, |service, who| service.release_killswitch(who, None)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends everything an agent runs in any sandbox, and refuses whatever it wants, until a person releases it.
#[utoipa::path(post, path = "/api/v1/agents/{id}/kill", tag = "killswitch", params(("id" = String, Path)),
    request_body = api::KillRequest, responses((status = 200, body = api::Killed)))]
pub(crate) async fn kill_agent(
    State(app): State<App>,
    Caller(who): Caller,
    Named(agent): Named,
    OptionalJson(asked): OptionalJson<api::KillRequest>,
) -> Answer<Json<api::Killed>> {
    let reason = bounded(asked.reason)?;
    if agent.trim().is_empty() || agent.len() > LONGEST_NAME {
        return Err(ServiceError::Invalid(format!("an agent's name has 1 to {LONGEST_NAME} bytes")).into());
    }
    let name = agent.clone();
    let killed = app.ask(&who, move |service, who| service.pull_killswitch(who, Some(&name), reason)).await?;
    Ok(Json(answered(Some(agent), killed)))
}

/// Lets an agent act again.
#[utoipa::path(delete, path = "/api/v1/agents/{id}/kill", tag = "killswitch", params(("id" = String, Path)),
    responses((status = 204)))]
pub(crate) async fn release_agent(
    State(app): State<App>,
    Caller(who): Caller,
    Named(agent): Named,
) -> Answer<StatusCode> {
    app.ask(&who, move |service, who| service.release_killswitch(who, Some(&agent))).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn bounded(reason: Option<String>) -> Answer<Option<String>> {
    if reason.as_ref().is_some_and(|reason| reason.len() > LONGEST_REASON) {
        return Err(ServiceError::TooLarge(format!("a reason has at most {LONGEST_REASON} bytes")).into());
    }
    Ok(reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty()))
}

fn shown(kill: &Kill) -> api::Kill {
    api::Kill {
        agent_id: kill.agent.clone(),
        by: kill.by.clone(),
        at: kill.at.to_string(),
        reason: kill.why.clone(),
    }
}

fn answered(agent_id: Option<String>, killed: Killed) -> api::Killed {
    let failed = killed
        .failed
        .into_iter()
        .map(|(id, error)| api::KillFailure { sandbox_id: id.to_string(), error })
        .collect();
    let sandboxes = killed.sandboxes.iter().map(ToString::to_string).collect();
    api::Killed { agent_id, sandboxes, failed, duration_ms: killed.millis }
}
