//! Terminals over WebSocket: of a command that has one, or a fresh shell.

use std::sync::Arc;

use axum::{
    extract::{
        State,
        ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    },
    http::StatusCode,
    response::Response,
};
use belljar_api as api;
use belljar_domain::{ExecutionId, Principal};
use belljar_engine::service::{Heard, OwnOutput, ServiceError, StartExecution, Stdin};

use super::executions::found;
use crate::{
    app::App,
    extract::{Caller, Execution, Query, Sandbox, path_inside},
    live::{Tail, serve_terminal},
    problem::{Answer, Failure},
    wire,
};

/// The most bytes of a frame from outside.
pub(super) const FRAME: usize = 256 * 1024;
/// The most bytes that wait to be sent.
pub(super) const UNSENT: usize = 1024 * 1024;

/// A shell where there is a good one.
const SHELL: &str = "if command -v bash >/dev/null 2>&1; then exec bash -l; else exec sh -l; fi";

/// What upgrades a connection, with our own words when the client did not ask for it.
pub(super) fn upgrade(
    asked: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<WebSocketUpgrade> {
    let upgrade = asked.map_err(|_plain| {
        Failure::new(StatusCode::UPGRADE_REQUIRED, "UPGRADE_REQUIRED", "this is a WebSocket")
            .hint("connect with a WebSocket client")
    })?;
    Ok(upgrade
        .max_message_size(FRAME)
        .max_frame_size(FRAME)
        .write_buffer_size(16 * 1024)
        .max_write_buffer_size(UNSENT))
}

/// Opens the terminal of a command that runs on one.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/executions/{exe}/pty", tag = "executions",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("exe" = String, Path, pattern = "^exe_[0-9a-f]{32}$")),
    responses((status = 101, description = "Binary frames are keys and output; text frames are JSON.")))]
pub(crate) async fn of_execution(
    State(app): State<App>,
    Caller(who): Caller,
    Execution(sandbox, id): Execution,
    asked: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let asked = upgrade(asked)?;
    let view = app.ask(&who, move |service, who| found(service, who, sandbox, id)).await?;
    if view.terminal.is_none() {
        return Err(ServiceError::Conflict(format!(
            "execution {id} has no terminal; start one with `terminal`"
        ))
        .into());
    }
    open(&app, &who, asked, id, None).await
}

/// Starts a shell, or a command, on a terminal and opens it.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/pty", tag = "executions",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), api::TerminalQuery),
    responses((status = 101, description = "Binary frames are keys and output; text frames are JSON.")))]
pub(crate) async fn shell(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(sandbox): Sandbox,
    Query(query): Query<api::TerminalQuery>,
    asked: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let asked = upgrade(asked)?;
    let size = wire::terminal(query.rows.unwrap_or(24), query.cols.unwrap_or(80))?;
    let line = query.command.unwrap_or_else(|| SHELL.to_owned());
    let order = StartExecution {
        argv: vec!["sh".to_owned(), "-c".to_owned(), line],
        cwd: query.cwd.map(|cwd| path_inside("cwd", &cwd)).transpose()?,
        stdin: Stdin::Open,
        terminal: Some(size),
        heard: Heard::AsItComes,
        ..StartExecution::default()
    };
    let (view, own) = app.ask(&who, move |service, who| service.start_heard(who, sandbox, order)).await?;
    open(&app, &who, asked, view.id, Some(own)).await
}

async fn open(
    app: &App,
    who: &Arc<Principal>,
    asked: WebSocketUpgrade,
    id: ExecutionId,
    own: Option<OwnOutput>,
) -> Answer<Response> {
    let client = app.clients.enter()?;
    let tail = Tail::new(app, who, id, 0).await?;
    let tail = match own {
        Some(own) => tail.own(own),
        None => tail,
    };
    let (app, who) = (app.clone(), Arc::clone(who));
    Ok(asked.on_upgrade(move |socket| serve_terminal(socket, app, who, tail, id, client)))
}
