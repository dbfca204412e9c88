//! A session as something to be told: who said and did what, in order. How it is written is `markdown`'s and `html`'s.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{time_of_day, to_the_second};
use crate::{
    client::{Call, Event, SessionDetail, Spent, TraceItem},
    output::{brief_text, count, dollars, took},
};

/// A session told.
#[derive(Debug)]
pub(super) struct Story {
    pub(super) title: String,
    pub(super) id: String,
    /// What it was and what it came to: names and values.
    pub(super) facts: Vec<(&'static str, String)>,
    /// What happened, in order.
    pub(super) steps: Vec<Step>,
}

/// One thing that happened.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) time: String,
    /// Who; absent where it was the session's own agent.
    pub(super) agent: Option<String>,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    /// A person or an agent said something.
    Said { by: &'static str, text: String },
    /// A tool was used.
    Did { tool: String, input: String, result: String, error: Option<String> },
    /// Anything else worth a line.
    Moment(String),
}

impl Story {
    pub(super) fn of(detail: &SessionDetail, trace: &[TraceItem]) -> Self {
        let session = &detail.session;
        let (counts, spent) = (session.counts, &session.spent);
        let mut facts: Vec<(&'static str, String)> = Vec::new();
        let known = [("Agent", &session.app), ("Model", &session.model), ("Directory", &session.cwd)];
        facts.extend(known.into_iter().filter_map(|(name, value)| Some((name, clean(value.as_ref()?)))));
        let (began, last) = (to_the_second(&session.began), to_the_second(&session.last));
        facts.push(("Time", format!("{began} to {last}, {} now", session.state)));
        let (all, good, bad) = (count(counts.calls), count(counts.succeeded), count(counts.failed));
        facts.push((
            "Calls",
            format!("{all} ({good} succeeded, {bad} failed, {} denied)", count(counts.denied)),
        ));
        facts.push(("Cost", money(spent)));
        let title =
            session.title.as_deref().map_or_else(|| "A session".to_owned(), |title| brief_text(title, 100));
        let names: BTreeSet<_> = detail.agents.iter().filter_map(|agent| agent.agent_id.as_deref()).collect();
        let steps = trace.iter().filter_map(|item| step(item, &names)).collect();
        Self { title, id: clean(&session.session_id), facts, steps }
    }
}

fn step(item: &TraceItem, names: &BTreeSet<&str>) -> Option<Step> {
    match item {
        TraceItem::Call(call) => Some(Step {
            time: time_of_day(call.began.as_deref().unwrap_or(&call.received)),
            agent: call.agent_id.as_deref().map(clean),
            what: What::Did {
                tool: clean(call.tool.as_deref().unwrap_or("an unknown tool")),
                input: clean(&input(call)),
                result: result(call),
                error: call.error.as_ref().or(denial(call)).map(|text| clean(text)),
            },
        }),
        TraceItem::Event(event) => {
            let what = match said(event) {
                Some((by, text)) => What::Said { by, text: clean(text) },
                None => What::Moment(moment(event)),
            };
            Some(Step { time: time_of_day(&event.time.to_string()), agent: subagent(event, names), what })
        }
        TraceItem::Other => None,
    }
}

/// What somebody said at that moment, and who.
pub(super) fn said(event: &Event) -> Option<(&'static str, &str)> {
    let text = |name: &str| event.payload.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    match event.kind.as_str() {
        "prompt.submitted" => Some(("user", text("prompt")?)),
        kind if kind.starts_with("turn") || kind == "agent.stopped" => Some(("assistant", text("message")?)),
        _ => None,
    }
}

/// The subagent it was. Events of the session's own agent have a name too, which is none of a subagent.
pub(super) fn subagent(event: &Event, names: &BTreeSet<&str>) -> Option<String> {
    event.agent_id.as_deref().filter(|id| names.contains(id)).map(clean)
}

fn moment(event: &Event) -> String {
    let kind = event.kind.replace(['.', '_'], " ");
    let more = event.error.as_deref().or_else(|| event.payload.get("message").and_then(Value::as_str));
    more.map_or_else(|| kind.clone(), |more| format!("{kind}: {}", brief_text(more, 200)))
}

/// What a call was about: its target, else what it was given.
pub(super) fn input(call: &Call) -> String {
    call.target.clone().or_else(|| call.input.clone()).unwrap_or_default()
}

pub(super) fn outcome(call: &Call) -> &str {
    call.outcome.as_deref().unwrap_or("running")
}

fn denial(call: &Call) -> Option<&String> {
    call.reason.as_ref().filter(|_| call.decision.as_deref() == Some("deny"))
}

fn result(call: &Call) -> String {
    let mut text = clean(outcome(call));
    if let Some(millis) = call.duration_ms {
        text = format!("{text} after {}", took(Some(millis)));
    }
    call.cost_usd.map_or_else(|| text.clone(), |cost| format!("{text}, {}", dollars(cost)))
}

/// What was spent, and what that rests on.
pub(super) fn money(spent: &Spent) -> String {
    if spent.requests == 0 {
        return "no request to a model is known".to_owned();
    }
    format!(
        "{}, {}, {} {}",
        several(spent.requests, "request"),
        several(spent.tokens.all(), "token"),
        dollars(spent.cost_usd),
        clean(&spent.basis).replace('_', " ")
    )
}

/// A number of things.
pub(super) fn several(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Text that does nothing to whatever shows it, its lines as they were.
fn clean(text: &str) -> String {
    let harmless = |letter: char| match letter {
        '\n' | '\t' => letter,
        letter if letter.is_control() => '\u{fffd}',
        letter => letter,
    };
    text.replace("\r\n", "\n").chars().map(harmless).collect()
}
