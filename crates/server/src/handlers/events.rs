//! What happened: pages of the ledger, and the ledger as it grows.

use std::time::SystemTime;

use axum::{
    extract::{
        State,
        ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    },
    http::{HeaderMap, StatusCode},
    response::Response,
};
use belljar_api as api;
use belljar_domain::Timestamp;
use belljar_ports::store::EventFilter;

use super::terminals::upgrade;
use crate::{
    answer::Json,
    app::App,
    extract::{Caller, JsonBytes, Query, Sandbox, Teller, cursor, limit},
    live::{Feed, serve_events, sse},
    problem::Answer,
    wire,
};

/// Lists events, newest first; with `after`, oldest first from there. Every field can be filtered by, and `text` looks for
/// words.
#[utoipa::path(get, path = "/api/v1/events", tag = "events", params(api::EventQuery),
    responses((status = 200, body = api::Page<api::Event>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::EventQuery>,
) -> Answer<Json<api::Page<api::Event>>> {
    let (search, limit) = (wire::records::event_search(&query)?, limit(query.limit)?);
    let place: Option<u64> = cursor(query.cursor.as_deref())?;
    let (place, is_up) = match query.after {
        Some(after) => (place.unwrap_or(after), true),
        None => (place.unwrap_or(u64::MAX), false),
    };
    let found =
        app.ask(&who, move |service, who| service.search_events(who, search, place, is_up, limit)).await?;
    let items = found.events.into_iter().map(wire::event).collect();
    Ok(Json(api::Page { items, next_cursor: found.next.map(|next| next.to_string()) }))
}

/// Takes events others saw: one, a list, or a list under `events`, up to 1,000. The same id told again is recorded once.
/// Besides the form below, the older one with `operation_type` is understood. Answers when they are durable.
#[utoipa::path(post, path = "/api/v1/events/ingest", tag = "events", request_body = api::ToldEvent,
    responses((status = 201, body = api::Ingested)))]
pub(crate) async fn ingest(
    State(app): State<App>,
    Caller(who): Caller,
    teller: Teller,
    JsonBytes(body): JsonBytes,
) -> Answer<(StatusCode, Json<api::Ingested>)> {
    let mut events = wire::told(&body, Timestamp::from(SystemTime::now()))?;
    events.iter_mut().for_each(|event| wire::known(event, &teller));
    let done = app.ingest(&who, events).await?;
    let (accepted, duplicates, last_seq) = (done.accepted, done.duplicates, done.last);
    Ok((StatusCode::CREATED, Json(api::Ingested { accepted, duplicates, last_seq })))
}

/// Follows the ledger as server-sent events; `Last-Event-ID` goes on from a place, without gap or duplicate.
#[utoipa::path(get, path = "/api/v1/events/stream", tag = "events", params(api::FollowQuery),
    responses((status = 200, body = String, content_type = "text/event-stream")))]
pub(crate) async fn stream(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::FollowQuery>,
    headers: HeaderMap,
) -> Answer<Response> {
    let filter = followed(&query)?;
    let client = app.clients.enter()?;
    let since = sse::last_event_id(&headers).or(query.since);
    Ok(sse::respond(&app, client, sse::greeting(), Feed::new(&app, &who, filter, since)))
}

/// Follows what happens in one sandbox as server-sent events; `Last-Event-ID` goes on from a place.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/stream", tag = "events", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), api::FollowQuery),
    responses((status = 200, body = String, content_type = "text/event-stream")))]
pub(crate) async fn of_sandbox(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
    Query(query): Query<api::FollowQuery>,
    headers: HeaderMap,
) -> Answer<Response> {
    let filter = EventFilter { sandbox: Some(id), ..followed(&query)? };
    app.ask(&who, move |service, who| service.sandbox(who, id)).await?;
    let client = app.clients.enter()?;
    let since = sse::last_event_id(&headers).or(query.since);
    Ok(sse::respond(&app, client, sse::greeting(), Feed::new(&app, &who, filter, since)))
}

fn followed(query: &api::FollowQuery) -> Answer<EventFilter> {
    wire::event_filter(&api::EventQuery {
        kind: query.kind.clone(),
        sandbox_id: query.sandbox_id.clone(),
        execution_id: query.execution_id.clone(),
        agent_id: query.agent_id.clone(),
        session_id: query.session_id.clone(),
        status: query.status.clone(),
        decision: query.decision.clone(),
        ..api::EventQuery::default()
    })
}

/// The live stream: a client sends `subscribe` with a filter and a place, and gets every event after it.
#[utoipa::path(get, path = "/api/v1/stream", tag = "events",
    responses((status = 101, description = "Text frames are JSON: `subscribe` from the client; `event`, `heartbeat`, `lagged`, `goodbye` from the server.")))]
pub(crate) async fn socket(
    State(app): State<App>,
    Caller(who): Caller,
    asked: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let asked = upgrade(asked)?;
    let client = app.clients.enter()?;
    Ok(asked.on_upgrade(move |socket| serve_events(socket, app, who, client)))
}

/// The same, under the name older clients know.
#[utoipa::path(get, path = "/ws", tag = "events",
    responses((status = 101, description = "As `/api/v1/stream`.")))]
pub(crate) async fn socket_alias(
    app: State<App>,
    who: Caller,
    asked: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    socket(app, who, asked).await
}
