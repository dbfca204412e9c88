//! What is written down of a command: its row, and the events of its beginning and its end.

use belljar_domain::{EventId, EventKind, EventStatus, KillCause, NewEvent, Timestamp};
use belljar_ports::store::{Batch, ExecutionRow};
use serde_json::json;
use uuid::Uuid;

use super::ExecutionView;

pub(super) fn moment(time_ms: u64) -> Timestamp {
    Timestamp::from_micros(i64::try_from(time_ms.saturating_mul(1000)).unwrap_or(i64::MAX))
}

pub(super) fn row(view: &ExecutionView) -> ExecutionRow {
    ExecutionRow {
        id: view.id,
        sandbox: view.sandbox,
        project: view.project.clone(),
        command: view.argv.join(" "),
        status: status(view),
        exit_code: view.report.as_ref().map(|report| i32::from(report.exit_code())),
        started: view.started,
        ended: view.ended,
        record: serde_json::to_value(view).unwrap_or_default(),
    }
}

/// A command as it is now, and what happened to it.
pub(super) fn told(view: &ExecutionView, event: NewEvent) -> Batch {
    Batch { executions: vec![row(view)], events: vec![event], is_new: true, ..Batch::default() }
}

fn status(view: &ExecutionView) -> Option<EventStatus> {
    let report = view.report.as_ref()?;
    Some(match report.cause {
        Some(KillCause::Timeout) => EventStatus::Timeout,
        Some(KillCause::Killswitch) => EventStatus::Cancelled,
        Some(_) => EventStatus::Failure,
        None if report.is_success() => EventStatus::Success,
        None => EventStatus::Failure,
    })
}

pub(super) fn event_of(view: &ExecutionView, agent: Option<String>, kind: EventKind) -> NewEvent {
    let id = EventId::from_uuid(Uuid::now_v7());
    let mut event = NewEvent::new(id, view.ended.unwrap_or(view.started), view.project.clone(), kind);
    event.sandbox = Some(view.sandbox);
    event.execution = Some(view.id);
    event.actor.id = agent;
    event.target = Some(view.argv.join(" "));
    event.target_type = Some("command".to_owned());
    event.payload = json!({ "by": view.started_by, "argv": view.argv, "cwd": view.cwd, "user": view.user });
    event
}

pub(super) fn ended_event(view: &ExecutionView) -> NewEvent {
    let mut event = event_of(view, None, EventKind::ExecutionEnded);
    event.status = status(view);
    if let Some(report) = &view.report {
        event.duration_ms = Some(report.duration.as_millis());
        event.reason = report.cause.map(|cause| cause.to_string());
        event.payload = json!({
            "by": view.started_by,
            "exit_code": report.exit_code(),
            "cause": report.cause,
            "limits_reached": report.reached,
            "truncated": view.truncated,
            "usage": report.usage,
        });
    }
    event
}
