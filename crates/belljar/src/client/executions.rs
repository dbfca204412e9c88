//! A command the server runs: its output as it comes, what it reads, the signals it gets.
//!
//! Owns: going on where it was when the connection or the server is lost on the way. Refuses: the user's streams.

use std::{
    thread,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use belljar_domain::{SandboxId, Terminal};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    Client, ClientError, QUICK, Result,
    events::{Frames, SILENCE},
    http::{self, Server},
    wire::Exit,
};

/// How long a server may be away before its command is given up, and how often to look for it.
const AWAY: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(100);

/// A command that was started, to be steered from any thread.
#[derive(Debug)]
pub(crate) struct Running {
    server: Server,
    path: String,
}

/// What a command says.
#[derive(Debug)]
pub(crate) enum Said {
    /// It wrote this.
    Output {
        /// Whether as a complaint.
        is_error: bool,
        /// What, exactly.
        bytes: Vec<u8>,
    },
    /// It is over.
    Exit(Box<Exit>),
}

/// What a command says, from its beginning to its end.
#[derive(Debug)]
pub(crate) struct Speech {
    running: Running,
    frames: Frames,
    place: u64,
}

#[derive(Deserialize)]
struct Started {
    execution_id: String,
}

#[derive(Deserialize)]
struct Piece {
    place: u64,
    text: String,
    base64: Option<String>,
}

impl Client {
    /// Starts what the API calls a command to be run; it ends if we go away.
    pub(crate) fn exec(&self, id: SandboxId, mut order: Value) -> Result<Speech> {
        if let Some(order) = order.as_object_mut() {
            order.extend([("stream".to_owned(), json!(true)), ("attached".to_owned(), json!(true))]);
        }
        let path = format!("/api/v1/sandboxes/{id}");
        let answer = self.server.send_patiently(&format!("{path}/exec"), &order, SILENCE)?;
        let mut frames = Frames::new(answer);
        let first = frames.next()?.filter(|frame| frame.name == "started");
        let first = first.ok_or_else(|| ClientError::Nonsense("the command was not announced".to_owned()))?;
        let started: Started = parsed(&first.data)?;
        let path = format!("{path}/executions/{}", started.execution_id);
        Ok(Speech { running: Running { server: self.server.again(), path }, frames, place: 0 })
    }
}

impl Speech {
    /// The command itself.
    pub(crate) fn command(&self) -> Running {
        Running { server: self.running.server.again(), path: self.running.path.clone() }
    }

    /// Waits for the next.
    pub(crate) fn next(&mut self) -> Result<Said> {
        loop {
            // Whatever ends the stream before the command, the command goes on, and its output is kept.
            let Ok(Some(frame)) = self.frames.next() else {
                self.find_again()?;
                continue;
            };
            match frame.name.as_str() {
                name @ ("stdout" | "stderr") => {
                    let piece: Piece = parsed(&frame.data)?;
                    self.place = piece.place;
                    let exact = piece.base64.map(|text| STANDARD.decode(text)).transpose();
                    let exact = exact.map_err(|error| ClientError::Nonsense(error.to_string()))?;
                    let bytes = exact.unwrap_or_else(|| piece.text.into_bytes());
                    return Ok(Said::Output { is_error: name == "stderr", bytes });
                }
                "exit" => return parsed(&frame.data).map(|exit| Said::Exit(Box::new(exit))),
                "goodbye" | "error" => self.find_again()?,
                // A word of a later day.
                _ => {}
            }
        }
    }

    /// Goes on after what was heard last, also from the next server.
    fn find_again(&mut self) -> Result<()> {
        let deadline = Instant::now() + AWAY;
        let after = self.place.to_string();
        let target = http::target(&format!("{}/attach", self.running.path), &[("after", &after)]);
        loop {
            thread::sleep(PAUSE);
            match self.running.server.send("GET", &target, None, SILENCE) {
                Ok(answer) => {
                    self.frames = Frames::new(answer);
                    return Ok(());
                }
                Err(error) if error.is_passing() && Instant::now() < deadline => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Running {
    /// Brings input; the answer is how much of it the command took before it stopped reading.
    pub(crate) fn feed(&self, bytes: &[u8]) -> Result<usize> {
        match self.server.send_bytes(&format!("{}/stdin", self.path), bytes, SILENCE) {
            Ok(_) => Ok(bytes.len()),
            Err(ClientError::Refused(problem)) if problem.taken.is_some() => {
                Ok(problem.taken.unwrap_or_default())
            }
            Err(error) => Err(error),
        }
    }

    /// Ends its input.
    pub(crate) fn close_input(&self) -> Result<()> {
        self.server.send_bytes(&format!("{}/stdin?close=true", self.path), &[], QUICK).map(drop)
    }

    /// Sends a signal to its process group.
    pub(crate) fn signal(&self, number: u8) -> Result<()> {
        self.tell("signal", &json!({ "signal": number }))
    }

    /// Tells its terminal the new size.
    pub(crate) fn resize(&self, size: Terminal) -> Result<()> {
        self.tell("resize", &json!({ "rows": size.rows, "cols": size.cols }))
    }

    fn tell(&self, what: &str, body: &Value) -> Result<()> {
        self.server.send("POST", &format!("{}/{what}", self.path), Some(body), QUICK).map(drop)
    }
}

fn parsed<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| ClientError::Nonsense(error.to_string()))
}
