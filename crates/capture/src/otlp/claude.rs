//! Claude Code's events as typed facts.
//!
//! Owns: which attribute means what, so that nobody else knows their names. Events it does not know are kept
//! with their name and attributes. Refuses: numbers known to mislead; `subagent_completed.total_tokens` is the
//! last request's context, not what the subagent used, and is not offered as usage.

use crate::cost::{Request, Source, Tokens, Usd};

use super::{
    attributes::{AnyValue, Attributes},
    others,
    signals::LogRecord,
};

const PREFIX: &str = "claude_code.";

/// Where an event belongs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// The session.
    pub session_id: Option<String>,
    /// The prompt that led to it.
    pub prompt_id: Option<String>,
    /// The subagent, if it was one.
    pub agent_id: Option<String>,
    /// What kind of subagent.
    pub agent_name: Option<String>,
    /// Its place within the session.
    pub sequence: Option<u64>,
    /// When, in nanoseconds.
    pub time_unix_nano: u64,
}

/// One event and where it belongs.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Whose it is, by belljar's name for the agent.
    pub vendor: &'static str,
    /// Where it belongs.
    pub context: Context,
    /// What happened.
    pub fact: Fact,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// A request to the model was answered.
    ApiRequest(ApiRequest),
    /// A request to the model failed.
    ApiError(ApiError),
    /// A tool ended.
    ToolResult(ToolResult),
    /// A tool was allowed or refused.
    ToolDecision(ToolDecision),
    /// A person said something; the text is there only if the agent was told to send it.
    UserPrompt {
        /// Its length in characters.
        length: Option<u64>,
        /// Its text.
        text: Option<String>,
    },
    /// A subagent came to its end.
    SubagentCompleted {
        /// How long it took.
        duration_ms: Option<u64>,
        /// How many tools it used.
        tool_uses: Option<u64>,
    },
    /// Anything else, as it came.
    Other {
        /// The event's name without prefix.
        name: String,
        /// All it said.
        attributes: Attributes,
    },
}

/// An answered request to the model: what is paid for.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiRequest {
    /// The model that answered.
    pub model: String,
    /// The provider's identifier of the request.
    pub request_id: Option<String>,
    /// What it used.
    pub tokens: Tokens,
    /// What it cost, in millionths of a dollar, as the agent reckons.
    pub cost_usd_micros: Option<u64>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// Who asked: the main loop, a subagent, a helper.
    pub query_source: Option<String>,
}

/// A failed request to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The model that was asked.
    pub model: Option<String>,
    /// The answer's status.
    pub status: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// Which attempt it was.
    pub attempt: Option<u64>,
    /// How long it took.
    pub duration_ms: Option<u64>,
}

/// A tool's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The tool.
    pub tool_name: String,
    /// The call; the same in hooks, spans and transcripts.
    pub tool_use_id: Option<String>,
    /// Whether it did what it should.
    pub success: Option<bool>,
    /// How long it ran.
    pub duration_ms: Option<u64>,
    /// How much it said.
    pub result_bytes: Option<u64>,
    /// What went wrong.
    pub error: Option<String>,
    /// `accept` or `reject`, where the same event says it.
    pub decision: Option<String>,
}

/// A decision about a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDecision {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: Option<String>,
    /// `accept` or `reject`.
    pub decision: String,
    /// Who decided: configuration, a hook, a person.
    pub source: Option<String>,
}

impl Event {
    /// The event in a log record, if an agent sent it that is known.
    pub fn of(record: &LogRecord) -> Option<Self> {
        Self::of_claude(record).or_else(|| others::event(record))
    }

    fn of_claude(record: &LogRecord) -> Option<Self> {
        let body = match &record.body {
            AnyValue::Text(text) => text.strip_prefix(PREFIX),
            _ => None,
        };
        let named = record.event_name.as_deref().or_else(|| record.attributes.text("event.name"));
        let is_ours = body.is_some() || record.origin.scope.starts_with("com.anthropic.claude_code");
        let name = body.or(named.map(|name| name.strip_prefix(PREFIX).unwrap_or(name)))?;
        let fact = || fact(name, &record.attributes);
        is_ours.then(|| Self { vendor: "claude-code", context: context(record), fact: fact() })
    }

    /// As the ledger of costs hears it, if it is a request to a model.
    pub fn request(&self) -> Option<Request> {
        let Fact::ApiRequest(told) = &self.fact else { return None };
        Some(Request {
            source: Source::Telemetry,
            session_id: self.context.session_id.clone().unwrap_or_default(),
            agent_id: self.context.agent_id.clone(),
            request_id: told.request_id.clone(),
            message_id: None,
            model: told.model.clone(),
            tokens: told.tokens,
            cost: told.cost_usd_micros.map(Usd::from_micros),
        })
    }
}

fn context(record: &LogRecord) -> Context {
    let said = &record.attributes;
    Context {
        session_id: said.owned("session.id"),
        prompt_id: said.owned("prompt.id"),
        agent_id: said.owned("agent_id").or_else(|| said.owned("agent.id")),
        agent_name: said.owned("agent.name").or_else(|| said.owned("agent_type")),
        sequence: said.count("event.sequence"),
        time_unix_nano: record.time_unix_nano,
    }
}

fn fact(name: &str, said: &Attributes) -> Fact {
    let error = || said.owned("error").or_else(|| said.owned("error_type"));
    match name {
        "api_request" => Fact::ApiRequest(ApiRequest {
            model: said.owned("model").unwrap_or_default(),
            request_id: said.owned("request_id"),
            tokens: tokens(said),
            cost_usd_micros: said.count("cost_usd_micros").or_else(|| micros(said.number("cost_usd")?)),
            duration_ms: said.count("duration_ms"),
            query_source: said.owned("query_source"),
        }),
        "api_error" => Fact::ApiError(ApiError {
            model: said.owned("model"),
            status: said
                .owned("status_code")
                .or_else(|| said.count("status_code").map(|code| code.to_string())),
            error: error(),
            attempt: said.count("attempt"),
            duration_ms: said.count("duration_ms"),
        }),
        "tool_result" => Fact::ToolResult(ToolResult {
            tool_name: said.owned("tool_name").unwrap_or_default(),
            tool_use_id: said.owned("tool_use_id"),
            success: said.flag("success"),
            duration_ms: said.count("duration_ms"),
            result_bytes: said.count("tool_result_size_bytes"),
            error: error(),
            decision: None,
        }),
        "tool_decision" => Fact::ToolDecision(ToolDecision {
            tool_name: said.owned("tool_name").unwrap_or_default(),
            tool_use_id: said.owned("tool_use_id"),
            decision: said.owned("decision").unwrap_or_default(),
            source: said.owned("source"),
        }),
        "user_prompt" => Fact::UserPrompt { length: said.count("prompt_length"), text: said.owned("prompt") },
        "subagent_completed" => Fact::SubagentCompleted {
            duration_ms: said.count("duration_ms"),
            tool_uses: said.count("total_tool_uses"),
        },
        other => Fact::Other { name: other.to_owned(), attributes: said.clone() },
    }
}

fn tokens(said: &Attributes) -> Tokens {
    let count = |name| said.count(name).unwrap_or_default();
    let written = count("cache_creation_tokens");
    let for_an_hour = count("cache_creation_1h_tokens");
    Tokens {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_tokens"),
        // Where the split is not told (both zero), all of it is the ordinary, five-minute kind.
        cache_write_5m: count("cache_creation_5m_tokens").max(written.saturating_sub(for_an_hour)),
        cache_write_1h: for_an_hour,
    }
}

/// Dollars in millionths, rounded.
fn micros(dollars: f64) -> Option<u64> {
    format!("{:.0}", dollars * 1e6).parse().ok()
}
