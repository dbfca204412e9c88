//! What coding agents say about themselves, in one form: each vendor's hook payload becomes a [`HookEvent`], and an
//! answer becomes the reply that vendor reads. Telemetry and transcripts become facts, and facts become costs.
//!
//! Owns: the vendors' names and shapes, the envelope a hook travels in. Refuses: I/O, clocks, and losing anything: what
//! is not known is kept, what has the wrong type is kept and named, and no payload makes it panic.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod agent;
mod bounds;
pub mod cost;
mod envelope;
mod error;
pub mod eye;
mod fields;
mod hook;
mod kind;
pub mod otlp;
mod pass;
mod peek;
mod reply;
pub mod signature;
pub mod transcript;
mod vendor;
mod workspace;

pub use agent::Agent;
pub use bounds::{MAX_DEPTH, MAX_PAYLOAD};
pub use envelope::{Draft, ENVELOPE_VERSION, Envelope, Payload};
pub use error::{CaptureError, Finding};
pub use hook::{HookEvent, ModelUse};
pub use kind::HookKind;
pub use pass::{Pass, PassError};
pub use peek::Peek;
pub use reply::{Answer, Reply, can_ask, can_defer, reply};
