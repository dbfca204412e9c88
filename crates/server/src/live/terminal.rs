//! A command's terminal over WebSocket: keys and output as binary frames, size and signals as JSON text.

use std::sync::Arc;

use axum::{
    body::Bytes,
    extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code},
};
use belljar_api::{TerminalFrame, TerminalNotice};
use belljar_domain::{ExecutionId, Principal, Terminal};
use futures_util::SinkExt as _;
use tokio::time::timeout;

use super::{Client, Piece, Tail};
use crate::{
    app::App,
    problem::{Answer, Failure},
    wire,
};

/// Serves one client until the command ends, the client leaves or does not read, or the server ends. The command goes
/// on without it.
pub(crate) async fn serve(
    mut socket: WebSocket,
    app: App,
    who: Arc<Principal>,
    tail: Tail,
    id: ExecutionId,
    client: Client,
) {
    let mut seat = Seat { app: app.clone(), who, id };
    let started = TerminalNotice::Started { execution_id: id.to_string() };
    if seat.post(&mut socket, vec![text(&started)]).await.is_some() {
        seat.run(&mut socket, tail).await;
    }
    drop(client);
}

struct Seat {
    app: App,
    who: Arc<Principal>,
    id: ExecutionId,
}

impl Seat {
    /// `None` anywhere means that the client is gone.
    async fn run(&mut self, socket: &mut WebSocket, mut tail: Tail) -> Option<()> {
        let app = self.app.clone();
        let mut closing = std::pin::pin!(app.closing());
        loop {
            tokio::select! {
                () = &mut closing => return self.post(socket, vec![text(&TerminalNotice::Goodbye), close(close_code::RESTART)]).await,
                frame = socket.recv() => match frame {
                    Some(Ok(frame)) => self.hear(socket, frame).await?,
                    None | Some(Err(_)) => return None,
                },
                piece = tail.next() => match piece {
                    Ok(Piece::Output(chunks)) => {
                        let frames = chunks.into_iter().map(|chunk| Message::Binary(Bytes::from(chunk.bytes)));
                        self.post(socket, frames.collect()).await?;
                    }
                    Ok(Piece::Exit(view)) => {
                        let exit = TerminalNotice::Exit(Box::new(wire::exit(&view)));
                        return self.post(socket, vec![text(&exit), close(close_code::NORMAL)]).await;
                    }
                    Ok(Piece::Nothing) => return None,
                    Err(failure) => return self.post(socket, vec![error(&failure), close(close_code::ERROR)]).await,
                },
            }
        }
    }

    async fn hear(&self, socket: &mut WebSocket, frame: Message) -> Option<()> {
        let done = match frame {
            Message::Binary(keys) => self.input(keys).await,
            Message::Text(said) => match serde_json::from_str(&said) {
                Ok(frame) => self.obey(frame).await,
                Err(error) => Err(Failure::invalid(format!("that frame makes no sense: {error}"))),
            },
            Message::Close(_) => return None,
            Message::Ping(_) | Message::Pong(_) => Ok(()),
        };
        match done {
            Ok(()) => Some(()),
            Err(failure) => self.post(socket, vec![error(&failure)]).await,
        }
    }

    async fn input(&self, keys: Bytes) -> Answer<()> {
        let id = self.id;
        self.app.dwell(&self.who, move |service, who| service.input(who, id, &keys)).await
    }

    async fn obey(&self, frame: TerminalFrame) -> Answer<()> {
        let id = self.id;
        match frame {
            TerminalFrame::Resize { rows, cols } => {
                self.app
                    .ask(&self.who, move |service, who| service.resize(who, id, Terminal { rows, cols }))
                    .await
            }
            TerminalFrame::Signal { signal } => {
                self.app.ask(&self.who, move |service, who| service.signal(who, id, signal)).await
            }
        }
    }

    async fn post(&self, socket: &mut WebSocket, messages: Vec<Message>) -> Option<()> {
        let patience = self.app.settings.patience;
        let sent = async {
            for message in messages {
                socket.feed(message).await?;
            }
            socket.flush().await
        };
        let Ok(sent) = timeout(patience, sent).await else {
            self.app.metrics.dropped.inc();
            return None;
        };
        sent.ok()
    }
}

fn text(notice: &TerminalNotice) -> Message {
    Message::Text(serde_json::to_string(notice).unwrap_or_default().into())
}

fn error(failure: &Failure) -> Message {
    text(&TerminalNotice::Error { detail: failure.detail().to_owned() })
}

fn close(code: u16) -> Message {
    Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::from_static("") }))
}
