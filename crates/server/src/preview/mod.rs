//! Ports of sandboxes in a browser: `http://{port}-{id}.localhost:{listen port}/`.
//!
//! Owns: carrying HTTP/1.1 and upgraded connections into a sandbox that has no network, through a connection the
//! service dials inside. Refuses: to let our own keys in.
//!
//! No key is asked for. The server listens on loopback alone, so only users of this machine come this far, and whoever
//! knows a sandbox's id (74 random bits) has been given it. Previews have names of their own, so a page served by a
//! sandbox is of another origin than the API: the session's cookie is not sent to it, and requests it sends to the API
//! are refused for their `Origin`.

mod page;

use std::sync::Arc;

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use belljar_domain::{Principal, SandboxId};
use belljar_engine::service::ServiceError;
use hyper::{client::conn::http1, upgrade};
use hyper_util::rt::TokioIo;
use tokio::{io::copy_bidirectional, net::TcpStream};

use crate::{
    app::App,
    guard,
    problem::{Answer, Failure},
};

/// What concerns one connection and not the next.
const HOP: [HeaderName; 7] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Carries a request into a sandbox and the answer out.
pub(crate) async fn forward(app: &App, id: SandboxId, port: u16, request: Request) -> Response {
    let wants_page = request
        .headers()
        .get(header::ACCEPT)
        .is_some_and(|value| value.to_str().unwrap_or("").contains("text/html"));
    match carry(app, id, port, request).await {
        Ok(response) => response,
        Err(failure) if wants_page => page::explain(&failure, id, port),
        Err(failure) => failure.into_response(),
    }
}

async fn carry(app: &App, id: SandboxId, port: u16, mut request: Request) -> Answer<Response> {
    let stream = dial(app, id, port).await?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| bad_gateway(&error))?;
    // It lives as long as the two ends of this one exchange.
    drop(tokio::spawn(async move {
        if let Err(error) = connection.with_upgrades().await {
            tracing::debug!(%error, "a preview's connection ended early");
        }
    }));
    let client_side = upgrade::on(&mut request);
    let upgrading = prepare(app, &mut request);
    let mut response = sender.send_request(request).await.map_err(|error| bad_gateway(&error))?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS && upgrading {
        let sandbox_side = upgrade::on(&mut response);
        let closing = app.clone();
        drop(tokio::spawn(async move {
            let (Ok(client), Ok(sandbox)) = tokio::join!(client_side, sandbox_side) else { return };
            let (mut client, mut sandbox) = (TokioIo::new(client), TokioIo::new(sandbox));
            tokio::select! {
                _ended = copy_bidirectional(&mut client, &mut sandbox) => {}
                () = closing.closing() => {}
            }
        }));
        return Ok(response.map(Body::new));
    }
    strip(response.headers_mut());
    Ok(response.map(Body::new))
}

async fn dial(app: &App, id: SandboxId, port: u16) -> Answer<TcpStream> {
    let who = Arc::new(Principal::admin("preview"));
    let dialled =
        app.ask(&who, move |service, who| service.dial(who, id, port)).await.map_err(|failure| {
            if failure.code() == ServiceError::Conflict(String::new()).code() {
                let detail = format!("nothing in sandbox {id} listens on port {port}");
                Failure::new(StatusCode::BAD_GATEWAY, "NOTHING_LISTENS", detail)
                    .hint("start a server in the sandbox, then reload")
            } else {
                failure
            }
        })?;
    let failed = |error: std::io::Error| Failure::internal("reach the sandbox", &error);
    dialled.set_nonblocking(true).map_err(failed)?;
    TcpStream::from_std(dialled).map_err(failed)
}

/// Makes the request one for the sandbox. Says whether it wants another protocol.
fn prepare(app: &App, request: &mut Request) -> bool {
    let upgrade = request.headers().get(header::UPGRADE).cloned();
    let headers = request.headers_mut();
    guard::strip_key(app, headers);
    strip(headers);
    if let Some(host) = headers.get(header::HOST).cloned() {
        headers.insert("x-forwarded-host", host);
    }
    headers.insert("x-forwarded-proto", HeaderValue::from_static("http"));
    let upgrading = upgrade.is_some();
    if let Some(protocol) = upgrade {
        headers.insert(header::UPGRADE, protocol);
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    }
    let path = request.uri().path_and_query().cloned();
    *request.uri_mut() = path.map_or_else(Uri::default, Uri::from);
    upgrading
}

fn strip(headers: &mut HeaderMap) {
    for name in HOP {
        headers.remove(name);
    }
    headers.remove("keep-alive");
}

fn bad_gateway(error: &hyper::Error) -> Failure {
    Failure::new(
        StatusCode::BAD_GATEWAY,
        "BAD_GATEWAY",
        format!("what listens there did not answer in HTTP: {error}"),
    )
}
