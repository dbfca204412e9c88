//! The eye: events of the ledger folded into records of what agents did.
//!
//! Owns: which event says what about which call, session, agent, request and error, whichever order they come in.
//! Refuses: I/O; records are found and put through [`Shelf`]. The same events give the same records, so that what is
//! lost can be made again.

mod agents;
mod calls;
mod errors;
mod index;
mod requests;
mod said;
mod score;
mod series;
mod sessions;
mod transcripts;

use belljar_domain::{
    Event, EventKind, ProjectId, Timestamp,
    eye::{Shelf, record_id},
};

pub use errors::fingerprint;
pub use index::{DAY, HOUR, day_tag, hour_tag};
pub use score::{Score, ScoreBase, score};

use crate::cost::Prices;
use said::Said;

/// Folds events, with a price list.
#[derive(Debug)]
pub struct Folder {
    prices: Prices,
}

impl Folder {
    /// A folder with these prices.
    #[must_use]
    pub const fn new(prices: Prices) -> Self {
        Self { prices }
    }

    /// Folds one event into the records on the shelf.
    ///
    /// # Errors
    /// When the shelf fails; then nothing may be kept of it.
    pub fn fold<S: Shelf + ?Sized>(&self, event: &Event, shelf: &mut S) -> Result<(), S::Error> {
        shelf.index(event.seq, index::entry(event))?;
        let said = Said::new(event);
        let mut pass = Pass { event, said, shelf, prices: &self.prices, nth: 0 };
        pass.run()
    }
}

/// One event on its way into the records.
struct Pass<'p, S: ?Sized> {
    event: &'p Event,
    said: Said<'p>,
    shelf: &'p mut S,
    prices: &'p Prices,
    nth: u64,
}

impl<S: Shelf + ?Sized> Pass<'_, S> {
    fn run(&mut self) -> Result<(), S::Error> {
        match &self.event.what.kind {
            EventKind::ErrorGroupResolved | EventKind::ErrorGroupReopened => return self.judge_errors(),
            EventKind::Other(kind) if kind == "otel.metrics" => return self.measure(),
            EventKind::Other(kind) if kind == "transcript.read" => {
                self.touch()?;
                return self.read_transcript();
            }
            _ => {}
        }
        self.touch()?;
        match &self.event.what.kind {
            EventKind::ModelCalled => self.model_called()?,
            EventKind::Other(kind) if kind == "model.failed" => self.model_failed()?,
            EventKind::TurnFailed => self.turn_failed()?,
            EventKind::AgentStarted => self.agent_started()?,
            EventKind::AgentStopped => self.agent_stopped()?,
            EventKind::Other(kind) if kind == "agent.traced" => self.agent_traced()?,
            _ => {}
        }
        self.call_told()?;
        self.estimate()
    }

    fn project(&self) -> &ProjectId {
        &self.event.what.project
    }

    fn time(&self) -> Timestamp {
        self.event.what.time
    }

    /// The next identity this event may give.
    fn next_id(&mut self) -> u64 {
        let id = record_id(self.event.seq, self.nth);
        self.nth += 1;
        id
    }

    /// How much later the event came in than its own clock says.
    fn skew_ms(&self) -> i64 {
        self.event.received.as_micros().saturating_sub(self.time().as_micros()) / 1000
    }
}

/// A hash that stays the same on every machine and in every version.
fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The beginning of a text, on one line.
fn brief(text: &str, most: usize) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > most {
            out.truncate(out.floor_char_boundary(most));
            out.push('…');
            break;
        }
    }
    out
}
