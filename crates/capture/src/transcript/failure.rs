//! Turns that broke off, as transcripts tell of them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::text;

/// A turn that ended because a request failed for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenTurn {
    /// The line that says so.
    pub id: String,
    /// When, as written.
    pub time: String,
    /// What kind of failure, in the agent's words.
    pub error: String,
    /// The HTTP status the request failed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u64>,
    /// What the API calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

impl BrokenTurn {
    /// What a line says of the session's own turn, if it broke off there; a subagent's is its caller's to hear.
    pub(super) fn read(line: &Value) -> Option<Self> {
        let is_failure = line.get("isApiErrorMessage") == Some(&Value::Bool(true));
        let is_aside = line.get("isSidechain") == Some(&Value::Bool(true));
        if !is_failure || is_aside {
            return None;
        }
        Some(Self {
            id: text(line, "uuid")?,
            time: text(line, "timestamp")?,
            error: text(line, "error").unwrap_or_else(|| "unknown".to_owned()),
            status: line.get("apiErrorStatus").and_then(Value::as_u64),
            kind: text(line, "apiErrorType"),
        })
    }

    /// The failure in a few words.
    #[must_use]
    pub fn said(&self) -> String {
        let status = self.status.map(|status| status.to_string());
        let more: Vec<_> = [status, self.kind.clone()].into_iter().flatten().collect();
        if more.is_empty() { self.error.clone() } else { format!("{} ({})", self.error, more.join(" ")) }
    }
}
