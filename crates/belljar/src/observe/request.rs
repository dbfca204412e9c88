//! One HTTP request from inside a sandbox, read with a bound on everything, and its answer.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

/// The most bytes of a head and of a body.
const MAX_HEAD: u64 = 64 << 10;
const MAX_BODY: u64 = 20 << 20;
/// How long a sender may say nothing.
const SILENCE: Duration = Duration::from_secs(10);

/// What somebody asks.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) bearer: Option<String>,
    /// The lines of the head that say what the body is.
    pub(super) content: String,
    pub(super) body: Vec<u8>,
}

/// What somebody is told.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn json(status: u16, body: &str) -> Self {
        Self { status, body: body.as_bytes().to_vec() }
    }

    pub(super) fn write(&self, mut to: &TcpStream) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 {} Heard\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.status,
            self.body.len()
        );
        to.write_all(&[head.as_bytes(), &self.body].concat())
    }
}

impl Request {
    /// Reads the one request of a connection.
    pub(super) fn read(stream: &TcpStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(SILENCE))?;
        stream.set_write_timeout(Some(SILENCE))?;
        let mut reader = BufReader::new(stream);
        let mut request = Self::default();
        let mut head = reader.by_ref().take(MAX_HEAD);
        let first = line(&mut head)?;
        let mut words = first.split(' ');
        request.method = words.next().unwrap_or_default().to_owned();
        request.target = words.next().unwrap_or_default().to_owned();
        let (mut length, mut chunked, mut waits) = (0, false, false);
        loop {
            let line = line(&mut head)?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(wrong)?;
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().map_err(|_nonsense| wrong())?,
                "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
                "expect" => waits = true,
                "authorization" => request.bearer = value.strip_prefix("Bearer ").map(str::to_owned),
                "content-type" | "content-encoding"
                    if value.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') =>
                {
                    request.content.push_str(&format!("{}: {value}\r\n", name.to_ascii_lowercase()));
                }
                _ => {}
            }
        }
        if waits {
            let mut stream = stream;
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        if chunked {
            request.chunks(&mut reader)?;
        } else {
            request.take(&mut reader, length)?;
        }
        Ok(request)
    }

    fn chunks(&mut self, reader: &mut impl BufRead) -> io::Result<()> {
        loop {
            let size = line(&mut reader.by_ref().take(MAX_HEAD))?;
            let size = size.split(';').next().unwrap_or_default().trim();
            let size = u64::from_str_radix(size, 16).map_err(|_nonsense| wrong())?;
            self.take(reader, size)?;
            line(&mut reader.by_ref().take(MAX_HEAD))?;
            if size == 0 {
                return Ok(());
            }
        }
    }

    fn take(&mut self, reader: &mut impl BufRead, length: u64) -> io::Result<()> {
        let held = u64::try_from(self.body.len()).unwrap_or(u64::MAX);
        if held.saturating_add(length) > MAX_BODY {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the body is too long"));
        }
        let read = reader.by_ref().take(length).read_to_end(&mut self.body)?;
        if u64::try_from(read).unwrap_or(u64::MAX) < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 || !line.ends_with('\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

fn wrong() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "this is not HTTP")
}
