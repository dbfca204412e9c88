//! What goes after the `?`.

mod events;
mod executions;
mod files;
mod sandboxes;

pub use events::{ArtifactQuery, AuditQuery, AuditVerifyQuery, EventQuery, FollowQuery, NewArtifactQuery};
pub use executions::{OutputQuery, StdinQuery, TerminalQuery, WaitQuery};
pub use files::{
    ArchiveFormat, FileMove, FileOperation, FileQuery, FileRemoveQuery, FileWriteQuery, FilesQuery,
    WatchQuery,
};
pub use sandboxes::{DiffFormat, DiffQuery, HistoryQuery, LogQuery, LoginQuery, PageQuery, SandboxQuery};
