//! One hook, in the form that is the same for all vendors.
//!
//! Owns: the fields that are promoted, and the way from a payload to them. Refuses: judgement; what a payload means for
//! anybody is decided elsewhere.

use belljar_domain::{Timestamp, Tokens};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    agent::Agent,
    bounds,
    error::{CaptureError, Finding},
    fields::Fields,
    kind::HookKind,
    peek::Peek,
    vendor,
};

/// What an answer of a model used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelUse {
    /// Its tokens.
    pub tokens: Tokens,
    /// What it cost, in millionths of a dollar, as the agent reckons.
    pub cost_micros: Option<u64>,
    /// The answer; told again, it is the same one.
    pub message_id: Option<String>,
}

/// What an agent said through a hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookEvent {
    /// Who said it.
    pub agent: Agent,
    /// What it is about.
    pub kind: HookKind,
    /// What its vendor calls it.
    pub name: String,
    /// The conversation.
    pub session_id: Option<String>,
    /// The conversation this one came out of.
    pub parent_session_id: Option<String>,
    /// The prompt, or turn, it belongs to.
    pub prompt_id: Option<String>,
    /// The subagent that speaks; none if it is the agent itself.
    pub agent_id: Option<String>,
    /// What kind of subagent that is.
    pub agent_type: Option<String>,
    /// The call it is about.
    pub tool_use_id: Option<String>,
    /// The call that started the subagent that makes this call.
    pub parent_tool_use_id: Option<String>,
    /// The tool, as its vendor calls it.
    pub tool_name: Option<String>,
    /// What the tool is given.
    pub tool_input: Option<Value>,
    /// What the tool gave back.
    pub tool_response: Option<Value>,
    /// Where the session is.
    pub cwd: Option<String>,
    /// Where the conversation is written.
    pub transcript_path: Option<String>,
    /// How freely the agent may act, in its vendor's words.
    pub permission_mode: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// What the model used for the answer this is about.
    pub usage: Option<ModelUse>,
    /// What the user said.
    pub prompt: Option<String>,
    /// What the agent said: a notice, a piece of a reply, the last words of a turn.
    pub message: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// How a command ended.
    pub exit_code: Option<i64>,
    /// How long a call took.
    pub duration_ms: Option<u64>,
    /// When it happened, by the agent's clock, where the payload says so.
    pub client_time: Option<Timestamp>,
    /// Every field that has no place above.
    pub rest: Map<String, Value>,
    /// What was not as it should be.
    pub findings: Vec<Finding>,
}

impl HookEvent {
    /// Reads a payload. The agent and the event are taken from it where they are not given.
    ///
    /// # Errors
    /// Only if it is too large, not JSON, or not an object.
    pub fn read(agent: Option<Agent>, event: Option<&str>, payload: &[u8]) -> Result<Self, CaptureError> {
        Self::of(agent, event, bounds::parse(payload)?)
    }

    /// Reads a payload that is JSON already.
    ///
    /// # Errors
    /// Only if it is not an object.
    pub fn of(agent: Option<Agent>, event: Option<&str>, mut payload: Value) -> Result<Self, CaptureError> {
        let mut findings = Vec::new();
        bounds::prune(&mut payload, "$", 0, &mut findings);
        let Value::Object(map) = payload else {
            return Err(CaptureError::NotAnObject(bounds::name_of(&payload)));
        };
        let peek = Peek::of_map(&map);
        let agent = agent.unwrap_or_else(|| peek.agent(|_| false));
        let name = event.map(str::to_owned).or_else(|| peek.event().map(str::to_owned));
        Ok(vendor::read(agent, name.unwrap_or_default(), Fields::new(map, findings)))
    }

    /// An event of which nothing is known but who, what and its name.
    pub(crate) fn bare(agent: Agent, kind: HookKind, name: String) -> Self {
        Self {
            agent,
            kind,
            name,
            session_id: None,
            parent_session_id: None,
            prompt_id: None,
            agent_id: None,
            agent_type: None,
            tool_use_id: None,
            parent_tool_use_id: None,
            tool_name: None,
            tool_input: None,
            tool_response: None,
            cwd: None,
            transcript_path: None,
            permission_mode: None,
            model: None,
            usage: None,
            prompt: None,
            message: None,
            error: None,
            exit_code: None,
            duration_ms: None,
            client_time: None,
            rest: Map::new(),
            findings: Vec::new(),
        }
    }

    /// Gives it what was not taken and what was found wrong.
    pub(crate) fn with_rest(mut self, fields: Fields) -> Self {
        (self.rest, self.findings) = fields.finish();
        self
    }
}
