//! Running a command: waited for, in the background, or streamed.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use belljar_api as api;
use belljar_domain::{Principal, SandboxId};
use belljar_engine::service::{Claim, ExecutionView, StartExecution};

use crate::{
    answer::Json,
    app::App,
    extract::{Accepts, Caller, JsonBody, Sandbox},
    live::{Attached, Tail, sse},
    problem::Answer,
    wire,
};

/// Runs a command in a sandbox.
///
/// By default the answer comes when the command is over. With `background` it comes at once; with `stream`, or
/// `Accept: text/event-stream`, it is a stream of `started`, `stdout`, `stderr` and `exit` events. Such a command goes on
/// when the stream is lost, and `…/attach` finds it again, unless it was `attached`. An answer that is waited for, and an
/// `attached` stream, are what the command wrote; every other way to its output reads the log, where secrets are replaced.
#[utoipa::path(post, path = "/api/v1/sandboxes/{id}/exec", tag = "executions",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("Idempotency-Key" = Option<String>, Header, description = "Carries the request out once, however often it is made.", max_length = 255)),
    request_body = api::ExecRequest,
    responses(
        (status = 200, content((api::ExecAnswer = "application/json"), (String = "text/event-stream"))),
        (status = 202, body = api::Execution)))]
pub(crate) async fn exec(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
    claim: Option<Extension<Claim>>,
    accepts: Accepts,
    JsonBody(mut request): JsonBody<api::ExecRequest>,
) -> Answer<Response> {
    request.stream |= accepts.names("text/event-stream");
    let (background, streams, attached) = (request.background, request.stream, request.attached);
    let mut order = wire::start(request)?;
    if let Some(Extension(claim)) = claim {
        let execution = *order.id.get_or_insert_with(|| claim.execution());
        let begun = app.ask(&who, move |service, who| service.begun_before(who, execution, claim)).await?;
        if let Some(view) = begun {
            return taken_up(&app, &who, view, (background, streams)).await;
        }
    }
    match (background, streams) {
        (true, _) => {
            let view = app.ask(&who, move |service, who| service.start(who, id, order)).await?;
            Ok((StatusCode::ACCEPTED, Json(wire::execution(view))).into_response())
        }
        (false, true) => streamed(&app, &who, id, order, attached).await,
        (false, false) => {
            let finished = app.run(&who, id, order).await?;
            Ok(Json(wire::answer(finished)).into_response())
        }
    }
}

/// Answers for a command that was started before, by a server that is gone.
async fn taken_up(
    app: &App,
    who: &Arc<Principal>,
    view: ExecutionView,
    how: (bool, bool),
) -> Answer<Response> {
    match how {
        (true, _) => Ok((StatusCode::ACCEPTED, Json(wire::execution(view))).into_response()),
        (false, true) => {
            let client = app.clients.enter()?;
            let tail = Tail::new(app, who, view.id, 0).await?;
            Ok(sse::respond(app, client, first(view), tail))
        }
        (false, false) => {
            let finished = app.dwell(who, move |service, who| service.finished(who, view.id)).await?;
            Ok(Json(wire::answer(finished)).into_response())
        }
    }
}

fn first(view: ExecutionView) -> String {
    format!("{}{}", sse::greeting(), sse::block("started", None::<u64>, &wire::execution(view)))
}

async fn streamed(
    app: &App,
    who: &Arc<Principal>,
    id: SandboxId,
    order: StartExecution,
    attached: bool,
) -> Answer<Response> {
    let client = app.clients.enter()?;
    let (view, own) = app.ask(who, move |service, who| service.start_heard(who, id, order)).await?;
    let tail = Tail::new(app, who, view.id, 0).await?;
    let first = first(view);
    if attached {
        return Ok(sse::respond(app, client, first, Attached::new(tail.own(own))));
    }
    Ok(sse::respond(app, client, first, tail))
}
