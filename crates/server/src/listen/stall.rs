//! A stream that gives up on a reader who takes nothing.
//!
//! Whatever is sent (an event, a file, a preview) waits in memory until the client takes it. A client that takes
//! nothing for a while is let go, so that nobody can hold what others need.
//!
//! Whoever is answered before all they send has come hears the answer: closing a connection with something unread on it
//! would take back what was said, so what still comes is taken for a moment and thrown away.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use prometheus_client::metrics::counter::Counter;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::watch,
    time::{Instant, Sleep, sleep},
};

/// How long what a client still sends is taken after it was answered for good.
const FAREWELL: Duration = Duration::from_secs(3);

/// A stream with patience.
#[derive(Debug)]
pub(super) struct Stall<S> {
    inner: S,
    patience: Duration,
    clock: Pin<Box<Sleep>>,
    waiting: bool,
    dropped: Counter,
    /// Whether the server is ending, and has no time for farewells.
    closing: watch::Receiver<bool>,
    /// Until when a farewell lasts, once all is said.
    farewell: Option<Instant>,
}

impl<S> Stall<S> {
    pub(super) fn new(
        inner: S,
        patience: Duration,
        dropped: Counter,
        closing: watch::Receiver<bool>,
    ) -> Self {
        let clock = Box::pin(sleep(patience));
        Self { inner, patience, clock, waiting: false, dropped, closing, farewell: None }
    }

    /// Passes on what the stream said, unless it has said `Pending` for too long.
    fn watch<T>(&mut self, ctx: &mut Context<'_>, said: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if said.is_ready() {
            self.waiting = false;
            return said;
        }
        if !self.waiting {
            self.waiting = true;
            self.clock.as_mut().reset(Instant::now() + self.patience);
        }
        ready!(self.clock.as_mut().poll(ctx));
        self.dropped.inc();
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stall<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        ctx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(ctx, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stall<S> {
    fn poll_write(mut self: Pin<&mut Self>, ctx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let said = Pin::new(&mut self.inner).poll_write(ctx, bytes);
        self.watch(ctx, said)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        ctx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let said = Pin::new(&mut self.inner).poll_write_vectored(ctx, bytes);
        self.watch(ctx, said)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(ctx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let until = match self.farewell {
            Some(until) => until,
            None => {
                ready!(Pin::new(&mut self.inner).poll_shutdown(ctx))?;
                let until = Instant::now() + FAREWELL;
                self.clock.as_mut().reset(until);
                *self.farewell.insert(until)
            }
        };
        let mut unwanted = [0; 16 * 1024];
        while !*self.closing.borrow() && Instant::now() < until {
            let mut into = ReadBuf::new(&mut unwanted);
            match Pin::new(&mut self.inner).poll_read(ctx, &mut into) {
                Poll::Ready(Ok(())) if !into.filled().is_empty() => {}
                Poll::Ready(_) => break,
                Poll::Pending => {
                    ready!(self.clock.as_mut().poll(ctx));
                    break;
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn a_reader_who_takes_nothing_is_let_go() {
        let (near, mut far) = tokio::io::duplex(8);
        let dropped = Counter::default();
        let (_server, closing) = watch::channel(false);
        let mut stream = Stall::new(near, Duration::from_millis(50), dropped.clone(), closing);
        stream.write_all(b"12345678").await.unwrap();
        let error = stream.write_all(b"9").await.unwrap_err();
        assert_eq!((error.kind(), dropped.get()), (io::ErrorKind::TimedOut, 1));
        let mut taken = [0_u8; 8];
        far.read_exact(&mut taken).await.unwrap();
        stream.write_all(b"9").await.unwrap();
    }

    #[tokio::test]
    async fn what_still_comes_after_the_answer_is_taken() {
        let (near, mut far) = tokio::io::duplex(8);
        let (_server, closing) = watch::channel(false);
        let mut stream = Stall::new(near, Duration::from_secs(60), Counter::default(), closing);
        let client = async {
            far.write_all(&[1; 100]).await.unwrap();
            let mut heard = Vec::new();
            far.read_to_end(&mut heard).await.unwrap();
            heard
        };
        let server = async {
            stream.write_all(b"no").await.unwrap();
            stream.shutdown().await.unwrap();
            drop(stream);
        };
        let (heard, ()) = tokio::join!(client, server);
        assert_eq!(heard, b"no");
    }
}
