//! Agents as identities: what each is called, which role it has, what it may do beyond or below it, and whether it may
//! act at all.
//!
//! Owns: the words and the shape of an entry. Refuses: to say what a role permits; that is policy, in `guardian`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{AgentId, ProjectId, Timestamp, word::words};

words! {
    /// What an agent is for. People have other roles, and the two are never mixed.
    Role, "role" {
        /// Everything, with a person's leave for what cannot be undone.
        Admin = "admin",
        /// Writes code.
        Developer = "developer",
        /// Hands out work and reads; writes nothing.
        Coordinator = "coordinator",
        /// Looks for weaknesses; may see secrets.
        Security = "security",
        /// Schemas and migrations; may see secrets.
        Database = "database",
        /// The server's side.
        Backend = "backend",
        /// Reads and judges.
        Reviewer = "reviewer",
        /// The browser's side.
        Frontend = "frontend",
        /// Tests, and the code they are about for reading.
        Tester = "tester",
        /// Reads and searches.
        Analyst = "analyst",
    }
}

words! {
    /// Whether an agent may act.
    Standing, "standing" {
        /// It was imported; nobody has approved it yet.
        Known = "known",
        /// A person let it act.
        Approved = "approved",
        /// Its approval ran out. That follows from the time; it is written down when it is noticed.
        Expired = "expired",
        /// A person took its approval back.
        Revoked = "revoked",
        /// A person ended it at once, and all it did.
        Killed = "killed",
    }
}

impl Standing {
    /// Says whether whatever it wants is refused, in every mode.
    #[must_use]
    pub const fn is_stopped(self) -> bool {
        matches!(self, Self::Revoked | Self::Killed)
    }
}

/// The most characters of a name.
const LONGEST: usize = 64;

/// What an agent is called, such as `coder-1`, or `uid:1000` for whoever a user of this machine runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

/// Why a text cannot name an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` cannot name an agent; use up to {LONGEST} letters, digits, `.`, `_`, `:` and `-`, a letter or digit first"
)]
pub struct AgentNameError(String);

impl AgentName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentName {
    type Err = AgentNameError;

    fn from_str(text: &str) -> Result<Self, AgentNameError> {
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        let is_name = begins && text.len() <= LONGEST && text.bytes().all(is_plain);
        is_name.then(|| Self(text.to_owned())).ok_or_else(|| AgentNameError(text.chars().take(80).collect()))
    }
}

impl TryFrom<String> for AgentName {
    type Error = AgentNameError;

    fn try_from(text: String) -> Result<Self, AgentNameError> {
        text.parse()
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What one agent may do differently from its role.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentRights {
    /// What it may read, as globs from the workspace; its role's scopes when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<Vec<String>>,
    /// What it may write; its role's scopes when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<Vec<String>>,
    /// Calls it may make beyond its role, as patterns: `WebFetch`, `Bash(git push:*)`, `Write(docs/**)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<String>,
    /// Calls it may not make, whatever else says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<String>,
    /// Whether it may start other agents; its role's word when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawn: Option<bool>,
    /// Whether it may change what agents may do; its role's word when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modify_agents: Option<bool>,
    /// Whether it may see secrets; its role's word when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secrets: Option<bool>,
    /// High-risk operations and tools a person is asked about, besides its role's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<String>,
}

/// One agent as the registry has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentEntry {
    /// Its identity, which stays when what it may do changes.
    pub id: AgentId,
    /// What it is called; unique in its project.
    pub name: AgentName,
    /// Whose it is.
    pub project: ProjectId,
    /// What it is for.
    pub role: Role,
    /// What it does, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What it says it can do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// What it may do differently from its role.
    #[serde(flatten)]
    pub rights: AgentRights,
    /// The key its signatures are checked with, where one was given: Ed25519, 64 hex digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// Whether it may act, as it was last decided.
    pub standing: Standing,
    /// Until when that holds, of an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Why, in the words of whoever decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who last changed it.
    pub by: String,
    /// When that was.
    pub changed: Timestamp,
    /// When it was first entered.
    pub created: Timestamp,
    /// What it was imported from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl AgentEntry {
    /// An agent nobody has said anything about yet.
    #[must_use]
    pub fn new(
        id: AgentId,
        name: AgentName,
        project: ProjectId,
        role: Role,
        by: &str,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            name,
            project,
            role,
            description: String::new(),
            capabilities: Vec::new(),
            rights: AgentRights::default(),
            public_key: None,
            standing: Standing::Known,
            until: None,
            reason: None,
            by: by.to_owned(),
            changed: now,
            created: now,
            source: None,
        }
    }

    /// Whether it may act now: an approval whose time is over is none.
    #[must_use]
    pub fn standing_at(&self, now: Timestamp) -> Standing {
        match (self.standing, self.until) {
            (Standing::Approved, Some(until)) if until <= now => Standing::Expired,
            (standing, _) => standing,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn id() -> AgentId {
        AgentId::from_uuid(uuid::Uuid::from_u128(7))
    }

    #[test]
    fn names_are_plain_and_bounded() {
        for text in ["coder", "coder-1", "uid:1000", "a.b_C"] {
            assert_eq!(text.parse::<AgentName>().unwrap().as_str(), text);
        }
        for text in ["", "-a", "a b", "a/b", "../x", "é", &"a".repeat(65)] {
            assert!(text.parse::<AgentName>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_approval_runs_out_and_nothing_else_does() {
        let now = Timestamp::from_micros(1_000_000);
        let name: AgentName = "coder".parse().unwrap();
        let mut entry = AgentEntry::new(id(), name, ProjectId::default(), Role::Developer, "admin", now);
        assert_eq!(entry.standing_at(now), Standing::Known);
        entry.standing = Standing::Approved;
        entry.until = Some(now.plus(Duration::from_secs(1)));
        assert_eq!(entry.standing_at(now), Standing::Approved);
        assert_eq!(entry.standing_at(now.plus(Duration::from_secs(1))), Standing::Expired);
        entry.standing = Standing::Revoked;
        assert!(entry.standing_at(now.plus(Duration::from_secs(9))).is_stopped());
    }

    #[test]
    fn an_entry_survives_its_json() {
        let now = Timestamp::from_micros(7);
        let name: AgentName = "coder".parse().unwrap();
        let mut entry = AgentEntry::new(id(), name, ProjectId::default(), Role::Tester, "admin", now);
        entry.rights.writes = Some(vec!["tests/**".to_owned()]);
        entry.rights.spawn = Some(false);
        let text = serde_json::to_string(&entry).unwrap();
        assert_eq!(serde_json::from_str::<AgentEntry>(&text).unwrap(), entry, "{text}");
    }
}
