//! Calls: every telling of one is found, joined and counted once.
//!
//! Owns: which call an event is about. The call's own name decides; without one it is the session, the agent, the tool
//! and the order. That something was allowed never says that it succeeded, nor the other way round.

use belljar_domain::{
    EventKind, EventStatus, NewEvent, Verdict,
    eye::{Call, CallTold, Repetition, Shelf, Told},
};
use serde_json::Value;

use super::{Pass, brief, hash, said::count};

/// Bytes of a call's input that are kept; the event has the rest.
const INPUT: usize = 400;
/// Bytes of an error that are kept.
const ERROR: usize = 1_000;

/// What an event is, seen from a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// It is wanted.
    Wish,
    /// It came out somehow.
    End,
    /// It was judged.
    Judgement,
}

impl<S: Shelf + ?Sized> Pass<'_, S> {
    /// Takes what the event says of a call, if it is about one.
    pub(super) fn call_told(&mut self) -> Result<(), S::Error> {
        let part = match &self.event.what.kind {
            EventKind::ToolRequested => Part::Wish,
            EventKind::ToolFinished | EventKind::ToolFailed => Part::End,
            EventKind::PermissionAsked
            | EventKind::PermissionDenied
            | EventKind::GuardianAllowed
            | EventKind::GuardianDenied
            | EventKind::GuardianAsked => Part::Judgement,
            // Of what is asked over the API there is no call of an agent's.
            EventKind::ApprovalAnswered | EventKind::ApprovalExpired
                if self.said.text("tool_use_id").is_some() =>
            {
                Part::Judgement
            }
            EventKind::Other(kind) if kind == "tool.reported" => Part::End,
            EventKind::Other(kind) if kind == "tool.decided" => Part::Judgement,
            _ => return Ok(()),
        };
        if self.said.text("tool_use_id").is_none() && self.event.what.tool.is_none() {
            return Ok(());
        }
        let found = self.find_call(part)?;
        let call = match found {
            Some(call) => call,
            // What was judged without a name may be a call that is told of later, under its name.
            None if part == Part::Judgement && self.said.text("tool_use_id").is_none() => return Ok(()),
            None => self.new_call(self.said.session(), self.said.agent())?,
        };
        let mut told = self.told(part);
        let is_over = call.told.of("outcome") == Some(Told::Hook)
            && !matches!(call.known.outcome, Some(EventStatus::Success | EventStatus::Denied));
        if is_over && self.event.what.kind == EventKind::ToolFinished {
            // A call that failed or was broken off may be told of as finished afterwards.
            (told.outcome, told.error) = (None, None);
        }
        let call = self.learn(&call, told, self.said.told())?;
        if let Some(request) = self.said.owned("request_id") {
            self.link(call.id, &request)?;
        }
        let started = ["/tool_response/agentId", "/tool_response/agent_id"];
        let started = started.iter().find_map(|place| self.said.at(place)?.as_str().map(str::to_owned));
        match started {
            Some(agent) => self.adopt(&call, &agent),
            None => Ok(()),
        }
    }

    /// A call heard of for the first time.
    pub(super) fn new_call(&mut self, session: &str, agent: &str) -> Result<Call, S::Error> {
        let mut call = Call::new(self.next_id(), self.project().clone(), session, agent);
        call.received = self.event.received;
        call.skew_ms = self.skew_ms();
        let id = call.id;
        self.with_session(session, |session| session.remember(id))?;
        self.count(None, &call)?;
        self.shelf.put_call(call.clone())?;
        Ok(call)
    }

    /// Takes in what was told, counts the difference, and puts the call back.
    pub(super) fn learn(&mut self, before: &Call, told: CallTold, by: Told) -> Result<Call, S::Error> {
        let mut call = before.clone();
        let is_definite = told.decision.is_some_and(|decision| decision != Verdict::Ask);
        if call.known.decision == Some(Verdict::Ask) && is_definite {
            // An answer to the question, whoever tells of it.
            (call.known.decision, call.known.decided_by, call.known.reason) = (None, None, None);
        }
        let asks_late = told.decision == Some(Verdict::Ask) && call.known.decision.is_some();
        let told = if asks_late { CallTold { decision: None, decided_by: None, ..told } } else { told };
        call.learn(told, by);
        call.last = self.event.seq;
        let named = self.said.agent();
        if call.agent.is_empty() && !named.is_empty() && by != Told::Transcript {
            // Telemetry may not name the agent; whoever does is right.
            self.count(Some(before), &Call { known: CallTold::default(), ..before.clone() })?;
            return self.move_call(call, named);
        }
        self.failed(&mut call)?;
        self.count(Some(before), &call)?;
        self.repeated(before, &call)?;
        self.shelf.put_call(call.clone())?;
        Ok(call)
    }

    /// Gives a call to the agent that made it.
    fn move_call(&mut self, mut call: Call, agent: &str) -> Result<Call, S::Error> {
        let (session, own) = (call.session.clone(), call.agent.clone());
        self.with_agent(&session, &own, |agent| agent.counts.calls = agent.counts.calls.saturating_sub(1))?;
        self.with_agent(&session, agent, |agent| agent.counts.calls += 1)?;
        agent.clone_into(&mut call.agent);
        let blank = Call { known: CallTold::default(), ..call.clone() };
        self.failed(&mut call)?;
        self.count(Some(&blank), &call)?;
        self.shelf.put_call(call.clone())?;
        Ok(call)
    }

    fn find_call(&mut self, part: Part) -> Result<Option<Call>, S::Error> {
        let (session, project) = (self.said.session(), self.project().clone());
        if let Some(name) = self.said.text("tool_use_id") {
            return self.shelf.call_by_use(&project, session, name);
        }
        let is_hook = self.said.told() == Told::Hook;
        if part == Part::Wish && is_hook {
            return Ok(None);
        }
        let mut recent = self.recent(session)?;
        if part == Part::Judgement {
            recent.reverse();
        }
        for id in recent {
            let Some(call) = self.shelf.call(id)? else { continue };
            let is_same = call.known.tool == self.event.what.tool;
            let same_agent = call.agent == self.said.agent() || !is_hook;
            let wants = match part {
                Part::Judgement => call.is_open(),
                // An end told by a hook ends a call that is open and has no name; telemetry adds to what hooks told.
                _ if is_hook => call.is_open() && call.known.tool_use_id.is_none(),
                _ => call.told.of("outcome") != Some(Told::Telemetry) && call.known.output_bytes.is_none(),
            };
            if is_same && same_agent && wants {
                return Ok(Some(call));
            }
        }
        Ok(None)
    }

    /// What the event tells.
    fn told(&self, part: Part) -> CallTold {
        let (what, said) = (&self.event.what, self.said);
        let mut told = CallTold {
            tool_use_id: said.owned("tool_use_id"),
            prompt: said.owned("prompt_id"),
            agent_type: said.owned("agent_type").or_else(|| what.actor.role.clone()),
            parent_agent: said.owned("parent_agent_id"),
            sandbox: what.sandbox,
            execution: what.execution,
            run: what.run,
            tool: what.tool.clone(),
            target: what.target.as_deref().map(|target| brief(target, INPUT)),
            target_type: what.target_type.clone(),
            decision: what.decision,
            decided_by: what.decision.map(|_| self.judge()),
            reason: what.reason.clone().or_else(|| Some(said.at("/rest/reason")?.as_str()?.to_owned())),
            ..CallTold::default()
        };
        if let Some(input) = said.value("tool_input") {
            let text = input.to_string();
            told.input_bytes = Some(text.len() as u64);
            told.input = Some(brief(&text, INPUT));
        }
        match part {
            Part::Wish => {
                told.began = Some(what.time);
                // Who is refused does not come back to say so; a policy that only observes refuses nobody.
                let is_refused =
                    what.decision == Some(Verdict::Deny) && said.value("observed_only").is_none();
                told.outcome = is_refused.then_some(EventStatus::Denied);
            }
            Part::End => {
                told.ended = Some(what.time);
                told.outcome = what.status;
                told.error = what.error.as_deref().map(|error| error.chars().take(ERROR).collect());
                told.duration_ms = what.duration_ms.filter(|millis| *millis <= NewEvent::MOST_MILLIS);
                told.output_bytes =
                    said.count("output_bytes").or_else(|| said.value("tool_response").map(size));
                told.input_bytes =
                    said.at("/attributes/tool_input_size_bytes").and_then(count).or(told.input_bytes);
            }
            Part::Judgement => match &what.kind {
                EventKind::PermissionAsked => {
                    (told.decision, told.decided_by) = (Some(Verdict::Ask), Some("agent".to_owned()));
                }
                EventKind::PermissionDenied => {
                    (told.decision, told.decided_by) = (Some(Verdict::Deny), Some("agent".to_owned()));
                    told.outcome = Some(EventStatus::Denied);
                }
                EventKind::GuardianDenied => told.outcome = Some(EventStatus::Denied),
                EventKind::ApprovalAnswered | EventKind::ApprovalExpired
                    if what.decision == Some(Verdict::Deny) =>
                {
                    told.outcome = Some(EventStatus::Denied);
                }
                _ => {}
            },
        }
        told
    }

    fn judge(&self) -> String {
        match self.said.told() {
            Told::Belljar if self.event.what.kind == EventKind::ApprovalAnswered => "person".to_owned(),
            Told::Belljar => "guardian".to_owned(),
            // `config`, `user_permanent`, `hook` …
            Told::Telemetry => self.event.what.reason.clone().unwrap_or_else(|| "agent".to_owned()),
            _ => "agent".to_owned(),
        }
    }

    /// Counts what changed of a call with its session and its agent.
    fn count(&mut self, before: Option<&Call>, after: &Call) -> Result<(), S::Error> {
        let outcome = |call: &Call| call.known.outcome;
        let (was, is) = (before.and_then(outcome), outcome(after));
        let took = |call: &Call| call.known.duration_ms.filter(|_| call.known.outcome.is_some());
        let (earlier, later) = (before.and_then(took), took(after));
        let is_new = u64::from(before.is_none());
        if is_new == 0 && was == is && earlier == later {
            return Ok(());
        }
        let change = |counts: &mut belljar_domain::eye::Counts| {
            counts.calls += is_new;
            for (outcome, amount) in [(was, false), (is, true)] {
                let slot = match outcome {
                    Some(EventStatus::Success) => &mut counts.succeeded,
                    Some(EventStatus::Failure | EventStatus::Timeout) => &mut counts.failed,
                    Some(EventStatus::Denied) => &mut counts.denied,
                    Some(EventStatus::Cancelled) => &mut counts.cancelled,
                    None => continue,
                };
                *slot = if amount { *slot + 1 } else { slot.saturating_sub(1) };
            }
        };
        self.with_session(&after.session, |session| change(&mut session.counts))?;
        self.with_agent(&after.session, &after.agent, |agent| {
            change(&mut agent.counts);
            if let Some(ms) = earlier {
                agent.durations.take(ms);
                agent.duration_ms = agent.duration_ms.saturating_sub(ms);
            }
            if let Some(ms) = later {
                agent.durations.add(ms);
                agent.duration_ms = agent.duration_ms.saturating_add(ms);
            }
        })
    }

    /// Notices the same call over and over.
    fn repeated(&mut self, before: &Call, call: &Call) -> Result<(), S::Error> {
        let begins = before.known.tool.is_none() && call.known.tool.is_some();
        let fails = before.known.outcome.is_none() && call.known.outcome == Some(EventStatus::Failure);
        if !begins && !fails {
            return Ok(());
        }
        let tool = call.known.tool.clone().unwrap_or_default();
        let about = call.known.input.as_deref().or(call.known.target.as_deref());
        // A call of which nobody told what it is about is like no other.
        let Some(about) = about.map(|about| hash(&[&tool, about])) else { return Ok(()) };
        self.with_agent(&call.session, &call.agent, |agent| {
            let seen = &mut agent.repetition;
            if begins && seen.about == about {
                (seen.times, seen.call) = (seen.times + 1, call.id);
            } else if begins {
                *seen = Repetition { call: call.id, about, tool, times: 1, failed: 0, most: seen.most };
            }
            if fails && seen.about == about {
                seen.failed += 1;
            }
            seen.most = seen.most.max(seen.times);
        })
    }
}

/// How much a value is, written out.
fn size(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        other => other.to_string().len() as u64,
    }
}
