//! A session as something to be told: who said and did what, in order. How it is written is `markdown`'s and `html`'s.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{show::outline, time_of_day};
use crate::{
    client::{Call, Event, SessionDetail, Spent, TraceItem},
    output::{brief_text, count, dollars, notice, plain, took},
};

/// What belljar tells of a session for itself.
const OWN: [&str; 2] = ["session.archived", "session.processed"];

/// A session told.
#[derive(Debug)]
pub(super) struct Story {
    pub(super) title: String,
    pub(super) id: String,
    /// What it was and what it came to: names and values.
    pub(super) facts: Vec<(&'static str, String)>,
    /// Who worked in it, each with how deep below the session's own agent; nobody where that one was alone.
    pub(super) agents: Vec<(usize, String)>,
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
    Did(Deed),
    /// Anything else worth a line.
    Moment(String),
}

/// A call, in words.
#[derive(Debug)]
pub(super) struct Deed {
    pub(super) tool: String,
    pub(super) input: String,
    pub(super) outcome: String,
    pub(super) took: Option<String>,
    pub(super) cost: Option<String>,
    pub(super) error: Option<String>,
}

impl Deed {
    fn of(call: &Call, cwd: Option<&str>) -> Self {
        Self {
            tool: clean(call.tool.as_deref().unwrap_or("an unknown tool")),
            input: clean(seen_from(cwd, &input(call))),
            outcome: clean(outcome(call)),
            took: call.duration_ms.map(|millis| took(Some(millis))),
            cost: call.cost_usd.map(dollars),
            error: call.error.as_ref().or(denial(call)).map(|text| clean(text)),
        }
    }

    /// How it came out, in a few words.
    pub(super) fn result(&self) -> String {
        let took = self.took.as_ref().map(|took| format!(" after {took}")).unwrap_or_default();
        let cost = self.cost.as_ref().map(|cost| format!(", {cost}")).unwrap_or_default();
        format!("{}{took}{cost}", self.outcome)
    }
}

impl Story {
    pub(super) fn of(detail: &SessionDetail, trace: &[TraceItem]) -> Self {
        let session = &detail.session;
        let (counts, spent) = (session.counts, &session.spent);
        let mut facts: Vec<(&'static str, String)> = Vec::new();
        let known = [("Agent", &session.app), ("Model", &session.model), ("Directory", &session.cwd)];
        facts.extend(known.into_iter().filter_map(|(name, value)| Some((name, clean(value.as_ref()?)))));
        facts.push(("Time", format!("{}, {} now", from_to(&session.began, &session.last), session.state)));
        let (all, good, bad) = (count(counts.calls), count(counts.succeeded), count(counts.failed));
        facts.push((
            "Calls",
            format!("{all} ({good} succeeded, {bad} failed, {} denied)", count(counts.denied)),
        ));
        facts.push(("Cost", money(spent)));
        let title =
            session.title.as_deref().map_or_else(|| "A session".to_owned(), |title| brief_text(title, 100));
        let names: BTreeSet<_> = detail.agents.iter().filter_map(|agent| agent.agent_id.as_deref()).collect();
        let cwd = session.cwd.as_deref();
        let steps = trace.iter().filter_map(|item| step(item, &names, cwd)).collect();
        let agents = if detail.agents.len() > 1 { outline(detail) } else { Vec::new() };
        Self { title, id: clean(&session.session_id), facts, agents, steps }
    }
}

/// From when to when, the day once if it is one.
fn from_to(began: &str, last: &str) -> String {
    let day = |time: &str| time.get(..10).unwrap_or(time).to_owned();
    let (first, last_day) = (day(began), day(last));
    let until = if first == last_day { String::new() } else { format!("{last_day} ") };
    format!("{first} {} to {until}{} UTC", time_of_day(began), time_of_day(last))
}

/// A path as its agent sees it from where it works; any other text as it is.
fn seen_from<'a>(cwd: Option<&str>, path: &'a str) -> &'a str {
    cwd.and_then(|cwd| path.strip_prefix(cwd)?.strip_prefix('/')).unwrap_or(path)
}

fn step(item: &TraceItem, names: &BTreeSet<&str>, cwd: Option<&str>) -> Option<Step> {
    match item {
        TraceItem::Call(call) => Some(Step {
            time: time_of_day(call.began.as_deref().unwrap_or(&call.received)),
            agent: call.agent_id.as_deref().map(clean),
            what: What::Did(Deed::of(call, cwd)),
        }),
        // What belljar does with a session afterwards is no part of it.
        TraceItem::Event(event) if OWN.contains(&event.kind.as_str()) => None,
        TraceItem::Event(event) => {
            let what = match said(event) {
                Some((_, text)) if notice(text).is_some() => {
                    What::Moment(clean(&brief_text(notice(text).unwrap_or_default(), 200)))
                }
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
    let said = |name: &str| event.payload.get(name).and_then(Value::as_str);
    let more = event.error.as_deref().or_else(|| said("message")).or_else(|| said("agent_type"));
    more.map_or_else(|| kind.clone(), |more| format!("{kind}: {}", brief_text(more, 200)))
}

/// What a call was about: the task it hands on, else its target, else what it was given.
pub(super) fn input(call: &Call) -> String {
    let hands_on = matches!(call.tool.as_deref(), Some("Agent" | "Task"));
    let given = call.input.as_deref().filter(|_| hands_on).and_then(|text| serde_json::from_str(text).ok());
    let task = given.and_then(|given: Value| Some(given.get("description")?.as_str()?.to_owned()));
    task.or_else(|| call.target.clone()).or_else(|| call.input.clone()).unwrap_or_default()
}

pub(super) fn outcome(call: &Call) -> &str {
    call.outcome.as_deref().unwrap_or("running")
}

fn denial(call: &Call) -> Option<&String> {
    call.reason.as_ref().filter(|_| call.decision.as_deref() == Some("deny"))
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

/// Text that does nothing to whatever shows it and reads as what it is, its lines as they were.
fn clean(text: &str) -> String {
    text.replace("\r\n", "\n").split('\n').map(clean_line).collect::<Vec<_>>().join("\n")
}

fn clean_line(line: &str) -> String {
    line.split('\t').map(plain).collect::<Vec<_>>().join("\t")
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn text_keeps_its_lines_and_shows_what_turns_it_around() {
        assert_eq!(clean("a\r\n\tb\u{1b}[2J\u{202e}c"), "a\n\tb [2J⟨U+202E⟩c");
    }
}
