//! Calls that wait for a person, and the killswitch: asked of a server.

use std::time::Duration;

use belljar_domain::{ApprovalId, ApprovalState, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Client, ClientError, Page, QUICK, Result,
    answer::Answer,
    http::{self, Server},
};
use crate::output::remark;

/// How long one request waits for a person, in seconds, and how long its answer may take.
const ROUND: u8 = 25;
/// How long a server may take to say that it is there.
const A_MOMENT: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(60);

/// A call that waits for a person, as far as the command line reads it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Approval {
    pub(crate) id: ApprovalId,
    pub(crate) state: ApprovalState,
    pub(crate) asked_by: String,
    pub(crate) agent_id: Option<String>,
    pub(crate) vendor: Option<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) sandbox_id: Option<String>,
    pub(crate) tool: String,
    pub(crate) input: Value,
    pub(crate) cwd: Option<String>,
    pub(crate) effects: Vec<String>,
    #[serde(default)]
    pub(crate) rulings: Vec<EffectRuling>,
    pub(crate) risk: String,
    pub(crate) rule: Option<String>,
    pub(crate) reason: String,
    pub(crate) created_at: Timestamp,
    pub(crate) expires_at: Timestamp,
    pub(crate) answer: Option<Said>,
    pub(crate) delivered_at: Option<Timestamp>,
    pub(crate) note: Option<String>,
    #[serde(default)]
    pub(crate) warning: Option<String>,
}

/// What the rules say of one effect, as far as the command line reads it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct EffectRuling {
    pub(crate) risk: String,
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Said {
    pub(crate) by: String,
    pub(crate) scope: String,
    pub(crate) reason: Option<String>,
    pub(crate) input: Option<Value>,
    pub(crate) rule: Option<String>,
}

impl Client {
    /// Approvals, newest first, as they are told.
    pub(crate) fn approvals(&self, query: &[(&str, &str)]) -> Result<Vec<Value>> {
        self.look(&http::target("/api/v1/approvals", query)).map(|page: Page<Value>| page.items)
    }

    pub(crate) fn approval(&self, id: ApprovalId) -> Result<Value> {
        self.look(&format!("/api/v1/approvals/{id}"))
    }

    /// Says `allow` or `deny`.
    pub(crate) fn answer(&self, id: ApprovalId, word: &str, body: &Value) -> Result<Value> {
        self.server.send("POST", &format!("/api/v1/approvals/{id}/{word}"), Some(body), QUICK)?.json()
    }

    pub(crate) fn approval_link(&self, id: ApprovalId) -> Result<Value> {
        self.server.send("POST", &format!("/api/v1/approvals/{id}/link"), Some(&json!({})), QUICK)?.json()
    }

    /// Whether the server says anything at all: one that hangs still takes calls.
    pub(crate) fn answers(&self) -> bool {
        self.server.send("GET", "/healthz", None, A_MOMENT).is_ok()
    }

    /// Ends an agent, or everything, if the server takes no longer than this.
    pub(crate) fn kill(
        &self,
        agent: Option<&str>,
        reason: Option<&str>,
        patience: Duration,
    ) -> Result<Value> {
        self.server.send("POST", &switch(agent), Some(&json!({ "reason": reason })), patience)?.json()
    }

    /// Undoes that.
    pub(crate) fn release(&self, agent: Option<&str>) -> Result<()> {
        self.server.send("DELETE", &switch(agent), None, QUICK).map(drop)
    }

    pub(crate) fn kills(&self) -> Result<Value> {
        self.look("/api/v1/killswitch")
    }
}

fn switch(agent: Option<&str>) -> String {
    match agent {
        Some(agent) => format!("/api/v1/agents/{}/kill", http::escaped(agent)),
        None => "/api/v1/killswitch".to_owned(),
    }
}

impl Server {
    /// Posts something a person may be asked about first; then their answer is waited for, and it is posted again.
    pub(super) fn send_patiently(&self, target: &str, body: &Value, patience: Duration) -> Result<Answer> {
        let mut told = None;
        loop {
            let asked = match self.send("POST", target, Some(body), patience) {
                Err(ClientError::Refused(problem)) if problem.approval.is_some() => problem,
                answer => return answer,
            };
            let Some(id) = asked.approval.clone() else { return Err(ClientError::Refused(asked)) };
            if told.as_ref() != Some(&id) {
                remark(&format!("{}; `belljar approvals allow {id}` lets it go on", asked.detail));
                told = Some(id.clone());
            }
            let wait = format!("/api/v1/approvals/{id}/wait?seconds={ROUND}");
            loop {
                let heard: Value = self.send("POST", &wait, Some(&json!({})), PATIENCE)?.json()?;
                if heard.get("pending") != Some(&Value::Bool(true)) {
                    let is_yes = heard.pointer("/verdict/decision").and_then(Value::as_str) == Some("allow");
                    if is_yes {
                        break;
                    }
                    let said = heard.pointer("/verdict/reason").and_then(Value::as_str);
                    return Err(ClientError::Refused(Box::new(asked.answered(said.unwrap_or("denied")))));
                }
            }
        }
    }
}
