//! Spans of any agent that follows the `GenAI` conventions (1.36 to 1.41).
//!
//! Owns: the attribute names. The conventions count cached tokens within the input; ours do not, so they are
//! taken out here. Claude Code's own spans use Anthropic's names beside them and are read too.

use crate::cost::Tokens;

use super::{attributes::Attributes, signals::Span};

/// What a span is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// A call of a model: `chat`, `generate_content`, `text_completion`.
    Model,
    /// A turn of an agent, or a subagent's life.
    Agent,
    /// A call of a tool.
    Tool,
    /// Several agents at one task.
    Workflow,
    /// Anything else, by name.
    Other(String),
}

/// One span of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct GenAiSpan {
    /// What it is about.
    pub operation: Operation,
    /// The conversation.
    pub conversation_id: Option<String>,
    /// Who makes the model.
    pub provider: Option<String>,
    /// The model that answered, else the one that was asked.
    pub model: Option<String>,
    /// The agent.
    pub agent_id: Option<String>,
    /// The agent's name.
    pub agent_name: Option<String>,
    /// The tool.
    pub tool_name: Option<String>,
    /// The call of the tool.
    pub tool_use_id: Option<String>,
    /// The provider's identifier of the answer.
    pub response_id: Option<String>,
    /// What it used.
    pub tokens: Tokens,
    /// What went wrong.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
}

impl GenAiSpan {
    /// What a span says in the words of the conventions, if it does.
    pub fn of(span: &Span) -> Option<Self> {
        let said = &span.attributes;
        let operation = operation(span)?;
        let error = said.owned("error.type").or_else(|| span.error.clone());
        Some(Self {
            operation,
            conversation_id: said.owned("session.id").or_else(|| said.owned("gen_ai.conversation.id")),
            provider: said.owned("gen_ai.provider.name").or_else(|| said.owned("gen_ai.system")),
            model: said.owned("gen_ai.response.model").or_else(|| said.owned("gen_ai.request.model")),
            agent_id: said.owned("gen_ai.agent.id").or_else(|| said.owned("agent_id")),
            agent_name: said.owned("gen_ai.agent.name"),
            tool_name: said.owned("gen_ai.tool.name"),
            tool_use_id: said.owned("gen_ai.tool.call.id"),
            response_id: said.owned("gen_ai.response.id"),
            tokens: tokens(said),
            error,
            duration_ms: span.end_unix_nano.saturating_sub(span.start_unix_nano) / 1_000_000,
        })
    }
}

fn operation(span: &Span) -> Option<Operation> {
    let named = span.attributes.text("gen_ai.operation.name");
    let of_claude = || span.attributes.text("span.type");
    Some(match named.or_else(of_claude)? {
        "chat" | "generate_content" | "text_completion" | "llm_request" => Operation::Model,
        "invoke_agent" | "create_agent" | "interaction" => Operation::Agent,
        "execute_tool" => Operation::Tool,
        "invoke_workflow" => Operation::Workflow,
        other => Operation::Other(other.to_owned()),
    })
}

fn tokens(said: &Attributes) -> Tokens {
    let count = |name| said.count(name);
    let cached = |convention, own| count(convention).or_else(|| count(own)).unwrap_or_default();
    let cache_read = cached("gen_ai.usage.cache_read.input_tokens", "cache_read_tokens");
    let cache_write = cached("gen_ai.usage.cache_creation.input_tokens", "cache_creation_tokens");
    let whole = count("gen_ai.usage.input_tokens")
        .map(|all| all.saturating_sub(cache_read.saturating_add(cache_write)));
    Tokens {
        input: whole.or_else(|| count("input_tokens")).unwrap_or_default(),
        output: count("gen_ai.usage.output_tokens").or_else(|| count("output_tokens")).unwrap_or_default(),
        cache_read,
        cache_write_5m: cache_write,
        cache_write_1h: 0,
    }
}
