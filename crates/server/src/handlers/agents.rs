//! The registry of agents: enter, import, show, approve, revoke.

use axum::{extract::State, http::StatusCode};
use belljar_api as api;
use belljar_engine::service::{AgentSelection, AgentView, suggest_role as suggested};

use crate::{
    answer::{Json, page},
    app::App,
    extract::{Caller, JsonBody, Named, OptionalJson, Query, limit},
    problem::{Answer, Failure},
    wire,
};

/// The most agents of an export.
const MOST: usize = 10_000;
/// The most seconds of an approval: a hundred years.
const LONGEST: u64 = 3_153_600_000;

/// Lists agents, by name.
#[utoipa::path(get, path = "/api/v1/agents", tag = "agents", params(api::AgentQuery),
    responses((status = 200, body = api::Page<api::RegistryAgent>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::AgentQuery>,
) -> Answer<Json<api::Page<api::RegistryAgent>>> {
    let (which, limit) = (wire::agent_selection(&query), limit(query.limit)?);
    let after = query.cursor;
    let views =
        app.ask(&who, move |service, who| service.agents(who, which, after.as_deref(), limit)).await?;
    Ok(page(views, limit, AgentView::place, |view| wire::agent(&view)))
}

/// Shows an agent.
#[utoipa::path(get, path = "/api/v1/agents/{id}", tag = "agents", params(("id" = String, Path, max_length = 64)),
    responses((status = 200, body = api::RegistryAgent)))]
pub(crate) async fn get(
    State(app): State<App>,
    Caller(who): Caller,
    Named(name): Named,
) -> Answer<Json<api::RegistryAgent>> {
    let view = app.ask(&who, move |service, who| service.agent(who, &name)).await?;
    Ok(Json(wire::agent(&view)))
}

/// Enters an agent, or changes what is known of one. Whether it may act stays as it is; a new one may not yet.
#[utoipa::path(put, path = "/api/v1/agents/{id}", tag = "agents", params(("id" = String, Path, max_length = 64)),
    request_body = api::PutAgent, responses((status = 200, body = api::RegistryAgent)))]
pub(crate) async fn put(
    State(app): State<App>,
    Caller(who): Caller,
    Named(name): Named,
    JsonBody(asked): JsonBody<api::PutAgent>,
) -> Answer<Json<api::RegistryAgent>> {
    let order = wire::agent_order(asked);
    let view = app.ask(&who, move |service, who| service.enter_agent(who, &name, order)).await?;
    Ok(Json(wire::agent(&view)))
}

/// Takes an agent out of the registry. One that was stopped must be approved before it can be forgotten.
#[utoipa::path(delete, path = "/api/v1/agents/{id}", tag = "agents", params(("id" = String, Path, max_length = 64)),
    responses((status = 204)))]
pub(crate) async fn delete(
    State(app): State<App>,
    Caller(who): Caller,
    Named(name): Named,
) -> Answer<StatusCode> {
    app.ask(&who, move |service, who| service.remove_agent(who, &name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lets an agent act, and what of it was frozen go on. One nobody knows is entered by that.
#[utoipa::path(post, path = "/api/v1/agents/{id}/approve", tag = "agents",
    params(("id" = String, Path, max_length = 64)), request_body = Option<api::ApproveAgent>,
    responses((status = 200, body = api::RegistryAgent)))]
pub(crate) async fn approve(
    State(app): State<App>,
    Caller(who): Caller,
    Named(name): Named,
    OptionalJson(asked): OptionalJson<api::ApproveAgent>,
) -> Answer<Json<api::RegistryAgent>> {
    if asked.for_seconds.is_some_and(|seconds| !(1..=LONGEST).contains(&seconds)) {
        return Err(Failure::field("for_seconds", format!("must be from 1 to {LONGEST}")));
    }
    let leave = wire::leave(asked);
    let view = app.ask(&who, move |service, who| service.approve_agent(who, &name, &leave)).await?;
    Ok(Json(wire::agent(&view)))
}

/// Takes an agent's leave to act back: its next call is refused, and its sandboxes stop now.
#[utoipa::path(post, path = "/api/v1/agents/{id}/revoke", tag = "agents",
    params(("id" = String, Path, max_length = 64)), request_body = Option<api::RevokeAgent>,
    responses((status = 200, body = api::RegistryAgent)))]
pub(crate) async fn revoke(
    State(app): State<App>,
    Caller(who): Caller,
    Named(name): Named,
    OptionalJson(asked): OptionalJson<api::RevokeAgent>,
) -> Answer<Json<api::RegistryAgent>> {
    let view =
        app.ask(&who, move |service, who| service.revoke_agent(who, &name, asked.reason.as_deref())).await?;
    Ok(Json(wire::agent(&view)))
}

/// Enters every agent a file describes. Nobody is approved by that.
#[utoipa::path(post, path = "/api/v1/agents/import", tag = "agents", request_body = api::ImportAgents,
    responses((status = 200, body = api::ImportedAgents)))]
pub(crate) async fn import(
    State(app): State<App>,
    Caller(who): Caller,
    JsonBody(asked): JsonBody<api::ImportAgents>,
) -> Answer<Json<api::ImportedAgents>> {
    let api::ImportAgents { content, source } = asked;
    let done =
        app.ask(&who, move |service, who| service.import_agents(who, &content, source.as_deref())).await?;
    Ok(Json(wire::imported(done)))
}

/// The whole registry, as it can be imported again.
#[utoipa::path(get, path = "/api/v1/agents/export", tag = "agents", responses((status = 200, body = api::AgentExport)))]
pub(crate) async fn export(State(app): State<App>, Caller(who): Caller) -> Answer<Json<api::AgentExport>> {
    let all = AgentSelection::default();
    let views = app.ask(&who, move |service, who| service.agents(who, all, None, MOST)).await?;
    Ok(Json(api::AgentExport { agents: views.iter().map(wire::exported).collect() }))
}

/// Proposes a role by what an agent can do.
#[utoipa::path(post, path = "/api/v1/agents/suggest-role", tag = "agents", request_body = api::SuggestRole,
    responses((status = 200, body = api::SuggestedRole)))]
pub(crate) async fn suggest_role(
    Caller(_who): Caller,
    JsonBody(asked): JsonBody<api::SuggestRole>,
) -> Answer<Json<api::SuggestedRole>> {
    let (category, description) = (asked.category.as_deref(), asked.description.unwrap_or_default());
    let (role, percent) = suggested(&asked.capabilities, category, &description);
    Ok(Json(api::SuggestedRole { role: wire::role(role), confidence: f64::from(percent) / 100.0 }))
}
