//! What commands in a sandbox wrote: read on, or looked for.

use std::sync::Arc;

use axum::{
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use belljar_api as api;
use belljar_domain::{Principal, SandboxId};
use belljar_engine::service::Service;
use belljar_ports::store::{LogFilter, LogSearch, LogStream};

use crate::{
    answer::Json,
    app::App,
    extract::{Accepts, Caller, Query, Sandbox, cursor, limit, moment, parsed},
    live::{LogTail, sse},
    problem::{Answer, Failure},
    wire,
};

/// Reads a sandbox's log, oldest first; with `q` it looks for words, newest first.
///
/// With `follow` it is a stream of `stdout`, `stderr` and `system` events, of all commands and those to come, until the
/// sandbox's `end`. It begins after the `cursor` or, for a client that comes back, after its `Last-Event-ID`.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/logs", tag = "observe", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), api::LogQuery),
    responses((status = 200, content((api::LogPage = "application/json"), (serde_json::Value = "text/event-stream")))))]
pub(crate) async fn read(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
    Query(query): Query<api::LogQuery>,
    accepts: Accepts,
    headers: HeaderMap,
) -> Answer<Response> {
    if query.follow || accepts.names("text/event-stream") {
        return follow(&app, &who, id, &query, &headers).await;
    }
    page(&app, &who, id, query).await.map(IntoResponse::into_response)
}

async fn follow(
    app: &App,
    who: &Arc<Principal>,
    id: SandboxId,
    query: &api::LogQuery,
    headers: &HeaderMap,
) -> Answer<Response> {
    if query.q.is_some() {
        return Err(Failure::field("q", "cannot go with `follow`"));
    }
    let filter = LogFilter {
        execution: parsed("execution_id", query.execution_id.as_deref())?,
        stream: stream(query)?,
        from: moment("from", query.from.as_deref())?,
        until: moment("until", query.until.as_deref())?,
        ..LogFilter::of(id)
    };
    let cursor: Option<u64> = cursor(query.cursor.as_deref())?;
    let after = sse::last_event_id(headers).or(cursor).unwrap_or(0);
    let client = app.clients.enter()?;
    let log = LogTail::new(app, who, filter, after).await?;
    Ok(sse::respond(app, client, sse::greeting(), log))
}

async fn page(
    app: &App,
    who: &Arc<Principal>,
    id: SandboxId,
    query: api::LogQuery,
) -> Answer<Json<api::LogPage>> {
    let limit = limit(query.limit)?;
    let place: Option<u64> = cursor(query.cursor.as_deref())?;
    let execution = parsed("execution_id", query.execution_id.as_deref())?;
    let stream = stream(&query)?;
    let (from, until) = (moment("from", query.from.as_deref())?, moment("until", query.until.as_deref())?);
    let (rows, next, complete) = match query.q.filter(|words| !words.trim().is_empty()) {
        Some(words) => {
            let sandbox = Some(id);
            let search =
                LogSearch { words, sandbox, project: None, execution, stream, from, until, before: place };
            let hits = app.ask(who, move |service, who| service.search_logs(who, &search, limit)).await?;
            (hits.rows, hits.next, hits.complete)
        }
        None => {
            let filter = LogFilter { execution, stream, from, until, ..LogFilter::of(id) };
            let ask = move |service: &Service, who: &Principal| {
                let rows = service.logs(who, &filter, place.unwrap_or(0), limit)?;
                let Some(last) = rows.last().map(|row| row.seq) else { return Ok((rows, None)) };
                // A page of large pieces is short without being the last.
                let more = !service.logs(who, &filter, last, 1)?.is_empty();
                Ok((rows, more.then_some(last)))
            };
            let (rows, next) = app.ask(who, ask).await?;
            (rows, next, true)
        }
    };
    let items = rows.into_iter().map(wire::log_piece).collect();
    Ok(Json(api::LogPage { items, next_cursor: next.map(|place| place.to_string()), complete }))
}

/// Which stream alone, by its name or by a level: standard error is where commands complain.
fn stream(query: &api::LogQuery) -> Answer<Option<LogStream>> {
    let complaints = matches!(query.level, Some(api::LogLevel::Error | api::LogLevel::Warn));
    match query.stream.map(wire::log_stream) {
        Some(LogStream::Stdout) if complaints => {
            Err(Failure::field("level", "standard output has no errors or warnings; leave `stream` out"))
        }
        None if complaints => Ok(Some(LogStream::Stderr)),
        named => Ok(named),
    }
}
