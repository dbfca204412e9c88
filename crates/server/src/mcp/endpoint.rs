//! The protocol at `/mcp`: streamable HTTP, and a plain stream of messages for those who ask for an upgrade to `mcp`.
//!
//! Owns: sessions over HTTP, bounded in number and idle time. Refuses: to check who calls; the edge did.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use belljar_engine::service::Service;
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService,
    session::local::{LocalSessionManager, SessionConfig},
};
use tokio_util::sync::CancellationToken;

use super::{session::Session, tools::Tools};
use crate::{
    app::App,
    extract::{self, Caller},
    problem::{Answer, Failure},
};

/// The most bytes of one message.
const LONGEST_BODY: usize = 8 * 1024 * 1024;
/// The most sessions at one time.
const SESSIONS: usize = 256;
/// How long a session is kept without anything happening in it.
const IDLE: Duration = Duration::from_secs(3600);
/// What an upgrade is asked for by.
const PLAIN: &str = "mcp";
const SESSION: &str = "mcp-session-id";

/// What serves `/mcp`.
pub(crate) struct Endpoint {
    tools: Tools,
    sessions: Arc<LocalSessionManager>,
    http: StreamableHttpService<Tools, LocalSessionManager>,
    end: CancellationToken,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl Endpoint {
    pub(crate) fn new(service: Service, version: &'static str, port: u16) -> Self {
        let tools = Tools::new(service, version).served_at(&format!("http://localhost:{port}"));
        let mut idle = SessionConfig::default();
        idle.keep_alive = Some(IDLE);
        let mut sessions = LocalSessionManager::default();
        sessions.session_config = idle;
        let (sessions, end) = (Arc::new(sessions), CancellationToken::new());
        let config = StreamableHttpServerConfig::default()
            .with_cancellation_token(end.clone())
            .with_max_request_body_bytes(LONGEST_BODY)
            // The edge knows the names this server answers to, and which pages may call.
            .disable_allowed_hosts();
        let offered = tools.clone();
        let http = StreamableHttpService::new(move || Ok(offered.clone()), Arc::clone(&sessions), config);
        Self { tools, sessions, http, end }
    }

    /// Ends every session.
    pub(crate) fn close(&self) {
        self.end.cancel();
    }

    async fn has_room(&self) -> bool {
        self.sessions.sessions.read().await.len() < SESSIONS
    }
}

/// Takes a message of the Model Context Protocol (streamable HTTP).
#[utoipa::path(post, path = "/mcp", tag = "mcp", request_body(content = serde_json::Value, content_type = "application/json"),
    responses((status = 200, content((serde_json::Value = "application/json"), (String = "text/event-stream"))), (status = 202),
        (status = 400, content((serde_json::Value = "application/json"), (belljar_api::Problem = "application/problem+json")))))]
pub(crate) async fn post(State(app): State<App>, _who: Caller, request: Request) -> Answer<Response> {
    if !request.headers().contains_key(SESSION) && !app.mcp.has_room().await {
        let detail = format!("{SESSIONS} sessions are open, as many as there may be");
        return Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, "TOO_MANY_CLIENTS", detail));
    }
    told(app.mcp.http.handle(request).await.map(Body::new)).await
}

/// Follows a session of the Model Context Protocol; with `Upgrade: mcp`, carries the protocol's messages line by line.
#[utoipa::path(get, path = "/mcp", tag = "mcp",
    responses((status = 200, body = String, content_type = "text/event-stream"), (status = 101, description = "Messages line by line, both ways.")))]
pub(crate) async fn open(
    State(app): State<App>,
    Caller(who): Caller,
    mut request: Request,
) -> Answer<Response> {
    let wanted = request.headers().get(header::UPGRADE).and_then(|value| value.to_str().ok());
    if wanted != Some(PLAIN) {
        return told(app.mcp.http.handle(request).await.map(Body::new)).await;
    }
    let client = app.clients.enter()?;
    let upgraded = hyper::upgrade::on(&mut request);
    let session = Session::of(app.mcp.tools.clone().on_behalf_of(who));
    let end = app.mcp.end.clone();
    // It ends with its connection, and with the server at the latest.
    tokio::spawn(async move {
        let _client = client;
        let Ok(stream) = upgraded.await else { return };
        let (from, to) = tokio::io::split(TokioIo::new(stream));
        tokio::select! {
            ended = session.run(from, to) => if let Err(error) = ended {
                tracing::debug!(error = %crate::problem::chain(&error), "a session ended early");
            },
            () = end.cancelled() => {}
        }
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    response.headers_mut().insert(header::UPGRADE, HeaderValue::from_static(PLAIN));
    Ok(response)
}

/// Ends a session of the Model Context Protocol.
#[utoipa::path(delete, path = "/mcp", tag = "mcp", responses((status = 202)))]
pub(crate) async fn close(State(app): State<App>, _who: Caller, request: Request) -> Answer<Response> {
    told(app.mcp.http.handle(request).await.map(Body::new)).await
}

/// What went wrong before a message was read is a problem like any other; about a message, the protocol has its own words.
async fn told(response: Response) -> Answer<Response> {
    let status = response.status();
    let is_message = response.headers().contains_key(header::CONTENT_TYPE);
    if !(status.is_client_error() || status.is_server_error()) || is_message {
        return Ok(response);
    }
    let said = extract::read(response.into_body()).await?;
    let code = match status {
        StatusCode::NOT_FOUND => "NOT_FOUND",
        StatusCode::METHOD_NOT_ALLOWED => "METHOD_NOT_ALLOWED",
        StatusCode::PAYLOAD_TOO_LARGE => "TOO_LARGE",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "UNSUPPORTED_MEDIA_TYPE",
        status if status.is_server_error() => "INTERNAL_ERROR",
        _ => "INVALID_REQUEST",
    };
    Err(Failure::new(status, code, String::from_utf8_lossy(&said)))
}
