//! One task for several sandboxes, and what becomes of the attempts.

use std::path::PathBuf;

use belljar_domain::Span;
use clap::{Args, Subcommand, ValueEnum};

use super::run::Shape;

#[derive(Debug, Args)]
pub(crate) struct Fork {
    #[command(flatten)]
    pub(crate) shape: Shape,
    /// How many attempts [default: 3, or one for each agent of --agents].
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) attempts: Option<usize>,
    /// What is to be done, or a file that says it; every attempt finds it as `TASK_PROMPT`.
    #[arg(short, long, value_name = "TEXT|FILE.md")]
    pub(crate) prompt: Option<String>,
    /// What you call the task, to find its runs again.
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Option<String>,
    /// The shell command that must succeed, such as 'cargo test'.
    #[arg(long, value_name = "CMD")]
    pub(crate) check: Option<String>,
    /// A shell command that complains about code, such as 'ruff check'.
    #[arg(long, value_name = "CMD")]
    pub(crate) lint: Option<String>,
    /// A shell command that builds.
    #[arg(long, value_name = "CMD")]
    pub(crate) build: Option<String>,
    /// A shell command that makes the workspace ready, once for all attempts, such as 'npm ci'.
    #[arg(long, value_name = "CMD")]
    pub(crate) setup: Option<String>,
    /// A shell command that settles close calls: two attempts as JSON on its input, the better one's number as its answer.
    #[arg(long, value_name = "CMD")]
    pub(crate) judge: Option<String>,
    /// How long an attempt may take [default: 10m].
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<Span>,
    /// How long the check, the linter and the build may take each [default: 5m].
    #[arg(long, value_name = "TIME")]
    pub(crate) check_timeout: Option<Span>,
    /// How many attempts work at one time; the others wait [default: 10].
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Do not listen to the agents: nobody knows then what they are at and what they cost.
    #[arg(long)]
    pub(crate) no_observe: bool,
    /// Keep the attempts' sandboxes.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Leave the attempts running, with CMD in each if it is given, to look at what they serve; needs a server.
    #[arg(long, value_name = "CMD", num_args = 0..=1, default_missing_value = "", require_equals = true)]
    pub(crate) keep_alive: Option<String>,
    /// Post how the run ended to this address.
    #[arg(long, value_name = "URL")]
    pub(crate) webhook: Option<String>,
    /// Allow more than 10 attempts.
    #[arg(long, value_name = "N")]
    pub(crate) max_forks: Option<usize>,
    /// What all attempts together may cost, in dollars.
    #[arg(long, value_name = "USD")]
    pub(crate) budget: Option<f64>,
    /// Keep files of every attempt that fit a pattern, such as 'target/*.xml'.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) artifact: Vec<String>,
    /// Paths no attempt may touch.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) protect: Vec<String>,
    /// What is worked on although it is a test, a runner's setting or a script of --check; of others the base's are used.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) subject: Vec<String>,
    /// How much something counts: tests, quality, lint, scope, contributed, agreement, cost.
    #[arg(long, value_name = "NAME=POINTS")]
    pub(crate) weight: Vec<String>,
    /// A gate that does not hold in this run, such as G4.
    #[arg(long, value_name = "GATE")]
    pub(crate) waive: Vec<String>,
    /// Different agents, from a TOML file of `[[agents]]` with name, command and env.
    #[arg(long, value_name = "FILE")]
    pub(crate) agents: Option<PathBuf>,
    /// What differs from attempt to attempt: `FORK_SEED`, or the next of `vary` in --agents as `FORK_MODEL` or `FORK_HINT`.
    #[arg(long, value_name = "WHAT")]
    pub(crate) vary: Vec<Vary>,
    /// A task file; what is given here goes before what it says [default: belljar.task.toml, if there is no command].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Begin the run, print its id, and leave the rest to the server; `belljar runs wait` waits for it.
    #[arg(short, long)]
    pub(crate) detach: bool,
    /// Say nothing but the result.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// What each attempt runs.
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    pub(crate) command: Vec<String>,
}

/// What may differ from attempt to attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Vary {
    /// Another model for each.
    Model,
    /// Another hint for each.
    Hint,
    /// Another number for each.
    Seed,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List runs, newest first.
    #[command(visible_alias = "ls")]
    List {
        /// How many.
        #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
        limit: u16,
        /// Of this task.
        #[arg(long, value_name = "NAME")]
        task: Option<String>,
    },
    /// Show how a run was judged: every gate, and what each score is made of.
    Show {
        /// The run: its id, the end of its id, or `last`.
        #[arg(default_value = "last", value_name = "RUN")]
        run: String,
    },
    /// Show what attempts changed: each, one, or what leads from one to another.
    Diff(RunDiff),
    /// Choose an attempt, whatever the judge said, and say why.
    Pick {
        /// The run.
        #[arg(value_name = "RUN")]
        run: String,
        /// The attempt's number.
        #[arg(value_name = "N")]
        fork: u32,
        /// Why, in 10 to 1000 characters.
        #[arg(short, long, value_name = "TEXT")]
        reason: String,
    },
    /// Keep an attempt: in the working tree, as a branch, a worktree, a patch or a pull request.
    Apply(RunApply),
    /// Write a run down for people, with every attempt's changes: Markdown, or HTML where the file's name says so.
    Report {
        /// The run.
        #[arg(default_value = "last", value_name = "RUN")]
        run: String,
        /// Where to [default: standard output].
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// As one HTML file, whatever it is called.
        #[arg(long)]
        html: bool,
    },
    /// Wait for a run that goes on by itself; the answer and the exit code are those of `belljar fork`.
    Wait {
        /// The run.
        #[arg(default_value = "last", value_name = "RUN")]
        run: String,
    },
    /// Watch a run that goes on by itself; Ctrl-C leaves it going.
    Attach {
        /// The run.
        #[arg(default_value = "last", value_name = "RUN")]
        run: String,
    },
    /// Stop a run that is under way.
    Stop {
        /// The run.
        #[arg(default_value = "last", value_name = "RUN")]
        run: String,
    },
    /// Count runs and what became of them.
    Stats,
}

#[derive(Debug, Args)]
pub(crate) struct RunDiff {
    /// The run: its id, the end of its id, or `last`.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The attempt to compare with the base.
    #[arg(value_name = "A")]
    pub(crate) from: Option<u32>,
    /// The attempt to compare the first one with.
    #[arg(value_name = "B")]
    pub(crate) to: Option<u32>,
    /// Merge both attempts onto the base, with marks where they disagree.
    #[arg(long, requires = "to")]
    pub(crate) three_way: bool,
    /// Only how much each file changed.
    #[arg(long)]
    pub(crate) stat: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunApply {
    /// The run: its id, the end of its id, or `last`.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The attempt [default: the winner].
    #[arg(value_name = "N")]
    pub(crate) fork: Option<u32>,
    /// Make a branch of it and leave the working tree alone [default name: belljar/RUN/N].
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", require_equals = true, conflicts_with_all = ["worktree", "patch", "pr", "merge"])]
    pub(crate) branch: Option<String>,
    /// Make a branch of it and check that out in a new directory.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["patch", "pr", "merge"])]
    pub(crate) worktree: Option<PathBuf>,
    /// Write it as a patch for `git apply`, to a file or to standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", require_equals = true, conflicts_with_all = ["pr", "merge"])]
    pub(crate) patch: Option<PathBuf>,
    /// Make a branch of it, push that, and open a pull request with gh.
    #[arg(long, conflicts_with = "merge")]
    pub(crate) pr: bool,
    /// Where the host changed the same files meanwhile, merge them.
    #[arg(long)]
    pub(crate) merge: bool,
}
