//! The protocol's WebSocket: what happened lately, then what happens. It has no resuming: who comes back begins anew.

use std::{sync::Arc, time::SystemTime};

use axum::extract::ws::{Message, WebSocket};
use belljar_domain::{Principal, Timestamp};
use belljar_engine::service::{Service, ServiceError};
use serde_json::{Value, json};
use tokio::time::{interval, timeout};

use super::{answers::ANSWERED, ledger};
use crate::{
    app::App,
    live::{Client, Feed, Told},
};

/// How many events a client begins with.
const INITIAL: usize = 300;

/// Serves one client until it leaves, does not read, or the server ends.
pub(super) async fn serve(mut socket: WebSocket, app: App, who: Arc<Principal>, client: Client) {
    // Before the first page is read, so that nothing falls between.
    let mut feed = Feed::new(&app, &who, ledger::filter(), None);
    let after = feed.place();
    let first = app.ask(&who, move |service, who| ledger::recent(service, who, INITIAL, now())).await;
    let Ok(mut first) = first else { return };
    // What came in between is told by the feed, once.
    first.retain(|event| event.get("id").and_then(Value::as_u64).is_some_and(|id| id <= after));
    let mut frames = vec![json!({"type": "initial", "data": first})];
    let mut beat = interval(app.settings.heartbeat);
    loop {
        if send(&app, &mut socket, std::mem::take(&mut frames)).await.is_none() {
            break;
        }
        tokio::select! {
            () = app.closing() => break,
            frame = socket.recv() => match frame {
                None | Some(Err(_) | Ok(Message::Close(_))) => break,
                Some(Ok(_unheard)) => {}
            },
            // A client that is gone without a word is noticed.
            _ = beat.tick() => if timeout(app.settings.patience, socket.send(Message::Ping(Vec::new().into())))
                .await.map_or(true, |sent| sent.is_err()) { break },
            events = feed.next() => {
                let Ok(events) = events else { break };
                let Ok(found) = app.ask(&who, move |service, who| news(service, who, &events)).await else { break };
                frames = found;
            }
        }
    }
    drop(client);
}

/// What is told of new events: each once, and again when it is answered.
fn news(service: &Service, who: &Principal, events: &[Arc<Told>]) -> Result<Vec<Value>, ServiceError> {
    let mut frames = Vec::new();
    for event in events.iter().map(|told| &told.event) {
        let about = if event.what.kind.as_str() == ANSWERED {
            let to = event.what.payload.get("to").and_then(Value::as_u64);
            to.map_or(Ok(None), |seq| ledger::one(service, who, seq))?
        } else {
            Some(event.clone())
        };
        let Some(about) = about else { continue };
        let whole = ledger::whole(service, who, &about, now())?;
        frames.extend(whole.map(|data| json!({"type": "event", "data": data})));
    }
    Ok(frames)
}

async fn send(app: &App, socket: &mut WebSocket, frames: Vec<Value>) -> Option<()> {
    for frame in frames {
        let sent = timeout(app.settings.patience, socket.send(Message::Text(frame.to_string().into()))).await;
        if sent.is_err() {
            app.metrics.dropped.inc();
        }
        sent.ok()?.ok()?;
    }
    Some(())
}

fn now() -> Timestamp {
    Timestamp::from(SystemTime::now())
}
