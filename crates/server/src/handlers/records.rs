//! What agents did: calls, sessions and their traces, errors.

use axum::extract::State;
use belljar_api as api;
use belljar_domain::{Timestamp, eye::ErrorGroupState};
use belljar_engine::service::{Judgement, TraceItem};

use crate::{
    answer::{Json, page},
    app::App,
    extract::{Caller, JsonBody, Named, Query, cursor, limit},
    problem::{Answer, Failure},
    wire,
};

/// Lists calls of tools, newest first: one record each, whoever told of which part.
#[utoipa::path(get, path = "/api/v1/calls", tag = "records", params(api::CallQuery),
    responses((status = 200, body = api::Page<api::Call>)))]
pub(crate) async fn calls(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::CallQuery>,
) -> Answer<Json<api::Page<api::Call>>> {
    let (filter, limit) = (wire::records::call_filter(&query)?, limit(query.limit)?);
    let below = cursor(query.cursor.as_deref())?.unwrap_or(u64::MAX);
    let calls = app.ask(&who, move |service, who| service.calls(who, filter, below, limit)).await?;
    Ok(page(calls, limit, |call| call.id.to_string(), wire::records::call))
}

/// One call, by its identity or by what its agent calls it (`tool_use_id`).
#[utoipa::path(get, path = "/api/v1/calls/{id}", tag = "records", params(("id" = String, Path, max_length = 256)),
    responses((status = 200, body = api::Call)))]
pub(crate) async fn call(
    State(app): State<App>,
    Caller(who): Caller,
    Named(id): Named,
) -> Answer<Json<api::Call>> {
    let call = app.ask(&who, move |service, who| service.call(who, &id)).await?;
    Ok(Json(wire::records::call(call)))
}

/// Lists sessions, newest first.
#[utoipa::path(get, path = "/api/v1/sessions", tag = "records", params(api::SessionQuery),
    responses((status = 200, body = api::Page<api::Session>)))]
pub(crate) async fn sessions(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::SessionQuery>,
) -> Answer<Json<api::Page<api::Session>>> {
    let (filter, limit) = (wire::records::session_filter(&query)?, limit(query.limit)?);
    let below = cursor(query.cursor.as_deref())?.unwrap_or(u64::MAX);
    let sessions = app.ask(&who, move |service, who| service.sessions(who, filter, below, limit)).await?;
    Ok(page(sessions, limit, |session| session.id.to_string(), wire::records::session))
}

/// One session with the tree of its agents, what each spent itself and with all below it, and its metrics.
#[utoipa::path(get, path = "/api/v1/sessions/{id}", tag = "records", params(("id" = String, Path, max_length = 256)),
    responses((status = 200, body = api::SessionDetail)))]
pub(crate) async fn session(
    State(app): State<App>,
    Caller(who): Caller,
    Named(id): Named,
) -> Answer<Json<api::SessionDetail>> {
    let view = app.ask(&who, move |service, who| service.session(who, &id)).await?;
    Ok(Json(wire::records::session_detail(view)))
}

/// What happened in a session, in order: prompts, turns, requests to models, and calls with their outcome joined.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/trace", tag = "records",
    params(("id" = String, Path, max_length = 256), api::TraceQuery),
    responses((status = 200, body = api::Page<api::TraceItem>)))]
pub(crate) async fn trace(
    State(app): State<App>,
    Caller(who): Caller,
    Named(id): Named,
    Query(query): Query<api::TraceQuery>,
) -> Answer<Json<api::Page<api::TraceItem>>> {
    let limit = limit(query.limit)?;
    let after = cursor(query.cursor.as_deref())?.unwrap_or(0);
    let items = app.ask(&who, move |service, who| service.trace(who, &id, after, limit)).await?;
    Ok(page(items, limit, |item: &TraceItem| item.id().to_string(), wire::records::trace_item))
}

/// Lists errors that look alike, the last seen first.
#[utoipa::path(get, path = "/api/v1/errors", tag = "records", params(api::ErrorQuery),
    responses((status = 200, body = api::Page<api::ErrorGroup>)))]
pub(crate) async fn errors(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::ErrorQuery>,
) -> Answer<Json<api::Page<api::ErrorGroup>>> {
    let (filter, limit) = (wire::records::error_filter(&query)?, limit(query.limit)?);
    let below = query.cursor.as_deref().map(seen_before).transpose()?;
    let groups = app.ask(&who, move |service, who| service.error_groups(who, filter, below, limit)).await?;
    let place = |group: &belljar_domain::eye::ErrorGroup| format!("{}.{}", group.last.as_micros(), group.id);
    Ok(page(groups, limit, place, wire::records::error_group))
}

fn seen_before(cursor: &str) -> Answer<(Timestamp, u64)> {
    let wrong = || Failure::field("cursor", "is not the `next_cursor` of a page before");
    let (last, id) = cursor.split_once('.').ok_or_else(wrong)?;
    let last = last.parse().ok().map(Timestamp::from_micros);
    Ok((last.ok_or_else(wrong)?, id.parse().ok().ok_or_else(wrong)?))
}

/// Says that errors of a kind are dealt with: by whom, and why. They open again when they are seen again.
#[utoipa::path(post, path = "/api/v1/errors/{id}/resolve", tag = "records", params(("id" = String, Path, max_length = 64)),
    request_body = api::JudgeErrors, responses((status = 200, body = api::ErrorGroup)))]
pub(crate) async fn resolve(
    app: State<App>,
    who: Caller,
    id: Named,
    JsonBody(said): JsonBody<api::JudgeErrors>,
) -> Answer<Json<api::ErrorGroup>> {
    judge(app, who, id, said, ErrorGroupState::Resolved).await
}

/// Says that errors of a kind are not dealt with after all.
#[utoipa::path(post, path = "/api/v1/errors/{id}/reopen", tag = "records", params(("id" = String, Path, max_length = 64)),
    request_body = api::JudgeErrors, responses((status = 200, body = api::ErrorGroup)))]
pub(crate) async fn reopen(
    app: State<App>,
    who: Caller,
    id: Named,
    JsonBody(said): JsonBody<api::JudgeErrors>,
) -> Answer<Json<api::ErrorGroup>> {
    judge(app, who, id, said, ErrorGroupState::Open).await
}

async fn judge(
    State(app): State<App>,
    Caller(who): Caller,
    Named(id): Named,
    said: api::JudgeErrors,
    state: ErrorGroupState,
) -> Answer<Json<api::ErrorGroup>> {
    let by = wire::short("by", said.by.as_deref(), 128)?;
    let said = Judgement { state, by, reason: said.reason };
    let group = app.ask(&who, move |service, who| service.judge_errors(who, &id, said)).await?;
    Ok(Json(wire::records::error_group(group)))
}
