//! Sessions: that they were heard of, what they are doing, what they are called.

use belljar_domain::{
    EventKind,
    eye::{AgentRecord, Counts, Session, SessionState, Shelf, Spent, Told},
};

use super::{Pass, brief, requests::SYNTHETIC};

/// Bytes of a session's title.
const TITLE: usize = 120;

impl<S: Shelf + ?Sized> Pass<'_, S> {
    /// Changes a session, making it if it was never heard of. What names none changes nothing.
    pub(super) fn with_session(
        &mut self,
        session: &str,
        change: impl FnOnce(&mut Session),
    ) -> Result<(), S::Error> {
        if session.is_empty() {
            return Ok(());
        }
        let project = self.project().clone();
        let mut record = match self.shelf.session(&project, session)? {
            Some(known) => known,
            None => Session::new(self.next_id(), project, session, self.time()),
        };
        change(&mut record);
        self.shelf.put_session(record)
    }

    /// Changes an agent of a session, making it if it was never heard of.
    pub(super) fn with_agent(
        &mut self,
        session: &str,
        agent: &str,
        change: impl FnOnce(&mut AgentRecord),
    ) -> Result<(), S::Error> {
        if session.is_empty() {
            return Ok(());
        }
        let project = self.project().clone();
        let mut record = match self.shelf.agent(&project, session, agent)? {
            Some(known) => known,
            None => {
                // Who tells events directly names who did it, not who works for whom.
                if !agent.is_empty() && self.said.text("source").is_some() {
                    self.with_session(session, |session| session.counts.subagents += 1)?;
                }
                let id = self.next_id();
                AgentRecord::new(id, project, session, agent, self.time())
            }
        };
        change(&mut record);
        self.shelf.put_agent(record)
    }

    /// Notes that a session and its agent were heard of.
    pub(super) fn touch(&mut self) -> Result<(), S::Error> {
        let (event, said) = (self.event, self.said);
        let (time, skew, received) = (self.time(), self.skew_ms(), event.received);
        let told = said.told();
        let state = self.state();
        let counts = counted(&event.what.kind);
        let is_main = said.agent().is_empty();
        self.with_session(said.session(), |session| {
            // A transcript is read when it is read; that says nothing of when anything happened.
            if told != Told::Transcript {
                session.began = session.began.min(time);
                session.last = session.last.max(time);
                session.skew_ms = skew;
            }
            session.received = session.received.max(received);
            fill(&mut session.vendor, said.vendor());
            renew(&mut session.cwd, said.owned("cwd"));
            renew(&mut session.transcript, said.owned("transcript_path"));
            renew(&mut session.model, said.owned("model").filter(|model| is_main && model != SYNTHETIC));
            renew(&mut session.parent, said.owned("parent_session_id"));
            fill(&mut session.sandbox, event.what.sandbox);
            fill(&mut session.run, event.what.run);
            fill(&mut session.title, said.text("prompt").map(|prompt| brief(prompt, TITLE)));
            session.counts = plus(session.counts, counts);
            if let Some(state) = state {
                session.turn(state, time);
            }
        })?;
        self.with_agent(said.session(), said.agent(), |agent| {
            if told != Told::Transcript {
                agent.began = agent.began.min(time);
                agent.last = agent.last.max(time);
            }
            fill(&mut agent.vendor, said.vendor());
            fill(&mut agent.agent_type, event.what.actor.role.clone().or_else(|| said.owned("agent_type")));
            agent.counts = plus(agent.counts, counts);
            if let Some(state) = state.filter(|_| is_main) {
                agent.state = state;
            }
        })
    }

    /// What the session is doing after this, where it says. Telemetry comes in later than it happened; times tell.
    fn state(&self) -> Option<SessionState> {
        let notified = || self.said.at("/rest/notification_type").and_then(|kind| kind.as_str());
        Some(match &self.event.what.kind {
            EventKind::SessionStarted | EventKind::TurnEnded if self.said.agent().is_empty() => {
                SessionState::Idle
            }
            EventKind::PromptSubmitted
            | EventKind::ToolRequested
            | EventKind::ToolFinished
            | EventKind::ToolFailed
            | EventKind::AgentStarted
            | EventKind::AgentStopped
            | EventKind::ContextCompacted => SessionState::Working,
            EventKind::PermissionAsked => SessionState::Waiting,
            EventKind::AgentNotified => match notified() {
                Some("idle_prompt") => SessionState::Idle,
                Some("permission_prompt" | "elicitation_dialog") => SessionState::Waiting,
                _ => return None,
            },
            EventKind::TurnFailed => SessionState::Failed,
            EventKind::SessionEnded => SessionState::Done,
            EventKind::Other(kind) if kind == "hook.elicitation" => SessionState::Waiting,
            _ => return None,
        })
    }

    /// Moves what was spent from one to another; either may be nobody.
    pub(super) fn spend(
        &mut self,
        (session, agent): (&str, &str),
        before: Spent,
        after: Spent,
    ) -> Result<(), S::Error> {
        if before == after {
            return Ok(());
        }
        self.with_session(session, |session| {
            session.spent = session.spent.plus(after).minus(before);
            session.counts.requests = session.spent.requests;
        })?;
        self.with_agent(session, agent, |agent| {
            agent.spent = agent.spent.plus(after).minus(before);
            agent.counts.requests = agent.spent.requests;
        })
    }
}

/// What one event of a kind counts as.
fn counted(kind: &EventKind) -> Counts {
    let mut counts = Counts { events: 1, ..Counts::default() };
    match kind {
        EventKind::PromptSubmitted => counts.prompts = 1,
        EventKind::TurnEnded => counts.turns = 1,
        EventKind::TurnFailed => counts.turns_failed = 1,
        EventKind::ContextCompacted => counts.compactions = 1,
        EventKind::Other(kind) if kind == "model.failed" => counts.requests_failed = 1,
        _ => {}
    }
    counts
}

fn plus(all: Counts, one: Counts) -> Counts {
    Counts {
        events: all.events + one.events,
        prompts: all.prompts + one.prompts,
        turns: all.turns + one.turns,
        turns_failed: all.turns_failed + one.turns_failed,
        compactions: all.compactions + one.compactions,
        requests_failed: all.requests_failed + one.requests_failed,
        ..all
    }
}

/// The first word on it stands.
pub(super) fn fill<T>(slot: &mut Option<T>, value: Option<T>) {
    if slot.is_none() {
        *slot = value;
    }
}

/// The last word on it stands.
fn renew<T>(slot: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *slot = value;
    }
}
