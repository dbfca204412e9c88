//! The words of belljar: what a sandbox is, what it may use, what became of it.
//!
//! Owns: typed ids, limits, mounts, profiles, the sandbox state machine, usage and exit reports.
//! Refuses: I/O, clocks, randomness, threads. Whatever is needed of the world comes in as data.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod change;
mod id;
mod limits;
mod mount;
mod network;
mod path;
mod profile;
mod quantity;
mod report;
mod spec;
mod state;
mod template;
mod usage;

pub use change::{Change, ChangeKind, Entry, Node};
pub use id::{ExecutionId, IdError, SandboxId, SnapshotId};
pub use limits::{Clocks, Limits, LimitsPatch};
pub use mount::{Mount, MountError, MountMode};
pub use network::{NetworkMode, NetworkModeError};
pub use path::{HostPath, PathError, SandboxPath};
pub use profile::{Isolation, Profile, ProfileError};
pub use quantity::{ByteSize, Cpus, QuantityError, Span};
pub use report::{
    EXIT_BELLJAR_FAILED, EXIT_DENIED, EXIT_KILLED, EXIT_TIMEOUT, ExitReport, KillCause, Outcome,
};
pub use spec::{Capability, ExecSpec, SandboxSpec, Terminal};
pub use state::{SandboxState, Status, TransitionError};
pub use template::{TemplateError, TemplateRef};
pub use usage::{Alert, AlertTrigger, Severity, Thresholds, Usage};
