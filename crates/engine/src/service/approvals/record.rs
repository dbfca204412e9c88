//! What is kept of a call that waits, and how it is shown.
//!
//! Owns: the record in an approval's row. The input is kept without its secrets, with a fingerprint of what it really was:
//! where both are the same, the kept one can stand for it after a restart.

use belljar_domain::{
    ApprovalId, ApprovalScope, ApprovalState, Isolation, Principal, ProjectId, Risk, SandboxId, Timestamp,
};
use belljar_ports::store::ApprovalRow;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::service::{
    EffectRuling,
    gate::{Act, Identity, Place, Proof, Request},
};

/// How whoever asked hears of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Manner {
    /// It is held up, and waits.
    Held,
    /// It makes the request again.
    Again,
    /// It ended, and asks again when its session goes on.
    Deferred,
}

/// What follows when nobody says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Otherwise {
    /// The agent asks its own person.
    Agent,
    /// A no.
    Deny,
}

/// Everything beside the columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) who: Principal,
    pub(super) proof: Shown,
    pub(super) tool: String,
    pub(super) input: Value,
    /// A fingerprint of the input as it was.
    pub(super) print: String,
    pub(super) place: Spot,
    #[serde(default)]
    pub(super) vendor: Option<String>,
    #[serde(default)]
    pub(super) tool_use_id: Option<String>,
    pub(super) manner: Manner,
    pub(super) otherwise: Otherwise,
    pub(super) risk: Risk,
    pub(super) rule: Option<String>,
    pub(super) reason: String,
    pub(super) effects: Vec<String>,
    #[serde(default)]
    pub(super) rulings: Vec<EffectRuling>,
    /// What each stage of the gate said.
    pub(super) gate: Value,
    #[serde(default)]
    pub(super) answer: Option<Said>,
    /// Why it was closed without an answer.
    #[serde(default)]
    pub(super) note: Option<String>,
}

/// How it was known who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Shown {
    Key,
    /// Under a name redaction does not take for a password's.
    #[serde(rename = "sandbox")]
    Pass(SandboxId),
    Signature(String),
}

/// Where it would be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Spot {
    #[serde(default)]
    pub(super) inside: bool,
    #[serde(default)]
    pub(super) isolation: Option<Isolation>,
    #[serde(default)]
    pub(super) cwd: Option<String>,
    #[serde(default)]
    pub(super) home: Option<String>,
    #[serde(default)]
    pub(super) workspace: Option<String>,
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Who.
    pub by: String,
    /// By which way: `api`, `link`.
    pub how: String,
    /// How far a yes reaches.
    pub scope: ApprovalScope,
    /// Why, in their words.
    #[serde(default)]
    pub reason: Option<String>,
    /// What is to be done instead, without its secrets.
    #[serde(default)]
    pub input: Option<Value>,
    /// A fingerprint of it as it was.
    #[serde(default)]
    pub(super) print: Option<String>,
    /// The rule that was put into guardian.toml.
    #[serde(default)]
    pub rule: Option<String>,
}

impl From<&Proof> for Shown {
    fn from(proof: &Proof) -> Self {
        match proof {
            Proof::Key => Self::Key,
            Proof::Pass(sandbox) => Self::Pass(*sandbox),
            Proof::Signature(sender) => Self::Signature(sender.clone()),
        }
    }
}

impl From<&Shown> for Proof {
    fn from(shown: &Shown) -> Self {
        match shown {
            Shown::Key => Self::Key,
            Shown::Pass(sandbox) => Self::Pass(*sandbox),
            Shown::Signature(sender) => Self::Signature(sender.clone()),
        }
    }
}

impl From<&Place> for Spot {
    fn from(place: &Place) -> Self {
        let (cwd, home) = (place.cwd().map(str::to_owned), place.home().map(str::to_owned));
        match place {
            Place::Host { workspace, .. } => {
                Self { inside: false, isolation: None, cwd, home, workspace: workspace.clone() }
            }
            Place::Sandbox { isolation, .. } => {
                Self { inside: true, isolation: *isolation, cwd, home: None, workspace: None }
            }
        }
    }
}

impl Record {
    /// The record of a row; none if a newer belljar wrote it in another form.
    pub(super) fn of(row: &ApprovalRow) -> Option<Self> {
        serde_json::from_value(row.record.clone()).ok()
    }

    pub(super) fn json(&self) -> Value {
        // Text, numbers and lists always have a form in JSON.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The request that was asked about, with the input as it was kept.
    pub(super) fn request(&self, row: &ApprovalRow) -> Request {
        let spot = self.place.clone();
        let place = if spot.inside {
            Place::Sandbox { id: row.sandbox, isolation: spot.isolation, cwd: spot.cwd }
        } else {
            Place::Host { cwd: spot.cwd, home: spot.home, workspace: spot.workspace }
        };
        Request {
            who: Identity {
                principal: self.who.clone(),
                proof: (&self.proof).into(),
                agent: row.agent.clone(),
            },
            act: Act { tool: self.tool.clone(), input: self.input.clone() },
            place,
            session: row.session.clone(),
            claimed: Vec::new(),
            call: self.tool_use_id.clone(),
        }
    }
}

/// A call that waits for a person, or waited, as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalView {
    /// Its identity.
    pub id: ApprovalId,
    /// Whose it is.
    pub project: ProjectId,
    /// Where it stands.
    pub state: ApprovalState,
    /// On whose behalf it is asked.
    pub asked_by: String,
    /// The agent, where it is known.
    pub agent: Option<String>,
    /// The program the agent is, where a hook asked.
    pub vendor: Option<String>,
    /// The conversation.
    pub session: Option<String>,
    /// The sandbox it is about.
    pub sandbox: Option<SandboxId>,
    /// The tool.
    pub tool: String,
    /// What it is given, without secrets.
    pub input: Value,
    /// The call, by its agent's own name for it.
    pub tool_use_id: Option<String>,
    /// Where it would be done.
    pub cwd: Option<String>,
    /// What it would do, in sentences.
    pub effects: Vec<String>,
    /// What the rules say of each of these, in the same order; empty where a belljar before this one asked.
    pub rulings: Vec<EffectRuling>,
    /// How bad it could turn out.
    pub risk: Risk,
    /// The rule that asks.
    pub rule: Option<String>,
    /// Why a person is asked.
    pub reason: String,
    /// When it was asked.
    pub created: Timestamp,
    /// When no answer becomes a no.
    pub expires: Timestamp,
    /// What was said.
    pub answer: Option<Said>,
    /// When that was, or when it was closed.
    pub answered: Option<Timestamp>,
    /// When whoever asked had it.
    pub delivered: Option<Timestamp>,
    /// Why it was closed without an answer.
    pub note: Option<String>,
}

impl ApprovalView {
    pub(super) fn of(row: ApprovalRow) -> Option<Self> {
        let record = Record::of(&row)?;
        Some(Self {
            id: row.id,
            project: row.project,
            state: row.state,
            asked_by: record.who.name,
            agent: row.agent,
            vendor: record.vendor,
            session: row.session,
            sandbox: row.sandbox,
            tool: record.tool,
            input: record.input,
            tool_use_id: record.tool_use_id,
            cwd: record.place.cwd,
            effects: record.effects,
            rulings: record.rulings,
            risk: record.risk,
            rule: record.rule,
            reason: record.reason,
            created: row.created,
            expires: row.expires,
            answer: record.answer,
            answered: row.answered,
            delivered: row.delivered,
            note: record.note,
        })
    }
}
