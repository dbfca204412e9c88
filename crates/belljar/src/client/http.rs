//! Asking over HTTP/1.1, one request a connection.
//!
//! Owns: the connection and what lets us in. Refuses: TLS and redirects; the server is on this machine or at the end
//! of a tunnel.

use std::{
    cell::RefCell,
    fmt::Write as _,
    fs::File,
    io::{self, Read, Write},
    net::{TcpStream, ToSocketAddrs as _},
    os::unix::net::UnixStream,
    path::PathBuf,
    time::Duration,
};

use serde_json::Value;

use super::{ClientError, Result, answer::Answer};

/// How long reaching the server may take.
const REACH: Duration = Duration::from_secs(10);

/// Where a server is, and what lets us in.
#[derive(Debug)]
pub(super) struct Server {
    place: Place,
    token: Option<String>,
    /// The connection that showed the server is up; the first request uses it.
    first: RefCell<Option<UnixStream>>,
}

#[derive(Debug, Clone)]
enum Place {
    Socket(PathBuf),
    Address(String),
}

impl Server {
    pub(super) fn at_socket(path: PathBuf) -> Option<Self> {
        let stream = UnixStream::connect(&path).ok()?;
        Some(Self { place: Place::Socket(path), token: None, first: RefCell::new(Some(stream)) })
    }

    pub(super) fn at_url(url: &str, token: Option<&str>) -> Result<Self> {
        let wrong = || ClientError::Address(url.to_owned());
        let authority = url.strip_prefix("http://").ok_or_else(wrong)?.trim_end_matches('/');
        if authority.is_empty() || authority.contains(['/', '@', ' ', '\r', '\n']) {
            return Err(wrong());
        }
        // A key with a line break in it would become a header of its own.
        let token = token.map(str::trim).filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic()));
        let place = Place::Address(authority.to_owned());
        Ok(Self { place, token: token.map(str::to_owned), first: RefCell::new(None) })
    }

    /// The same server, to be asked from another thread.
    pub(super) fn again(&self) -> Self {
        Self { place: self.place.clone(), token: self.token.clone(), first: RefCell::new(None) }
    }

    /// Makes a request and reads the head of the answer. One that says no is an error.
    pub(super) fn send(
        &self,
        method: &str,
        target: &str,
        body: Option<&Value>,
        patience: Duration,
    ) -> Result<Answer> {
        let body = body.map(Value::to_string).unwrap_or_default();
        self.ask(method, target, ("application/json", body.as_bytes()), patience)
    }

    /// Sends bytes as they are.
    pub(super) fn send_bytes(&self, target: &str, bytes: &[u8], patience: Duration) -> Result<Answer> {
        self.ask("POST", target, ("application/octet-stream", bytes), patience)
    }

    /// Sends a file to be put at a path, as it is read.
    pub(super) fn send_file(
        &self,
        target: &str,
        kind: &str,
        mut content: File,
        patience: Duration,
    ) -> Result<Answer> {
        let lost = |doing: &'static str| move |error| lost(doing, self.host(), error);
        let length = content.metadata().map_err(lost("read what is for"))?.len();
        let mut wire = self.connect(patience).map_err(lost("reach"))?;
        let head = self.head("PUT", target, Some((kind, length)));
        wire.write_all(head.as_bytes()).map_err(lost("ask"))?;
        // A server that refuses may do so before it has everything; what it says then is why.
        let sent = io::copy(&mut content, &mut wire);
        match (Answer::read(wire), sent) {
            (Ok(answer), _) if answer.is_success() => Ok(answer),
            (Ok(answer), _) => Err(answer.refusal()),
            (Err(_), Err(error)) => Err(lost("send to")(error)),
            (Err(error), Ok(_)) => Err(error),
        }
    }

    fn ask(
        &self,
        method: &str,
        target: &str,
        (kind, body): (&str, &[u8]),
        patience: Duration,
    ) -> Result<Answer> {
        let length = u64::try_from(body.len()).unwrap_or(u64::MAX);
        let head = self.head(method, target, (method != "GET").then_some((kind, length)));
        let lost = |doing: &'static str| move |error| lost(doing, self.host(), error);
        let mut wire = self.connect(patience).map_err(lost("reach"))?;
        wire.write_all(&[head.as_bytes(), body].concat()).map_err(lost("ask"))?;
        let answer = Answer::read(wire)?;
        if answer.is_success() { Ok(answer) } else { Err(answer.refusal()) }
    }

    /// The first lines of a request, and of what type and length its body is if it has one.
    fn head(&self, method: &str, target: &str, body: Option<(&str, u64)>) -> String {
        let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {}\r\n", self.host());
        head.push_str("Connection: close\r\nUser-Agent: belljar\r\nAccept: application/json\r\n");
        if let Some(token) = &self.token {
            // Writing to a string does not fail.
            let _written = write!(head, "Authorization: Bearer {token}\r\n");
        }
        if let Some((kind, length)) = body {
            let _written = write!(head, "Content-Type: {kind}\r\nContent-Length: {length}\r\n");
        }
        head.push_str("\r\n");
        head
    }

    fn host(&self) -> &str {
        match &self.place {
            Place::Socket(_) => "localhost",
            Place::Address(authority) => authority,
        }
    }

    fn connect(&self, patience: Duration) -> io::Result<Wire> {
        match &self.place {
            Place::Socket(path) => {
                let stream = match self.first.take() {
                    Some(stream) => stream,
                    None => UnixStream::connect(path)?,
                };
                stream.set_read_timeout(Some(patience))?;
                stream.set_write_timeout(Some(patience))?;
                Ok(Wire::Socket(stream))
            }
            Place::Address(authority) => {
                let with_port =
                    if authority.contains(':') { authority.clone() } else { format!("{authority}:80") };
                let address = with_port.to_socket_addrs()?.next().ok_or(io::ErrorKind::NotFound)?;
                let stream = TcpStream::connect_timeout(&address, REACH)?;
                stream.set_read_timeout(Some(patience))?;
                stream.set_write_timeout(Some(patience))?;
                Ok(Wire::Tcp(stream))
            }
        }
    }
}

pub(super) fn lost(doing: &'static str, at: &str, source: io::Error) -> ClientError {
    let at = if at.is_empty() { "the other end".to_owned() } else { at.to_owned() };
    ClientError::Lost { doing, at, source }
}

/// A path with what goes after the `?`, or after what is there already.
pub(super) fn target(path: &str, query: &[(&str, &str)]) -> String {
    let mut text = path.to_owned();
    for (name, value) in query {
        text.push(if text.contains('?') { '&' } else { '?' });
        text.push_str(name);
        text.push('=');
        text.push_str(&escaped(value));
    }
    text
}

/// A text as one part of a path or a query, whatever is in it.
pub(super) fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _written = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[derive(Debug)]
pub(super) enum Wire {
    Socket(UnixStream),
    Tcp(TcpStream),
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Socket(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Socket(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
