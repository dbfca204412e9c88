//! Talking to a sandbox that is running already: to its keeper, and to PID 1 for executions.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

use belljar_init::wire::{Errand, Exec, FromKeeper, FromShepherd, MAX_FRAME, ToKeeper, ToShepherd, encode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{
    StartError,
    launch::{CONTROL_DOOR, KEEPER_DOOR, knock, memory_file},
    wire,
};

/// Asks a keeper for something, through its door in the sandbox's directory.
///
/// # Errors
/// When there is no keeper any more.
pub fn ask_keeper(dir: &Path, request: ToKeeper) -> io::Result<(FromKeeper, Option<OwnedFd>)> {
    let socket = knock(dir, KEEPER_DOOR)?;
    wire::send(&socket, &encode(&request), &[])?;
    match wire::receive(&socket)? {
        Some((answer, fds)) => Ok((answer, fds.into_iter().next())),
        None => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
    }
}

/// Why an execution could not be started or followed.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The command could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The sandbox ended, or refused one execution too many.
    #[error("the sandbox ended, or is too busy to start another process")]
    Gone,
    /// Talking to the sandbox failed.
    #[error("could not talk to the sandbox")]
    Talk(#[source] io::Error),
}

/// One conversation with PID 1, good for one execution.
#[derive(Debug)]
pub struct Connection {
    socket: OwnedFd,
}

/// An execution that is running.
#[derive(Debug)]
pub struct Running {
    /// Process id inside.
    pub pid: u32,
    /// The master side of its terminal, if it has one.
    pub terminal: Option<OwnedFd>,
    socket: OwnedFd,
}

/// How an execution ended, as the shepherd saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exited {
    /// Raw wait status.
    pub status: i32,
    /// Whether its clock ended it.
    pub timed_out: bool,
    /// Largest resident set of one process, in KiB.
    pub max_rss_kib: u64,
    /// Processor time, in microseconds.
    pub cpu_micros: u64,
}

impl Connection {
    pub(crate) const fn new(socket: OwnedFd) -> Self {
        Self { socket }
    }

    /// Connects to a running sandbox by its directory.
    ///
    /// # Errors
    /// When the sandbox is gone.
    pub fn open(dir: &Path) -> io::Result<Self> {
        knock(dir, CONTROL_DOOR).map(Self::new)
    }

    /// Says whether somebody still waits at the other end.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let mut look = [PollFd::new(&self.socket, PollFlags::IN)];
        poll(&mut look, Some(&Timespec::default())).is_ok_and(|news| news == 0)
    }

    /// Starts a command. `streams` are its standard input, output and error; none for a terminal.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn exec(self, exec: &Exec, streams: &[BorrowedFd<'_>]) -> Result<Running, ExecError> {
        self.send(exec, streams).map_err(ExecError::Talk)?;
        match wire::receive(&self.socket).map_err(ExecError::Talk)? {
            Some((FromShepherd::Started { pid }, fds)) => {
                Ok(Running { pid, terminal: fds.into_iter().next(), socket: self.socket })
            }
            Some((FromShepherd::Failed(failure), _)) => Err(StartError::new(failure).into()),
            Some((FromShepherd::Exited { .. } | FromShepherd::Done | FromShepherd::Wrote, _)) | None => {
                Err(ExecError::Gone)
            }
        }
    }

    /// Has something done inside that is no command; the answer is the descriptor it was for, if it was for one.
    ///
    /// # Errors
    /// When it cannot be done.
    pub fn errand(self, errand: Errand) -> Result<Option<OwnedFd>, ExecError> {
        wire::send(&self.socket, &encode(&ToShepherd::Errand(errand)), &[]).map_err(ExecError::Talk)?;
        match wire::receive(&self.socket).map_err(ExecError::Talk)? {
            Some((FromShepherd::Done, fds)) => Ok(fds.into_iter().next()),
            Some((FromShepherd::Failed(failure), _)) => Err(StartError::new(failure).into()),
            Some((FromShepherd::Started { .. } | FromShepherd::Exited { .. } | FromShepherd::Wrote, _))
            | None => Err(ExecError::Gone),
        }
    }

    fn send(&self, exec: &Exec, streams: &[BorrowedFd<'_>]) -> io::Result<()> {
        let frame = encode(&ToShepherd::Exec(exec.clone()));
        if frame.len() <= MAX_FRAME {
            return wire::send(&self.socket, &frame, streams);
        }
        let file = memory_file("belljar-request", &encode(exec))?;
        let fds: Vec<_> = std::iter::once(file.as_fd()).chain(streams.iter().copied()).collect();
        wire::send(&self.socket, &encode(&ToShepherd::Large), &fds)
    }
}

impl Running {
    /// Waits for the end.
    ///
    /// # Errors
    /// [`ExecError::Gone`] when the whole sandbox ended first.
    pub fn wait(&self) -> Result<Exited, ExecError> {
        match wire::receive(&self.socket).map_err(ExecError::Talk)? {
            Some((FromShepherd::Exited { status, timed_out, max_rss_kib, cpu_micros }, _)) => {
                Ok(Exited { status, timed_out, max_rss_kib, cpu_micros })
            }
            Some((
                FromShepherd::Started { .. }
                | FromShepherd::Failed(_)
                | FromShepherd::Done
                | FromShepherd::Wrote,
                _,
            ))
            | None => Err(ExecError::Gone),
        }
    }

    /// Sends a signal to the command's process group.
    ///
    /// # Errors
    /// When the execution is over.
    pub fn signal(&self, signal: u8) -> io::Result<()> {
        wire::send(&self.socket, &encode(&ToShepherd::Signal(signal)), &[])
    }

    /// Kills the command and everything it started, daemons included.
    ///
    /// # Errors
    /// When the execution is over.
    pub fn kill(&self) -> io::Result<()> {
        wire::send(&self.socket, &encode(&ToShepherd::Kill), &[])
    }
}

impl From<Running> for OwnedFd {
    /// The conversation itself: readable once the execution has ended.
    fn from(running: Running) -> Self {
        running.socket
    }
}

impl AsFd for Running {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
