//! The live stream over WebSocket: subscribe with a filter and a place, read, come back with the last place.

use std::{sync::Arc, time::Duration};

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use belljar_api::{ClientFrame, ServerFrame};
use belljar_domain::Principal;
use futures_util::SinkExt as _;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use super::{Client, Feed, Told};
use crate::{
    app::App,
    problem::{Answer, Failure},
    wire,
};

/// How long one who does not read is tried to be told so.
const LAST_WORD: Duration = Duration::from_secs(1);

/// Events that are sent together are at most so many bytes, as far as one of them is not more by itself.
const TOGETHER: usize = 512 << 10;
/// The longest that something is held back for others.
const SLOWEST: Duration = Duration::from_secs(1);

/// Why a connection ends.
#[derive(Debug)]
enum End {
    /// The client left.
    Left,
    /// The client takes nothing.
    Lagged,
}

/// Serves one client until it leaves, does not read, or the server ends.
pub(crate) async fn serve(mut socket: WebSocket, app: App, who: Arc<Principal>, client: Client) {
    let mut live = Live { app: app.clone(), who, feed: None, manner: Manner::Each };
    if matches!(live.run(&mut socket).await, Err(End::Lagged)) {
        app.metrics.dropped.inc();
        let lagged = ServerFrame::Lagged { seq: live.place() };
        // It does not read, so it most likely does not hear this either.
        let _unheard = timeout(LAST_WORD, async {
            socket.send(text(&lagged)).await?;
            let frame = CloseFrame { code: close_code::AGAIN, reason: Utf8Bytes::from_static("lagged") };
            socket.send(Message::Close(Some(frame))).await
        })
        .await;
    }
    drop(client);
}

struct Live {
    app: App,
    who: Arc<Principal>,
    feed: Option<Feed>,
    manner: Manner,
}

/// How events are sent.
#[derive(Debug, Clone, Copy)]
enum Manner {
    Each,
    Together,
}

impl Live {
    async fn run(&mut self, socket: &mut WebSocket) -> Result<(), End> {
        let beat = self.app.settings.heartbeat;
        let mut heartbeat = interval_at(Instant::now() + beat, beat);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let app = self.app.clone();
        let mut closing = std::pin::pin!(app.closing());
        loop {
            tokio::select! {
                () = &mut closing => {
                    self.send(socket, &[ServerFrame::Goodbye { seq: self.place() }]).await?;
                    let frame = CloseFrame { code: close_code::RESTART, reason: Utf8Bytes::from_static("goodbye") };
                    return self.post(socket, vec![Message::Close(Some(frame))]).await;
                }
                frame = socket.recv() => match frame {
                    None | Some(Err(_)) | Some(Ok(Message::Close(_))) => return Err(End::Left),
                    Some(Ok(frame)) => self.hear(socket, &frame).await?,
                },
                events = next(&mut self.feed) => self.show(socket, events).await?,
                _ = heartbeat.tick() => self.send(socket, &[ServerFrame::Heartbeat { seq: self.place() }]).await?,
            }
        }
    }

    async fn hear(&mut self, socket: &mut WebSocket, frame: &Message) -> Result<(), End> {
        let Message::Text(said) = frame else { return Ok(()) };
        let answer = match serde_json::from_str(said) {
            Ok(ClientFrame::Subscribe { filter, since, batch_ms }) => match wire::selection(&filter) {
                Ok(filter) => {
                    let pace = batch_ms.map(|ms| Duration::from_millis(ms.into()).min(SLOWEST));
                    self.manner = pace.map_or(Manner::Each, |_| Manner::Together);
                    let feed = Feed::new(&self.app, &self.who, filter, since).paced(pace.unwrap_or_default());
                    let feed = self.feed.insert(feed);
                    ServerFrame::Subscribed { since: feed.place() }
                }
                Err(failure) => ServerFrame::Error { detail: failure.detail().to_owned() },
            },
            Ok(ClientFrame::Ping) => ServerFrame::Heartbeat { seq: self.place() },
            Err(error) => ServerFrame::Error { detail: format!("that frame makes no sense: {error}") },
        };
        self.send(socket, &[answer]).await
    }

    async fn show(&self, socket: &mut WebSocket, events: Answer<Vec<Arc<Told>>>) -> Result<(), End> {
        match events {
            Ok(events) => {
                let messages = match self.manner {
                    Manner::Each => events.iter().map(|told| told.message()).collect(),
                    Manner::Together => together(&events),
                };
                self.post(socket, messages).await
            }
            Err(failure) => {
                self.send(socket, &[ServerFrame::Error { detail: failure.detail().to_owned() }]).await?;
                Err(End::Left)
            }
        }
    }

    async fn send(&self, socket: &mut WebSocket, frames: &[ServerFrame]) -> Result<(), End> {
        self.post(socket, frames.iter().map(text).collect()).await
    }

    /// Sends all or gives up; a client has its time for each message, and for the last to be on its way.
    async fn post(&self, socket: &mut WebSocket, messages: Vec<Message>) -> Result<(), End> {
        let patience = self.app.settings.patience;
        for message in messages {
            timeout(patience, socket.feed(message))
                .await
                .map_err(|_slow| End::Lagged)?
                .map_err(|_gone| End::Left)?;
        }
        timeout(patience, socket.flush()).await.map_err(|_slow| End::Lagged)?.map_err(|_gone| End::Left)
    }

    fn place(&self) -> u64 {
        self.feed.as_ref().map_or(0, Feed::place)
    }
}

/// Without a subscription nothing ever comes.
async fn next(feed: &mut Option<Feed>) -> Answer<Vec<Arc<Told>>> {
    match feed {
        Some(feed) => feed.next().await,
        None => std::future::pending().await,
    }
}

/// [`ServerFrame::Events`], of texts that are there already.
fn together(events: &[Arc<Told>]) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut rest = events;
    while !rest.is_empty() {
        let mut length = 0;
        let fits = rest.iter().take_while(|told| {
            length += told.frame().len();
            length <= TOGETHER
        });
        let (now, later) = rest.split_at(fits.count().max(1));
        let items: Vec<&str> = now.iter().map(|told| told.frame()).collect();
        messages.push(Message::Text(format!(r#"{{"type":"events","items":[{}]}}"#, items.join(",")).into()));
        rest = later;
    }
    messages
}

fn text(frame: &ServerFrame) -> Message {
    Message::Text(said(frame).into())
}

/// A frame in words.
pub(super) fn said(frame: &ServerFrame) -> String {
    serde_json::to_string(frame).unwrap_or_else(|error| {
        format!(r#"{{"type":"error","detail":"{}"}}"#, Failure::internal("write a frame", &error).code())
    })
}
