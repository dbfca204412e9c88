//! Bytes on their way between blocking files and asynchronous bodies, at the pace of the slower side.
//!
//! Owns: the bridges. Refuses: to hold more than a few chunks, and to wait for a client that sends nothing.

use std::{
    io::{self, Read, Write},
    pin::Pin,
    time::Duration,
};

use axum::{
    body::{Body, BodyDataStream, Bytes},
    http::HeaderValue,
};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    task::spawn_blocking,
    time::timeout,
};
use tokio_util::io::{StreamReader, SyncIoBridge};

/// How long a client may send nothing in the middle of a body.
const SILENCE: Duration = Duration::from_secs(30);
/// Bytes read or collected at once.
const CHUNK: usize = 64 * 1024;
/// Chunks on their way at one time.
const DEPTH: usize = 4;

type Chunks = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// A body as something a blocking thread reads.
pub(super) fn incoming(body: Body) -> SyncIoBridge<StreamReader<Chunks, Bytes>> {
    let chunks = stream::unfold(body.into_data_stream(), |mut data| async move {
        let chunk = next(&mut data).await?;
        Some((chunk, data))
    });
    SyncIoBridge::new(StreamReader::new(Box::pin(chunks)))
}

async fn next(data: &mut BodyDataStream) -> Option<io::Result<Bytes>> {
    match timeout(SILENCE, data.next()).await {
        Ok(chunk) => chunk.map(|chunk| chunk.map_err(io::Error::other)),
        Err(_) => Some(Err(io::ErrorKind::TimedOut.into())),
    }
}

/// Something a blocking thread reads, as a body.
pub(super) fn outgoing(place: OwnedSemaphorePermit, mut content: Box<dyn Read + Send>) -> Body {
    written(place, move |to| io::copy(&mut content, to).map(drop))
}

/// What a blocking thread writes, as a body. If it fails on the way, the body ends in an error, so that the client
/// does not take a part for the whole. The place is kept as long as the thread.
pub(super) fn written(
    place: OwnedSemaphorePermit,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
) -> Body {
    let (sender, receiver) = mpsc::channel(DEPTH);
    let thread = move || {
        let mut pipe = Pipe { sender, chunk: Vec::with_capacity(CHUNK) };
        let done = write(&mut pipe).and_then(|()| pipe.flush());
        if let Err(error) = done {
            // If the client is gone, nobody waits for the reason.
            drop(pipe.sender.blocking_send(Err(error)));
        }
        drop(place);
    };
    drop(spawn_blocking(thread));
    Body::from_stream(stream::unfold(receiver, |mut receiver| async move {
        let chunk: io::Result<Bytes> = receiver.recv().await?;
        Some((chunk, receiver))
    }))
}

struct Pipe {
    sender: mpsc::Sender<io::Result<Bytes>>,
    chunk: Vec<u8>,
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK));
        self.sender.blocking_send(Ok(chunk.into())).map_err(|_gone| io::ErrorKind::BrokenPipe.into())
    }
}

/// Why a copy ended early: whose side it was.
#[derive(Debug)]
pub(super) enum CopyError {
    /// The client's.
    Read(io::Error),
    /// The sandbox's.
    Write(io::Error),
    /// There was more than may be.
    TooLong,
}

/// Copies at most so many bytes.
pub(super) fn copy(from: &mut dyn Read, to: &mut dyn Write, most: u64) -> Result<u64, CopyError> {
    let mut buffer = vec![0_u8; CHUNK];
    let mut total = 0_u64;
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(CopyError::Read(error)),
        };
        total = total.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        if total > most {
            return Err(CopyError::TooLong);
        }
        to.write_all(buffer.get(..count).unwrap_or_default()).map_err(CopyError::Write)?;
    }
}

/// A text in quotes, as an entity tag is written.
pub(super) fn quoted(text: &str) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{text}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}
