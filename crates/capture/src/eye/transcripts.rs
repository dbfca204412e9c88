//! What transcripts tell: usage per message, calls that nobody else told of, who started whom.

use belljar_domain::{
    EventStatus, Timestamp,
    eye::{CallTold, Shelf, Told},
};

use super::{
    Pass,
    requests::{Heard, SYNTHETIC},
};
use crate::transcript::{TranscriptFact, UsageRecord};

impl<S: Shelf + ?Sized> Pass<'_, S> {
    pub(super) fn read_transcript(&mut self) -> Result<(), S::Error> {
        let facts = self.said.value("facts").map(TranscriptFact::unpack).unwrap_or_default();
        // A message's last record may stand behind the calls it made, which are to find it.
        let (usage, others): (Vec<_>, Vec<_>) =
            facts.into_iter().partition(|fact| matches!(fact, TranscriptFact::Usage(_)));
        for fact in usage.into_iter().chain(others) {
            match fact {
                TranscriptFact::Usage(usage) => self.hear_usage(usage)?,
                TranscriptFact::ToolUse { tool_use_id, tool_name, message_id, session_id, agent_id } => {
                    let told = CallTold { tool: Some(tool_name), ..CallTold::default() };
                    let agent = agent_id.unwrap_or_default();
                    let call = self.call_in_transcript(&session_id, &agent, &tool_use_id, told)?;
                    if let Some(message) = message_id {
                        self.link_message(call, &message)?;
                    }
                }
                TranscriptFact::ToolResult { tool_use_id, is_error, session_id, agent_id, started } => {
                    let outcome = if is_error { EventStatus::Failure } else { EventStatus::Success };
                    let told = CallTold {
                        outcome: Some(outcome),
                        started_agent: started.clone(),
                        ..CallTold::default()
                    };
                    let agent = agent_id.unwrap_or_default();
                    let id = self.call_in_transcript(&session_id, &agent, &tool_use_id, told)?;
                    if let (Some(agent), Some(call)) = (started, self.shelf.call(id)?) {
                        self.adopt(&call, &agent)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn hear_usage(&mut self, usage: UsageRecord) -> Result<(), S::Error> {
        let session =
            if usage.session_id.is_empty() { self.said.session().to_owned() } else { usage.session_id };
        let time = usage.timestamp.and_then(|time| time.parse::<Timestamp>().ok());
        if usage.agent_id.is_none() && usage.model != SYNTHETIC {
            self.with_session(&session, |session| session.model = Some(usage.model.clone()))?;
        }
        self.hear(Heard {
            by: Told::Transcript,
            session,
            agent: usage.agent_id.unwrap_or_default(),
            request_id: usage.request_id,
            message_id: Some(usage.message_id),
            model: usage.model,
            tokens: usage.tokens,
            cost: None,
            time: time.unwrap_or(self.time()),
            duration_ms: None,
        })
    }

    /// A call a transcript names; one that nobody else told of is made.
    fn call_in_transcript(
        &mut self,
        session: &str,
        agent: &str,
        tool_use_id: &str,
        told: CallTold,
    ) -> Result<u64, S::Error> {
        let project = self.project().clone();
        let session = if session.is_empty() { self.said.session() } else { session };
        let found = self.shelf.call_by_use(&project, session, tool_use_id)?;
        let call = match found {
            Some(call) => call,
            None => self.new_call(session, agent)?,
        };
        let told = CallTold { tool_use_id: Some(tool_use_id.to_owned()), ..told };
        Ok(self.learn(&call, told, Told::Transcript)?.id)
    }
}
