//! What comes to the gate: who wants to do what, and where.
//!
//! Owns: the difference between what is known of somebody and what they say of themselves. An [`Identity`] is made from
//! a key, a socket's peer, a pass or a signature; nothing in it was filled in by whoever asks.

use belljar_domain::{Isolation, Principal, SandboxId};
use serde_json::Value;

/// Who asks, as far as it is known and not claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// On whose behalf it is done.
    pub principal: Principal,
    /// How that is known.
    pub proof: Proof,
    /// The agent, where a pass or the sandbox's own record names it. An agent that only says who it is has none.
    pub agent: Option<String>,
}

/// How it is known who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// By a key, a session in a browser, or the user the kernel names at the other end of the socket.
    Key,
    /// By the pass of the sandbox it comes from.
    Pass(SandboxId),
    /// By the signature of this sender.
    Signature(String),
}

impl Identity {
    /// Somebody who showed a key, or came by the socket.
    #[must_use]
    pub const fn by_key(principal: Principal) -> Self {
        Self { principal, proof: Proof::Key, agent: None }
    }

    /// The same, as an agent whose own call it is: without a sandbox's name, whoever signed it is one, or whoever a user
    /// of this machine runs, by the name the kernel gives that user.
    #[must_use]
    pub(super) fn of_agent(mut self) -> Self {
        if self.agent.is_none() {
            self.agent = match &self.proof {
                Proof::Signature(sender) => Some(sender.clone()),
                Proof::Key => Some(self.principal.name.clone()).filter(|name| name.starts_with("uid:")),
                Proof::Pass(_) => None,
            };
        }
        self
    }
}

/// Something that is to be done: a tool with what it is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Act {
    /// The tool: an agent's own name for it, or one of [`tool`].
    pub tool: String,
    /// What it is given.
    pub input: Value,
}

/// What is done to sandboxes, as rules name it.
pub mod tool {
    /// A command: `SandboxExec(git push:*)`.
    pub const EXEC: &str = "SandboxExec";
    /// A file is read: `SandboxRead(//etc/**)`.
    pub const READ: &str = "SandboxRead";
    /// A file is written, moved or removed.
    pub const WRITE: &str = "SandboxWrite";
    /// A sandbox is made.
    pub const CREATE: &str = "SandboxCreate";
    /// A path of the host is shown to a sandbox: `SandboxMount(//home/**)`.
    pub const MOUNT: &str = "SandboxMount";
    /// A sandbox gets a network.
    pub const NETWORK: &str = "SandboxNetwork";
}

/// Where it would be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On this machine, with its user's rights.
    Host {
        /// Where the agent is.
        cwd: Option<String>,
        /// Its user's home.
        home: Option<String>,
        /// What its session is about, wherever it is now.
        workspace: Option<String>,
    },
    /// In a sandbox.
    Sandbox {
        /// Which; one that is yet to be made has no name.
        id: Option<SandboxId>,
        /// What holds it, where that is known.
        isolation: Option<Isolation>,
        /// Where in it.
        cwd: Option<String>,
    },
}

impl Place {
    /// The sandbox it is in.
    #[must_use]
    pub const fn sandbox(&self) -> Option<SandboxId> {
        match self {
            Self::Host { .. } => None,
            Self::Sandbox { id, .. } => *id,
        }
    }

    /// Where a relative path begins.
    #[must_use]
    pub fn cwd(&self) -> Option<&str> {
        match self {
            Self::Host { cwd, .. } | Self::Sandbox { cwd, .. } => cwd.as_deref(),
        }
    }

    /// What its session is about, where that is known; a sandbox's own record knows it of a sandbox.
    #[must_use]
    pub fn workspace(&self) -> Option<&str> {
        match self {
            Self::Host { workspace, .. } => workspace.as_deref(),
            Self::Sandbox { .. } => None,
        }
    }

    /// What `~` is.
    #[must_use]
    pub fn home(&self) -> Option<&str> {
        match self {
            Self::Host { home, .. } => home.as_deref(),
            Self::Sandbox { .. } => None,
        }
    }
}

/// Who wants to do what, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Who.
    pub who: Identity,
    /// What.
    pub act: Act,
    /// Where.
    pub place: Place,
    /// The conversation it belongs to, as its agent says: it narrows what is allowed, and never widens it.
    pub session: Option<String>,
    /// Other names it goes by, as it says itself: good enough to be refused by, and for nothing else.
    pub claimed: Vec<String>,
    /// What its agent calls the call, so that its outcome is known to be this one's.
    pub call: Option<String>,
}

/// Where the target of a call is found in what its tool is given, and what it then is. The first that is there counts.
const TARGETS: [(&str, &str); 12] = [
    ("command", "command"),
    ("cmd", "command"),
    ("file_path", "file"),
    ("notebook_path", "file"),
    ("absolute_path", "file"),
    ("path", "file"),
    ("url", "url"),
    ("query", "search"),
    ("pattern", "search"),
    ("subagent_type", "agent"),
    ("skill", "agent"),
    ("description", "task"),
];

impl Act {
    /// What it is done to, and what that is.
    #[must_use]
    pub fn target(&self) -> (Option<String>, Option<String>) {
        target_of(&self.input)
    }
}

/// What a tool's input is about, and what that is.
#[must_use]
pub fn target_of(input: &Value) -> (Option<String>, Option<String>) {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            words.map(|words| words.join(" "))
        }
        _ => None,
    };
    let found = TARGETS.iter().find_map(|(field, what)| Some((text(input.get(*field)?)?, *what)));
    found.map_or((None, None), |(target, what)| (Some(target), Some(what.to_owned())))
}
