//! Waiting for a person: the call stays open at the server for as long as the hook asks for its answer.
//!
//! Owns: asking again, also of the next server, until there is an answer or the time is over. Refuses: to take no answer
//! for a yes; what follows from silence was said by the server before.

use std::{
    thread,
    time::{Duration, Instant},
};

use belljar_capture::Answer;
use serde::Deserialize;

use super::post::{JSON, Server, Waits, ask};

/// How long one request waits, and how much longer its answer may take.
const ROUND: u64 = 25;
const SLACK: Duration = Duration::from_secs(3);
/// How long to wait for a server that is away before it is asked again.
const PAUSE: Duration = Duration::from_millis(200);
/// How long that it was heard may take to be written down.
const THANKS: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
struct Heard {
    verdict: Option<Answer>,
}

/// What a person says, if they say it in time.
pub(super) fn wait(server: &Server, waits: &Waits, most: Duration) -> Option<Answer> {
    let patience = Duration::from_millis(waits.wait_ms).min(most);
    // A little longer than the server itself, whose word at the end is worth more than silence.
    let until = Instant::now() + patience + SLACK.min(most / 4);
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        let seconds = left.as_secs().clamp(1, ROUND);
        let target = format!("/api/v1/approvals/{}/wait?seconds={seconds}", waits.id);
        let deadline = (Instant::now() + Duration::from_secs(seconds) + SLACK).min(until);
        match ask(server, &target, JSON, b"", deadline) {
            Ok((200..=299, body)) => {
                let heard = serde_json::from_slice::<Heard>(&body).ok()?;
                if let Some(answer) = heard.verdict {
                    let target = format!("/api/v1/approvals/{}/delivered", waits.id);
                    // The answer stands, whether or not that it was heard can be written down.
                    let _unwritten = ask(server, &target, JSON, b"", Instant::now() + THANKS);
                    return Some(answer);
                }
            }
            // Nobody there knows of it.
            Ok((400..=499, _)) => return None,
            Ok(_) | Err(_) => thread::sleep(PAUSE.min(left)),
        }
    }
    None
}
