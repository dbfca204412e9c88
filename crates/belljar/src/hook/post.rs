//! Handing an envelope to a server: one request, one answer, and never longer than the agent can bear.
//!
//! Owns: what becomes of it (taken, refused, or lost) within one span of time. Refuses: TLS, redirects, retries.

use std::{
    io::{self, Read, Write as _},
    net::{TcpStream, ToSocketAddrs as _},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use belljar_capture::{
    Answer,
    signature::{Statement, header},
};
use belljar_domain::ApprovalId;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use serde::Deserialize;
use uuid::Uuid;

/// The longest answer that is read.
const MAX_ANSWER: usize = 256 << 10;

/// Where a server is.
#[derive(Debug, Clone)]
pub(crate) enum Server {
    Socket { path: PathBuf, pass: Option<String> },
    Url { authority: String, token: Option<String>, signer: Option<Signer> },
    Nowhere,
}

impl Server {
    /// The one that is meant: somewhere else if a URL says so, else the one of this home.
    pub(crate) fn of(home: Option<&Path>, url: Option<&str>) -> Self {
        match (url, home) {
            (Some(url), _) => {
                let signer = set("BELLJAR_SENDER").zip(set("BELLJAR_SENDER_KEY"));
                let signer = signer.map(|(name, key)| Signer { name, key });
                Self::at_url(url, set("BELLJAR_TOKEN").as_deref(), signer)
            }
            (None, Some(home)) => Self::at_home(home),
            (None, None) => Self::Nowhere,
        }
    }

    /// The one the environment means, else the one of this home.
    pub(crate) fn by_environment(home: Option<&Path>) -> Self {
        Self::of(home, set("BELLJAR_URL").as_deref())
    }

    pub(crate) fn at_home(home: &Path) -> Self {
        Self::for_sandbox(home, None)
    }

    /// The one of this home, asked on behalf of the sandbox that was given a pass.
    pub(crate) fn for_sandbox(home: &Path, pass: Option<String>) -> Self {
        Self::Socket { path: home.join("belljar.sock"), pass }
    }

    /// Whether somebody takes calls; of one elsewhere that is not known before it is asked.
    pub(crate) fn listens(&self, patience: Duration) -> bool {
        match self {
            Self::Socket { path, .. } => !patience.is_zero() && connect(path, patience).is_ok(),
            Self::Url { .. } => true,
            Self::Nowhere => false,
        }
    }

    fn at_url(url: &str, token: Option<&str>, signer: Option<Signer>) -> Self {
        let Some(authority) = url.strip_prefix("http://").map(|rest| rest.trim_end_matches('/')) else {
            return Self::Nowhere;
        };
        // Whatever could become a header of its own is no part of an address or a key.
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        let token = token.map(str::trim).filter(|token| is_plain(token)).map(str::to_owned);
        if is_plain(authority) && !authority.contains(['/', '@']) {
            let signer = signer.filter(|signer| is_plain(&signer.name));
            Self::Url { authority: authority.to_owned(), token, signer }
        } else {
            Self::Nowhere
        }
    }
}

/// A variable, if it says anything.
pub(super) fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whoever signs what it tells.
#[derive(Clone)]
pub(crate) struct Signer {
    name: String,
    key: String,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Signer {
    /// The lines of the head that say who tells this, and prove it.
    fn lines(&self, target: &str, body: &[u8]) -> String {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let (timestamp, nonce) = (seconds.to_string(), Uuid::now_v7().simple().to_string());
        let path = target.split('?').next().unwrap_or_default();
        let statement = Statement { timestamp: &timestamp, nonce: &nonce, path, body };
        let signature = statement.sign(self.key.trim().as_bytes());
        let pairs = [
            (header::SENDER, self.name.as_str()),
            (header::TIMESTAMP, &timestamp),
            (header::NONCE, &nonce),
            (header::SIGNATURE, &signature),
        ];
        pairs.into_iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect()
    }
}

/// What became of an envelope.
#[derive(Debug)]
pub(crate) enum Told {
    /// The server has it, and may have something to say.
    Taken(Heard),
    /// The server will never take it.
    Refused(String),
    /// A server had it, and broke off before it said anything.
    Broken(String),
    /// No server took it; one may, later.
    Lost(String),
}

/// When an envelope is handed over.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Moment {
    /// While the agent waits for the server, and then perhaps for a person.
    Now {
        /// For the server.
        patience: Duration,
        /// For a person; none where nobody can be asked.
        person: Option<Duration>,
    },
    /// Long after; nobody waits for an answer, and the server is told so.
    Later {
        /// For the server.
        patience: Duration,
    },
}

/// What a server says to an envelope.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Heard {
    #[serde(default)]
    pub(super) verdict: Option<Answer>,
    /// Where a person's answer will be; without one, the verdict counts.
    #[serde(default)]
    pub(super) approval: Option<Waits>,
    /// Whether it took the envelope with words nobody understands: whatever it ruled is not known.
    #[serde(skip)]
    pub(super) is_garbled: bool,
}

/// Where a person's answer will be, and how long it is waited for.
#[derive(Debug, Deserialize)]
pub(super) struct Waits {
    pub(super) id: ApprovalId,
    pub(super) wait_ms: u64,
}

/// Hands an envelope over.
pub(crate) fn post(server: &Server, agent: &str, line: &[u8], moment: Moment) -> Told {
    let (target, patience) = match moment {
        Moment::Now { patience, person: None } => (format!("/api/v1/hooks/{agent}"), patience),
        Moment::Now { patience, person: Some(person) } => {
            (format!("/api/v1/hooks/{agent}?wait={}", person.as_secs()), patience)
        }
        Moment::Later { patience } => (format!("/api/v1/hooks/{agent}?late=true"), patience),
    };
    told(ask(server, &target, JSON, line, Instant::now() + patience))
}

/// Hands over what was exported long ago.
pub(crate) fn export(server: &Server, signal: &str, json: &[u8], patience: Duration) -> Told {
    told(ask(server, &format!("/v1/{signal}"), JSON, json, Instant::now() + patience))
}

fn told(answer: io::Result<(u16, Vec<u8>)>) -> Told {
    match answer {
        Ok((200..=299, body)) => {
            let garbled = |_unreadable| Heard { is_garbled: true, ..Heard::default() };
            Told::Taken(serde_json::from_slice(&body).unwrap_or_else(garbled))
        }
        // It is the envelope that is wrong; it would be wrong again.
        Ok((status @ (400 | 413 | 415 | 422), body)) => {
            let why: String = String::from_utf8_lossy(&body).chars().take(200).collect();
            Told::Refused(format!("status {status} {why}"))
        }
        Ok((status, _)) => Told::Lost(format!("the server answered with {status}")),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Told::Broken(error.to_string()),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            Told::Lost("no server is running".to_owned())
        }
        Err(error) => Told::Lost(error.to_string()),
    }
}

/// What a body is, as a header says it.
pub(crate) const JSON: &str = "Content-Type: application/json\r\n";

/// Asks one thing. `content` are whole lines of the head that say what the body is.
pub(crate) fn ask(
    server: &Server,
    target: &str,
    content: &str,
    line: &[u8],
    deadline: Instant,
) -> io::Result<(u16, Vec<u8>)> {
    let (mut wire, host, token) = match server {
        Server::Socket { path, pass } => {
            (Wire::Socket(connect(path, left(deadline)?)?), "localhost", pass.as_deref())
        }
        Server::Url { authority, token, .. } => {
            (Wire::Tcp(reach(authority, deadline)?), authority.as_str(), token.as_deref())
        }
        Server::Nowhere => return Err(io::Error::new(io::ErrorKind::NotFound, "there is no server to ask")),
    };
    let authorization = token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    let signature = match server {
        Server::Url { signer: Some(signer), .. } => signer.lines(target, line),
        Server::Url { .. } | Server::Socket { .. } | Server::Nowhere => String::new(),
    };
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nUser-Agent: belljar-hook\r\n\
         {authorization}{signature}{content}Content-Length: {}\r\n\r\n",
        line.len()
    );
    wire.set_timeout(left(deadline)?)?;
    // Head and body in one piece: two would wait for each other on some networks.
    wire.write_all(&[head.as_bytes(), line].concat())?;
    let mut answer = Vec::new();
    loop {
        if let Some(whole) = parse(&answer) {
            return Ok(whole);
        }
        let mut piece = [0; 4096];
        wire.set_timeout(left(deadline)?)?;
        match wire.read(&mut piece)? {
            0 => return ended(&answer),
            read => answer.extend_from_slice(piece.get(..read).unwrap_or_default()),
        }
        if answer.len() > MAX_ANSWER {
            return Err(io::Error::other("the answer is too long"));
        }
    }
}

/// Connects, and waits no longer than this for a server that is too busy to accept.
fn connect(path: &Path, patience: Duration) -> io::Result<UnixStream> {
    let socket: OwnedFd =
        net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(patience))?;
    net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(UnixStream::from(socket))
}

fn reach(authority: &str, deadline: Instant) -> io::Result<TcpStream> {
    let with_port = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
    let address = with_port.to_socket_addrs()?.next().ok_or(io::ErrorKind::NotFound)?;
    let stream = TcpStream::connect_timeout(&address, left(deadline)?)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        Err(io::Error::new(io::ErrorKind::TimedOut, "the server is too slow"))
    } else {
        Ok(left)
    }
}

/// Status and body, once both are there. The body's length must be told; else it ends with the connection.
fn parse(answer: &[u8]) -> Option<(u16, Vec<u8>)> {
    let (status, length, body) = head(answer)?;
    let length = length?;
    (body.len() >= length).then(|| (status, body.iter().take(length).copied().collect()))
}

fn ended(answer: &[u8]) -> io::Result<(u16, Vec<u8>)> {
    match head(answer) {
        Some((status, None, body)) => Ok((status, body.to_vec())),
        _ => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server broke off")),
    }
}

fn head(answer: &[u8]) -> Option<(u16, Option<usize>, &[u8])> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = answer.split_at_checked(end + 4)?;
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    Some((status, length, body))
}

#[derive(Debug)]
enum Wire {
    Socket(UnixStream),
    Tcp(TcpStream),
}

impl Wire {
    fn set_timeout(&self, span: Duration) -> io::Result<()> {
        match self {
            Self::Socket(stream) => {
                stream.set_write_timeout(Some(span))?;
                stream.set_read_timeout(Some(span))
            }
            Self::Tcp(stream) => {
                stream.set_write_timeout(Some(span))?;
                stream.set_read_timeout(Some(span))
            }
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Socket(stream) => stream.write_all(bytes),
            Self::Tcp(stream) => stream.write_all(bytes),
        }
    }

    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let read = match self {
            Self::Socket(stream) => stream.read(piece),
            Self::Tcp(stream) => stream.read(piece),
        };
        let slow = |error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock => io::Error::new(io::ErrorKind::TimedOut, "the server is too slow"),
            _ => error,
        };
        read.map_err(slow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_when_its_length_is_there() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(parse(answer), Some((200, b"{}".to_vec())));
        for cut in 0..answer.len() {
            assert_eq!(parse(&answer[..cut]), None);
            assert!(ended(&answer[..cut]).is_err());
        }
        assert_eq!(ended(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap(), (204, Vec::new()));
        assert_eq!(parse(b"nonsense\r\n\r\n"), None);
    }

    #[test]
    fn what_is_no_address_is_nowhere() {
        for url in ["https://host", "http://user@host", "http://host/path", "http://a b", "host"] {
            assert!(matches!(Server::at_url(url, None, None), Server::Nowhere), "{url}");
        }
        let Server::Url { authority, token, .. } = Server::at_url("http://host:1/", Some("a\r\nb"), None)
        else {
            panic!()
        };
        assert_eq!((authority.as_str(), token), ("host:1", None));
    }
}
