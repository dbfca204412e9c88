//! Runs: begin, watch, compare, choose.

use std::time::Duration;

use axum::{
    Extension,
    extract::State,
    response::{IntoResponse, Response},
};
use belljar_api as api;
use belljar_domain::Principal;
use belljar_engine::{
    changes::Look,
    service::{Claim, ReportFormat, Service, Side},
};
use serde_json::Value;

use crate::{
    answer::{Json, created, page, typed},
    app::App,
    extract::{Caller, JsonBody, Query, Run, cursor, limit, moment},
    problem::{Answer, Failure},
    wire,
};

/// How long somebody may wait for news.
const LONGEST: u64 = 60;
const USUAL: u64 = 30;

/// Gives a task to several sandboxes; the answer comes at once, the work goes on.
#[utoipa::path(post, path = "/api/v1/runs", tag = "runs", request_body = api::ForkRequest,
    params(("Idempotency-Key" = Option<String>, Header, description = "Carries the request out once, however often it is made.", max_length = 255)),
    responses((status = 201, body = api::Run)))]
pub(crate) async fn create(
    State(app): State<App>,
    Caller(who): Caller,
    claim: Option<Extension<Claim>>,
    JsonBody(request): JsonBody<api::ForkRequest>,
) -> Answer<Response> {
    let order = wire::new_run(request)?;
    let begin = move |service: &Service, who: &Principal| match claim {
        None => service.start_run(who, order),
        Some(Extension(claim)) => service.start_run_once(who, order, claim),
    };
    let run = app.dwell(&who, begin).await?;
    Ok(created(&format!("/api/v1/runs/{}", run.id), wire::run(run)))
}

/// Lists runs, newest first.
#[utoipa::path(get, path = "/api/v1/runs", tag = "runs", params(api::RunQuery),
    responses((status = 200, body = api::Page<api::Run>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::RunQuery>,
) -> Answer<Json<api::Page<api::Run>>> {
    let (filter, limit) = (wire::run_filter(&query)?, limit(query.limit)?);
    let below = cursor(query.cursor.as_deref())?;
    let runs = app.ask(&who, move |service, who| service.runs(who, filter, below, limit)).await?;
    Ok(page(runs, limit, |run| run.id.to_string(), wire::run))
}

/// Counts runs.
#[utoipa::path(get, path = "/api/v1/runs/stats", tag = "runs", params(api::RunStatsQuery),
    responses((status = 200, body = api::RunStats)))]
pub(crate) async fn stats(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::RunStatsQuery>,
) -> Answer<Json<api::RunStats>> {
    let from = moment("from", query.from.as_deref())?;
    let stats = app.ask(&who, move |service, who| service.run_stats(who, from)).await?;
    Ok(Json(wire::run_stats(&stats)))
}

/// Shows a run with its attempts.
#[utoipa::path(get, path = "/api/v1/runs/{id}", tag = "runs", params(("id" = String, Path, pattern = "^run_[0-9a-f]{32}$")),
    responses((status = 200, body = api::Run)))]
pub(crate) async fn get(State(app): State<App>, Caller(who): Caller, Run(id): Run) -> Answer<Json<api::Run>> {
    let run = app.ask(&who, move |service, who| service.run_of(who, id)).await?;
    Ok(Json(wire::run(run)))
}

/// Stops a run: its attempts end, their sandboxes go. One that is over already is fine.
#[utoipa::path(delete, path = "/api/v1/runs/{id}", tag = "runs", params(("id" = String, Path, pattern = "^run_[0-9a-f]{32}$")),
    responses((status = 200, body = api::Run)))]
pub(crate) async fn stop(
    State(app): State<App>,
    Caller(who): Caller,
    Run(id): Run,
) -> Answer<Json<api::Run>> {
    let run = app.ask(&who, move |service, who| service.stop_run(who, id)).await?;
    Ok(Json(wire::run(run)))
}

/// Waits until there is something new to know of a run.
#[utoipa::path(get, path = "/api/v1/runs/{id}/wait", tag = "runs", params(("id" = String, Path, pattern = "^run_[0-9a-f]{32}$"), api::RunWaitQuery),
    responses((status = 200, body = api::Run)))]
pub(crate) async fn wait(
    State(app): State<App>,
    Caller(who): Caller,
    Run(id): Run,
    Query(query): Query<api::RunWaitQuery>,
) -> Answer<Json<api::Run>> {
    let seconds = query.timeout_seconds.unwrap_or(USUAL);
    if seconds > LONGEST {
        return Err(Failure::field("timeout_seconds", format!("must be from 0 to {LONGEST}")));
    }
    let patience = Duration::from_secs(seconds);
    let run =
        app.dwell(&who, move |service, who| service.watch_run(who, id, query.version, patience)).await?;
    Ok(Json(wire::run(run)))
}

/// Shows how a run was judged: the ranking, every gate, and what each score is made of.
#[utoipa::path(get, path = "/api/v1/runs/{id}/results", tag = "runs", params(("id" = String, Path, pattern = "^run_[0-9a-f]{32}$")),
    responses((status = 200, body = Value)))]
pub(crate) async fn results(
    State(app): State<App>,
    Caller(who): Caller,
    Run(id): Run,
) -> Answer<Json<Value>> {
    Ok(Json(app.ask(&who, move |service, who| service.run_results(who, id)).await?))
}

/// Shows what an attempt changed, or what leads from one attempt to another.
#[utoipa::path(get, path = "/api/v1/runs/{id}/changes", tag = "runs", params(("id" = String, Path, pattern = "^run_[0-9a-f]{32}$"), api::RunChangesQuery),
    responses((status = 200, content((serde_json::Value = "application/json"), (String = "text/x-diff")))))]
pub(crate) async fn changes(
    State(app): State<App>,
    Caller(who): Caller,
    Run(id): Run,
    Query(query): Query<api::RunChangesQuery>,
) -> Answer<Response> {
    let from = wire::side("from", query.from.as_deref().unwrap_or("base"))?;
    let to = query.to.as_deref().map(|to| wire::side("to", to)).transpose()?;
    let found = app
        .dwell(&who, move |service, who| {
            let to = match to {
                Some(to) => to,
                None => Side::Attempt(service.winner_of(who, id)?),
            };
            service.run_changes(who, id, from, to)
        })
        .await?;
    app.blocking(move || {
        if query.format == Some(api::ChangesFormat::Patch) {
            let mut patch = Vec::new();
            found.patch(&mut patch, Look::Patch)?;
            return Ok(typed("text/x-diff; charset=utf-8", patch));
        }
        Ok(Json(found).into_response())
    })
    .await
}

/// Writes a run down for people: who won and why, every gate, what scores are made of, and the changes.
#[utoipa::path(get, path = "/api/v1/runs/{id}/report", tag = "runs", params(("id" = String, Path, pattern = "^run_[0-9a-f]{32}$"), api::RunReportQuery),
    responses((status = 200, content((String = "text/markdown"), (String = "text/html")))))]
pub(crate) async fn report(
    State(app): State<App>,
    Caller(who): Caller,
    Run(id): Run,
    Query(query): Query<api::RunReportQuery>,
) -> Answer<Response> {
    let (format, media_type) = match query.format.unwrap_or(api::RunReportFormat::Markdown) {
        api::RunReportFormat::Markdown => (ReportFormat::Markdown, "text/markdown; charset=utf-8"),
        api::RunReportFormat::Html => (ReportFormat::Html, "text/html; charset=utf-8"),
    };
    let page = app.dwell(&who, move |service, who| service.run_report(who, id, format)).await?;
    Ok(typed(media_type, page))
}

/// Chooses an attempt, whatever the judge said.
#[utoipa::path(post, path = "/api/v1/runs/{id}/select", tag = "runs", params(("id" = String, Path, pattern = "^run_[0-9a-f]{32}$")),
    request_body = api::SelectRequest, responses((status = 200, body = api::Run)))]
pub(crate) async fn select(
    State(app): State<App>,
    Caller(who): Caller,
    Run(id): Run,
    JsonBody(choice): JsonBody<api::SelectRequest>,
) -> Answer<Json<api::Run>> {
    let run = app.ask(&who, move |service, who| service.pick(who, id, choice.fork, &choice.reason)).await?;
    Ok(Json(wire::run(run)))
}
