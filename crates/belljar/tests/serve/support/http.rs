//! A client without manners: it sends paths, headers and bodies as they are, and reads answers and streams.

use std::{
    fmt::Write as _,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::PATIENCE;

/// Both ways of a connection.
pub(crate) trait Wire: Read + Write + Send {}
impl<T: Read + Write + Send> Wire for T {}

#[derive(Clone)]
enum Place {
    Tcp(u16),
    Unix(PathBuf),
}

#[derive(Clone)]
pub(crate) struct Client {
    place: Place,
    headers: Vec<(String, String)>,
}

#[derive(Clone)]
pub(crate) struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn json(self, value: &Value) -> Self {
        self.with("content-type", "application/json").body(value.to_string())
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in `{}` ({})", self.text(), self.status))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Checks that it is a problem as RFC 9457 writes it, with this status and code.
    #[track_caller]
    pub(crate) fn is_problem(&self, status: u16, code: &str) {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem = self.json();
        assert_eq!((self.status, problem["code"].as_str()), (status, Some(code)), "{problem}");
        assert_eq!(problem["status"], status);
        for field in ["type", "title", "detail"] {
            assert!(problem[field].as_str().is_some_and(|text| !text.is_empty()), "{field} in {problem}");
        }
    }
}

impl Client {
    pub(crate) const fn tcp(port: u16) -> Self {
        Self { place: Place::Tcp(port), headers: Vec::new() }
    }

    pub(crate) fn unix(path: &Path) -> Self {
        Self { place: Place::Unix(path.to_owned()), headers: Vec::new() }
    }

    /// Adds a header to everything it sends.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(&Request::new("GET", path))
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send(&Request::new("DELETE", path))
    }

    pub(crate) fn post(&self, path: &str, value: &Value) -> Answer {
        self.send(&Request::new("POST", path).json(value))
    }

    pub(crate) fn put(&self, path: &str, body: &[u8]) -> Answer {
        self.send(&Request::new("PUT", path).body(body))
    }

    pub(crate) fn send(&self, request: &Request) -> Answer {
        self.try_send(request).unwrap_or_else(|| panic!("no answer to {} {}", request.method, request.path))
    }

    pub(crate) fn try_get(&self, path: &str) -> Option<Answer> {
        self.try_send(&Request::new("GET", path))
    }

    pub(crate) fn try_send(&self, request: &Request) -> Option<Answer> {
        let mut reader = self.open(&request.clone().with("connection", "close"))?;
        let (status, headers) = head(&mut reader)?;
        let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let mut body = Vec::new();
        if chunked {
            while let Some(chunk) = chunk(&mut reader) {
                body.extend(chunk);
            }
        } else {
            reader.read_to_end(&mut body).ok()?;
        }
        Some(Answer { status, headers, body })
    }

    /// Opens a stream of server-sent events.
    pub(crate) fn events(&self, request: &Request) -> Events {
        let mut reader = self.open(request).unwrap();
        let (status, headers) = head(&mut reader).unwrap();
        assert_eq!(status, 200, "{headers:?}");
        Events { reader, rest: String::new() }
    }

    /// Sends a request and leaves the rest to the caller.
    pub(crate) fn open(&self, request: &Request) -> Option<BufReader<Box<dyn Wire>>> {
        let mut wire: Box<dyn Wire> = match &self.place {
            Place::Tcp(port) => {
                let stream = TcpStream::connect(("127.0.0.1", *port)).ok()?;
                stream.set_read_timeout(Some(PATIENCE)).ok()?;
                Box::new(stream)
            }
            Place::Unix(path) => {
                let stream = UnixStream::connect(path).ok()?;
                stream.set_read_timeout(Some(PATIENCE)).ok()?;
                Box::new(stream)
            }
        };
        let mut text = format!("{} {} HTTP/1.1\r\n", request.method, request.path);
        let all = || self.headers.iter().chain(&request.headers);
        if !all().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            let port = if let Place::Tcp(port) = self.place { port } else { 0 };
            write!(text, "host: localhost:{port}\r\n").unwrap();
        }
        for (name, value) in all() {
            write!(text, "{name}: {value}\r\n").unwrap();
        }
        if !request.body.is_empty() || !matches!(request.method.as_str(), "GET" | "HEAD") {
            write!(text, "content-length: {}\r\n", request.body.len()).unwrap();
        }
        text.push_str("\r\n");
        wire.write_all(text.as_bytes()).ok()?;
        // A server that refuses a body may close before it has all of it.
        drop(wire.write_all(&request.body));
        Some(BufReader::new(wire))
    }
}

/// Reads the first lines of an answer.
pub(crate) fn head(reader: &mut impl BufRead) -> Option<(u16, Vec<(String, String)>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let status = line.split(' ').nth(1)?.parse().ok()?;
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { return Some((status, headers)) };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

fn chunk(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let length = usize::from_str_radix(line.trim(), 16).ok()?;
    let mut bytes = vec![0; length + 2];
    reader.read_exact(&mut bytes).ok()?;
    bytes.truncate(length);
    (length > 0).then_some(bytes)
}

/// A stream of server-sent events.
pub(crate) struct Events {
    reader: BufReader<Box<dyn Wire>>,
    rest: String,
}

/// One of them.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) id: Option<u64>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Iterator for Events {
    type Item = Event;

    /// The next that carries something; comments are skipped.
    fn next(&mut self) -> Option<Event> {
        loop {
            while let Some(end) = self.rest.find("\n\n") {
                let block: String = self.rest.drain(..end + 2).collect();
                let field =
                    |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
                if let Some(data) = field("data:") {
                    return Some(Event {
                        id: field("id:").and_then(|id| id.parse().ok()),
                        name: field("event:").unwrap_or("message").to_owned(),
                        data: serde_json::from_str(data).unwrap(),
                    });
                }
            }
            let bytes = chunk(&mut self.reader)?;
            self.rest.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }
}
