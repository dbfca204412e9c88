//! What comes back over HTTP/1.1: a head, and a body by length, in chunks, or up to the end.
//!
//! Owns: the framing, every part of it bounded. Refuses: compression, which nobody asked for.

use std::io::{self, BufRead, BufReader, Read};

use serde::de::DeserializeOwned;

use super::{
    ClientError, Result,
    http::{Wire, lost},
};

/// The most bytes of an answer's head, and of a body that is read as a whole.
const HEAD: u64 = 64 * 1024;
const BODY: u64 = 64 * 1024 * 1024;

/// How much of the body is still to come.
#[derive(Debug, Clone, Copy)]
enum Left {
    /// This many bytes.
    Bytes(u64),
    /// This many bytes of a chunk, then perhaps another.
    Chunk(u64),
    /// Until the connection ends.
    All,
}

/// An answer; reading it reads the body.
#[derive(Debug)]
pub(super) struct Answer {
    wire: BufReader<Wire>,
    status: u16,
    left: Left,
}

impl Answer {
    pub(super) fn read(wire: Wire) -> Result<Self> {
        let mut wire = BufReader::new(wire);
        let mut head = (&mut wire).take(HEAD);
        let mut line = || -> Result<String> {
            let mut text = String::new();
            head.read_line(&mut text).map_err(|error| lost("hear from", "", error))?;
            let whole = text.strip_suffix('\n').map(|text| text.trim_end_matches('\r').to_owned());
            whole.ok_or_else(|| ClientError::Nonsense("the answer's head is cut short".to_owned()))
        };
        let first = line()?;
        let status: Option<u16> = first.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.filter(|_| first.starts_with("HTTP/1.1 "));
        let status = status.ok_or_else(|| ClientError::Nonsense(format!("`{first}`")))?;
        let mut left = if status == 204 { Left::Bytes(0) } else { Left::All };
        loop {
            let header = line()?;
            if header.is_empty() {
                break;
            }
            let (name, value) = header.split_once(':').unwrap_or((&header, ""));
            let value = value.trim();
            if name.eq_ignore_ascii_case("transfer-encoding") && value.eq_ignore_ascii_case("chunked") {
                left = Left::Chunk(0);
            } else if name.eq_ignore_ascii_case("content-length") {
                let length = value.parse();
                left = Left::Bytes(length.map_err(|_unreadable| ClientError::Nonsense(header.clone()))?);
            }
        }
        Ok(Self { wire, status, left })
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The whole body as text.
    pub(super) fn text(mut self) -> Result<String> {
        let mut text = String::new();
        let read = (&mut self).take(BODY).read_to_string(&mut text);
        read.map_err(|error| lost("hear from", "", error))?;
        Ok(text)
    }

    /// The whole body as a value.
    pub(super) fn json<T: DeserializeOwned>(self) -> Result<T> {
        serde_json::from_str(&self.text()?).map_err(|error| ClientError::Nonsense(error.to_string()))
    }

    /// What it says if it says no.
    pub(super) fn refusal(self) -> ClientError {
        let status = self.status;
        let problem = self.text().ok().and_then(|text| serde_json::from_str(&text).ok());
        problem.map_or_else(
            || ClientError::Nonsense(format!("status {status} without a problem")),
            |problem| ClientError::Refused(Box::new(problem)),
        )
    }

    /// Goes on to the next chunk when one is over.
    fn open_chunk(&mut self) -> io::Result<()> {
        while let Left::Chunk(0) = self.left {
            let mut line = String::new();
            (&mut self.wire).take(1024).read_line(&mut line)?;
            let size = line.trim().split(';').next().unwrap_or_default();
            match (line.as_str(), u64::from_str_radix(size, 16)) {
                // The end of the chunk before.
                ("\r\n" | "\n", _) => {}
                (_, Ok(0)) => self.left = Left::Bytes(0),
                (_, Ok(size)) => self.left = Left::Chunk(size),
                (_, Err(_)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        Ok(())
    }
}

impl BufRead for Answer {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.open_chunk()?;
        let most = match self.left {
            Left::Bytes(left) | Left::Chunk(left) => usize::try_from(left).unwrap_or(usize::MAX),
            Left::All => usize::MAX,
        };
        if most == 0 {
            return Ok(&[]);
        }
        let there = self.wire.fill_buf()?;
        if there.is_empty() && !matches!(self.left, Left::All) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(there.get(..there.len().min(most)).unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        self.wire.consume(count);
        if let Left::Bytes(left) | Left::Chunk(left) = &mut self.left {
            *left = left.saturating_sub(u64::try_from(count).unwrap_or(u64::MAX));
        }
    }
}

impl Read for Answer {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let there = self.fill_buf()?;
        let count = there.len().min(buffer.len());
        let (from, to) = (there.get(..count), buffer.get_mut(..count));
        if let (Some(from), Some(to)) = (from, to) {
            to.copy_from_slice(from);
        }
        self.consume(count);
        Ok(count)
    }
}
