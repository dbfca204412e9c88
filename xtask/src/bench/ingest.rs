//! Ingest: events a second that are durable when they are answered, with the client on the same processors.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::service::{Server, parse};

/// How long each is measured.
const LASTS: Duration = Duration::from_secs(5);
/// Requests in flight; of single ones as many as when the server to compare with was measured.
const SINGLES: usize = 32;
const BATCHES: usize = 8;
const BATCH: usize = 100;
/// Connections of one thread. It goes round and asks again wherever it has its answer, so all but one are always busy.
const SHARE: usize = 32;

/// Events a second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ingest {
    pub(crate) singles: f64,
    pub(crate) batched: f64,
}

pub(crate) fn measure(server: &Server) -> anyhow::Result<Ingest> {
    let singles = flow(server, SINGLES, 1)?;
    println!("single events: {singles:.0} a second");
    let batched = flow(server, BATCHES, BATCH)?;
    println!("events in batches of {BATCH}: {batched:.0} a second");
    Ok(Ingest { singles, batched })
}

fn flow(server: &Server, connections: usize, batch: usize) -> anyhow::Result<f64> {
    let begun = Instant::now();
    let shares: Vec<usize> = (0..connections).collect();
    let counts = thread::scope(|scope| {
        let threads: Vec<_> = shares
            .chunks(SHARE)
            .map(|share| scope.spawn(move || talk(server, share, batch, begun + LASTS)))
            .collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_panic| ())).collect::<Vec<_>>()
    });
    let mut all = 0;
    for count in counts {
        let Ok(count) = count else { bail!("a client panicked") };
        all += count?;
    }
    #[expect(clippy::cast_precision_loss, reason = "far fewer events than a float can count")]
    Ok(all as f64 / begun.elapsed().as_secs_f64())
}

/// One thread's share of the connections; the answer is how many events were acknowledged.
fn talk(server: &Server, share: &[usize], batch: usize, until: Instant) -> anyhow::Result<usize> {
    let mut streams = Vec::new();
    for _ in share {
        let stream = TcpStream::connect(&server.address)?;
        stream.set_nodelay(true)?;
        streams.push(stream);
    }
    let first = share.first().copied().unwrap_or(0);
    let ask = |stream: &mut TcpStream, place: usize, round: usize| {
        let name = format!("{}-{batch}-{first}-{place}-{round}", std::process::id());
        stream.write_all(&request(server, &events(&name, batch)))
    };
    for (place, stream) in streams.iter_mut().enumerate() {
        ask(stream, place, 0)?;
    }
    let (mut round, mut told) = (1, 0);
    let mut part = vec![0; 64 * 1024];
    while Instant::now() < until {
        for (place, stream) in streams.iter_mut().enumerate() {
            told += answer(stream, &mut part)?;
            ask(stream, place, round)?;
        }
        round += 1;
    }
    for stream in &mut streams {
        told += answer(stream, &mut part)?;
    }
    Ok(told)
}

fn events(name: &str, batch: usize) -> Value {
    let one = |at: usize| {
        json!({
            "event_id": format!("{name}-{at}"),
            "type": "tool_use",
            "session_id": format!("session-{}", at % 7),
            "agent_id": "bench",
            "tool": "Bash",
            "message": "cargo test --workspace -- --nocapture",
        })
    };
    if batch == 1 { one(0) } else { Value::Array((0..batch).map(one).collect()) }
}

fn request(server: &Server, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let head = format!(
        "POST /api/v1/events/ingest HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        server.key,
        body.len()
    );
    [head.into_bytes(), body.into_bytes()].concat()
}

fn answer(stream: &mut TcpStream, part: &mut [u8]) -> anyhow::Result<usize> {
    let mut all = Vec::new();
    loop {
        let count = stream.read(part)?;
        if count == 0 {
            bail!("the server hung up");
        }
        all.extend_from_slice(part.get(..count).unwrap_or_default());
        if let Some((status, body)) = parse(&all) {
            let accepted = body.get("accepted").and_then(Value::as_u64);
            let accepted = accepted.filter(|_| status < 300).with_context(|| format!("{status} {body}"))?;
            return Ok(usize::try_from(accepted)?);
        }
    }
}
