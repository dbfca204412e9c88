//! Sandboxes: make, find, change, end.

use axum::{Extension, extract::State, http::StatusCode, response::Response};
use belljar_api as api;
use belljar_domain::{Principal, Span};
use belljar_engine::service::{Claim, Service};
use serde_json::Value;

use crate::{
    answer::{Json, created, page},
    app::App,
    extract::{Caller, JsonBody, OptionalJson, Query, Sandbox, cursor, limit},
    problem::{Answer, Failure},
    wire,
};

/// Makes a sandbox. A body is not needed: the server's defaults are a sandbox.
#[utoipa::path(post, path = "/api/v1/sandboxes", tag = "sandboxes",
    request_body = Option<api::CreateSandbox>, params(("Idempotency-Key" = Option<String>, Header, description = "Carries the request out once, however often it is made.", max_length = 255)),
    responses((status = 201, body = api::Sandbox)))]
pub(crate) async fn create(
    State(app): State<App>,
    Caller(who): Caller,
    claim: Option<Extension<Claim>>,
    OptionalJson(request): OptionalJson<api::CreateSandbox>,
) -> Answer<Response> {
    let order = wire::order(request)?;
    let _place = app.place().await?;
    let make = move |service: &Service, who: &Principal| match claim {
        None => service.create(who, order),
        Some(Extension(claim)) => service.create_once(who, order, claim),
    };
    let view = app.act(&who, make).await?;
    Ok(created(&format!("/api/v1/sandboxes/{}", view.id), wire::sandbox(view)))
}

/// Lists sandboxes, newest first.
#[utoipa::path(get, path = "/api/v1/sandboxes", tag = "sandboxes", params(api::SandboxQuery),
    responses((status = 200, body = api::Page<api::Sandbox>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::SandboxQuery>,
) -> Answer<Json<api::Page<api::Sandbox>>> {
    let (filter, limit) = (wire::sandbox_filter(&query)?, limit(query.limit)?);
    let below = cursor(query.cursor.as_deref())?;
    let rows = app.ask(&who, move |service, who| service.sandboxes(who, filter, below, limit)).await?;
    Ok(page(rows, limit, |view| view.id.to_string(), wire::sandbox))
}

/// Shows a sandbox.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}", tag = "sandboxes", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$")),
    responses((status = 200, body = api::Sandbox)))]
pub(crate) async fn get(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
) -> Answer<Json<api::Sandbox>> {
    let view = app.ask(&who, move |service, who| service.sandbox(who, id)).await?;
    Ok(Json(wire::sandbox(view)))
}

/// Ends a sandbox and removes every trace of it. One that is over already is fine.
#[utoipa::path(delete, path = "/api/v1/sandboxes/{id}", tag = "sandboxes", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$")),
    responses((status = 204)))]
pub(crate) async fn delete(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
) -> Answer<StatusCode> {
    app.act(&who, move |service, who| service.delete(who, id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Changes a sandbox's labels and metadata.
#[utoipa::path(patch, path = "/api/v1/sandboxes/{id}", tag = "sandboxes", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$")),
    request_body = api::PatchSandbox, responses((status = 200, body = api::Sandbox)))]
pub(crate) async fn patch(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
    JsonBody(request): JsonBody<api::PatchSandbox>,
) -> Answer<Json<api::Sandbox>> {
    let (labels, metadata) = (wire::labelled(request.labels)?, request.metadata.map(Value::Object));
    let view = app.ask(&who, move |service, who| service.relabel(who, id, labels, metadata)).await?;
    Ok(Json(wire::sandbox(view)))
}

/// Freezes every process of a sandbox.
#[utoipa::path(post, path = "/api/v1/sandboxes/{id}/pause", tag = "sandboxes", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$")),
    responses((status = 200, body = api::Sandbox)))]
pub(crate) async fn pause(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
) -> Answer<Json<api::Sandbox>> {
    let view = app.ask(&who, move |service, who| service.pause(who, id)).await?;
    Ok(Json(wire::sandbox(view)))
}

/// Thaws a paused sandbox.
#[utoipa::path(post, path = "/api/v1/sandboxes/{id}/resume", tag = "sandboxes", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$")),
    responses((status = 200, body = api::Sandbox)))]
pub(crate) async fn resume(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
) -> Answer<Json<api::Sandbox>> {
    let view = app.ask(&who, move |service, who| service.resume(who, id)).await?;
    Ok(Json(wire::sandbox(view)))
}

/// Ends every process of a sandbox and keeps what it changed in its workspace. One that is over already is fine.
#[utoipa::path(post, path = "/api/v1/sandboxes/{id}/stop", tag = "sandboxes", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$")),
    responses((status = 200, body = api::Sandbox)))]
pub(crate) async fn stop(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
) -> Answer<Json<api::Sandbox>> {
    let view = app.ask(&who, move |service, who| service.stop(who, id)).await?;
    Ok(Json(wire::sandbox(view)))
}

/// Lets a sandbox live this much longer from now.
#[utoipa::path(post, path = "/api/v1/sandboxes/{id}/extend", tag = "sandboxes", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$")),
    request_body = api::ExtendRequest, responses((status = 200, body = api::Sandbox)))]
pub(crate) async fn extend(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
    JsonBody(request): JsonBody<api::ExtendRequest>,
) -> Answer<Json<api::Sandbox>> {
    if !(1..=31_536_000).contains(&request.ttl_seconds) {
        return Err(Failure::field("ttl_seconds", "must be from 1 to 31536000"));
    }
    let ttl = Span::seconds(request.ttl_seconds);
    let view = app.ask(&who, move |service, who| service.extend(who, id, ttl)).await?;
    Ok(Json(wire::sandbox(view)))
}
