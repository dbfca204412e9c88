//! The files of a running execution: its journal, with everything the next service needs to know at its head, a mark
//! that says how much of it is durable elsewhere, and the pipe its orders come through. They hold what was written as it
//! was, for their owner alone, and are removed when all of it is durable elsewhere.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Read, Write},
    os::{fd::OwnedFd, unix::fs::OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use belljar_domain::{ExecutionId, Usage};
use belljar_guardian::redact::State;
use rustix::{
    buffer::spare_capacity,
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{CWD, FallocateFlags, FileType, Mode, OFlags},
};
use serde::{Deserialize, Serialize};

use super::{ExecutionView, ServiceError};

/// Largest head: arguments and names of variables are bounded by what a request may be.
const MAX_HEAD: u32 = 16 << 20;
/// How long input waits for a command to read.
const PATIENCE: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };
/// What the first read takes, which is all that most commands write, and what the others do.
const FIRST: usize = 4096;
const CHUNK: usize = 128 * 1024;
/// What memory is given back in.
const PAGE: u64 = 4096;

/// What is known before the command starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) view: ExecutionView,
    /// Limits hit before it started.
    pub(super) strikes: Usage,
    /// How many bytes of output the log takes, if what comes after them is not left out.
    #[serde(default)]
    pub(super) whole: Option<u64>,
    /// Whether it waits for whoever started it.
    #[serde(default)]
    pub(super) is_attached: bool,
}

/// How much of a journal is durable elsewhere, and where its streams were then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    /// Everything before this place of the journal.
    pub(super) place: u64,
    pub(super) stdout: Placed,
    pub(super) stderr: Placed,
}

/// Where a stream is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Placed {
    /// Bytes of it.
    pub(super) written: u64,
    /// Bytes of it in the log, where secrets are replaced.
    pub(super) kept: u64,
    /// What is held back.
    pub(super) state: State,
}

/// An open journal.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    orders: OwnedFd,
    paths: Paths,
    /// Where its records begin.
    begins: u64,
    /// Where reading goes on.
    at: u64,
    /// What was read and is no whole record yet.
    pending: Vec<u8>,
}

#[derive(Debug, Clone)]
struct Paths {
    journal: PathBuf,
    orders: PathBuf,
    input: PathBuf,
    mark: PathBuf,
}

impl Paths {
    /// The journal last: as long as it is there, the rest is found.
    fn remove(&self) {
        for path in [&self.orders, &self.input, &self.draft(), &self.mark, &self.journal] {
            let _gone = fs::remove_file(path);
        }
    }

    /// What a mark is called while it is being written.
    fn draft(&self) -> PathBuf {
        self.mark.with_extension("draft")
    }

    fn of(dir: &Path, id: ExecutionId) -> Self {
        let path = |end: &str| dir.join(format!("{id}.{end}"));
        Self { journal: path("journal"), orders: path("orders"), input: path("input"), mark: path("mark") }
    }
}

/// Makes the directory, for its owner only.
pub(super) fn prepare(dir: &Path) -> Result<(), ServiceError> {
    let made = fs::create_dir_all(dir)
        .and_then(|()| fs::set_permissions(dir, std::os::unix::fs::PermissionsExt::from_mode(0o700)));
    made.map_err(|error| {
        ServiceError::Unsupported(format!("journals cannot be kept in {}: {error}", dir.display()))
    })
}

/// Every execution that has a journal.
pub(super) fn all(dir: &Path) -> Vec<ExecutionId> {
    let names = fs::read_dir(dir).into_iter().flatten().flatten();
    names.filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".journal")?.parse().ok()).collect()
}

impl Journal {
    /// Begins one.
    pub(super) fn begin(dir: &Path, head: &Head) -> io::Result<Self> {
        let paths = Paths::of(dir, head.view.id);
        let json = serde_json::to_vec(head)?;
        let len = u32::try_from(json.len()).ok().filter(|len| *len <= MAX_HEAD);
        let len = len.ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let mut file = File::options().read(true).append(true).create_new(true).open(&paths.journal)?;
        file.write_all(&[&len.to_le_bytes()[..], &json].concat())?;
        let orders = make_pipe(&paths.orders)?;
        let begins = 4 + u64::from(len);
        Ok(Self { file, orders, paths, begins, at: begins, pending: Vec::new() })
    }

    /// Opens one that an earlier service began, where that one was.
    pub(super) fn reopen(dir: &Path, id: ExecutionId) -> io::Result<(Head, Mark, Self)> {
        let paths = Paths::of(dir, id);
        let mut file = File::options().read(true).append(true).open(&paths.journal)?;
        let mut len = [0; 4];
        file.read_exact(&mut len)?;
        let len = u32::from_le_bytes(len);
        if len > MAX_HEAD {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        let mut json = vec![0; usize::try_from(len).unwrap_or(0)];
        file.read_exact(&mut json)?;
        let head = serde_json::from_slice(&json)?;
        let orders = open_pipe(&paths.orders)?;
        let begins = 4 + u64::from(len);
        // Without a mark nothing was given back, and everything is read again.
        let mark: Mark = fs::read(&paths.mark)
            .ok()
            .and_then(|json| serde_json::from_slice(&json).ok())
            .unwrap_or_default();
        let at = mark.place.max(begins);
        Ok((head, mark, Self { file, orders, paths, begins, at, pending: Vec::new() }))
    }

    /// What a recorded execution gets of it.
    pub(super) fn ends(&self) -> io::Result<(OwnedFd, OwnedFd)> {
        Ok((self.file.try_clone()?.into(), self.orders.try_clone()?))
    }

    /// The pipe its input comes through, made when there is to be one.
    pub(super) fn input(&self) -> io::Result<OwnedFd> {
        make_pipe(&self.paths.input)
    }

    /// Reads what is new; the answer is everything that is no whole record yet.
    pub(super) fn read(&mut self) -> io::Result<&mut Vec<u8>> {
        self.pending.reserve(if self.at == self.begins { FIRST } else { CHUNK });
        let count = rustix::io::pread(&self.file, spare_capacity(&mut self.pending), self.at)?;
        self.at += u64::try_from(count).unwrap_or(0);
        Ok(&mut self.pending)
    }

    /// Where what was read ends; the rest of it is no whole record yet.
    pub(super) fn place(&self) -> u64 {
        self.at - u64::try_from(self.pending.len()).unwrap_or(0)
    }

    /// Remembers that everything before a place is not needed any more, and gives its memory back.
    pub(super) fn release(&self, mark: &Mark) -> io::Result<()> {
        let draft = self.paths.draft();
        let mut options = File::options();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        serde_json::to_writer(BufWriter::new(file), mark)?;
        fs::rename(&draft, &self.paths.mark)?;
        // The head stays: the next service begins with it.
        let (from, until) = (self.begins.next_multiple_of(PAGE), mark.place / PAGE * PAGE);
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if from < until {
            // A file system that cannot keeps it until the end.
            let _kept = rustix::fs::fallocate(&self.file, flags, from, until - from);
        }
        Ok(())
    }

    /// Removes its files.
    pub(super) fn remove(&self) {
        self.paths.remove();
    }
}

fn make_pipe(path: &Path) -> io::Result<OwnedFd> {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    open_pipe(path)
}

/// Never blocks, and never ends as long as somebody has it open.
fn open_pipe(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?)
}

/// Sends an order to a running execution.
pub(super) fn send(dir: &Path, id: ExecutionId, order: &[u8]) -> Result<(), ServiceError> {
    write_all(&Paths::of(dir, id).orders, id, order)
}

/// Sends input to a running execution, as fast as it reads.
pub(super) fn feed(dir: &Path, id: ExecutionId, bytes: &[u8]) -> Result<(), ServiceError> {
    let pipe = Paths::of(dir, id).input;
    if !pipe.exists() {
        return Err(ServiceError::Conflict("its input is not open; start it with an open one".to_owned()));
    }
    write_all(&pipe, id, bytes)
}

fn write_all(pipe: &Path, id: ExecutionId, bytes: &[u8]) -> Result<(), ServiceError> {
    let pipe = open_pipe(pipe).map_err(|_gone| ServiceError::Over(id))?;
    let mut taken = 0;
    while taken < bytes.len() {
        match rustix::io::write(&pipe, bytes.get(taken..).unwrap_or_default()) {
            Ok(count) => taken += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => {
                let mut wait = [PollFd::new(&pipe, PollFlags::OUT)];
                if !poll(&mut wait, Some(&PATIENCE)).is_ok_and(|ready| ready > 0) {
                    return Err(ServiceError::Unread { taken, all: bytes.len() });
                }
            }
            Err(_) => return Err(ServiceError::Over(id)),
        }
    }
    Ok(())
}

/// Removes what is left of one that was never begun.
pub(super) fn discard(dir: &Path, id: ExecutionId) {
    Paths::of(dir, id).remove();
}
