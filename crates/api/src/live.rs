//! Frames of the WebSockets: the live stream of events, and terminals.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Event;

/// What a client of the live stream sends.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum ClientFrame {
    /// Asks for events; sent again, it replaces what was asked for before.
    Subscribe {
        /// Which events; all of them when absent.
        #[serde(default)]
        filter: Box<EventSelection>,
        /// The place after which to begin; only what happens from now on when absent.
        since: Option<u64>,
        /// Sends what happens within so many milliseconds, at most a second, together as `events`; each by itself when
        /// absent. For who shows it to people: thousands of frames a second cost a browser more than what they say.
        batch_ms: Option<u16>,
    },
    /// Asks for a heartbeat now.
    Ping,
}

/// Which events a client wants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EventSelection {
    /// Kinds, or the words they begin with; any when empty.
    #[serde(default)]
    pub kinds: Vec<String>,
    /// In this sandbox.
    pub sandbox_id: Option<String>,
    /// Of this command.
    pub execution_id: Option<String>,
    /// Of this run.
    pub run_id: Option<String>,
    /// By this agent.
    pub agent_id: Option<String>,
    /// In this session.
    pub session_id: Option<String>,
    /// With this type of operation.
    pub operation: Option<String>,
    /// That ended so.
    pub status: Option<String>,
    /// That were judged so.
    pub decision: Option<String>,
}

/// What the live stream sends.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ServerFrame {
    /// What was asked for is under way.
    Subscribed {
        /// The place after which events follow.
        since: u64,
    },
    /// Something happened.
    Event(Box<Event>),
    /// All of this happened, in this order.
    Events {
        /// Each as a frame of its own would have it.
        items: Vec<Event>,
    },
    /// Nothing happened; the connection is well.
    Heartbeat {
        /// The place up to which everything asked for has been sent.
        seq: u64,
    },
    /// The client does not keep up and is let go; it can come back with `since`.
    Lagged {
        /// The place up to which everything asked for has been sent.
        seq: u64,
    },
    /// The client said something that makes no sense.
    Error {
        /// What.
        detail: String,
    },
    /// The server is shutting down; come back with `since`.
    Goodbye {
        /// The place up to which everything asked for has been sent.
        seq: u64,
    },
}

/// What a terminal's client sends as text; keys travel as binary frames.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum TerminalFrame {
    /// The window has a new size.
    Resize {
        /// Height.
        rows: u16,
        /// Width.
        cols: u16,
    },
    /// A signal for the process group.
    Signal {
        /// Its number.
        signal: u8,
    },
}

/// What a terminal sends as text; output travels as binary frames.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum TerminalNotice {
    /// The command began.
    Started {
        /// Its identity.
        execution_id: String,
    },
    /// The command is over.
    Exit(Box<crate::Exit>),
    /// The client said something that makes no sense.
    Error {
        /// What.
        detail: String,
    },
    /// The server is shutting down; the command goes on.
    Goodbye,
}
