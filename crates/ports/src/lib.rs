//! What the use cases need from the world: sandboxes with the executions in them, and a store that remembers.
//!
//! Owns: the traits every provider and every store implements and the errors they answer with. Refuses: implementations. The traits are
//! synchronous: a provider that talks over a network brings its own runtime, one that talks to the kernel needs none
//! (docs/adr/0002-synchronous-ports.md).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod about;
mod changes;
#[cfg(feature = "conformance")]
pub mod conformance;
mod failure;
pub mod lens;
mod provider;
mod recording;
mod sandbox;
pub mod store;

pub use about::{Level, SandboxInfo, SnapshotInfo, TemplateInfo};
pub use changes::{ChangedFiles, Changes};
pub use failure::SandboxError;
pub use lens::Lens;
pub use provider::{Keep, SandboxProvider};
pub use recording::{FileChange, JournalRecord, Open, Order, RawExit, RecordedInput, Recording};
pub use sandbox::{Execution, Sandbox, Streams};
pub use store::{Store, StoreError};
