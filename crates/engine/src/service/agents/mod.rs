//! The registry of agents: who may act, as what, until when, and what becomes of the sandboxes of those who may not.
//!
//! Owns: entries and their changes, each written into the ledger with who made it and why. Refuses: to say what a role
//! permits (`guardian`) and to be asked by anything an agent says of itself (the gate's first stage looks up what is
//! known).
//!
//! Whoever writes the store has all entries in memory, and changes them nowhere else; so a revocation holds for the next
//! call, and there is no copy that could outlive it.

mod holds;
mod register;
mod roster;
mod standing;

use std::sync::Arc;

use belljar_domain::{AgentEntry, AgentName, AgentRights, Role, SandboxId, Span, Standing};

pub(super) use holds::{Hold, Holds};
pub use register::suggest_role;
pub(super) use roster::Roster;

/// What becomes of the sandboxes of an agent that may act no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnRevoke {
    /// They are frozen, and thawed when it is approved again.
    #[default]
    Freeze,
    /// They are ended; what they changed is kept.
    End,
}

/// An agent as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentView {
    /// What the registry has.
    pub entry: Arc<AgentEntry>,
    /// Whether it may act now.
    pub standing: Standing,
    /// Its sandboxes that are alive.
    pub sandboxes: Vec<SandboxId>,
}

/// Which agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentSelection {
    /// In this role.
    pub role: Option<Role>,
    /// Of this standing.
    pub standing: Option<Standing>,
}

/// What is said of an agent; what is absent stays as it is, or as its role has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentOrder {
    /// What it is for.
    pub role: Option<Role>,
    /// What it does.
    pub description: Option<String>,
    /// What it can do.
    pub capabilities: Option<Vec<String>>,
    /// What it may do differently from its role: all of it.
    pub rights: Option<AgentRights>,
    /// The key its signatures are checked with.
    pub public_key: Option<String>,
}

/// Leave to act.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leave {
    /// In this role; as it is, if absent.
    pub role: Option<Role>,
    /// For how long; until it is taken back, if absent.
    pub span: Option<Span>,
    /// Why.
    pub reason: Option<String>,
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imported {
    /// Agents that were not there.
    pub added: Vec<AgentName>,
    /// Agents of which something is different now.
    pub changed: Vec<AgentName>,
    /// Agents that were the same already.
    pub unchanged: usize,
    /// Of all these, whose role was not said but concluded.
    pub guessed: Vec<AgentName>,
}
