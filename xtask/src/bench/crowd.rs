//! A crowd: many who watch a busy ledger live, all on these processors. Whether each saw everything, and what that took.

use std::{
    fs,
    io::{BufReader, Read, Write as _},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::service::{Server, parse};

const READERS: usize = 200;
/// Events a second, told so many at one time.
const RATE: usize = 1_000;
const BATCH: usize = 10;
const SECONDS: usize = 10;
const EVENTS: usize = RATE * SECONDS;
/// The longest a reader waits for what comes next.
const PATIENCE: Duration = Duration::from_secs(20);
/// Ticks a second in `/proc`, on every Linux there is.
const TICKS: f64 = 100.0;

/// What became of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crowd {
    pub(crate) readers: usize,
    pub(crate) events: usize,
    /// How many saw every event, in order and once.
    pub(crate) complete: usize,
    /// How long the events were told, in seconds.
    pub(crate) took: f64,
    /// Processor time of the server meanwhile, in seconds.
    pub(crate) processor: f64,
    /// From the last acknowledgement until the last reader had it, in milliseconds.
    pub(crate) behind: f64,
}

pub(crate) fn measure(server: &Server) -> anyhow::Result<Crowd> {
    let sockets: Vec<_> = (0..READERS).map(|_| Socket::open(server)).collect::<anyhow::Result<_>>()?;
    let before = processor(server.pid())?;
    let begun = Instant::now();
    let (told, seen) = thread::scope(|scope| {
        let readers: Vec<_> = sockets.into_iter().map(|socket| scope.spawn(|| watch(socket))).collect();
        let told = tell(server, begun);
        (told, readers.into_iter().filter_map(|reader| reader.join().ok()).collect::<Vec<_>>())
    });
    let told = told?;
    let processor = processor(server.pid())? - before;
    let last = seen.iter().filter_map(|(_, at)| *at).max().unwrap_or(told);
    let crowd = Crowd {
        readers: READERS,
        events: EVENTS,
        complete: seen.iter().filter(|(places, _)| is_whole(places)).count(),
        took: told.duration_since(begun).as_secs_f64(),
        processor,
        behind: last.saturating_duration_since(told).as_secs_f64() * 1e3,
    };
    println!(
        "{} of {READERS} readers saw all of {EVENTS} events told in {:.1} s; the server took {:.2} s of processor time, the last was {:.0} ms behind",
        crowd.complete, crowd.took, crowd.processor, crowd.behind
    );
    Ok(crowd)
}

fn is_whole(places: &[u64]) -> bool {
    places.len() == EVENTS && places.windows(2).all(|pair| pair.first() < pair.get(1))
}

/// Tells all events, evenly over the time; the answer is when the last was acknowledged.
fn tell(server: &Server, begun: Instant) -> anyhow::Result<Instant> {
    let mut stream = TcpStream::connect(&server.address)?;
    stream.set_nodelay(true)?;
    let mut part = vec![0; 16 * 1024];
    for round in 0..EVENTS / BATCH {
        let due = begun + Duration::from_secs(1) * u32::try_from(round * BATCH)? / u32::try_from(RATE)?;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let event =
            |at| json!({"kind": "crowd.told", "session_id": "s", "payload": {"number": round * BATCH + at}});
        let body = Value::Array((0..BATCH).map(event).collect()).to_string();
        let head = format!(
            "POST /api/v1/events/ingest HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            server.key,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body.as_bytes()].concat())?;
        let mut answer = Vec::new();
        let (status, said) = loop {
            match stream.read(&mut part)? {
                0 => bail!("the server hung up"),
                count => answer.extend_from_slice(part.get(..count).unwrap_or_default()),
            }
            if let Some(whole) = parse(&answer) {
                break whole;
            }
        };
        if status >= 300 {
            bail!("the server did not take events: {status} {said}");
        }
    }
    Ok(Instant::now())
}

/// The places a reader saw, and when it had the last.
fn watch(mut socket: Socket) -> (Vec<u64>, Option<Instant>) {
    let mut places = Vec::with_capacity(EVENTS);
    while places.len() < EVENTS {
        let Ok(frame) = socket.frame() else { break };
        places.extend(frame.starts_with(br#"{"type":"event""#).then(|| place(&frame)).flatten());
    }
    let at = (places.len() == EVENTS).then(Instant::now);
    (places, at)
}

/// The place a frame names, without reading the rest of it: there are two million of them.
fn place(frame: &[u8]) -> Option<u64> {
    let name = b"\"seq\":";
    let at = frame.windows(name.len()).position(|part| part == name)? + name.len();
    let digits = frame.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

/// Seconds of processor time a process has used.
fn processor(pid: u32) -> anyhow::Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).context("read the server's times")?;
    let after = stat.rsplit_once(')').context("no times")?.1;
    let ticks = after.split_whitespace().skip(11).take(2).filter_map(|word| word.parse::<u32>().ok());
    Ok(f64::from(ticks.sum::<u32>()) / TICKS)
}

/// A WebSocket that has subscribed.
struct Socket(BufReader<TcpStream>);

impl Socket {
    fn open(server: &Server) -> anyhow::Result<Self> {
        let mut stream = TcpStream::connect(&server.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nConnection: upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            server.key
        )?;
        let mut socket = Self(BufReader::new(stream));
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(u8::from_be_bytes(socket.bytes()?));
        }
        if !head.starts_with(b"HTTP/1.1 101") {
            bail!("no WebSocket: {}", String::from_utf8_lossy(&head));
        }
        let words = json!({"type": "subscribe", "filter": {"kinds": ["crowd"]}}).to_string();
        // A text, short, with a mask of zeros, which is one.
        let start = [0x81, 0x80 | u8::try_from(words.len())?, 0, 0, 0, 0];
        socket.0.get_mut().write_all(&[&start[..], words.as_bytes()].concat())?;
        while !socket.frame()?.starts_with(br#"{"type":"subscribed""#) {}
        Ok(socket)
    }

    /// What the next frame holds.
    fn frame(&mut self) -> anyhow::Result<Vec<u8>> {
        let [kind, length] = self.bytes()?;
        let length = match length & 0x7f {
            126 => u64::from(u16::from_be_bytes(self.bytes()?)),
            127 => u64::from_be_bytes(self.bytes()?),
            short => u64::from(short),
        };
        let mut body = vec![0; usize::try_from(length)?];
        self.0.read_exact(&mut body)?;
        if kind & 0xf == 8 {
            bail!("the server said goodbye");
        }
        Ok(body)
    }

    fn bytes<const N: usize>(&mut self) -> anyhow::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_is_complete_with_every_place_once_and_in_order() {
        assert_eq!(place(br#"{"type":"event","seq":1207,"x":1}"#), Some(1207));
        assert_eq!(place(b"{}"), None);
        let all: Vec<u64> = (1..=u64::try_from(EVENTS).unwrap()).collect();
        assert!(is_whole(&all));
        assert!(!is_whole(&all[1..]));
        let mut twice = all;
        twice[1] = 1;
        assert!(!is_whole(&twice));
    }

    #[test]
    fn our_own_processor_time_is_known() {
        assert!(processor(std::process::id()).unwrap() >= 0.0);
    }
}
