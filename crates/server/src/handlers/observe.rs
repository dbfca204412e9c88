//! How a sandbox is doing: usage, history, health, what it listens on.

use std::time::{Duration, SystemTime};

use axum::extract::State;
use belljar_api as api;
use belljar_domain::Timestamp;
use belljar_ports::store::{History, PAGE_LIMIT};

use crate::{
    answer::Json,
    app::App,
    extract::{Caller, Query, Sandbox, moment},
    problem::{Answer, Failure},
    wire,
};

/// Measures what a sandbox uses now.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/stats", tag = "observe", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$")),
    responses((status = 200, body = api::Usage)))]
pub(crate) async fn stats(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
) -> Answer<Json<api::Usage>> {
    let usage = app.ask(&who, move |service, who| service.usage(who, id)).await?;
    Ok(Json(wire::usage(&usage)))
}

/// Shows what a sandbox used, step by step; steps without a measurement are left out.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/history", tag = "observe", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), api::HistoryQuery),
    responses((status = 200, body = api::Page<api::UsagePoint>)))]
pub(crate) async fn history(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
    Query(query): Query<api::HistoryQuery>,
) -> Answer<Json<api::Page<api::UsagePoint>>> {
    let now: Timestamp = SystemTime::now().into();
    let until = moment("until", query.until.as_deref())?.unwrap_or(now);
    let from =
        moment("from", query.from.as_deref())?.unwrap_or_else(|| until.minus(Duration::from_secs(3600)));
    let step_seconds = query.step_seconds.unwrap_or(10);
    if !(1..=86_400).contains(&step_seconds) {
        return Err(Failure::field("step_seconds", "must be from 1 to 86400"));
    }
    let history = History { sandbox: id, from, until, step_seconds };
    let points = app.ask(&who, move |service, who| service.history(who, &history)).await?;
    let next_cursor =
        points.last().filter(|_| points.len() >= PAGE_LIMIT).map(|point| point.time.to_string());
    Ok(Json(api::Page { items: points.into_iter().map(wire::point).collect(), next_cursor }))
}

/// Says whether a sandbox can run commands, and which promises do not hold.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/health", tag = "observe", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$")),
    responses((status = 200, body = api::SandboxHealth)))]
pub(crate) async fn health(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
) -> Answer<Json<api::SandboxHealth>> {
    let (view, trouble) = app
        .ask(&who, move |service, who| {
            let view = service.sandbox(who, id)?;
            // A sandbox whose keeper is gone cannot be measured, which is how one notices.
            Ok((view, service.usage(who, id).err().map(|error| error.to_string())))
        })
        .await?;
    Ok(Json(wire::health(view, trouble)))
}

/// Finds the ports something in a sandbox listens on, and where a browser on this machine sees them.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/ports", tag = "observe", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$")),
    responses((status = 200, body = api::Page<api::Port>)))]
pub(crate) async fn ports(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
) -> Answer<Json<api::Page<api::Port>>> {
    let found = app.ask(&who, move |service, who| service.ports(who, id)).await?;
    let items = found.into_iter().map(|port| wire::port(port, id, app.port)).collect();
    Ok(Json(api::Page { items, next_cursor: None }))
}
