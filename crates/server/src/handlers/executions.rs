//! Commands that run or ran: find, wait for, feed, signal, read.

use std::time::Duration;

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::Response,
};
use belljar_api as api;
use belljar_domain::{ExecutionId, Principal, SandboxId};
use belljar_engine::service::{ExecutionView, Service, ServiceError};

use crate::{
    answer::{Json, page},
    app::App,
    extract::{Caller, Execution, JsonBody, Query, RawBody, Sandbox, cursor, limit},
    live::{Tail, sse},
    problem::{Answer, Failure},
    wire,
};

const DEFAULT_WAIT: u32 = 60;
const LONGEST_WAIT: u32 = 3600;
const DEFAULT_BYTES: usize = 1024 * 1024;
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// An execution, if it is in the sandbox the path names.
pub(super) fn found(
    service: &Service,
    who: &Principal,
    sandbox: SandboxId,
    id: ExecutionId,
) -> Result<ExecutionView, ServiceError> {
    let view = service.execution(who, id)?;
    if view.sandbox == sandbox { Ok(view) } else { Err(ServiceError::NoExecution(id)) }
}

/// Lists the commands of a sandbox, newest first.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/executions", tag = "executions",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), api::PageQuery),
    responses((status = 200, body = api::Page<api::Execution>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
    Query(query): Query<api::PageQuery>,
) -> Answer<Json<api::Page<api::Execution>>> {
    let (limit, below) = (limit(query.limit)?, cursor(query.cursor.as_deref())?);
    let rows = app.ask(&who, move |service, who| service.executions(who, id, below, limit)).await?;
    Ok(page(rows, limit, |view| view.id.to_string(), wire::execution))
}

/// Shows a command, and what it wrote so far.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/executions/{exe}", tag = "executions",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("exe" = String, Path, pattern = "^exe_[0-9a-f]{32}$")),
    responses((status = 200, body = api::Execution)))]
pub(crate) async fn get(
    State(app): State<App>,
    Caller(who): Caller,
    Execution(sandbox, id): Execution,
) -> Answer<Json<api::Execution>> {
    let (view, written) = app
        .ask(&who, move |service, who| Ok((found(service, who, sandbox, id)?, service.written(who, id)?)))
        .await?;
    Ok(Json(wire::whole(view, written)))
}

/// Kills a command and everything it started. One that is over already is fine.
#[utoipa::path(delete, path = "/api/v1/sandboxes/{id}/executions/{exe}", tag = "executions",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("exe" = String, Path, pattern = "^exe_[0-9a-f]{32}$")),
    responses((status = 204)))]
pub(crate) async fn kill(
    State(app): State<App>,
    Caller(who): Caller,
    Execution(sandbox, id): Execution,
) -> Answer<StatusCode> {
    app.ask(&who, move |service, who| {
        found(service, who, sandbox, id)?;
        match service.kill(who, id) {
            Err(ServiceError::Over(_)) => Ok(()),
            done => done,
        }
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Adds to a command's input, which was left open when it was started.
#[utoipa::path(post, path = "/api/v1/sandboxes/{id}/executions/{exe}/stdin", tag = "executions",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("exe" = String, Path, pattern = "^exe_[0-9a-f]{32}$"), api::StdinQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"), responses((status = 204)))]
pub(crate) async fn stdin(
    State(app): State<App>,
    Caller(who): Caller,
    Execution(sandbox, id): Execution,
    Query(query): Query<api::StdinQuery>,
    RawBody(bytes): RawBody,
) -> Answer<StatusCode> {
    app.dwell(&who, move |service, who| {
        found(service, who, sandbox, id)?;
        if !bytes.is_empty() {
            service.input(who, id, &bytes)?;
        }
        if query.close { service.close_input(who, id) } else { Ok(()) }
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Tells a command's terminal its new size.
#[utoipa::path(post, path = "/api/v1/sandboxes/{id}/executions/{exe}/resize", tag = "executions",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("exe" = String, Path, pattern = "^exe_[0-9a-f]{32}$")),
    request_body = api::ResizeRequest, responses((status = 204)))]
pub(crate) async fn resize(
    State(app): State<App>,
    Caller(who): Caller,
    Execution(sandbox, id): Execution,
    JsonBody(request): JsonBody<api::ResizeRequest>,
) -> Answer<StatusCode> {
    let size = wire::terminal(request.rows, request.cols)?;
    app.ask(&who, move |service, who| {
        found(service, who, sandbox, id)?;
        service.resize(who, id, size)
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends a signal to a command's process group.
#[utoipa::path(post, path = "/api/v1/sandboxes/{id}/executions/{exe}/signal", tag = "executions",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("exe" = String, Path, pattern = "^exe_[0-9a-f]{32}$")),
    request_body = api::SignalRequest, responses((status = 204)))]
pub(crate) async fn signal(
    State(app): State<App>,
    Caller(who): Caller,
    Execution(sandbox, id): Execution,
    JsonBody(request): JsonBody<api::SignalRequest>,
) -> Answer<StatusCode> {
    if !(1..=64).contains(&request.signal) {
        return Err(Failure::field("signal", "must be from 1 to 64"));
    }
    app.ask(&who, move |service, who| {
        found(service, who, sandbox, id)?;
        service.signal(who, id, request.signal)
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Waits for a command's end, or until the time is up; then it is `running` still.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/executions/{exe}/wait", tag = "executions",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("exe" = String, Path, pattern = "^exe_[0-9a-f]{32}$"), api::WaitQuery),
    responses((status = 200, body = api::Execution)))]
pub(crate) async fn wait(
    State(app): State<App>,
    Caller(who): Caller,
    Execution(sandbox, id): Execution,
    Query(query): Query<api::WaitQuery>,
) -> Answer<Json<api::Execution>> {
    let seconds = query.timeout_seconds.unwrap_or(DEFAULT_WAIT);
    if seconds > LONGEST_WAIT {
        return Err(Failure::field("timeout_seconds", format!("must be at most {LONGEST_WAIT}")));
    }
    let patience = Duration::from_secs(seconds.into());
    let (view, written) = app
        .dwell(&who, move |service, who| {
            found(service, who, sandbox, id)?;
            // Once it is over, all it wrote can be read.
            Ok((service.wait(who, id, patience)?, service.written(who, id)?))
        })
        .await?;
    Ok(Json(wire::whole(view, written)))
}

/// Reads a command's output after a place, as far as there is some now.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/executions/{exe}/output", tag = "executions",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("exe" = String, Path, pattern = "^exe_[0-9a-f]{32}$"), api::OutputQuery),
    responses((status = 200, body = api::OutputPage)))]
pub(crate) async fn output(
    State(app): State<App>,
    Caller(who): Caller,
    Execution(sandbox, id): Execution,
    Query(query): Query<api::OutputQuery>,
) -> Answer<Json<api::OutputPage>> {
    let (after, bytes) = (query.after.unwrap_or(0), query.max_bytes.unwrap_or(DEFAULT_BYTES));
    if !(1..=MOST_BYTES).contains(&bytes) {
        return Err(Failure::field("max_bytes", format!("must be from 1 to {MOST_BYTES}")));
    }
    let read = app
        .ask(&who, move |service, who| {
            found(service, who, sandbox, id)?;
            service.output(who, id, after, bytes)
        })
        .await?;
    let items: Vec<_> = read.chunks.into_iter().map(wire::output_piece).collect();
    let after = items.last().map_or(after, |piece| piece.place);
    Ok(Json(api::OutputPage { items, after, end: read.end }))
}

/// Follows a command's output as `stdout` and `stderr` events, until its `exit`. `Last-Event-ID` goes on from a place.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/executions/{exe}/attach", tag = "executions",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("exe" = String, Path, pattern = "^exe_[0-9a-f]{32}$"), api::OutputQuery),
    responses((status = 200, body = String, content_type = "text/event-stream")))]
pub(crate) async fn attach(
    State(app): State<App>,
    Caller(who): Caller,
    Execution(sandbox, id): Execution,
    Query(query): Query<api::OutputQuery>,
    headers: HeaderMap,
) -> Answer<Response> {
    let client = app.clients.enter()?;
    app.ask(&who, move |service, who| found(service, who, sandbox, id)).await?;
    let after = sse::last_event_id(&headers).or(query.after).unwrap_or(0);
    let tail = Tail::new(&app, &who, id, after).await?;
    Ok(sse::respond(&app, client, sse::greeting(), tail))
}
