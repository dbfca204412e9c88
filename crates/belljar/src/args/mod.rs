//! The command line, as typed: every command here, its arguments by topic.
//!
//! Refuses: meaning. What is typed is parsed and bounded; what it asks for is each command's own.

mod agents;
mod approvals;
mod audit;
mod budget;
mod changes;
mod events;
mod guardian;
mod hook;
mod host;
mod lives;
mod observe;
mod quality;
mod records;
mod run;
mod runs;

use std::path::PathBuf;

use belljar_domain::{HostPath, SandboxId};
use clap::{Parser, Subcommand};

pub(crate) use agents::{AddAgent, Agents, ApproveAgent, RevokeAgent};
pub(crate) use approvals::{Allow, Approvals, Deny, Killswitch, ListApprovals, WatchApprovals};
pub(crate) use audit::{Audit, Export, Recent, Verify};
pub(crate) use budget::{Budget, SetBudget};
pub(crate) use changes::{Apply, Cp, Diff, Discard};
pub(crate) use events::{
    EventFormat, Events, ExportEvents, ImportEvents, QueryEvents, Selection, TailEvents,
};
pub(crate) use guardian::{
    AccessWord, AddAcl, Check, GiveVolume, Guardian, MountMode, NetworkReach, Suggest, Surroundings, Where,
};
pub(crate) use hook::{Hook, Hooks, SenderKeys, Settings, Target as AgentTarget, Trial};
pub(crate) use host::{Completions, Demo, DemoAgent, Doctor, Man, Mcp, Serve, Template};
pub(crate) use lives::{Extend, KillAgent, Snapshot, Target, Terminate};
pub(crate) use observe::{Health, List, Logs, Metrics, Stats, Top};
pub(crate) use quality::Quality;
pub(crate) use records::{By, Cost, ListSessions, Report, SessionExport, SessionFormat, Sessions, word};
pub(crate) use run::{Exec, Restore, Run, Shape};
pub(crate) use runs::{Fork, RunApply, RunDiff, Runs, Vary};

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

impl Cli {
    /// Where a call is judged, `--home` is its user's home: that is what the word means there.
    pub(crate) fn settle(mut self) -> Self {
        if let Command::Guardian(Guardian::Check(args) | Guardian::Explain(args)) = &mut self.command
            && let Some(home) = self.home.take()
        {
            args.surroundings.user_home.get_or_insert(home);
        }
        self
    }
}

#[derive(Debug, Subcommand)]
#[command(defer = true)] // Only the command that is used is worth the memory of describing it.
pub(crate) enum Command {
    /// Run a command in a fresh sandbox; the current directory is its workspace, copy-on-write.
    Run(Box<Run>),
    /// Give a task to several sandboxes at once, and find the best attempt.
    Fork(Box<Fork>),
    /// List, show, compare and keep attempts of `belljar fork`.
    #[command(subcommand)]
    Runs(Runs),
    /// Run a further command in a sandbox that is running.
    Exec(Exec),
    /// List sandboxes.
    #[command(visible_alias = "ls")]
    List(List),
    /// Show everything known about a sandbox.
    Inspect(Target),
    /// Show what commands in a sandbox printed, or what was done.
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
    /// See it alive: a server of its own, agents at work in real sandboxes, and nothing left afterwards.
    Demo(Demo),
    /// One agent of the demonstration; `demo` starts it.
    #[command(hide = true)]
    DemoAgent(DemoAgent),
    /// Offer sandboxes as tools to a client of the Model Context Protocol, over standard input and output.
    Mcp(Mcp),
    /// Show what sandboxes use.
    Stats(Stats),
    /// Show whether sandboxes can run commands; fails if one cannot.
    Health(Health),
    /// Show processor, memory, disk, network and alerts of every running sandbox.
    Metrics(Metrics),
    /// Watch sandboxes and events live, with keys to inspect, pause and end them.
    Top(Top),
    /// Give a sandbox more time to live.
    Extend(Extend),
    /// Show the ports something in a sandbox listens on.
    Ports(Target),
    /// End a sandbox now; its changes are kept.
    Terminate(Terminate),
    /// End everything an agent runs, now, and refuse what it wants until `--release`.
    KillAgent(KillAgent),
    /// End everything every agent runs, now, and refuse whatever comes until `--release`.
    Killswitch(Killswitch),
    /// List, answer and watch calls that wait for a person.
    #[command(subcommand)]
    Approvals(Approvals),
    /// Enter, import, show and remove agents: who may act, as what.
    #[command(subcommand)]
    Agents(Agents),
    /// Let an agent act, in its role, for a while or until it is revoked.
    ApproveAgent(ApproveAgent),
    /// Take an agent's leave to act back: its next call is refused, its sandboxes stop now.
    RevokeAgent(RevokeAgent),
    /// Set what agents may spend, and show what they did.
    #[command(subcommand)]
    Budget(Budget),
    /// Verify, export, count and list what the ledger has.
    #[command(subcommand)]
    Audit(Audit),
    /// List agents' sessions, show what happened in one, write it to a file.
    #[command(subcommand)]
    Sessions(Sessions),
    /// Show what agents spent on models.
    Cost(Cost),
    /// Show on one page what agents did, how well, and what it cost.
    Report(Report),
    /// Say how hard code is to change: what is bound together, why it matters, how to mend it; or what a change did to it.
    Quality(Quality),
    /// Import, list and remove templates.
    #[command(subcommand)]
    Template(Template),
    /// Say what sandboxes can do on this host, and what to do where they cannot.
    Doctor(Doctor),
    /// What agents run at every hook: a payload comes in, the agent's own form of an answer goes out.
    Hook(Hook),
    /// Watch, find and export what agents did.
    #[command(subcommand)]
    Events(Box<Events>),
    /// Judge calls by the policy, and show, test and change it.
    #[command(subcommand)]
    Guardian(Guardian),
    /// Count the policy's rules and those in force, by risk, directories with rules of their own, and approved agents.
    GuardianStatus,
    /// Give a directory, by its names on the host and in sandboxes: write `[[acl]]` into guardian.toml.
    AddAcl(GiveVolume),
    /// Install, remove, show and test agents' hooks.
    #[command(subcommand)]
    Hooks(Hooks),
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
