//! The policy, as one asks about it and changes it.

use std::path::PathBuf;

use belljar_domain::Timestamp;
use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Guardian {
    /// Show the mode, the packs and rules in force, and whether guardian.toml is good.
    Status,
    /// Judge a command or a tool call: what it would do, which rule speaks, what would make it allowed. Exits with 0 for
    /// allow, 2 for deny, 3 for ask.
    Check(Check),
    /// The same, with every rule that matched and what became of it.
    Explain(Check),
    /// Run the examples of every rule, shipped or not; exits with 1 if one fails.
    Test,
    /// List the rules, or show one.
    Rules {
        /// Only this rule, whole.
        name: Option<String>,
    },
    /// Find rules that never speak and settings without effect; exits with 1 if there are any.
    Lint,
    /// Propose the narrowest rule for what was denied or asked about, as a diff of guardian.toml.
    Suggest(Suggest),
    /// Give a directory, or keep it: write `[[acl]]` into guardian.toml.
    AddAcl(AddAcl),
}

/// Where a call would be made.
#[derive(Debug, Args)]
pub(crate) struct Surroundings {
    /// Where it is made [default: the current directory].
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Its user's home [default: `$HOME`]; here, and only here, `--home` says the same, and belljar's own is
    /// `$BELLJAR_HOME`.
    #[arg(long, value_name = "DIR")]
    pub(crate) user_home: Option<PathBuf>,
    /// The directory the work is about [default: where it is made].
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// On the host, or behind a sandbox's walls.
    #[arg(long, value_enum, default_value_t = Where::Host)]
    pub(crate) context: Where,
    /// How far the sandbox's network reaches.
    #[arg(long, value_enum, default_value_t = NetworkReach::None)]
    pub(crate) network: NetworkReach,
    /// The agent that makes it.
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Where {
    Host,
    Sandbox,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NetworkReach {
    None,
    Allowlist,
    Open,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The command line; with --tool, what stands between the parentheses: a path, a URL, or JSON.
    #[arg(
        value_name = "COMMAND",
        required_unless_present = "batch",
        conflicts_with = "batch",
        allow_hyphen_values = true
    )]
    pub(crate) call: Option<String>,
    /// The tool that is called.
    #[arg(long, value_name = "NAME", default_value = "Bash")]
    pub(crate) tool: String,
    /// Judge many: a file with one `{"id", "tool", "input"}` a line; `-` is standard input. Exits with 1 if a line is bad.
    #[arg(long, value_name = "FILE")]
    pub(crate) batch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) surroundings: Surroundings,
}

#[derive(Debug, Args)]
pub(crate) struct Suggest {
    /// Since then.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Timestamp>,
    /// By this agent.
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Look at this many denied and asked calls.
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
}

#[derive(Debug, Args)]
pub(crate) struct AddAcl {
    /// The directory: absolute, or `~/…`.
    pub(crate) path: String,
    /// What may be done there.
    #[arg(value_enum)]
    pub(crate) access: AccessWord,
    /// Only for this agent.
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AccessWord {
    /// Nothing, not even reading.
    None,
    /// Reading.
    Read,
    /// Everything that may be done in the workspace.
    Write,
}

/// A directory as both sides of a mount call it.
#[derive(Debug, Args)]
pub(crate) struct GiveVolume {
    /// The directory on the host: absolute, or `~/…`.
    pub(crate) host: String,
    /// What it is called in sandboxes, if that is another name.
    pub(crate) container: Option<String>,
    /// What may be done there.
    #[arg(long, value_enum, default_value_t = MountMode::Ro)]
    pub(crate) mode: MountMode,
    /// Only with files of these names: `*.csv`, `reports/**`; of the rest nothing.
    #[arg(long, value_name = "PATTERN", num_args = 1.., value_delimiter = ',')]
    pub(crate) allowed: Vec<String>,
    /// Nothing with files of these names.
    #[arg(long, value_name = "PATTERN", num_args = 1.., value_delimiter = ',')]
    pub(crate) blocked: Vec<String>,
    /// Only for this agent.
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MountMode {
    /// Reading.
    Ro,
    /// Everything that may be done in the workspace.
    Rw,
}
