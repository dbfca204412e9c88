//! Facts of a transcript as they travel in an event, and back.
//!
//! Owns: the small form: of a message that was written several times, only its last record.

use std::collections::BTreeMap;

use belljar_domain::Tokens;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{TranscriptFact, UsageRecord};

/// One fact, as small as it can be said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
enum Small {
    Usage {
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<String>,
        model: String,
        tokens: Tokens,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        time: Option<String>,
        session: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    Use {
        id: String,
        tool: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        session: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    Result {
        id: String,
        error: bool,
        session: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        started: Option<String>,
    },
}

impl TranscriptFact {
    /// Facts as JSON, in order; a message's earlier records give way to its last.
    #[must_use]
    pub fn pack(facts: Vec<Self>) -> Value {
        let mut last: BTreeMap<String, usize> = BTreeMap::new();
        for (at, fact) in facts.iter().enumerate() {
            if let Self::Usage(usage) = fact {
                last.insert(usage.message_id.clone(), at);
            }
        }
        let stands = |at: usize, fact: &Self| match fact {
            Self::Usage(usage) => last.get(&usage.message_id) == Some(&at),
            Self::ToolUse { .. } | Self::ToolResult { .. } => true,
        };
        let kept = facts.into_iter().enumerate().filter(|(at, fact)| stands(*at, fact));
        kept.filter_map(|(_, fact)| serde_json::to_value(Small::from(fact)).ok()).collect()
    }

    /// Facts out of JSON; what is none is left out.
    #[must_use]
    pub fn unpack(packed: &Value) -> Vec<Self> {
        let items = packed.as_array().into_iter().flatten();
        items.filter_map(|item| Small::deserialize(item).ok().map(Self::from)).collect()
    }
}

impl From<TranscriptFact> for Small {
    fn from(fact: TranscriptFact) -> Self {
        match fact {
            TranscriptFact::Usage(usage) => Self::Usage {
                message: usage.message_id,
                request: usage.request_id,
                model: usage.model,
                tokens: usage.tokens,
                time: usage.timestamp,
                session: usage.session_id,
                agent: usage.agent_id,
            },
            TranscriptFact::ToolUse { tool_use_id, tool_name, message_id, session_id, agent_id } => {
                Self::Use {
                    id: tool_use_id,
                    tool: tool_name,
                    message: message_id,
                    session: session_id,
                    agent: agent_id,
                }
            }
            TranscriptFact::ToolResult { tool_use_id, is_error, session_id, agent_id, started } => {
                Self::Result {
                    id: tool_use_id,
                    error: is_error,
                    session: session_id,
                    agent: agent_id,
                    started,
                }
            }
        }
    }
}

impl From<Small> for TranscriptFact {
    fn from(small: Small) -> Self {
        match small {
            Small::Usage { message, request, model, tokens, time, session, agent } => {
                Self::Usage(UsageRecord {
                    session_id: session,
                    agent_id: agent,
                    message_id: message,
                    request_id: request,
                    model,
                    tokens,
                    timestamp: time,
                })
            }
            Small::Use { id, tool, message, session, agent } => Self::ToolUse {
                tool_use_id: id,
                tool_name: tool,
                message_id: message,
                session_id: session,
                agent_id: agent,
            },
            Small::Result { id, error, session, agent, started } => Self::ToolResult {
                tool_use_id: id,
                is_error: error,
                session_id: session,
                agent_id: agent,
                started,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_survive_the_journey_and_only_the_last_word_on_a_message_travels() {
        let usage = |output| {
            TranscriptFact::Usage(UsageRecord {
                session_id: "s".to_owned(),
                agent_id: None,
                message_id: "m".to_owned(),
                request_id: Some("r".to_owned()),
                model: "x".to_owned(),
                tokens: Tokens { output, ..Tokens::default() },
                timestamp: None,
            })
        };
        let result = TranscriptFact::ToolResult {
            tool_use_id: "t".to_owned(),
            is_error: true,
            session_id: "s".to_owned(),
            agent_id: Some("a".to_owned()),
            started: None,
        };
        let packed = TranscriptFact::pack(vec![usage(1), result.clone(), usage(9)]);
        assert_eq!(TranscriptFact::unpack(&packed), [result, usage(9)]);
        assert!(TranscriptFact::unpack(&serde_json::json!([{"fact": "moon"}, 3])).is_empty());
    }
}
