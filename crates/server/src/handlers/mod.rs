//! One file per family of routes; each handler is a few calls: read, ask the service, show.

pub(crate) mod about;
pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod artifacts;
pub(crate) mod audit;
pub(crate) mod budgets;
pub(crate) mod changes;
pub(crate) mod events;
pub(crate) mod exec;
pub(crate) mod executions;
pub(crate) mod files;
pub(crate) mod guardian;
pub(crate) mod hooks;
pub(crate) mod killswitch;
pub(crate) mod logs;
pub(crate) mod observe;
pub(crate) mod otlp;
pub(crate) mod pages;
pub(crate) mod records;
pub(crate) mod reports;
pub(crate) mod runs;
pub(crate) mod sandboxes;
pub(crate) mod snapshots;
pub(crate) mod templates;
pub(crate) mod terminals;
mod transfer;
pub(crate) mod webhooks;
