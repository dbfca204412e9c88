//! What someone asks for: a sandbox, and an execution in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Clocks, HostPath, Limits, Mount, NetworkMode, Profile, SandboxPath, Span, TemplateRef};

/// A sandbox, as asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxSpec {
    /// What it starts from.
    pub template: TemplateRef,
    /// The host directory shown copy-on-write at its own path, if any.
    pub workspace: Option<HostPath>,
    /// How tight it is.
    pub profile: Profile,
    /// What network it sees.
    pub network: NetworkMode,
    /// What it may use.
    pub limits: Limits,
    /// How long it may live.
    pub clocks: Clocks,
    /// Host paths lent to it.
    pub mounts: Vec<Mount>,
    /// Files written below its `/etc`, by their path from there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub etc: BTreeMap<String, String>,
    /// Environment of every execution in it.
    pub env: BTreeMap<String, String>,
    /// Whom it belongs to.
    pub agent: Option<String>,
    /// Free tags for finding it again.
    pub labels: BTreeMap<String, String>,
}

impl Default for SandboxSpec {
    fn default() -> Self {
        Self {
            template: TemplateRef::Host,
            workspace: None,
            profile: Profile::default(),
            network: NetworkMode::default(),
            limits: Limits::default(),
            clocks: Clocks::default(),
            mounts: Vec::new(),
            etc: BTreeMap::new(),
            env: BTreeMap::new(),
            agent: None,
            labels: BTreeMap::new(),
        }
    }
}

/// The size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terminal {
    /// Height.
    pub rows: u16,
    /// Width.
    pub cols: u16,
}

/// One command, as asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecSpec {
    /// Program and arguments; never joined into a shell string.
    pub argv: Vec<String>,
    /// Where it starts; the workspace when absent.
    pub cwd: Option<SandboxPath>,
    /// Environment on top of the sandbox's.
    pub env: BTreeMap<String, String>,
    /// User name or id inside; the sandbox's own user when absent.
    pub user: Option<String>,
    /// A terminal instead of three pipes.
    pub terminal: Option<Terminal>,
    /// Its clock; `None` means no clock of its own.
    pub timeout: Option<Span>,
}

/// What a provider promises to do. The conformance suite holds it to this, both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// Hard memory limit.
    LimitMemory,
    /// Processor throttling.
    LimitCpus,
    /// Hard disk limit.
    LimitDisk,
    /// Hard inode limit.
    LimitInodes,
    /// Hard process limit.
    LimitPids,
    /// Freeze and thaw.
    Pause,
    /// Freeze a state and start from it.
    Snapshot,
    /// Read back what changed in the workspace.
    Changes,
    /// Executions on a terminal.
    Terminal,
    /// Several users inside one sandbox.
    Users,
    /// No network at all.
    NetworkNone,
    /// Only listed hosts.
    NetworkAllowlist,
    /// The host's network.
    NetworkOpen,
}
