//! What agents did, as it travels.

use belljar_api as api;
use belljar_domain::{
    Timestamp, Usd,
    eye::{Call, Counts, ErrorGroup, ModelRequest, Series, Session, Spent},
};
use belljar_engine::service::{AgentNode, SessionView, TraceItem};
use belljar_ports::lens::{CallFilter, ErrorFilter, EventSearch, SessionFilter};

use super::{event, event_filter, short};
use crate::{
    extract::parsed,
    problem::{Answer, Failure},
};

fn text(time: Timestamp) -> String {
    time.to_string()
}

/// What is said of nobody is not said.
fn named(name: String) -> Option<String> {
    Some(name).filter(|name| !name.is_empty())
}

#[expect(clippy::cast_precision_loss, reason = "beyond nine million dollars a billionth may be lost")]
pub(crate) fn usd(amount: Usd) -> f64 {
    amount.0 as f64 / 1e9
}

/// A field's name on the wire.
fn name_of(field: &str) -> String {
    match field {
        "prompt" | "sandbox" | "execution" | "run" | "parent_agent" | "started_agent" => {
            format!("{field}_id")
        }
        field => field.to_owned(),
    }
}

pub(crate) fn call(call: Call) -> api::Call {
    let known = call.known;
    api::Call {
        id: call.id.to_string(),
        project_id: call.project.into(),
        session_id: named(call.session),
        agent_id: named(call.agent),
        agent_type: known.agent_type,
        parent_agent_id: known.parent_agent,
        started_agent_id: known.started_agent,
        tool_use_id: known.tool_use_id,
        prompt_id: known.prompt,
        sandbox_id: known.sandbox.map(|id| id.to_string()),
        execution_id: known.execution.map(|id| id.to_string()),
        run_id: known.run.map(|id| id.to_string()),
        tool: known.tool,
        target: known.target,
        target_type: known.target_type,
        input: known.input,
        input_bytes: known.input_bytes,
        output_bytes: known.output_bytes,
        decision: known.decision.map(|decision| decision.to_string()),
        decided_by: known.decided_by,
        reason: known.reason,
        outcome: known.outcome.map(|outcome| outcome.to_string()),
        error: known.error,
        fingerprint: call.fingerprint,
        began: known.began.map(text),
        ended: known.ended.map(text),
        duration_ms: known.duration_ms,
        received: text(call.received),
        skew_ms: call.skew_ms,
        cost_usd: call.cost.map(usd),
        tokens: call.tokens.map(tokens),
        request: call.request.map(|id| id.to_string()),
        told: call.told.each().map(|(field, by)| (name_of(field), by.to_string())).collect(),
    }
}

pub(crate) const fn counts(counts: Counts) -> api::Counts {
    api::Counts {
        events: counts.events,
        prompts: counts.prompts,
        turns: counts.turns,
        turns_failed: counts.turns_failed,
        calls: counts.calls,
        succeeded: counts.succeeded,
        failed: counts.failed,
        denied: counts.denied,
        cancelled: counts.cancelled,
        requests: counts.requests,
        requests_failed: counts.requests_failed,
        compactions: counts.compactions,
        subagents: counts.subagents,
    }
}

const fn tokens(tokens: belljar_domain::Tokens) -> api::Tokens {
    api::Tokens {
        input: tokens.input,
        output: tokens.output,
        cache_read: tokens.cache_read,
        cache_write_5m: tokens.cache_write_5m,
        cache_write_1h: tokens.cache_write_1h,
    }
}

pub(crate) fn spent(spent: Spent) -> api::Spent {
    api::Spent {
        requests: spent.requests,
        tokens: tokens(spent.tokens),
        cost_usd: usd(spent.cost),
        basis: spent.basis().to_string(),
        unpriced: spent.unpriced,
    }
}

pub(crate) fn session(session: Session) -> api::Session {
    api::Session {
        session_id: session.session,
        project_id: session.project.into(),
        app: session.vendor,
        model: session.model,
        cwd: session.cwd,
        title: session.title,
        state: session.state.to_string(),
        since: text(session.since),
        began: text(session.began),
        last: text(session.last),
        ended: session.ended.map(text),
        parent_session_id: session.parent,
        sandbox_id: session.sandbox.map(|id| id.to_string()),
        run_id: session.run.map(|id| id.to_string()),
        transcript_path: session.transcript,
        skew_ms: session.skew_ms,
        counts: counts(session.counts),
        spent: spent(session.spent),
    }
}

pub(crate) fn session_detail(view: SessionView) -> api::SessionDetail {
    api::SessionDetail {
        session: session(view.session),
        agents: view.agents.into_iter().map(agent).collect(),
        metrics: view.series.into_iter().map(series).collect(),
    }
}

fn agent(node: AgentNode) -> api::AgentNode {
    let AgentNode { agent, total } = node;
    api::AgentNode {
        agent_id: named(agent.agent),
        agent_type: agent.agent_type,
        parent_agent_id: agent.parent.and_then(named),
        started_by: agent.started_by,
        state: agent.state.to_string(),
        began: text(agent.began),
        ended: agent.ended.map(text),
        counts: counts(agent.counts),
        own: spent(agent.spent),
        total: spent(total),
    }
}

fn series(series: Series) -> api::Series {
    api::Series { total: series.total(), name: series.name, unit: series.unit, labels: series.labels }
}

fn request(request: ModelRequest) -> api::ModelRequest {
    api::ModelRequest {
        id: request.id.to_string(),
        agent_id: named(request.agent),
        prompt_id: request.prompt,
        request_id: request.request_id,
        message_id: request.message_id,
        model: request.model,
        tokens: tokens(request.tokens),
        cost_usd: usd(request.cost),
        basis: request.basis.to_string(),
        counted: request.counted,
        told: request.told.map(|by| by.to_string()).unwrap_or_default(),
        time: text(request.time),
        duration_ms: request.duration_ms,
        calls: request.calls.iter().map(u64::to_string).collect(),
    }
}

pub(crate) fn trace_item(item: TraceItem) -> api::TraceItem {
    match item {
        TraceItem::Call(one) => api::TraceItem::Call(call(one)),
        TraceItem::Request(one) => api::TraceItem::Request(request(one)),
        TraceItem::Moment(one) => api::TraceItem::Event(event(one)),
    }
}

pub(crate) fn error_group(group: ErrorGroup) -> api::ErrorGroup {
    api::ErrorGroup {
        fingerprint: group.fingerprint,
        project_id: group.project.into(),
        what: group.what,
        tool: group.tool,
        title: group.title,
        sample: group.sample,
        first_seen: text(group.first),
        last_seen: text(group.last),
        count: group.count,
        agents: group.agents.into_iter().collect(),
        sessions: group.sessions.into_iter().collect(),
        state: group.state.to_string(),
        by: group.by,
        reason: group.reason,
        since: group.since.map(text),
        returned: group.returned,
    }
}

pub(crate) fn call_filter(query: &api::CallQuery) -> Answer<CallFilter> {
    Ok(CallFilter {
        project: None,
        session: short("session_id", query.session_id.as_deref(), 256)?,
        agent: short("agent_id", query.agent_id.as_deref(), 128)?,
        tool: short("tool", query.tool.as_deref(), 128)?,
        tool_use_id: short("tool_use_id", query.tool_use_id.as_deref(), 256)?,
        prompt: short("prompt_id", query.prompt_id.as_deref(), 256)?,
        sandbox: parsed("sandbox_id", query.sandbox_id.as_deref())?,
        execution: parsed("execution_id", query.execution_id.as_deref())?,
        run: parsed("run_id", query.run_id.as_deref())?,
        decision: parsed("decision", query.decision.as_deref())?,
        outcome: parsed("outcome", query.outcome.as_deref())?,
        open: query.open,
        fingerprint: short("fingerprint", query.fingerprint.as_deref(), 64)?,
        slower_than: query.min_duration_ms,
        from: parsed("from", query.from.as_deref())?,
        until: parsed("until", query.until.as_deref())?,
    })
}

pub(crate) fn session_filter(query: &api::SessionQuery) -> Answer<SessionFilter> {
    let states =
        query.state.as_deref().unwrap_or_default().split(',').map(str::trim).filter(|word| !word.is_empty());
    let state = |word: &str| {
        word.parse().map_err(|error: belljar_domain::WordError| Failure::field("state", error.to_string()))
    };
    Ok(SessionFilter {
        project: None,
        states: states.take(16).map(state).collect::<Answer<_>>()?,
        vendor: short("app", query.app.as_deref(), 128)?,
        model: short("model", query.model.as_deref(), 128)?,
        cwd: short("cwd", query.cwd.as_deref(), 4096)?,
        parent: short("parent_session_id", query.parent_session_id.as_deref(), 256)?,
        sandbox: parsed("sandbox_id", query.sandbox_id.as_deref())?,
        run: parsed("run_id", query.run_id.as_deref())?,
        from: parsed("from", query.from.as_deref())?,
        until: parsed("until", query.until.as_deref())?,
        quiet_since: None,
    })
}

pub(crate) fn error_filter(query: &api::ErrorQuery) -> Answer<ErrorFilter> {
    Ok(ErrorFilter {
        project: None,
        state: parsed("state", query.state.as_deref())?,
        tool: short("tool", query.tool.as_deref(), 128)?,
        what: short("what", query.what.as_deref(), 16)?,
        from: parsed("from", query.from.as_deref())?,
        until: parsed("until", query.until.as_deref())?,
    })
}

pub(crate) fn event_search(query: &api::EventQuery) -> Answer<EventSearch> {
    Ok(EventSearch {
        filter: event_filter(query)?,
        tool: short("tool", query.tool.as_deref(), 128)?,
        app: short("app", query.app.as_deref(), 128)?,
        prompt: short("prompt_id", query.prompt_id.as_deref(), 256)?,
        tool_use_id: short("tool_use_id", query.tool_use_id.as_deref(), 256)?,
        odd_clocks: false,
        text: short("text", query.text.as_deref(), 512)?,
    })
}
