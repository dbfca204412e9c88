//! Events and the audit, as they travel.

use belljar_api as api;
use belljar_domain::{Event, Timestamp};
use belljar_ports::store::{EventFilter, Stats, Tampering, Verification};

use crate::{
    extract::parsed,
    problem::{Answer, Failure},
};

pub(crate) fn event(event: Event) -> api::Event {
    let what = event.what;
    api::Event {
        seq: event.seq,
        id: what.id.to_string(),
        kind: what.kind.into(),
        time: what.time.to_string(),
        recv_time: event.received.to_string(),
        project_id: what.project.into(),
        agent_id: what.actor.id,
        agent_name: what.actor.name,
        agent_role: what.actor.role,
        session_id: what.session,
        sandbox_id: what.sandbox.map(|id| id.to_string()),
        execution_id: what.execution.map(|id| id.to_string()),
        run_id: what.run.map(|id| id.to_string()),
        operation: what.operation,
        tool: what.tool,
        target: what.target,
        target_type: what.target_type,
        decision: what.decision.map(|decision| decision.to_string()),
        reason: what.reason,
        risk: what.risk.map(|risk| risk.to_string()),
        status: what.status.map(|status| status.to_string()),
        error: what.error,
        cost_micros: what.cost_micros,
        tokens: what.tokens,
        duration_ms: what.duration_ms,
        payload: what.payload,
        prev_hash: event.prev_hash.to_string(),
        hash: event.hash.to_string(),
    }
}

pub(crate) fn audit(event: Event) -> api::AuditEntry {
    let what = event.what;
    let kind: String = what.kind.into();
    api::AuditEntry {
        audit_id: what.id.to_string(),
        agent: api::Agent { id: what.actor.id, name: what.actor.name, role: what.actor.role },
        operation: api::Operation {
            detail: what.tool.unwrap_or_else(|| kind.clone()),
            kind: what.operation.unwrap_or(kind),
        },
        target: api::Target {
            resource: what.target.or_else(|| what.sandbox.map(|id| id.to_string())),
            kind: what.target_type.or_else(|| what.sandbox.map(|_| "sandbox".to_owned())),
        },
        rbac: api::Rbac { decision: what.decision.map(|decision| decision.to_string()), reason: what.reason },
        cost: api::Cost { usd: what.cost_micros.map(dollars), tokens: what.tokens },
        context: what.payload,
        timestamp: what.time.to_string(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "beyond nine billion dollars a cent may be lost")]
fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

pub(crate) fn stats(stats: Stats) -> api::AuditStats {
    let text = |time: Option<Timestamp>| time.map(|time| time.to_string());
    api::AuditStats {
        total: stats.events,
        by_decision: stats.by_decision,
        by_type: stats.by_operation,
        by_role: stats.by_role,
        by_status: stats.by_status,
        by_agent: stats.by_agent,
        bytes: stats.bytes,
        oldest: text(stats.oldest),
        newest: text(stats.newest),
    }
}

pub(crate) fn verification(found: Verification) -> api::Verification {
    let finding = found.finding.map(|finding| {
        let (tampering, last) = match finding.what {
            Tampering::Changed => ("changed", None),
            Tampering::Dropped { last } => ("dropped", Some(last)),
            Tampering::Reordered => ("reordered", None),
            Tampering::Inserted => ("inserted", None),
            Tampering::MissingTail { last } => ("missing_tail", Some(last)),
            Tampering::ForgedCheckpoint => ("forged_checkpoint", None),
            Tampering::ForgedHead => ("forged_head", None),
            Tampering::Replaced => ("replaced", None),
        };
        api::Finding { seq: finding.seq, tampering: tampering.to_owned(), last }
    });
    api::Verification {
        intact: finding.is_none(),
        events: found.events,
        pruned: found.pruned,
        head_seq: found.head.seq,
        head_hash: found.head.hash.to_string(),
        keyed: found.keyed,
        finding,
    }
}

/// Which events a query asks for.
pub(crate) fn event_filter(query: &api::EventQuery) -> Answer<EventFilter> {
    Ok(EventFilter {
        project: None,
        kinds: kinds(query.kind.as_deref()),
        sandbox: parsed("sandbox_id", query.sandbox_id.as_deref())?,
        execution: parsed("execution_id", query.execution_id.as_deref())?,
        run: parsed("run_id", query.run_id.as_deref())?,
        agent: short("agent_id", query.agent_id.as_deref(), 128)?,
        session: short("session_id", query.session_id.as_deref(), 256)?,
        operation: short("operation", query.operation.as_deref(), 128)?,
        status: parsed("status", query.status.as_deref())?,
        decision: parsed("decision", query.decision.as_deref())?,
        from: parsed("from", query.from.as_deref())?,
        until: parsed("until", query.until.as_deref())?,
    })
}

/// A text that is compared as it is.
pub(crate) fn short(field: &str, text: Option<&str>, most: usize) -> Answer<Option<String>> {
    match text {
        Some(text) if text.chars().count() > most => {
            Err(Failure::field(field, format!("must have at most {most} characters")))
        }
        text => Ok(text.map(str::to_owned)),
    }
}

/// Which events a client of the live stream wants.
pub(crate) fn selection(wanted: &api::EventSelection) -> Answer<EventFilter> {
    let filter = event_filter(&api::EventQuery {
        sandbox_id: wanted.sandbox_id.clone(),
        execution_id: wanted.execution_id.clone(),
        run_id: wanted.run_id.clone(),
        agent_id: wanted.agent_id.clone(),
        session_id: wanted.session_id.clone(),
        operation: wanted.operation.clone(),
        status: wanted.status.clone(),
        decision: wanted.decision.clone(),
        ..api::EventQuery::default()
    })?;
    Ok(EventFilter { kinds: wanted.kinds.iter().take(MOST_KINDS).cloned().collect(), ..filter })
}

/// The most kinds one filter names.
const MOST_KINDS: usize = 64;

fn kinds(text: Option<&str>) -> Vec<String> {
    let words = text.unwrap_or_default().split(',').map(str::trim).filter(|kind| !kind.is_empty());
    words.take(MOST_KINDS).map(str::to_owned).collect()
}
