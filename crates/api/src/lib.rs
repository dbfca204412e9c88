//! What travels over HTTP: requests, answers, frames of the live stream, problems.
//!
//! Owns: the wire types of the API, from which its OpenAPI document is made; a program written against them keeps
//! working when the inside changes. Refuses: domain types on the wire, and meaning; what a field asks for is checked
//! by whoever carries it out. Requests refuse fields they do not know, so that a typing error is told and not ignored.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod about;
mod agent;
mod approval;
mod artifact;
mod audit;
mod budget;
mod bundle;
mod event;
mod execution;
mod file;
mod guardian;
mod hook;
mod ingest;
mod live;
mod output;
mod page;
mod problem;
mod query;
mod record;
mod report;
mod run;
mod sandbox;
mod snapshot;
mod template;
mod usage;
mod webhook;

pub use about::{Health, Readiness, SandboxHealth, Version, WhoAmI};
pub use agent::{
    AgentExport, AgentQuery, AgentRights, AgentRole, AgentStanding, ApproveAgent, ExportedAgent,
    ImportAgents, ImportedAgents, PutAgent, RegistryAgent, RevokeAgent, SuggestRole, SuggestedRole,
};
pub use approval::{
    AllowRequest, Approval, ApprovalAnswer, ApprovalLink, ApprovalOutcome, ApprovalQuery, ApprovalScope,
    ApprovalState, ApprovalWaitQuery, DenyRequest, EffectRuling, Kill, KillFailure, KillRequest, Killed,
    Kills,
};
pub use artifact::Artifact;
pub use audit::{Agent, AuditEntry, AuditStats, Cost, Finding, Operation, Rbac, Target, Verification};
pub use budget::{
    Amount, Budget, BudgetQuery, BudgetSteps, Budgets, CheckBudget, CheckedBudget, DeductBudget, Payment,
    PaymentLine, PutBudget, Reservation, ReserveBudget, Spender, SpendingQuery,
};
pub use bundle::{AppliedBundle, ApplyQuery, Bundle, BundleFile, BundleThing};
pub use event::Event;
pub use execution::{
    Command, ExecAnswer, ExecRequest, Execution, ExecutionStatus, ResizeRequest, SignalRequest, TerminalSize,
};
pub use file::{File, FileChange, FileChangeKind, FileKind};
pub use guardian::{
    CheckCall, CheckPlace, CheckedCall, CheckedFinding, Guardian, GuardianAcl, GuardianRule, HostReport,
};
pub use hook::{HookAnswer, HookApproval, HookEnvelope, HookQuery, HookVerdict};
pub use ingest::{Ingested, ToldEvent, ToldEvents, VisibilityEvent};
pub use live::{ClientFrame, EventSelection, ServerFrame, TerminalFrame, TerminalNotice};
pub use output::{Exit, LogPage, LogPiece, OutputPage, OutputPiece, OutputStream};
pub use page::Page;
pub use problem::{FieldProblem, Problem};
pub use query::{
    AgentMetricsQuery, ArchiveFormat, ArtifactQuery, AuditQuery, AuditVerifyQuery, CallQuery, CostQuery,
    DetectionQuery, DiffFormat, DiffQuery, ErrorQuery, EventQuery, FileMove, FileOperation, FileQuery,
    FileRemoveQuery, FileWriteQuery, FilesQuery, FollowQuery, HandoffQuery, HistoryQuery, LogLevel, LogQuery,
    LoginQuery, NewArtifactQuery, OutputQuery, PageQuery, SandboxQuery, SessionQuery, StdinQuery,
    TerminalQuery, ToolUsageQuery, TraceQuery, WaitQuery, WatchQuery,
};
pub use record::{
    AgentNode, Call, Counts, ErrorGroup, JudgeErrors, ModelRequest, Series, Session, SessionDetail, Spent,
    Tokens, TraceItem,
};
pub use report::{
    AgentMetrics, AgentReport, CostLine, CostReport, Detection, Detections, Handoff, HandoffGraph, Score,
    ToolReport, ToolStretch, ToolUsage,
};
pub use run::{
    ChangesFormat, ForkRequest, JudgingRules, Run, RunAgent, RunChangesQuery, RunDiffStat, RunFork, RunPick,
    RunQuery, RunReportFormat, RunReportQuery, RunState, RunStats, RunStatsQuery, RunWaitQuery,
    SelectRequest,
};
pub use sandbox::{
    CreateSandbox, ExtendRequest, Level, Limits, LimitsRequest, Mount, MountMode, Network, PatchSandbox,
    Port, Profile, Sandbox, SandboxState, SandboxStatus,
};
pub use snapshot::{Snapshot, SnapshotRequest};
pub use template::{Template, TemplateRequest};
pub use usage::{Usage, UsagePoint};
pub use webhook::{Delivery, NewWebhook, Webhook};
