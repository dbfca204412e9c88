//! One client over a pair of byte streams: standard input and output, or a connection that was upgraded.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use belljar_domain::{Principal, SandboxId};
use belljar_engine::service::Service;
use rmcp::{ServiceExt as _, service::ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::tools::Tools;

/// The longest message a client may send.
const LONGEST_MESSAGE: usize = 8 * 1024 * 1024;

/// Why a session ended other than in order.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// What came first was not the protocol.
    #[error("the client did not begin as the Model Context Protocol says")]
    Greeting(#[source] Box<ServerInitializeError>),
    /// A part of belljar broke.
    #[error("the session broke")]
    Broken(#[source] tokio::task::JoinError),
}

/// Tools for one client.
#[derive(Debug)]
pub struct Session(Tools);

impl Session {
    /// Offers a service's sandboxes to one caller.
    #[must_use]
    pub fn new(service: Service, who: Principal, version: &'static str) -> Self {
        Self::of(Tools::new(service, version).on_behalf_of(Arc::new(who)))
    }

    pub(super) const fn of(tools: Tools) -> Self {
        Self(tools)
    }

    /// Serves until the client's stream ends. What it still waited for then is ended.
    ///
    /// # Errors
    /// When the client does not speak the protocol.
    pub async fn run<R, W>(&self, from: R, to: W) -> Result<(), SessionError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let from = Bounded { from, length: 0 };
        let running = match self.0.clone().serve((from, to)).await {
            Ok(running) => running,
            // One that went away before it said anything wanted nothing.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(SessionError::Greeting(Box::new(error))),
        };
        running.waiting().await.map(drop).map_err(SessionError::Broken)
    }

    /// The sandboxes this client made and did not delete.
    #[must_use]
    pub fn made(&self) -> Vec<SandboxId> {
        self.0.made()
    }
}

/// A stream of lines, none longer than a message may be.
#[derive(Debug)]
struct Bounded<R> {
    from: R,
    length: usize,
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = to.filled().len();
        ready!(Pin::new(&mut self.from).poll_read(cx, to))?;
        let came = to.filled().get(before..).unwrap_or_default();
        self.length = match came.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => came.len() - end - 1,
            None => self.length + came.len(),
        };
        if self.length > LONGEST_MESSAGE {
            let what = format!("a message is longer than the {LONGEST_MESSAGE} bytes allowed");
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, what)));
        }
        Poll::Ready(Ok(()))
    }
}
