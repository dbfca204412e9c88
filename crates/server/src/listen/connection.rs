//! One connection: HTTP/1.1 with upgrades, until it ends, its client stops reading, or the server does.

use std::{convert::Infallible, pin::pin, time::Duration};

use axum::{Router, body::Body, extract::Request, response::Response};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{runtime::Handle, sync::OwnedSemaphorePermit};
use tower_service::Service as _;

use super::{
    booth::Elsewhere,
    roaming::{Roaming, Socket},
    stall::Stall,
};
use crate::{
    app::App,
    guard::{Named, Peer, named},
    preview,
};

/// How long a client may take to say what it wants, and how long a connection is kept without it wanting anything: short,
/// since each holds one of the places there are.
const HEADER_TIME: Duration = Duration::from_secs(20);
/// The most bytes of a request's head.
const HEAD: usize = 64 * 1024;
/// How much longer than a stream's own clock the connection waits, so that the stream can say why it ends.
const AFTER: Duration = Duration::from_secs(5);

/// How long a program of this machine may take nothing: its user may have it wait in a pager overnight, and what it reads
/// waits with it.
const OVERNIGHT: Duration = Duration::from_hours(24);

/// What a connection needs.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) app: App,
    pub(super) router: Router,
    pub(super) peer: Peer,
    pub(super) place: OwnedSemaphorePermit,
    /// Where what handlers start beside themselves goes on.
    pub(super) reactor: Handle,
}

/// Serves one connection, in a booth that takes it over from the shared reactor.
pub(super) async fn serve_in_booth<S: Socket>(stream: S::Unwatched, open: Open) {
    match S::join(stream) {
        Ok(stream) => serve(stream, open).await,
        Err(error) => tracing::debug!(%error, "a connection could not be taken over"),
    }
}

/// Serves one connection.
pub(super) async fn serve<S: Socket>(stream: S, open: Open) {
    let Open { app, router, peer, place, reactor } = open;
    let patience = match peer {
        Peer::Unix { .. } => OVERNIGHT,
        Peer::Tcp | Peer::Keyless => app.settings.patience + AFTER,
    };
    let stream = {
        // Its clock goes on also where the stream is read by somebody else.
        let _there = reactor.enter();
        Stall::new(Roaming::new(stream), patience, app.metrics.dropped.clone(), app.closing.clone())
    };
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let answer = answer(app.clone(), router.clone(), peer, request.map(Body::new));
        let answer = Elsewhere::new(reactor.clone(), answer);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = app.closing() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
    drop(place);
}

async fn answer(app: App, mut router: Router, peer: Peer, mut request: Request) -> Response {
    request.extensions_mut().insert(peer);
    match (peer, named(&request)) {
        (Peer::Tcp, Named::Preview { port, id }) => preview::forward(&app, id, port, request).await,
        (Peer::Tcp | Peer::Keyless | Peer::Unix { .. }, _) => match router.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        },
    }
}
