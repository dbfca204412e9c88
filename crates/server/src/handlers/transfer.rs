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

use crate::problem::{Answer, Failure};

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
pub(super) async fn outgoing(place: OwnedSemaphorePermit, mut content: Box<dyn Read + Send>) -> Answer<Body> {
    let copy = move |to: &mut dyn Write| {
        io::copy(&mut content, to)
            .map(drop)
            .map_err(|error| Failure::internal("read what was asked for", &error))
    };
    written(place, copy).await
}

/// What a blocking thread writes, as a body. It is begun when there is a first chunk or the end: what fails before is
/// an answer of its own. If it fails later, the body ends in an error, so that the client does not take a part for the
/// whole. The place is kept as long as the thread.
pub(super) async fn written(
    place: OwnedSemaphorePermit,
    write: impl FnOnce(&mut dyn Write) -> Answer<()> + Send + 'static,
) -> Answer<Body> {
    let (sender, mut receiver) = mpsc::channel(DEPTH);
    let thread = move || {
        let mut pipe = Pipe { sender, chunk: Vec::with_capacity(CHUNK) };
        let done = write(&mut pipe);
        // If the client is gone, nobody waits for the rest, or for the reason why there is none.
        match done {
            Ok(()) => drop(pipe.flush()),
            Err(failure) => drop(pipe.sender.blocking_send(Err(failure))),
        }
        drop(place);
    };
    drop(spawn_blocking(thread));
    let Some(first) = receiver.recv().await.transpose()? else { return Ok(Body::empty()) };
    let rest = stream::unfold(receiver, |mut receiver: mpsc::Receiver<Answer<Bytes>>| async move {
        let chunk = receiver.recv().await?.map_err(|failure| io::Error::other(failure.detail().to_owned()));
        Some((chunk, receiver))
    });
    Ok(Body::from_stream(stream::once(async { Ok(first) }).chain(rest)))
}

struct Pipe {
    sender: mpsc::Sender<Answer<Bytes>>,
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http_body_util::BodyExt as _;
    use tokio::sync::Semaphore;

    use super::*;

    async fn send(write: impl FnOnce(&mut dyn Write) -> Answer<()> + Send + 'static) -> Answer<Body> {
        let place = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
        written(place, write).await
    }

    #[tokio::test]
    async fn what_fails_before_it_begins_is_an_answer() {
        let failed = send(|to| {
            to.write_all(b"less than a chunk").unwrap();
            Err(Failure::invalid("gone"))
        });
        assert_eq!(failed.await.unwrap_err().detail(), "gone");
    }

    #[tokio::test]
    async fn what_fails_on_its_way_is_cut_and_says_so() {
        let cut = send(|to| {
            to.write_all(&vec![1; CHUNK]).unwrap();
            Err(Failure::invalid("gone"))
        });
        let mut body = cut.await.unwrap();
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len(), CHUNK);
        assert!(body.frame().await.unwrap().unwrap_err().to_string().contains("gone"));
    }

    #[tokio::test]
    async fn what_is_short_or_empty_arrives_whole() {
        for text in ["", "short"] {
            let body = send(move |to| {
                to.write_all(text.as_bytes()).unwrap();
                Ok(())
            });
            let body = body.await.unwrap();
            assert_eq!(body.collect().await.unwrap().to_bytes(), text);
        }
    }
}
