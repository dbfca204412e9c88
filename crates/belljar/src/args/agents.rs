//! Agents of the registry, as they are named and described.

use std::path::PathBuf;

use belljar_domain::{Role, Span, Standing};
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum Agents {
    /// List agents, by name.
    #[command(visible_alias = "ls")]
    List {
        /// Only those in this role.
        #[arg(long, value_name = "ROLE")]
        role: Option<Role>,
        /// Only those of this standing: known, approved, expired, revoked, killed.
        #[arg(long, value_name = "STANDING")]
        standing: Option<Standing>,
    },
    /// Show one: its role, what it may do, whether it may act and who said so.
    Show {
        /// The agent.
        name: String,
    },
    /// Enter an agent, or change what is known of one. It may not act before it is approved.
    Add(Box<AddAgent>),
    /// Enter agents from registries in JSON, agents' own files (`.md` with a head), or directories of those.
    Import {
        /// Files and directories.
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Write the registry as JSON that can be imported again.
    Export {
        /// Where to; standard output if absent.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Propose a role by what an agent can do.
    SuggestRole {
        /// What it can do, such as `sql` or `code review`.
        #[arg(value_name = "CAPABILITY")]
        capabilities: Vec<String>,
        /// What it is filed under.
        #[arg(long, value_name = "TEXT")]
        category: Option<String>,
        /// What it does.
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Take an agent out of the registry.
    Remove {
        /// The agent.
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AddAgent {
    /// What it is called: the name its sandboxes are made for, a sender's name, or `uid:1000` for a user's own agents.
    pub(crate) name: String,
    /// What it is for [default: developer].
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<Role>,
    /// What it does.
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// What it can do; may be given several times.
    #[arg(long = "capability", value_name = "TEXT")]
    pub(crate) capabilities: Vec<String>,
    /// A call it may make beyond its role, such as `WebFetch`, `Bash(git push:*)`, `mcp__github`; several times.
    #[arg(long = "grant", value_name = "PATTERN")]
    pub(crate) grants: Vec<String>,
    /// A call it may not make, whatever else says so; several times.
    #[arg(long = "deny", value_name = "PATTERN")]
    pub(crate) denials: Vec<String>,
    /// A tool or high-risk operation a person is asked about; several times.
    #[arg(long = "ask", value_name = "NAME")]
    pub(crate) asks: Vec<String>,
    /// What it may read, as a glob from the workspace, instead of its role's; several times.
    #[arg(long = "read", value_name = "GLOB")]
    pub(crate) reads: Vec<String>,
    /// What it may write, as a glob from the workspace, instead of its role's; several times.
    #[arg(long = "write", value_name = "GLOB")]
    pub(crate) writes: Vec<String>,
    /// Whether it may start other agents.
    #[arg(long, value_name = "BOOL")]
    pub(crate) can_spawn: Option<bool>,
    /// Whether it may change what agents may do.
    #[arg(long, value_name = "BOOL")]
    pub(crate) can_modify_agents: Option<bool>,
    /// Whether it may see secrets, when a person agrees.
    #[arg(long, value_name = "BOOL")]
    pub(crate) can_access_secrets: Option<bool>,
    /// The key its signatures are checked with: Ed25519, 64 hex digits.
    #[arg(long, value_name = "HEX")]
    pub(crate) public_key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveAgent {
    /// The agent; one nobody knows is entered by that.
    pub(crate) name: String,
    /// In this role; as it is, if absent, and `developer` for a new one.
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<Role>,
    /// For how long, such as 7d; until it is revoked, if absent.
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) span: Option<Span>,
    /// Why, for whoever asks later.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeAgent {
    /// The agent.
    pub(crate) name: String,
    /// Why; the agent reads it.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}
