//! What is asked of the service.

use std::collections::BTreeMap;

use belljar_domain::{
    ExecutionId, HostPath, LimitsPatch, Mount, NetworkMode, Profile, SandboxId, SandboxPath, Span,
    TemplateRef, Terminal,
};
use serde_json::Value;

/// A sandbox to be made. What is left out comes from the server's configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CreateSandbox {
    /// The identity it is to have, for whoever may have to ask again. One from the pool keeps its own.
    pub id: Option<SandboxId>,
    /// Its name for people.
    pub name: Option<String>,
    /// What it is made from, snapshots included.
    pub template: Option<TemplateRef>,
    /// A directory of the server's host, copy-on-write. Only an admin may ask for one.
    pub workspace: Option<HostPath>,
    /// How strict it is.
    pub profile: Option<Profile>,
    /// What network it sees.
    pub network: Option<NetworkMode>,
    /// Limits that differ.
    pub limits: LimitsPatch,
    /// How long it may live.
    pub ttl: Option<Span>,
    /// How long it may do nothing.
    pub idle: Option<Span>,
    /// How long a command may take unless it says otherwise.
    pub exec_timeout: Option<Span>,
    /// Host paths to show. Only an admin may ask for them.
    pub mounts: Vec<Mount>,
    /// Environment of every command.
    pub env: BTreeMap<String, String>,
    /// The agent it belongs to.
    pub agent: Option<String>,
    /// Tags to find it by.
    pub labels: BTreeMap<String, String>,
    /// Anything else to be kept with it.
    pub metadata: Value,
    /// Whether it gets what its agents need to be heard.
    pub observed: bool,
}

/// A command to be run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartExecution {
    /// Its identity, for whoever has to know it beforehand.
    pub id: Option<ExecutionId>,
    /// Program and arguments. A shell string is `sh -c STRING`.
    pub argv: Vec<String>,
    /// Where.
    pub cwd: Option<SandboxPath>,
    /// Environment beside the sandbox's own.
    pub env: BTreeMap<String, String>,
    /// As whom.
    pub user: Option<String>,
    /// How long it may take.
    pub timeout: Option<Span>,
    /// What it reads.
    pub stdin: Stdin,
    /// The size of its terminal, if it is to have one.
    pub terminal: Option<Terminal>,
    /// Who may hear what it writes as it is written.
    pub heard: Heard,
}

/// Who hears a command as it is; everybody else reads the log, where secrets are replaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Heard {
    /// Whoever waits for its end, in the answer.
    #[default]
    AtTheEnd,
    /// Whoever started it, through [`super::OwnOutput`].
    AsItComes,
}

/// Where a command's input comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nowhere: it reads end of file.
    #[default]
    Empty,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
    /// What [`super::Service::input`] brings, until it is closed. A terminal's is always open.
    Open,
}
