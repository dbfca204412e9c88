//! The acts, in the words policies use.
//!
//! Owns: the closed list. Refuses: judging, and paths that are not resolved: every path is absolute, `.` and `..` are gone
//! as far as it is known, and what is not known stays in it as such.

use crate::shell::ast::Span;
use crate::shell::value::{Value, Why};

/// One thing a call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// What.
    pub act: Act,
    /// The program or tool that does it, as a person would name it: `rm`, `git push`, `Write`.
    pub by: String,
    /// Where it stands in the command.
    pub span: Option<Span>,
    /// How sure it is that it happens.
    pub effort: Effort,
}

/// How sure an effect is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// Only said, shown or tried: `--dry-run`, `--help`.
    Rehearsed,
    /// Done when the command gets that far.
    Done,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// The contents of a file, or of all files below a directory, are read.
    Read {
        /// The file or directory.
        path: Value,
        /// All below it too.
        deep: bool,
    },
    /// Credentials are shown that no file of this machine holds as they are shown: a variable, a store, a cloud.
    Reveal {
        /// What, for a reason: `a secret in vault`, `the variable GITHUB_TOKEN`.
        what: String,
    },
    /// Names, sizes and the like are read: `ls`, `stat`, Glob.
    Look {
        /// The file or directory.
        path: Value,
    },
    /// A file is made or changed.
    Write {
        /// The file.
        path: Value,
        /// What happens to what was there.
        change: Change,
        /// What is written, where it is known.
        content: Option<Value>,
    },
    /// A file or a directory is removed.
    Delete {
        /// The file or directory.
        path: Value,
        /// All below it too.
        deep: bool,
        /// Only what a filter lets through: `find -name '*.pyc' -delete`.
        filtered: bool,
    },
    /// Permissions, owners, attributes, capabilities.
    Permit {
        /// The file or directory.
        path: Value,
        /// All below it too.
        deep: bool,
        /// What they become, in the program's own words: `777`, `root:root`, `u+s`.
        to: Value,
    },
    /// A raw device is written, a file system made or a table of partitions changed.
    Disk {
        /// The device.
        device: Value,
    },
    /// Processes are signalled.
    Signal {
        /// Which: a number, a name, a pattern; `-1` is all of them.
        target: Value,
        /// Whether it names processes the command itself began: `$!`, `%1`, `$$`.
        own: bool,
    },
    /// The machine or its services are stopped, started or changed.
    Power(Power),
    /// Rights the caller did not have are used or given.
    Privilege {
        /// How, for a reason: `sudo`, `a privileged container`, `setuid`.
        how: String,
    },
    /// The network is used.
    Network {
        /// Which way.
        traffic: Traffic,
        /// The host, or the URL when there is one.
        to: Value,
        /// What is sent along: files, variables, outputs.
        data: Vec<Datum>,
    },
    /// Code is run that is not in the command.
    Run {
        /// What it is.
        code: Code,
        /// The interpreter or program.
        with: String,
    },
    /// A start at some later time or login is arranged: timers, services, startup files by a program of their own.
    Persist {
        /// How, for a reason: `crontab`, `systemctl enable`.
        how: String,
    },
    /// A repository is changed in a way that loses work or history, or that others see.
    Git {
        /// The command and what makes it telling: `push --force`, `reset --hard`, `clean -fdx`, `config core.hooksPath`.
        operation: String,
        /// Whether work or history can be lost.
        loses: bool,
        /// The remote or branch, where it is known.
        target: Option<String>,
    },
    /// Infrastructure is changed: clusters, clouds, containers, volumes.
    Infrastructure {
        /// The command: `terraform destroy`.
        operation: String,
        /// Whether something is destroyed.
        destroys: bool,
    },
    /// A database is told something.
    Database {
        /// The statement or command, as far as it is known.
        statement: String,
        /// Whether it can destroy more than the rows it names.
        destroys: bool,
    },
    /// Packages are installed, removed or published.
    Package {
        /// The package manager.
        manager: String,
        /// `install`, `remove`, `publish`, `run`.
        operation: String,
        /// Which.
        names: Vec<String>,
        /// For the whole machine or user instead of the project.
        global: bool,
        /// A URL, path or registry of its own, when it does not come from the usual one.
        from: Option<Value>,
    },
    /// Another agent is started.
    Spawn {
        /// Its kind, where it is told.
        agent: String,
    },
    /// A tool nobody here knows is called.
    Tool {
        /// Its name: `mcp__server__tool`.
        name: String,
    },
    /// The guard itself is weakened: hooks removed, policy switched off, the server stopped.
    Tamper {
        /// How, for a reason.
        how: String,
    },
    /// Something is asked of the system that is neither of these, and harmless: `date`, `pwd`, `cargo --version`.
    Compute,
    /// Nobody can say without running it.
    Unknown(Why),
}

/// What happens to what was in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// It is replaced.
    Replace,
    /// It is emptied, and that is all: `truncate -s 0`, `: > f`.
    Empty,
    /// Something is put behind it.
    Append,
    /// Some of it is changed: `sed -i`, Edit.
    Edit,
    /// A directory, a link or an empty file is made and nothing is lost: `mkdir`, `touch`.
    Make,
}

/// Which way the traffic goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Traffic {
    /// Something is fetched.
    Fetch,
    /// Something is sent.
    Send,
    /// A shell or a port is opened to others: `nc -l`, `ssh -R`.
    Listen,
    /// Hosts or ports are tried: `nmap`.
    Scan,
    /// Commands are run there: `ssh host cmd`.
    Remote,
}

/// Something that flows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Datum {
    /// The contents of a file, or of all below a directory.
    File(Value),
    /// What came from the network.
    Download(Value),
    /// The environment, or one variable of it.
    Environment(Option<String>),
    /// The output of a program that shows what it should not: `history`, `gpg --export-secret-keys`.
    Secret(String),
    /// Text that stands in the command.
    Text(Value),
    /// Anything.
    Unknown(Why),
}

/// Code that is not in the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// A file.
    File(Value),
    /// What comes from the network.
    Download(Value),
    /// A package that is fetched and run at once: `npx`, `uvx`.
    Package(String),
    /// What a project's own build says: `make`, `npm test`, `cargo build`.
    Project,
    /// A program on the search path of which nothing is known.
    Program(String),
}

/// What happens to the machine or a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Power {
    /// The machine stops or restarts.
    Machine,
    /// A service is stopped, started, masked.
    Service(Value),
    /// The kernel: modules, parameters, firewall, mounts, swap, clock.
    Kernel(String),
    /// All it has is used up: a fork bomb.
    Exhaust,
    /// Users, groups and passwords.
    Accounts(String),
}
