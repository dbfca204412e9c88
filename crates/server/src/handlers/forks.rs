//! Runs under their other name: where one is begun, it is also found, judged, chosen from and stopped.

use axum::{Extension, extract::State, response::Response};
use belljar_api as api;
use belljar_engine::service::Claim;
use serde_json::Value;

use super::runs;
use crate::{
    answer::Json,
    app::App,
    extract::{Caller, JsonBody, Query, Run},
    problem::Answer,
};

/// Gives a task to several sandboxes; the answer comes at once, the work goes on.
#[utoipa::path(post, path = "/api/v1/sandboxes/fork", tag = "runs", request_body = api::ForkRequest,
    params(("Idempotency-Key" = Option<String>, Header, description = "Carries the request out once, however often it is made.", max_length = 255)),
    responses((status = 201, body = api::Run)))]
pub(crate) async fn fork(
    app: State<App>,
    who: Caller,
    claim: Option<Extension<Claim>>,
    request: JsonBody<api::ForkRequest>,
) -> Answer<Response> {
    runs::create(app, who, claim, request).await
}

/// Lists runs, newest first.
#[utoipa::path(get, path = "/api/v1/sandboxes/fork/history", tag = "runs", params(api::RunQuery),
    responses((status = 200, body = api::Page<api::Run>)))]
pub(crate) async fn fork_history(
    app: State<App>,
    who: Caller,
    query: Query<api::RunQuery>,
) -> Answer<Json<api::Page<api::Run>>> {
    runs::list(app, who, query).await
}

/// Counts runs.
#[utoipa::path(get, path = "/api/v1/sandboxes/fork/stats", tag = "runs", params(api::RunStatsQuery),
    responses((status = 200, body = api::RunStats)))]
pub(crate) async fn fork_stats(
    app: State<App>,
    who: Caller,
    query: Query<api::RunStatsQuery>,
) -> Answer<Json<api::RunStats>> {
    runs::stats(app, who, query).await
}

/// Shows a run.
#[utoipa::path(get, path = "/api/v1/sandboxes/fork/{id}", tag = "runs", params(("id" = String, Path, pattern = "^run_[0-9a-f]{32}$")),
    responses((status = 200, body = api::Run)))]
pub(crate) async fn fork_status(app: State<App>, who: Caller, id: Run) -> Answer<Json<api::Run>> {
    runs::get(app, who, id).await
}

/// Stops a run: its attempts end, their sandboxes go. One that is over already is fine.
#[utoipa::path(delete, path = "/api/v1/sandboxes/fork/{id}", tag = "runs", params(("id" = String, Path, pattern = "^run_[0-9a-f]{32}$")),
    responses((status = 200, body = api::Run)))]
pub(crate) async fn stop_fork(app: State<App>, who: Caller, id: Run) -> Answer<Json<api::Run>> {
    runs::stop(app, who, id).await
}

/// Shows how a run was judged: the ranking, every gate, and what each score is made of.
#[utoipa::path(get, path = "/api/v1/sandboxes/fork/{id}/results", tag = "runs", params(("id" = String, Path, pattern = "^run_[0-9a-f]{32}$")),
    responses((status = 200, body = Value)))]
pub(crate) async fn fork_results(app: State<App>, who: Caller, id: Run) -> Answer<Json<Value>> {
    runs::results(app, who, id).await
}

/// Chooses an attempt, whatever the judge said.
#[utoipa::path(post, path = "/api/v1/sandboxes/fork/{id}/select", tag = "runs", params(("id" = String, Path, pattern = "^run_[0-9a-f]{32}$")),
    request_body = api::SelectRequest, responses((status = 200, body = api::Run)))]
pub(crate) async fn select_fork(
    app: State<App>,
    who: Caller,
    id: Run,
    choice: JsonBody<api::SelectRequest>,
) -> Answer<Json<api::Run>> {
    runs::select(app, who, id, choice).await
}
