//! What goes after the `?`.

mod events;
mod executions;
mod files;
mod records;
mod sandboxes;

pub use events::{ArtifactQuery, AuditQuery, AuditVerifyQuery, EventQuery, FollowQuery, NewArtifactQuery};
pub use executions::{OutputQuery, StdinQuery, TerminalQuery, WaitQuery};
pub use files::{
    ArchiveFormat, FileMove, FileOperation, FileQuery, FileRemoveQuery, FileWriteQuery, FilesQuery,
    WatchQuery,
};
pub use records::{
    AgentMetricsQuery, CallQuery, CostQuery, DetectionQuery, ErrorQuery, HandoffQuery, SessionQuery,
    ToolUsageQuery, TraceQuery,
};
pub use sandboxes::{
    DiffFormat, DiffQuery, HistoryQuery, LogLevel, LogQuery, LoginQuery, PageQuery, SandboxQuery,
};
