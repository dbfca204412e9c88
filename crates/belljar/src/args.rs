//! The command line, as typed.

use std::{net::SocketAddr, path::PathBuf};

use belljar_domain::{
    ByteSize, Cpus, HostPath, LimitsPatch, Mount, NetworkMode, Profile, SandboxId, SandboxPath, SnapshotId,
    Span, TemplateRef,
};
use clap::{Args, Parser, Subcommand};

/// Run coding agents under glass: any command in a sealed sandbox, its changes kept apart until you apply them.
#[derive(Debug, Parser)]
#[command(name = "belljar", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Print machine-readable JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Where belljar keeps its data [default: `$BELLJAR_HOME`, `$XDG_DATA_HOME/belljar`, or `/var/lib/belljar` as root].
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Configuration file [default: belljar.toml in belljar's home].
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)] // Only the command that is used is worth the memory of describing it.
pub(crate) enum Command {
    /// Run a command in a fresh sandbox; the current directory is its workspace, copy-on-write.
    Run(Box<Run>),
    /// Run a further command in a sandbox that is running.
    Exec(Exec),
    /// List sandboxes.
    #[command(visible_alias = "ls")]
    List(List),
    /// Show everything known about a sandbox.
    Inspect(Target),
    /// Show what commands in a sandbox printed.
    Logs(Logs),
    /// Copy files into or out of a running sandbox (SANDBOX:PATH names a path inside).
    Cp(Cp),
    /// Show what a sandbox changed in its workspace.
    Diff(Diff),
    /// Bring what a sandbox changed into the host's directory.
    Apply(Apply),
    /// Throw away a sandbox and what it changed.
    Discard(Discard),
    /// Freeze every process of a sandbox.
    Pause(Target),
    /// Thaw a paused sandbox.
    Resume(Target),
    /// Freeze a sandbox's files as something others can start from.
    Snapshot(Snapshot),
    /// Start a sandbox from a snapshot.
    Restore(Restore),
    /// Serve sandboxes over HTTP, on this machine.
    Serve(Serve),
    /// Offer sandboxes as tools to a client of the Model Context Protocol, over standard input and output.
    Mcp(Mcp),
    /// Show what sandboxes use.
    Stats(Stats),
    /// End a sandbox now; its changes are kept.
    Terminate(Terminate),
    /// End every sandbox of an agent, even in the middle of a command.
    KillAgent(KillAgent),
    /// Import, list and remove templates.
    #[command(subcommand)]
    Template(Template),
    /// Say what sandboxes can do on this host, and what to do where they cannot.
    Doctor(Doctor),
    /// Measure what sandboxes cost on this machine.
    #[command(subcommand)]
    Bench(crate::commands::bench::Bench),
    /// Print shell completions.
    Completions(Completions),
    /// Write the manual pages to a directory, or print the main one.
    Man(Man),
    /// Try one feature of the kernel in this process; `doctor` runs it.
    #[command(name = belljar_providers::doctor::PROBE_COMMAND, hide = true)]
    Probe {
        /// Which.
        name: String,
    },
}

#[derive(Debug, Args)]
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
    /// Say nothing but what the command says.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Accepted for symmetry with other tools: every run is observed and sandboxed.
    #[arg(long, hide = true)]
    pub(crate) observe: bool,
    /// See `--observe`.
    #[arg(long, hide = true)]
    pub(crate) sandbox: bool,
    /// The command and its arguments.
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Leave sandboxes running when the client goes; with a server up they always are.
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen; port 0 takes a free one. Only this machine's loopback is allowed [default: 127.0.0.1:7420].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// How many sandboxes to keep ready, so that making one takes no time [default: 2].
    #[arg(long, value_name = "COUNT")]
    pub(crate) pool: Option<usize>,
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
    /// The sandbox: its id, the end of its id, or `last`.
    #[arg(value_name = "SANDBOX")]
    pub(crate) id: String,
    /// The command and its arguments.
    #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Ended ones too.
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Only those of an agent.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Only those with this tag.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) label: Vec<String>,
    /// More columns.
    #[arg(short, long)]
    pub(crate) detailed: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Target {
    /// The sandbox: its id, the end of its id, or nothing for the last one.
    #[arg(default_value = "last", value_name = "SANDBOX")]
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// The sandbox: its id, the end of its id, or nothing for the last one.
    #[arg(default_value = "last", value_name = "SANDBOX")]
    pub(crate) id: String,
    /// Go on printing until the sandbox ends.
    #[arg(short, long)]
    pub(crate) follow: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Cp {
    /// From: a path, or SANDBOX:PATH.
    pub(crate) from: String,
    /// To: a path, or SANDBOX:PATH.
    pub(crate) to: String,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The sandbox: its id, the end of its id, or nothing for the last run.
    #[arg(default_value = "last", value_name = "SANDBOX")]
    pub(crate) id: String,
    /// Only how much changed in which file.
    #[arg(long)]
    pub(crate) stat: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// The sandbox: its id, the end of its id, or nothing for the last run.
    #[arg(default_value = "last", value_name = "SANDBOX")]
    pub(crate) id: String,
    /// Merge with what changed on the host since, by git.
    #[arg(long = "3way")]
    pub(crate) three_way: bool,
    /// Bring changes of git's hooks and configuration too; they can run code on this host.
    #[arg(long)]
    pub(crate) allow_git_internals: bool,
    /// Keep the sandbox's record afterwards.
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Discard {
    /// The sandbox: its id, the end of its id, or nothing for the last run.
    #[arg(default_value = "last", value_name = "SANDBOX", conflicts_with = "all")]
    pub(crate) id: String,
    /// Every sandbox that is over.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Snapshot {
    /// The sandbox: its id, the end of its id, or nothing for the last one.
    #[arg(default_value = "last", value_name = "SANDBOX")]
    pub(crate) id: String,
    /// A name for people.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// List snapshots instead.
    #[arg(long, conflicts_with_all = ["name", "remove"])]
    pub(crate) list: bool,
    /// Remove a snapshot instead.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) remove: Option<SnapshotId>,
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

#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// The sandbox: its id or the end of its id; all running ones if absent.
    #[arg(value_name = "SANDBOX")]
    pub(crate) id: Option<String>,
    /// Samples of the past instead of now.
    #[arg(long, requires = "id")]
    pub(crate) history: bool,
    /// Print again every second until all have ended.
    #[arg(short, long)]
    pub(crate) follow: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Terminate {
    /// The sandbox: its id or the end of its id.
    #[arg(value_name = "SANDBOX", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) id: Option<String>,
    /// Every running sandbox.
    #[arg(long)]
    pub(crate) all: bool,
    /// Do not ask.
    #[arg(short, long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KillAgent {
    /// The agent's name.
    pub(crate) agent: String,
    /// Do not ask.
    #[arg(short, long)]
    pub(crate) force: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Template {
    /// Import a directory, tar, OCI layout or `docker save` archive under a name.
    Import {
        /// The name.
        name: String,
        /// Where it is.
        source: PathBuf,
    },
    /// List imported templates.
    List,
    /// Remove a name.
    Remove {
        /// The name.
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// For which shell.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print only the commands that give this user control groups.
    #[arg(long, conflicts_with = "apparmor_profile")]
    pub(crate) delegate_commands: bool,
    /// Print only belljar's AppArmor profile, for this program's place.
    #[arg(long)]
    pub(crate) apparmor_profile: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Where to; without it the main page is printed.
    pub(crate) dir: Option<PathBuf>,
}

/// A sandbox as a person names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named {
    /// The last run of this directory, else the last of all.
    Last,
    /// By its whole id.
    Id(SandboxId),
    /// By the end of its id.
    Tail(String),
}

impl From<&str> for Named {
    fn from(text: &str) -> Self {
        match text {
            "last" => Self::Last,
            text => text.parse().map_or_else(|_| Self::Tail(text.to_owned()), Self::Id),
        }
    }
}

/// The host directory a run starts from.
pub(crate) fn host_path(path: &std::path::Path) -> anyhow::Result<HostPath> {
    let real = path.canonicalize().map_err(|e| anyhow::anyhow!("`{}`: {e}", path.display()))?;
    Ok(HostPath::new(real)?)
}
