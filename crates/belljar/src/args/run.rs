//! Running commands: what sandboxes are made of, and what runs in them.

use std::path::PathBuf;

use belljar_domain::{
    ByteSize, Cpus, LimitsPatch, Mount, NetworkMode, Profile, SandboxPath, Span, TemplateRef,
};
use clap::Args;

#[derive(Debug, Clone, Args)]
pub(crate) struct Shape {
    /// What the sandbox starts from: host, a directory, tar, OCI layout, `docker save` archive, snapshot or name.
    #[arg(long, default_value = "host", value_name = "TEMPLATE")]
    pub(crate) template: TemplateRef,
    /// Which provider makes it.
    #[arg(long, default_value = "process", value_name = "NAME")]
    pub(crate) provider: String,
    /// How tight it is: strict (read-only root) or permissive (root writable, copy-on-write).
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<Profile>,
    /// What network it sees: none or open.
    #[arg(long, value_name = "MODE")]
    pub(crate) net: Option<NetworkMode>,
    /// Memory limit, such as 512M.
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<ByteSize>,
    /// Processor share, such as 1.5; more is throttled.
    #[arg(long, value_name = "CORES")]
    pub(crate) cpus: Option<Cpus>,
    /// Disk limit, such as 1G.
    #[arg(long, value_name = "SIZE")]
    pub(crate) disk: Option<ByteSize>,
    /// Limit of files and directories made.
    #[arg(long, value_name = "COUNT")]
    pub(crate) inodes: Option<u64>,
    /// Limit of processes at one time.
    #[arg(long, value_name = "COUNT")]
    pub(crate) pids: Option<u32>,
    /// Limit of open files per process.
    #[arg(long, value_name = "COUNT")]
    pub(crate) open_files: Option<u64>,
    /// How long the sandbox may live.
    #[arg(long, value_name = "TIME")]
    pub(crate) ttl: Option<Span>,
    /// How long it may live without a command.
    #[arg(long, value_name = "TIME")]
    pub(crate) idle: Option<Span>,
    /// Lend a host path: HOST:SANDBOX:ro or HOST:SANDBOX:rw.
    #[arg(long, value_name = "HOST:SANDBOX:MODE")]
    pub(crate) mount: Vec<Mount>,
    /// Set a variable, or take it over from this shell by naming it alone.
    #[arg(short, long, value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<String>,
    /// The directory shown copy-on-write, or `none` [default: the current directory].
    #[arg(short = 'C', long, value_name = "DIR|none")]
    pub(crate) workspace: Option<PathBuf>,
    /// Whom the sandbox belongs to.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Tag it, to find it again.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) label: Vec<String>,
    /// Refuse to run unless every limit and protection holds on this host.
    #[arg(long)]
    pub(crate) require_all: bool,
}

impl Shape {
    pub(crate) const fn limits(&self) -> LimitsPatch {
        LimitsPatch {
            memory: self.memory,
            cpus: self.cpus,
            disk: self.disk,
            inodes: self.inodes,
            pids: self.pids,
            open_files: self.open_files,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) shape: Shape,
    /// How long the command may take [default: 300s].
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<Span>,
    /// Where the command starts [default: the workspace].
    #[arg(short, long, value_name = "PATH")]
    pub(crate) workdir: Option<SandboxPath>,
    /// Who runs it inside: a name, 1000 or 1000:1000.
    #[arg(short, long, value_name = "USER")]
    pub(crate) user: Option<String>,
    /// Leave the sandbox running afterwards, for `belljar exec`.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Apply the changes to the workspace if the command succeeds.
    #[arg(long)]
    pub(crate) apply: bool,
    /// Print the plan of the sandbox instead of running anything.
    #[arg(long)]
    pub(crate) plan: bool,
    /// Give the command a terminal even when this is not one.
    #[arg(short, long)]
    pub(crate) tty: bool,
    /// Run it beside the server, if one is up: no record there, and output of any length.
    #[arg(long)]
    pub(crate) direct: bool,
    /// Say nothing but what the command says.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Hear what an agent in the sandbox does: its hooks and telemetry go to the server, or wait for one.
    #[arg(long)]
    pub(crate) observe: bool,
    /// Accepted for symmetry with other tools: every run is sandboxed.
    #[arg(long, hide = true)]
    pub(crate) sandbox: bool,
    /// The command and its arguments.
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Exec {
    /// Set a variable, or take it over from this shell by naming it alone.
    #[arg(short, long, value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<String>,
    /// Where the command starts [default: the workspace].
    #[arg(short, long, value_name = "PATH")]
    pub(crate) workdir: Option<SandboxPath>,
    /// Who runs it inside: a name, 1000 or 1000:1000.
    #[arg(short, long, value_name = "USER")]
    pub(crate) user: Option<String>,
    /// How long the command may take [default: 300s].
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<Span>,
    /// Give the command a terminal even when this is not one.
    #[arg(short, long)]
    pub(crate) tty: bool,
    /// Run it beside the server, if one is up: no record, and output of any length.
    #[arg(long)]
    pub(crate) direct: bool,
    /// The sandbox: its id, the end of its id, or `last`.
    #[arg(value_name = "SANDBOX")]
    pub(crate) id: String,
    /// The command and its arguments.
    #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// The snapshot: its id or name.
    #[arg(value_name = "SNAPSHOT")]
    pub(crate) snapshot: String,
    /// Run this in it instead of leaving it running.
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    pub(crate) command: Vec<String>,
}
