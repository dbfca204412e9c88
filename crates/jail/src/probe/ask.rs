//! Asking: the same program is executed again as a probe, and must answer soon.

use std::{
    io::{self, Read},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use belljar_init::wire::{Failure, decode};

use super::{COMMAND, Probe};
use crate::StartError;

/// The helper that waits until its standard input ends.
pub(super) const SIT: &str = "sit";

const PATIENCE: Duration = Duration::from_secs(10);

/// Runs probes, each in a process of its own.
#[derive(Debug, Clone)]
pub struct Prober {
    program: PathBuf,
}

/// Why a probe found something missing.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The kernel refused a step.
    #[error(transparent)]
    Refused(#[from] StartError),
    /// The probe could not be started.
    #[error("the probe could not be started: {0}")]
    Start(io::Error),
    /// It ended or hung without an answer.
    #[error("the probe gave no answer")]
    Silent,
}

impl Prober {
    /// Probes by executing this program again; its `main` must hand [`COMMAND`] to [`super::run`].
    #[must_use]
    pub fn this_program() -> Self {
        Self { program: PathBuf::from("/proc/self/exe") }
    }

    /// Runs a probe and says what it found.
    ///
    /// # Errors
    /// When the feature is not to be had, or the probe did not answer.
    pub fn ask(&self, probe: Probe) -> Result<String, ProbeError> {
        let child = self.start(probe.name(), Stdio::null()).map_err(ProbeError::Start)?;
        let answer = hear(child).ok_or(ProbeError::Silent)?;
        answer.map_err(|failure| StartError::new(failure).into())
    }

    /// Starts a process that does nothing until its standard input is closed.
    pub(super) fn sitter(&self) -> io::Result<Child> {
        self.start(SIT, Stdio::piped())
    }

    pub(super) fn start(&self, name: &str, input: Stdio) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args([COMMAND, name]).stdin(input).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
    }
}

pub(super) fn sit() -> io::Result<()> {
    io::stdin().lock().read_to_end(&mut Vec::new()).map(drop)
}

/// What a helper of a probe answers, read by the probe.
pub(super) fn ask_helper(name: &str) -> Option<Result<String, Failure>> {
    hear(Prober::this_program().start(name, Stdio::null()).ok()?)
}

/// Waits for a child and its answer, which is a few bytes and fits into the pipe.
fn hear(mut child: Child) -> Option<Result<String, Failure>> {
    let deadline = Instant::now() + PATIENCE;
    while let Ok(None) = child.try_wait() {
        if Instant::now() > deadline {
            // It may have ended in this moment.
            let _ended = child.kill();
            let _status = child.wait();
            return None;
        }
        thread::sleep(Duration::from_micros(500));
    }
    let mut said = Vec::new();
    child.stdout.take()?.take(65_536).read_to_end(&mut said).ok()?;
    decode(&said)
}
