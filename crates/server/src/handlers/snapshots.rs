//! Snapshots: take, list, show, remove.

use axum::{extract::State, http::StatusCode, response::Response};
use belljar_api as api;

use crate::{
    answer::{Json, created, page},
    app::App,
    extract::{Caller, OptionalJson, Query, Sandbox, Snapshot, cursor, limit},
    problem::Answer,
    wire,
};

/// Freezes a sandbox's files as something others can start from.
#[utoipa::path(post, path = "/api/v1/sandboxes/{id}/snapshots", tag = "snapshots", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$")),
    request_body = Option<api::SnapshotRequest>, responses((status = 201, body = api::Snapshot)))]
pub(crate) async fn create(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
    OptionalJson(request): OptionalJson<api::SnapshotRequest>,
) -> Answer<Response> {
    let row = app.dwell(&who, move |service, who| service.snapshot(who, id, request.name.as_deref())).await?;
    Ok(created(&format!("/api/v1/snapshots/{}", row.id), wire::snapshot(row)))
}

/// Lists snapshots, newest first.
#[utoipa::path(get, path = "/api/v1/snapshots", tag = "snapshots", params(api::PageQuery),
    responses((status = 200, body = api::Page<api::Snapshot>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::PageQuery>,
) -> Answer<Json<api::Page<api::Snapshot>>> {
    let (limit, below) = (limit(query.limit)?, cursor(query.cursor.as_deref())?);
    let rows = app.ask(&who, move |service, who| service.snapshots(who, below, limit)).await?;
    Ok(page(rows, limit, |row| row.id.to_string(), wire::snapshot))
}

/// Shows a snapshot.
#[utoipa::path(get, path = "/api/v1/snapshots/{id}", tag = "snapshots", params(("id" = String, Path, pattern = "^snp_[0-9a-f]{32}$")),
    responses((status = 200, body = api::Snapshot)))]
pub(crate) async fn get(
    State(app): State<App>,
    Caller(who): Caller,
    Snapshot(id): Snapshot,
) -> Answer<Json<api::Snapshot>> {
    let row = app.ask(&who, move |service, who| service.snapshot_row(who, id)).await?;
    Ok(Json(wire::snapshot(row)))
}

/// Removes a snapshot.
#[utoipa::path(delete, path = "/api/v1/snapshots/{id}", tag = "snapshots", params(("id" = String, Path, pattern = "^snp_[0-9a-f]{32}$")),
    responses((status = 204)))]
pub(crate) async fn delete(
    State(app): State<App>,
    Caller(who): Caller,
    Snapshot(id): Snapshot,
) -> Answer<StatusCode> {
    app.ask(&who, move |service, who| service.delete_snapshot(who, id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
