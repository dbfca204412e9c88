//! The least HTTP client that can speak to a server through its socket.

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;

/// One server, by its socket.
#[derive(Clone)]
pub(crate) struct Http {
    socket: PathBuf,
}

impl Http {
    pub(crate) fn new(home: &Path) -> Self {
        Self { socket: home.join("belljar.sock") }
    }

    /// Asks, on a connection of its own; the answer is a status and whatever JSON there was.
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> io::Result<(u16, Value)> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let (status, body) = self.send(method, path, "application/json", body.as_bytes())?;
        Ok((status, serde_json::from_slice(&body).unwrap_or(Value::Null)))
    }

    /// Asks with bytes of some type; the answer is a status and the bytes there were.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        kind: &str,
        body: &[u8],
    ) -> io::Result<(u16, Vec<u8>)> {
        let mut stream = UnixStream::connect(&self.socket)?;
        stream.set_read_timeout(Some(Duration::from_secs(120)))?;
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
        )?;
        stream.write_all(body)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        parse(&answer).ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
    }
}

/// A whole answer; `None` if it was cut off.
fn parse(answer: &[u8]) -> Option<(u16, Vec<u8>)> {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let header = |name: &str| {
        head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let mut body = answer[end + 4..].to_vec();
    if header("transfer-encoding").is_some() {
        body = unchunk(&body)?;
    } else if let Some(length) = header("content-length") {
        (body.len() == length.parse::<usize>().ok()?).then_some(())?;
    }
    Some((status, body))
}

fn unchunk(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|bytes| bytes == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..line]).ok()?, 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(line + 2..line + 2 + size)?);
        rest = rest.get(line + 4 + size..)?;
    }
}
