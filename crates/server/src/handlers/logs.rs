//! What commands in a sandbox wrote: read on, or looked for.

use axum::extract::State;
use belljar_api as api;
use belljar_domain::Principal;
use belljar_engine::service::Service;
use belljar_ports::store::{LogFilter, LogSearch, LogStream};

use crate::{
    answer::Json,
    app::App,
    extract::{Caller, Query, Sandbox, cursor, limit, moment, parsed},
    problem::{Answer, Failure},
    wire,
};

/// Reads a sandbox's log, oldest first; with `q` it looks for words, newest first.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/logs", tag = "observe", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), api::LogQuery),
    responses((status = 200, body = api::LogPage)))]
pub(crate) async fn read(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
    Query(query): Query<api::LogQuery>,
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
            let hits = app.ask(&who, move |service, who| service.search_logs(who, &search, limit)).await?;
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
            let (rows, next) = app.ask(&who, ask).await?;
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
