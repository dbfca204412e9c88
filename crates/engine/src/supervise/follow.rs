//! The loop around one command: one thread, one `poll`, every buffer bounded.

use std::{
    fmt::Debug,
    fs::File,
    io::{self, Read},
    os::fd::{BorrowedFd, OwnedFd},
    time::{Duration, Instant},
};

use belljar_domain::{Alert, ExitReport, KillCause, SandboxState, Terminal, Usage};
use belljar_ports::{Execution, Sandbox, SandboxError, Streams};

use super::{Monitor, carry::Carried};

/// After the command ended, how long what it left running may be silent, and how long it is listened to at all.
const GRACE: Duration = Duration::from_millis(200);
const LONGEST_GRACE: Duration = Duration::from_secs(1);
/// How much longer than its time a command may take to be ended from inside, before the sandbox is ended from outside.
const PATIENCE: Duration = Duration::from_secs(5);
const CHUNK: usize = 64 * 1024;

/// Why following failed.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The sandbox could not be asked.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A stream could not be carried.
    #[error("could not {doing}")]
    Stream {
        /// The step under way.
        doing: &'static str,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
}

/// Where a command's output goes. Errors end the carrying of that stream, not the command.
pub trait Outlet {
    /// Takes a piece of standard output (or of the terminal).
    ///
    /// # Errors
    /// When nobody reads any more.
    fn stdout(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Takes a piece of standard error.
    ///
    /// # Errors
    /// When nobody reads any more.
    fn stderr(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Hears what the sandbox uses, a few times a second.
    fn sample(&mut self, usage: &Usage, alerts: &[Alert]);
}

/// Where a command's input comes from.
#[derive(Debug)]
pub enum Input {
    /// Nowhere: it reads end of file.
    Empty,
    /// From this descriptor until its end.
    From(OwnedFd),
}

/// The host's ends of a command's pipes.
#[derive(Debug)]
pub struct Pipes {
    stdin: Option<OwnedFd>,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

impl Pipes {
    /// Makes three pipes: the command's ends, and ours.
    ///
    /// # Errors
    /// When the process has too many open files.
    pub fn new(input: &Input) -> io::Result<(Streams, Self)> {
        let (out_read, out_write) = pipe()?;
        let (err_read, err_write) = pipe()?;
        let (in_read, in_write) = match input {
            Input::Empty => (File::open("/dev/null")?.into(), None),
            Input::From(_) => {
                let (read, write) = pipe()?;
                // A command that does not read must not stop its output from being carried.
                rustix::io::ioctl_fionbio(&write, true)?;
                (read, Some(write))
            }
        };
        let streams = Streams { stdin: in_read, stdout: out_write, stderr: err_write };
        Ok((streams, Self { stdin: in_write, stdout: out_read, stderr: err_read }))
    }
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

/// Signals this process was sent for the command.
pub struct Signals {
    /// Readable when there is one.
    pub wake: File,
    /// Takes the numbers of those that came since the last time.
    pub pending: Box<dyn FnMut() -> Vec<u8> + Send>,
}

impl Debug for Signals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signals").field("wake", &self.wake).finish_non_exhaustive()
    }
}

/// What following one command takes.
#[derive(Debug)]
pub struct Follow<'a> {
    /// The sandbox, to measure and to end.
    pub sandbox: &'a dyn Sandbox,
    /// The command.
    pub execution: &'a dyn Execution,
    /// Its limits, watched.
    pub monitor: Monitor,
    /// How long it may take. The clock inside does the killing; a command that stops that clock loses its sandbox.
    pub timeout: Option<Duration>,
    /// Signals to pass on to the command.
    pub signals: Option<Signals>,
    /// Asked for the terminal's new size when the window changes.
    pub window: fn() -> Option<Terminal>,
}

/// How it went.
#[derive(Debug)]
pub struct Followed {
    /// How the command ended.
    pub report: ExitReport,
}

/// The signal number of a changed window, which is not for the command itself.
const SIGWINCH: u8 = 28;

impl Follow<'_> {
    /// Carries a command's pipes until it ends.
    ///
    /// # Errors
    /// When the sandbox cannot be asked, or `poll` fails.
    pub fn pipes(self, input: Input, pipes: Pipes, outlet: &mut dyn Outlet) -> Result<Followed, FollowError> {
        let source = match input {
            Input::Empty => None,
            Input::From(fd) => Some(fd),
        };
        let reading = [Some(pipes.stdout), Some(pipes.stderr)];
        self.carry(Carried { source, sink: pipes.stdin, reading, pending: Vec::new() }, outlet)
    }

    /// Carries a command's terminal until it ends.
    ///
    /// # Errors
    /// When the sandbox cannot be asked, or `poll` fails.
    pub fn terminal(self, input: OwnedFd, outlet: &mut dyn Outlet) -> Result<Followed, FollowError> {
        let Some(master) = self.execution.terminal() else {
            let source = io::Error::from(io::ErrorKind::Unsupported);
            return Err(FollowError::Stream { doing: "open the command's terminal", source });
        };
        let copy = |fd: BorrowedFd<'_>| fd.try_clone_to_owned();
        let (read, write) = copy(master)
            .and_then(|read| Ok((read, copy(master)?)))
            .map_err(|source| FollowError::Stream { doing: "share the command's terminal", source })?;
        let carried = Carried {
            source: Some(input),
            sink: Some(write),
            reading: [Some(read), None],
            pending: Vec::new(),
        };
        self.carry(carried, outlet)
    }

    fn carry(mut self, mut carried: Carried, outlet: &mut dyn Outlet) -> Result<Followed, FollowError> {
        // Never filled with zeroes: touching sixteen pages takes longer than starting a small command.
        let mut buffer = Vec::with_capacity(CHUNK);
        let mut report = None;
        let mut last_output = Instant::now();
        let mut ended_at = Instant::now();
        let mut next_sample = Instant::now() + Monitor::INTERVAL;
        let mut end = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout + PATIENCE));
        loop {
            let over = report.is_some();
            let silent = last_output.elapsed() >= GRACE || ended_at.elapsed() >= LONGEST_GRACE;
            if over && (carried.reading.iter().all(Option::is_none) || silent) {
                break;
            }
            let wait = if over { GRACE } else { next_sample.saturating_duration_since(Instant::now()) };
            let ready = carried
                .wait(self.execution, self.signals.as_ref().map(|signals| &signals.wake), over, wait)
                .map_err(|source| FollowError::Stream { doing: "wait for the command", source })?;
            if ready.output.contains(&true) {
                last_output = Instant::now();
                carried.output(&ready, &mut buffer, outlet);
            }
            if ready.input {
                carried.input(&mut buffer);
            }
            if ready.room {
                carried.flush();
            }
            if ready.signal {
                self.signal();
            }
            if ready.ended && !over {
                report = Some(self.execution.wait()?);
                ended_at = Instant::now();
                last_output = ended_at;
                carried.source = None;
                carried.sink = None;
            }
            if report.is_none() && Instant::now() >= next_sample {
                next_sample = Instant::now() + Monitor::INTERVAL;
                self.sample(outlet)?;
                if end.is_some_and(|end| Instant::now() >= end) {
                    end = Some(Instant::now() + PATIENCE);
                    self.insist()?;
                }
            }
        }
        // The loop is left only with a report.
        let report = match report {
            Some(report) => report,
            None => self.execution.wait()?,
        };
        Ok(Followed { report })
    }

    /// Ends the sandbox of a command that outlived its time, unless somebody paused both.
    fn insist(&self) -> Result<(), FollowError> {
        let paused = self.sandbox.info().state == SandboxState::Paused;
        if paused { Ok(()) } else { Ok(self.sandbox.stop(Some(KillCause::Timeout))?) }
    }

    fn sample(&mut self, outlet: &mut dyn Outlet) -> Result<(), FollowError> {
        let Ok(usage) = self.sandbox.usage() else { return Ok(()) };
        let seen = self.monitor.observe(Instant::now(), usage);
        outlet.sample(&usage, &seen.alerts);
        if let Some(cause) = seen.kill {
            self.sandbox.stop(Some(cause))?;
        }
        Ok(())
    }

    fn signal(&mut self) {
        let mut bytes = [0_u8; 64];
        let Some(signals) = &mut self.signals else { return };
        if signals.wake.read(&mut bytes).unwrap_or(0) == 0 {
            self.signals = None;
            return;
        }
        for number in (signals.pending)() {
            if number != SIGWINCH {
                // It may have ended meanwhile.
                let _over = self.execution.signal(number);
            } else if let (Some(master), Some(size)) = (self.execution.terminal(), (self.window)()) {
                let size = rustix::termios::Winsize {
                    ws_row: size.rows,
                    ws_col: size.cols,
                    ws_xpixel: 0,
                    ws_ypixel: 0,
                };
                let _over = rustix::termios::tcsetwinsize(master, size);
            }
        }
    }
}
