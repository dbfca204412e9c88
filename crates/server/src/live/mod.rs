//! What happens now, to those who watch: events over WebSocket and server-sent events, output of commands, terminals.
//!
//! Owns: the two sources ([`Feed`] for the ledger, [`Tail`] for a command) and the ways they travel. Refuses: queues.
//! Every client reads at its own pace from the place it has reached, so there is neither gap nor duplicate, and a slow one
//! holds nothing but its own place. What is new is read from the store once for all of them ([`Tape`]).

mod attached;
mod clients;
mod feed;
mod log;
mod socket;
pub(crate) mod sse;
mod tail;
mod tape;
mod terminal;

pub(crate) use attached::Attached;
pub(crate) use clients::{Client, Clients};
pub(crate) use feed::Feed;
pub(crate) use log::LogTail;
pub(crate) use socket::serve as serve_events;
pub(crate) use tail::{Piece, Tail};
pub(crate) use tape::{Tape, Told};
pub(crate) use terminal::serve as serve_terminal;
