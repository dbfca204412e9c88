//! The server from outside: the real program on a free port with a home of its own, and a client that can say anything.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up must fail"
)]

mod support;
#[path = "../support/mod.rs"]
mod workbench;

mod agents;
mod alerts;
mod approvals;
mod attacks;
mod bounds;
mod budgets;
mod bundles;
mod canaries;
mod crowd;
mod dashboards;
mod doors;
mod executions;
mod exports;
mod files;
mod glass;
mod guardian;
mod hooks;
mod idempotency;
mod ingest;
mod killswitch;
mod life;
mod live;
mod observability;
mod observed;
mod operations;
mod pages;
mod previews;
mod problems;
mod records;
mod reports;
mod run;
mod schema;
mod secrets;
mod signed;
mod slips;
mod stops;
mod tails;
mod telemetry;
mod templates;
mod terminals;
mod transcripts;
mod vendors;
mod webhooks;
