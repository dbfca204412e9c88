//! What the use cases need from the world: sandboxes with the executions in them, and a store that remembers.
//!
//! Owns: the traits every provider and every store implements and the errors they answer with. Refuses: implementations. The traits are
//! synchronous: a provider that talks over a network brings its own runtime, one that talks to the kernel needs none
//! (docs/adr/0002-synchronous-ports.md).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod changes;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod lens;
mod recording;
mod sandbox;
pub mod store;

pub use changes::{ChangedFiles, Changes};
pub use lens::Lens;
pub use recording::{FileChange, JournalRecord, Open, Order, RawExit, RecordedInput, Recording};
pub use sandbox::{
    Execution, Keep, Level, Sandbox, SandboxError, SandboxInfo, SandboxProvider, SnapshotInfo, Streams,
};
pub use store::{Store, StoreError};
