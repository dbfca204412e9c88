//! The files of a running execution: its journal, with everything the next service needs to know at its head, and the
//! pipe its orders come through. They are removed when what they hold is durable elsewhere.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use belljar_domain::{ExecutionId, Usage};
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
/// What one read takes.
const CHUNK: usize = 128 * 1024;

/// What is known before the command starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) view: ExecutionView,
    /// Limits hit before it started.
    pub(super) strikes: Usage,
}

/// An open journal.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    orders: OwnedFd,
    paths: Paths,
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
}

impl Paths {
    /// The journal last: as long as it is there, the rest is found.
    fn remove(&self) {
        for path in [&self.orders, &self.input, &self.journal] {
            let _gone = fs::remove_file(path);
        }
    }

    fn of(dir: &Path, id: ExecutionId) -> Self {
        let path = |end: &str| dir.join(format!("{id}.{end}"));
        Self { journal: path("journal"), orders: path("orders"), input: path("input") }
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
        Ok(Self { file, orders, paths, at: 4 + u64::from(len), pending: Vec::new() })
    }

    /// Opens one that an earlier service began.
    pub(super) fn reopen(dir: &Path, id: ExecutionId) -> io::Result<(Head, Self)> {
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
        Ok((head, Self { file, orders, paths, at: 4 + u64::from(len), pending: Vec::new() }))
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
        self.pending.reserve(CHUNK);
        let count = rustix::io::pread(&self.file, spare_capacity(&mut self.pending), self.at)?;
        self.at += u64::try_from(count).unwrap_or(0);
        Ok(&mut self.pending)
    }

    /// Gives back the memory of what is durable elsewhere.
    pub(super) fn release(&self, from: u64, until: u64) {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // A file system that cannot keeps it until the end.
        let _kept = rustix::fs::fallocate(&self.file, flags, from, until.saturating_sub(from));
    }

    pub(super) const fn place(&self) -> u64 {
        self.at
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
