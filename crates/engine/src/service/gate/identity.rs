//! The first stage: who asks, and whether they may ask at all.
//!
//! Owns: what is concluded from how somebody is known, by the registry and the policy's mode. Refuses: to look at the call
//! itself, and at any name it carries.

use std::sync::Arc;

use belljar_domain::{AgentEntry, ProjectId, Risk, Standing, Verdict};
use belljar_guardian::policy::Mode;

use super::{Finding, Proof, Request, Service};
use crate::service::now;

/// What the registry says of whoever asks.
#[derive(Debug)]
pub(super) struct Known {
    /// What follows. `Deny` ends the request here; the reason is read by the model and the user.
    pub(super) finding: Finding,
    /// The agent, if it is one of the registry.
    pub(super) entry: Option<Arc<AgentEntry>>,
    /// Whose it is.
    pub(super) project: ProjectId,
    /// A person stopped it: that holds whatever the policy's mode.
    pub(super) is_stopped: bool,
}

impl Known {
    /// The agent whose role counts: a person has approved it, and so what it may do.
    pub(super) fn approved(&self) -> Option<&AgentEntry> {
        let is_approved = |entry: &&AgentEntry| entry.standing_at(now()) == Standing::Approved;
        self.entry.as_deref().filter(is_approved)
    }
}

/// Looks up whoever asks, by what is known of them and nothing they say.
pub(super) fn look(service: &Service, mode: Mode, request: &Request) -> Known {
    let who = &request.who;
    let place = request.place.sandbox().and_then(|id| service.0.registry.sandbox(id));
    let project = place.map_or_else(|| who.principal.project.clone(), |live| live.view().project);
    let entry = who.agent.as_deref().and_then(|agent| service.0.roster.find(&project, agent));
    let is_stopped = entry.as_ref().is_some_and(|entry| entry.standing.is_stopped());
    let finding = match (&who.agent, &entry) {
        (None, _) => missing(mode, request),
        (Some(agent), None) => {
            let said = format!("Unknown agent: {agent} (not in registry)");
            let entered = format!("`belljar approve-agent {agent}` lets it act");
            unless_enforced(mode, request, "unknown", &said, &entered)
        }
        (Some(agent), Some(entry)) => standing(mode, request, agent, entry),
    };
    Known { finding, entry, project, is_stopped }
}

fn missing(mode: Mode, request: &Request) -> Finding {
    let said = "Agent identity missing (agentId required)";
    unless_enforced(mode, request, "missing", said, "give the sandbox an `agent` that is approved")
}

fn standing(mode: Mode, request: &Request, agent: &str, entry: &AgentEntry) -> Finding {
    let why = entry.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
    let lets = format!("`belljar approve-agent {agent}` lets it act");
    match entry.standing_at(now()) {
        Standing::Approved => Finding::allow(format!("{} ({})", known_by(request), entry.role)),
        Standing::Known => {
            let said = format!("Agent {agent} is in the registry and not approved");
            unless_enforced(mode, request, "unapproved", &said, &lets)
        }
        Standing::Expired => {
            let until = entry.until.map_or_else(String::new, |until| format!(" at {until}"));
            denied("expired", format!("The approval of agent {agent} ran out{until}; {lets} again"))
        }
        Standing::Revoked => denied(
            "revoked",
            format!("Agent {agent} is revoked{why}. Stop here: nothing it asks for is done"),
        ),
        Standing::Killed => {
            denied("killed", format!("Agent {agent} was killed{why}. Stop here: nothing it asks for is done"))
        }
    }
}

/// Refuses where identity is required; else it is a remark beside who asks.
fn unless_enforced(mode: Mode, request: &Request, rule: &str, said: &str, remedy: &str) -> Finding {
    if mode == Mode::Enforce {
        return denied(rule, format!("{said}; {remedy}"));
    }
    Finding::allow(format!("{}; warning: {said}", known_by(request)))
}

fn denied(rule: &str, reason: String) -> Finding {
    Finding { verdict: Verdict::Deny, risk: Risk::High, rule: Some(format!("identity.{rule}")), reason }
}

/// Who it is, and how that is known.
fn known_by(request: &Request) -> String {
    let who = &request.who;
    let agent = who.agent.as_ref().map_or_else(String::new, |agent| format!(", for the agent `{agent}`"));
    match &who.proof {
        Proof::Key => format!("`{}`, known by key or socket{agent}", who.principal.name),
        Proof::Pass(sandbox) => format!("{sandbox}, known by its pass{agent}"),
        Proof::Signature(sender) => format!("`{sender}`, known by signature{agent}"),
    }
}
