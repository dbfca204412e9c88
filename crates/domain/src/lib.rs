//! The words of belljar: what a sandbox is, what it may use, what became of it.
//!
//! Owns: typed ids, limits, mounts, profiles, the sandbox state machine, usage and exit reports, and the
//! event: one thing that happened.
//! Refuses: I/O, clocks, randomness, threads. Whatever is needed of the world comes in as data.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod agent;
mod approval;
mod budget;
mod change;
mod digest;
mod event;
pub mod eye;
mod id;
mod limits;
mod money;
mod mount;
mod network;
mod path;
mod principal;
mod profile;
mod project;
mod quantity;
mod report;
mod ruling;
mod run;
mod spec;
mod state;
mod template;
mod text;
mod time;
mod tokens;
mod usage;
mod word;

pub use agent::{AgentEntry, AgentName, AgentNameError, AgentRights, Role, Standing};
pub use approval::{ApprovalScope, ApprovalState};
pub use budget::{
    Account, Amount, Budget, BudgetPeriod, BudgetScope, BudgetStep, Day, Limit, Steps, SumKey, budget_id,
};
pub use change::{Change, ChangeKind, Entry, Node};
pub use digest::{Digest, DigestError};
pub use event::{Actor, Event, EventKind, EventStatus, EventTooLarge, NewEvent, Retention};
pub use id::{AgentId, ApprovalId, DeliveryId, EventId, ExecutionId, IdError, RunId, SandboxId, SnapshotId};
pub use limits::{Clocks, Limits, LimitsPatch};
pub use money::Usd;
pub use mount::{Mount, MountError, MountMode};
pub use network::{NetworkMode, NetworkModeError};
pub use path::{HostPath, PathError, SandboxPath};
pub use principal::Principal;
pub use profile::{Isolation, Profile, ProfileError};
pub use project::{ProjectId, ProjectIdError};
pub use quantity::{ByteSize, Cpus, QuantityError, Span};
pub use report::{
    EXIT_BELLJAR_FAILED, EXIT_DENIED, EXIT_KILLED, EXIT_TIMEOUT, ExitReport, KillCause, Outcome,
};
pub use ruling::{Risk, Ruling, Verdict};
pub use run::RunState;
pub use spec::{Capability, ExecSpec, SandboxSpec, Terminal};
pub use state::{SandboxState, Status, TransitionError};
pub use template::{TemplateError, TemplateRef};
pub use text::deceives;
pub use time::{Timestamp, TimestampError};
pub use tokens::Tokens;
pub use usage::{Alert, AlertTrigger, Severity, Thresholds, Usage};
pub use word::WordError;
