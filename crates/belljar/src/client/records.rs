//! What agents did, as the server tells it and as far as the command line reads it.
//!
//! Owns: the questions about records, and their answers as they came, so that `--json` shows all of what a newer server
//! says. Refuses: words for people; those are the commands' own.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Client, ClientError, Event, PAGE, PAGES, Page, QUICK, Result, http};

/// The most of a trace that is read.
pub(crate) const MOST_OF_A_TRACE: usize = PAGE * PAGES;

impl Client {
    /// One answer about records.
    pub(crate) fn records(&self, what: &str, query: &[(&str, &str)]) -> Result<Value> {
        self.look(&http::target(&format!("/api/v1/{what}"), query))
    }

    /// A page of text.
    pub(crate) fn page(&self, what: &str, query: &[(&str, &str)]) -> Result<String> {
        self.server.send("GET", &http::target(&format!("/api/v1/{what}"), query), None, QUICK)?.text()
    }

    /// A list of records to its end.
    pub(crate) fn all_records(&self, what: &str, query: &[(&str, &str)]) -> Result<Vec<Value>> {
        self.pages(&http::target(&format!("/api/v1/{what}?limit={PAGE}"), query))
    }

    /// Sessions, newest first.
    pub(crate) fn sessions(&self, query: &[(&str, &str)]) -> Result<Vec<Value>> {
        self.look(&http::target("/api/v1/sessions", query)).map(|page: Page<Value>| page.items)
    }

    /// A session with its agents; nothing if there is none of that name.
    pub(crate) fn session(&self, id: &str) -> Result<Option<Value>> {
        match self.look(&format!("/api/v1/sessions/{}", http::escaped(id))) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.code() == Some("NOT_FOUND") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What happened in a session, in order, up to the most that is asked for.
    pub(crate) fn trace(&self, id: &str) -> Result<Vec<Value>> {
        self.pages(&format!("/api/v1/sessions/{}/trace?limit={PAGE}", http::escaped(id)))
    }
}

/// Reads what is needed of an answer.
pub(crate) fn read<T: DeserializeOwned>(answer: &Value) -> Result<T> {
    T::deserialize(answer).map_err(|error| ClientError::Nonsense(error.to_string()))
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write_5m: u64,
    pub(crate) cache_write_1h: u64,
}

impl Tokens {
    pub(crate) const fn cache_write(self) -> u64 {
        self.cache_write_5m.saturating_add(self.cache_write_1h)
    }

    pub(crate) const fn all(self) -> u64 {
        self.input
            .saturating_add(self.output)
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write())
    }

    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write_5m: self.cache_write_5m.saturating_add(other.cache_write_5m),
            cache_write_1h: self.cache_write_1h.saturating_add(other.cache_write_1h),
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Spent {
    pub(crate) requests: u64,
    pub(crate) tokens: Tokens,
    pub(crate) cost_usd: f64,
    pub(crate) basis: String,
    #[serde(default)]
    pub(crate) unpriced: u64,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    pub(crate) denied: u64,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Session {
    pub(crate) session_id: String,
    pub(crate) app: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) state: String,
    pub(crate) began: String,
    pub(crate) last: String,
    pub(crate) counts: Counts,
    pub(crate) spent: Spent,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SessionDetail {
    #[serde(flatten)]
    pub(crate) session: Session,
    pub(crate) agents: Vec<Agent>,
}

/// An agent of a session; without an id it is the session's own.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Agent {
    pub(crate) agent_id: Option<String>,
    pub(crate) agent_type: Option<String>,
    pub(crate) parent_agent_id: Option<String>,
    pub(crate) state: String,
    pub(crate) counts: Counts,
    pub(crate) own: Spent,
    pub(crate) total: Spent,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Call {
    pub(crate) agent_id: Option<String>,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) input: Option<String>,
    pub(crate) decision: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) outcome: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) began: Option<String>,
    pub(crate) received: String,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) cost_usd: Option<f64>,
}

/// One thing in a session's trace.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum TraceItem {
    Call(Box<Call>),
    Event(Box<Event>),
    /// Requests to models, which are summed up elsewhere, and what a newer server may tell.
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CostReport {
    pub(crate) prices_as_of: String,
    pub(crate) items: Vec<CostLine>,
    pub(crate) total_usd: f64,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CostLine {
    pub(crate) key: String,
    #[serde(flatten)]
    pub(crate) spent: Spent,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ToolUsage {
    pub(crate) tool: String,
    pub(crate) calls: u64,
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    pub(crate) denied: u64,
    pub(crate) success_rate: Option<f64>,
    pub(crate) p50_ms: Option<u64>,
    pub(crate) p95_ms: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ErrorGroup {
    pub(crate) what: String,
    pub(crate) tool: Option<String>,
    pub(crate) title: String,
    pub(crate) count: u64,
    pub(crate) state: String,
    pub(crate) last_seen: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct AgentMetrics {
    pub(crate) key: String,
    pub(crate) agent_type: Option<String>,
    pub(crate) app: Option<String>,
    pub(crate) counts: Counts,
    pub(crate) success_rate: Option<f64>,
    pub(crate) spent: Spent,
    pub(crate) score: Score,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Score {
    pub(crate) overall: Option<f64>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Detection {
    pub(crate) kind: String,
    pub(crate) session_id: String,
    pub(crate) agent_id: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) times: Option<u64>,
    pub(crate) failed: Option<u64>,
    pub(crate) last: String,
    pub(crate) silent_seconds: u64,
}
