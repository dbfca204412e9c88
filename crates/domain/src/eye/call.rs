//! One call of a tool, from the wish to the outcome, whoever told of which part.

use serde::{Deserialize, Serialize};

use super::{Provenance, Told};
use crate::{
    EventStatus, ExecutionId, NewEvent, ProjectId, RunId, SandboxId, Timestamp, Tokens, Usd, Verdict,
};

/// One call of a tool. What nobody told is absent, never guessed; what was reckoned says so in `told`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Its identity; see [`super::record_id`].
    pub id: u64,
    /// Whose it is.
    pub project: ProjectId,
    /// The conversation; empty if none was named.
    pub session: String,
    /// The subagent that made it; empty for the session's own agent.
    #[serde(default)]
    pub agent: String,
    /// What is known of it.
    #[serde(flatten)]
    pub known: CallTold,
    /// When the first word of it came in.
    pub received: Timestamp,
    /// How much later that was than its sender's clock says, in milliseconds; negative when that clock is ahead.
    pub skew_ms: i64,
    /// The place of the last event that told of it.
    pub last: u64,
    /// Which errors it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The request to a model that asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<u64>,
    /// Its share of what that request cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// Its share of what that request used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// Who told which field.
    #[serde(default)]
    pub told: Provenance,
}

/// What can be told of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the names say it, and the API's schema explains each")]
pub struct CallTold {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<EventStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_agent: Option<String>,
}

macro_rules! learned {
    ($call:ident, $told:ident, $by:ident: $($field:ident),+) => {
        $(if let Some(value) = $told.$field
            && $call.believes(stringify!($field), $by, $call.known.$field.is_some())
        {
            $call.known.$field = Some(value);
            $call.told.set(stringify!($field), $by);
        })+
    };
}

impl Call {
    /// A call nothing is known of.
    #[must_use]
    pub fn new(id: u64, project: ProjectId, session: &str, agent: &str) -> Self {
        Self {
            id,
            project,
            session: session.to_owned(),
            agent: agent.to_owned(),
            known: CallTold::default(),
            received: Timestamp::default(),
            skew_ms: 0,
            last: 0,
            fingerprint: None,
            request: None,
            cost: None,
            tokens: None,
            told: Provenance::default(),
        }
    }

    /// Takes what somebody tells, as far as they are believed more than whoever told before.
    pub fn learn(&mut self, told: CallTold, by: Told) {
        // A decision belongs together with who made it and why.
        let decides = told.decision.is_none() || self.believes("decision", by, self.known.decision.is_some());
        let told =
            if decides { told } else { CallTold { decision: None, decided_by: None, reason: None, ..told } };
        learned!(self, told, by: tool_use_id, prompt, agent_type, parent_agent, sandbox, execution, run, tool, target,
            target_type, input, input_bytes, output_bytes, decision, decided_by, reason, outcome, error, began, ended,
            duration_ms, started_agent);
        if self.known.duration_ms.is_none() || self.told.of("duration_ms") == Some(Told::Estimate) {
            self.reckon_duration();
        }
    }

    /// Whether it is still going on, as far as known.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.known.outcome.is_none()
    }

    /// When it began, or when it was first heard of.
    #[must_use]
    pub fn time(&self) -> Timestamp {
        self.known.began.or(self.known.ended).unwrap_or(self.received)
    }

    fn believes(&self, field: &str, by: Told, is_known: bool) -> bool {
        // What was never put down as told by anybody has not been believed yet.
        !is_known || self.told.of(field).is_none_or(|before| trust(field, by) >= trust(field, before))
    }

    fn reckon_duration(&mut self) {
        if let (Some(began), Some(ended)) = (self.known.began, self.known.ended) {
            let micros = ended.as_micros().saturating_sub(began.as_micros());
            let millis = u64::try_from(micros / 1000).ok();
            // A clock that is far off says nothing of how long it took.
            self.known.duration_ms = millis.filter(|millis| *millis <= NewEvent::MOST_MILLIS);
            self.told.set("duration_ms", Told::Estimate);
        }
    }
}

/// Hooks are believed first, since they are there when it happens; but clocks and sizes are telemetry's.
fn trust(field: &str, by: Told) -> u8 {
    match (field, by) {
        ("duration_ms" | "output_bytes" | "input_bytes", Told::Telemetry) => 9,
        (_, Told::Estimate) => 0,
        (_, Told::Transcript) => 1,
        (_, Told::Telemetry) => 2,
        (_, Told::Hook) => 3,
        (_, Told::Belljar) => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_is_told_by_the_one_who_knows_best_whoever_comes_first() {
        let hook = CallTold {
            tool: Some("Bash".to_owned()),
            outcome: Some(EventStatus::Success),
            duration_ms: Some(10),
            ..CallTold::default()
        };
        let telemetry = CallTold {
            outcome: Some(EventStatus::Failure),
            duration_ms: Some(12),
            output_bytes: Some(3),
            decision: Some(Verdict::Allow),
            ..CallTold::default()
        };
        let mut one = Call::new(1, ProjectId::default(), "s", "");
        one.learn(hook.clone(), Told::Hook);
        one.learn(telemetry.clone(), Told::Telemetry);
        let mut other = Call::new(1, ProjectId::default(), "s", "");
        other.learn(telemetry, Told::Telemetry);
        other.learn(hook, Told::Hook);
        assert_eq!(one, other);
        assert_eq!((one.known.outcome, one.known.duration_ms), (Some(EventStatus::Success), Some(12)));
        assert_eq!(
            (one.told.of("outcome"), one.told.of("duration_ms")),
            (Some(Told::Hook), Some(Told::Telemetry))
        );
    }

    #[test]
    fn a_duration_nobody_told_is_reckoned_and_says_so() {
        let mut call = Call::new(1, ProjectId::default(), "s", "");
        let at = |micros| Some(Timestamp::from_micros(micros));
        call.learn(CallTold { began: at(1_000), ..CallTold::default() }, Told::Hook);
        call.learn(CallTold { ended: at(251_000), ..CallTold::default() }, Told::Hook);
        assert_eq!((call.known.duration_ms, call.told.of("duration_ms")), (Some(250), Some(Told::Estimate)));
        call.learn(CallTold { duration_ms: Some(240), ..CallTold::default() }, Told::Hook);
        assert_eq!(call.known.duration_ms, Some(240));
    }
}
