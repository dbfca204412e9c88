//! What commands in a sandbox wrote: read on, or looked for.

use axum::extract::State;
use belljar_api as api;
use belljar_domain::{ExecutionId, Timestamp};
use belljar_ports::store::{LogFilter, LogRow, LogSearch, LogStream};

use crate::{
    answer::Json,
    app::App,
    extract::{Caller, Query, Sandbox, cursor, limit, moment, parsed},
    problem::Answer,
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
    let wanted = Wanted {
        execution: parsed("execution_id", query.execution_id.as_deref())?,
        stream: query.stream.map(wire::log_stream),
        from: moment("from", query.from.as_deref())?,
        until: moment("until", query.until.as_deref())?,
    };
    let (rows, complete) = match query.q.filter(|words| !words.trim().is_empty()) {
        Some(words) => {
            let search = LogSearch { words, sandbox: Some(id), project: None, before: place };
            let hits = app
                .ask(&who, move |service, who| {
                    service.sandbox(who, id)?;
                    service.search_logs(who, &search, limit)
                })
                .await?;
            (hits.rows, hits.complete)
        }
        None => {
            let filter = LogFilter { sandbox: id, execution: wanted.execution, stream: wanted.stream };
            let after = place.unwrap_or(0);
            (app.ask(&who, move |service, who| service.logs(who, &filter, after, limit)).await?, true)
        }
    };
    // A page goes on after the last that was read, whether it was wanted or not.
    let next_cursor = rows.last().filter(|_| rows.len() >= limit).map(|row| row.seq.to_string());
    let items = rows.into_iter().filter(|row| wanted.has(row)).map(wire::log_piece).collect();
    Ok(Json(api::LogPage { items, next_cursor, complete }))
}

/// What the store does not sort out by itself.
struct Wanted {
    execution: Option<ExecutionId>,
    stream: Option<LogStream>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl Wanted {
    fn has(&self, row: &LogRow) -> bool {
        let chunk = &row.chunk;
        self.execution.is_none_or(|id| chunk.execution == Some(id))
            && self.stream.is_none_or(|stream| chunk.stream == stream)
            && self.from.is_none_or(|from| chunk.time >= from)
            && self.until.is_none_or(|until| chunk.time < until)
    }
}
