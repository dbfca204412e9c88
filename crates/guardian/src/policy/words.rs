//! The words conditions are made of.
//!
//! Owns: the closed lists a rule can choose from, so that a misspelt word is an error that names the right ones.

use belljar_domain::Verdict;
use serde::{Deserialize, Serialize};

use crate::effects::{Act, Change, Code, Traffic};

/// Kinds of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is the act of the same name")]
pub enum Kind {
    Read,
    Reveal,
    Look,
    Write,
    Delete,
    Permit,
    Disk,
    Signal,
    Power,
    Privilege,
    Network,
    Run,
    Persist,
    Git,
    Infrastructure,
    Database,
    Package,
    Spawn,
    Tool,
    Tamper,
    Compute,
    Unknown,
}

impl Kind {
    /// The kind of an act.
    #[must_use]
    pub const fn of(act: &Act) -> Self {
        match act {
            Act::Read { .. } => Self::Read,
            Act::Reveal { .. } => Self::Reveal,
            Act::Look { .. } => Self::Look,
            Act::Write { .. } => Self::Write,
            Act::Delete { .. } => Self::Delete,
            Act::Permit { .. } => Self::Permit,
            Act::Disk { .. } => Self::Disk,
            Act::Signal { .. } => Self::Signal,
            Act::Power(_) => Self::Power,
            Act::Privilege { .. } => Self::Privilege,
            Act::Network { .. } => Self::Network,
            Act::Run { .. } => Self::Run,
            Act::Persist { .. } => Self::Persist,
            Act::Git { .. } => Self::Git,
            Act::Infrastructure { .. } => Self::Infrastructure,
            Act::Database { .. } => Self::Database,
            Act::Package { .. } => Self::Package,
            Act::Spawn { .. } => Self::Spawn,
            Act::Tool { .. } => Self::Tool,
            Act::Tamper { .. } => Self::Tamper,
            Act::Compute => Self::Compute,
            Act::Unknown(_) => Self::Unknown,
        }
    }

    /// Whether its acts are about a path.
    #[must_use]
    pub const fn has_path(self) -> bool {
        matches!(
            self,
            Self::Read | Self::Look | Self::Write | Self::Delete | Self::Permit | Self::Disk | Self::Run
        )
    }
}

/// What happens to what was in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is the change of the same name")]
pub enum ChangeWord {
    Replace,
    Empty,
    Append,
    Edit,
    Make,
}

impl From<Change> for ChangeWord {
    fn from(change: Change) -> Self {
        match change {
            Change::Replace => Self::Replace,
            Change::Empty => Self::Empty,
            Change::Append => Self::Append,
            Change::Edit => Self::Edit,
            Change::Make => Self::Make,
        }
    }
}

/// Which way traffic goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is the traffic of the same name")]
pub enum TrafficWord {
    Fetch,
    Send,
    Listen,
    Scan,
    Remote,
}

impl From<Traffic> for TrafficWord {
    fn from(traffic: Traffic) -> Self {
        match traffic {
            Traffic::Fetch => Self::Fetch,
            Traffic::Send => Self::Send,
            Traffic::Listen => Self::Listen,
            Traffic::Scan => Self::Scan,
            Traffic::Remote => Self::Remote,
        }
    }
}

/// Which code is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is the code of the same name")]
pub enum CodeWord {
    File,
    Download,
    Package,
    Project,
    Program,
}

impl From<&Code> for CodeWord {
    fn from(code: &Code) -> Self {
        match code {
            Code::File(_) => Self::File,
            Code::Download(_) => Self::Download,
            Code::Package(_) => Self::Package,
            Code::Project => Self::Project,
            Code::Program(_) => Self::Program,
        }
    }
}

/// What is sent along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataWord {
    /// What nobody else should read: a file in the place `secret`, a telling variable, a program's secrets.
    Secret,
    /// The whole environment.
    Environment,
    /// A file, any.
    File,
    /// A file that is neither in the workspace nor in a directory for temporary ones.
    Outside,
    /// The workspace as a whole, or more.
    Workspace,
    /// What came from the network.
    Download,
    /// Nobody can say.
    Unknown,
}

/// What holds an act in, in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Boundary {
    /// Its files are its own.
    Disk,
    /// It sees no process but its own, and its resources are limited.
    Processes,
    /// It has no power over the kernel or the machine.
    Kernel,
    /// Its network is closed, or goes through a list of hosts.
    Network,
    /// All of these together: whatever it is, it stays inside.
    Sandbox,
}

impl Boundary {
    /// What it is, for a reason.
    #[must_use]
    pub const fn described(self) -> &'static str {
        match self {
            Self::Disk => "the sandbox's own disk",
            Self::Processes => "the sandbox's own processes and limits",
            Self::Kernel => "the sandbox, which has no power over the machine",
            Self::Network => "the sandbox's network, which reaches only what it may",
            Self::Sandbox => "the sandbox",
        }
    }
}

/// What becomes of a rule that is shipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Override {
    /// It says nothing.
    Off,
    /// It allows.
    Allow,
    /// It asks.
    Ask,
    /// It denies.
    Deny,
}

impl Override {
    /// The verdict in place of a rule's own; none when it says nothing.
    #[must_use]
    pub const fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Off => None,
            Self::Allow => Some(Verdict::Allow),
            Self::Ask => Some(Verdict::Ask),
            Self::Deny => Some(Verdict::Deny),
        }
    }
}

/// Whether a pack's rules hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// They do.
    On,
    /// They do not.
    Off,
}
