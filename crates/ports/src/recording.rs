//! Executions that outlive whoever asked for them: what they write goes into a journal, what they are told comes through
//! a pipe, and both are the host's own files, found again by whoever comes next.

use std::os::fd::OwnedFd;

use belljar_domain::{Outcome, SandboxPath};

/// Where a recorded execution writes, and where it hears.
#[derive(Debug)]
pub struct Recording {
    /// A file open for appending.
    pub journal: OwnedFd,
    /// A named pipe open for reading and writing, without blocking.
    pub orders: OwnedFd,
    /// What it reads.
    pub stdin: RecordedInput,
    /// Most bytes of output to keep; the rest is counted.
    pub cap: u64,
    /// Whether there is to be no rest: at the cap the command waits until [`Order::Upto`] lets it go on.
    pub is_whole: bool,
}

/// What a recorded execution reads.
#[derive(Debug)]
pub enum RecordedInput {
    /// This, until its end.
    Given(OwnedFd),
    /// What comes through this named pipe, until [`Order::CloseInput`]. Open for reading and writing, without blocking.
    Piped(OwnedFd),
}

/// An order to a running command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Standard input is over after what is in its pipe now.
    CloseInput,
    /// The window has rows and columns.
    Resize(u16, u16),
    /// A signal for the command's process group.
    Signal(u8),
    /// End the command and everything it started.
    Kill,
    /// The journal of a recording that is to be whole can take this many bytes of output since its beginning.
    Upto(u64),
}

/// One record of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalRecord {
    /// Something was written.
    Output {
        /// Whether as a complaint.
        is_error: bool,
        /// When, in milliseconds since 1970.
        time_ms: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// The command is over; nothing follows.
    End(RawExit),
}

/// How a command ended, before anybody asked why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawExit {
    /// Its exit code or signal.
    pub outcome: Outcome,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// Whether its clock ended it.
    pub timed_out: bool,
    /// Most memory of one process.
    pub max_rss_bytes: u64,
    /// Bytes of standard output that were beyond the cap.
    pub dropped_out: u64,
    /// Bytes of standard error that were beyond the cap.
    pub dropped_err: u64,
}

/// How to open a path inside a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// To read a file; a pipe or a device does not block.
    Read,
    /// To list a directory.
    List,
    /// To look at what is there; the last link is followed if `follow`.
    Look {
        /// Whether a link means what it points to.
        follow: bool,
    },
    /// To write a file that must not be there yet, with these permission bits.
    Create {
        /// The bits.
        mode: u32,
    },
}

/// A change to the files of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// A new directory.
    MakeDir {
        /// Where.
        path: SandboxPath,
        /// Whether to make those above it, and not to mind if it is there.
        parents: bool,
    },
    /// Another name, replacing a file that has it.
    Rename {
        /// What.
        from: SandboxPath,
        /// To what.
        to: SandboxPath,
    },
    /// No longer there.
    Remove {
        /// What.
        path: SandboxPath,
        /// Whether a directory goes with everything in it.
        recursive: bool,
    },
    /// A symbolic link, replacing a file or a link that has its name.
    Link {
        /// Where.
        path: SandboxPath,
        /// What it says; nobody but the sandbox ever follows it.
        target: String,
    },
    /// Other permission bits.
    Mode {
        /// Of what.
        path: SandboxPath,
        /// The bits.
        mode: u32,
    },
}
