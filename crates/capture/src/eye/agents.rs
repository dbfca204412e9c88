//! Agents that work for others: who started whom, and how they ended.

use belljar_domain::eye::{Call, CallTold, SessionState, Shelf, Told};

use super::{Pass, sessions::fill};

impl<S: Shelf + ?Sized> Pass<'_, S> {
    /// A subagent begins. Who started it is told, or is the one whose call to start one is still open.
    pub(super) fn agent_started(&mut self) -> Result<(), S::Error> {
        let (session, agent) = (self.said.session().to_owned(), self.said.agent().to_owned());
        if agent.is_empty() {
            return Ok(());
        }
        let told = self.said.owned("parent_agent_id");
        let starter = if told.is_none() { self.open_starter(&session)? } else { None };
        let parent = told.or_else(|| starter.as_ref().map(|call| call.agent.clone()));
        if let Some(mut call) = starter {
            let started = CallTold { started_agent: Some(agent.clone()), ..CallTold::default() };
            call.learn(started, Told::Estimate);
            let by = call.known.tool_use_id.clone();
            self.shelf.put_call(call)?;
            self.with_agent(&session, &agent, |record| fill(&mut record.started_by, by))?;
        }
        self.with_agent(&session, &agent, |record| {
            record.state = SessionState::Working;
            record.ended = None;
            // Until somebody knows better it works for the session's own agent.
            fill(&mut record.parent, Some(parent.unwrap_or_default()));
        })
    }

    pub(super) fn agent_stopped(&mut self) -> Result<(), S::Error> {
        let (session, agent, time) = (self.said.session(), self.said.agent(), self.time());
        if agent.is_empty() {
            return Ok(());
        }
        self.with_agent(session, agent, |record| {
            record.state = SessionState::Done;
            record.ended = Some(time);
            fill(&mut record.parent, Some(String::new()));
        })
    }

    /// A span of an agent names the one above it.
    pub(super) fn agent_traced(&mut self) -> Result<(), S::Error> {
        let (session, agent) = (self.said.session(), self.said.agent());
        match self.said.owned("parent_agent_id") {
            Some(parent) if !agent.is_empty() => {
                self.with_agent(session, agent, |record| record.parent = Some(parent))
            }
            _ => Ok(()),
        }
    }

    /// A call turns out to have started an agent: that is known, whatever was guessed before.
    pub(super) fn adopt(&mut self, call: &Call, agent: &str) -> Result<(), S::Error> {
        if agent.is_empty() || agent == call.agent {
            return Ok(());
        }
        let (parent, by) = (call.agent.clone(), call.known.tool_use_id.clone());
        let kind =
            self.said.at("/tool_input/subagent_type").and_then(|kind| kind.as_str()).map(str::to_owned);
        self.with_agent(&call.session.clone(), agent, |record| {
            record.parent = Some(parent);
            record.started_by = by.or(record.started_by.take());
            fill(&mut record.agent_type, kind);
        })
    }

    /// The last call to start an agent that has not started one yet.
    fn open_starter(&mut self, session: &str) -> Result<Option<Call>, S::Error> {
        for id in self.recent(session)?.into_iter().rev() {
            if let Some(call) = self.shelf.call(id)? {
                let starts = matches!(call.known.tool.as_deref(), Some("Agent" | "Task" | "task"));
                if starts && call.known.started_agent.is_none() {
                    return Ok(Some(call));
                }
            }
        }
        Ok(None)
    }

    /// The last calls of a session, the newest last.
    pub(super) fn recent(&mut self, session: &str) -> Result<Vec<u64>, S::Error> {
        let project = self.project().clone();
        Ok(self.shelf.session(&project, session)?.map(|session| session.recent).unwrap_or_default())
    }
}
