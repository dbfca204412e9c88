//! From what the service says to what travels, and back. Nothing else knows both sides.

mod agents;
pub(crate) mod approvals;
mod budgets;
mod events;
mod executions;
mod hooks;
pub(crate) mod otlp;
pub(crate) mod records;
pub(crate) mod reports;
mod requests;
mod runs;
mod sandboxes;
mod told;

pub(crate) use agents::{agent, agent_order, agent_selection, exported, imported, leave, role};
pub(crate) use budgets::{amount_of, budget, budget_order, payment, reservation, spender};
pub(crate) use events::{audit, event, event_filter, selection, short, stats, verification};
pub(crate) use executions::{
    answer, execution, exit, log_piece, log_stream, output_piece, stream_name, whole,
};
pub(crate) use hooks::{Clean, fitting, hook_event, known, ruled, shortened, unread_hook, weighed};
pub(crate) use requests::{labelled, order, sandbox_filter, start, terminal};
pub(crate) use runs::{new_run, run, run_filter, run_stats, side};
pub(crate) use sandboxes::{
    artifact, file, health, point, port, sandbox, snapshot, template, templates, usage,
};
pub(crate) use told::told;
