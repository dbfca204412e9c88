//! Server-sent events: text a browser, `curl` and every HTTP library can read.

use std::{convert::Infallible, fmt::Display, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue},
    response::Response,
};
use futures_util::stream;
use serde::Serialize;

use super::{Client, Feed, Piece, Tail};
use crate::{answer::typed, app::App, problem::Failure, wire};

/// What a source says each time it is asked.
#[derive(Debug)]
pub(crate) enum Said {
    /// Something to send.
    Text(String),
    /// Something to send, and nothing after it.
    Last(String),
    /// Nothing after what was sent.
    End,
}

/// Something that can be streamed.
pub(crate) trait Source: Send + 'static {
    /// Waits for what to send next. May be dropped while waiting.
    fn next(&mut self) -> impl Future<Output = Said> + Send;
    /// What to say when the server ends.
    fn goodbye(&self) -> String {
        block("goodbye", None::<u64>, &serde_json::json!({}))
    }
}

/// One event as text.
pub(crate) fn block(event: &str, id: Option<impl Display>, data: &impl Serialize) -> String {
    let data = serde_json::to_string(data).unwrap_or_default();
    match id {
        Some(id) => format!("id: {id}\nevent: {event}\ndata: {data}\n\n"),
        None => format!("event: {event}\ndata: {data}\n\n"),
    }
}

/// The last word of a stream that fails on the way.
pub(crate) fn failed(failure: &Failure) -> String {
    block("error", None::<u64>, &serde_json::json!({"code": failure.code(), "detail": failure.detail()}))
}

/// Streams a source until it ends, the client goes, or the server does.
pub(crate) fn respond(app: &App, client: Client, first: String, source: impl Source) -> Response {
    let state = Streaming { app: app.clone(), client, source, first: Some(first), done: false };
    let body = Body::from_stream(stream::unfold(state, |mut state| async move {
        let text = state.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(text)), state))
    }));
    let mut response = typed("text/event-stream", body);
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

struct Streaming<S> {
    app: App,
    #[expect(dead_code, reason = "held, not used")]
    client: Client,
    source: S,
    first: Option<String>,
    done: bool,
}

impl<S: Source> Streaming<S> {
    async fn next(&mut self) -> Option<String> {
        if self.done {
            return None;
        }
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let said = tokio::select! {
            said = self.source.next() => said,
            () = tokio::time::sleep(self.app.settings.heartbeat) => Said::Text(": heartbeat\n\n".to_owned()),
            () = self.app.closing() => Said::Last(self.source.goodbye()),
        };
        match said {
            Said::Text(text) => Some(text),
            Said::Last(text) => {
                self.done = true;
                Some(text)
            }
            Said::End => None,
        }
    }
}

/// The first thing every stream says: that it stands, and when to come back.
pub(crate) fn greeting() -> String {
    format!("retry: {}\n\n", Duration::from_secs(1).as_millis())
}

/// Where a client that comes back has got to.
pub(crate) fn last_event_id(headers: &HeaderMap) -> Option<u64> {
    headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.trim().parse().ok())
}

impl Source for Feed {
    async fn next(&mut self) -> Said {
        match Self::next(self).await {
            Ok(events) => Said::Text(events.iter().map(|told| told.block()).collect()),
            Err(failure) => Said::Last(failed(&failure)),
        }
    }

    fn goodbye(&self) -> String {
        block("goodbye", Some(self.place()), &serde_json::json!({"seq": self.place()}))
    }
}

impl Source for Tail {
    async fn next(&mut self) -> Said {
        match Self::next(self).await {
            Ok(Piece::Output(chunks)) => Said::Text(
                chunks
                    .into_iter()
                    .map(|chunk| {
                        let piece = wire::output_piece(chunk);
                        block(wire::stream_name(piece.stream), Some(piece.place), &piece)
                    })
                    .collect(),
            ),
            Ok(Piece::Exit(view)) => Said::Last(block("exit", None::<u64>, &wire::exit(&view))),
            Ok(Piece::Nothing) => Said::End,
            Err(failure) => Said::Last(failed(&failure)),
        }
    }
}
