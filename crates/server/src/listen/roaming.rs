//! A socket that goes where it is read: the reactor of the thread that reads it watches it. A connection may change its
//! protocol, and what becomes of it then is not its booth's business any more.
//!
//! Owns: that it is always watched by a reactor that runs. Refuses: to know what travels through it.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, UnixStream},
};

use super::booth::{self, Number};

/// A socket any reactor can watch.
pub(super) trait Socket: AsyncRead + AsyncWrite + Unpin + Send + Sized + 'static {
    /// What it is while nobody watches it.
    type Unwatched: Send;

    fn leave(self) -> io::Result<Self::Unwatched>;

    /// Has it watched by the reactor of this thread.
    fn join(unwatched: Self::Unwatched) -> io::Result<Self>;
}

impl Socket for TcpStream {
    type Unwatched = std::net::TcpStream;

    fn leave(self) -> io::Result<Self::Unwatched> {
        self.into_std()
    }

    fn join(unwatched: Self::Unwatched) -> io::Result<Self> {
        Self::from_std(unwatched)
    }
}

impl Socket for UnixStream {
    type Unwatched = std::os::unix::net::UnixStream;

    fn leave(self) -> io::Result<Self::Unwatched> {
        self.into_std()
    }

    fn join(unwatched: Self::Unwatched) -> io::Result<Self> {
        Self::from_std(unwatched)
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Roaming<S> {
    /// `None` once it was lost on the way.
    socket: Option<S>,
    at: Option<Number>,
}

impl<S: Socket> Roaming<S> {
    /// One that is watched by this thread's reactor.
    pub(super) fn new(socket: S) -> Self {
        Self { socket: Some(socket), at: booth::here() }
    }

    fn here(&mut self) -> io::Result<Pin<&mut S>> {
        let here = booth::here();
        if self.at != here {
            self.socket = self.socket.take().map(S::leave).transpose()?.map(S::join).transpose()?;
            self.at = here;
        }
        self.socket.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl<S: Socket> AsyncRead for Roaming<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        ctx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.here()?.poll_read(ctx, into)
    }
}

impl<S: Socket> AsyncWrite for Roaming<S> {
    fn poll_write(mut self: Pin<&mut Self>, ctx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.here()?.poll_write(ctx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        ctx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.here()?.poll_write_vectored(ctx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.here()?.poll_flush(ctx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.here()?.poll_shutdown(ctx)
    }
}
