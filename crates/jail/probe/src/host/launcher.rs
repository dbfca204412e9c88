//! Starts the probe under a launcher, given as the words that go before the command, and reads its reports.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::Canaries;
use super::canaries::{ENV_SECRET, KEY};
use crate::context::Secret;
use crate::probes::{Death, Probe, every_probe};
use crate::report::{Report, Verdict};
use crate::supervise;
use crate::sys::launch::{Inheritance, inherit};

/// The words that go before a command to run it in a sandbox. None: no sandbox.
#[derive(Clone, Debug)]
pub struct Launcher {
    words: Vec<OsString>,
}

/// Why the suite could not be run.
#[derive(thiserror::Error, Debug)]
pub enum RunError {
    /// The launcher did not start.
    #[error("cannot run {program}")]
    Start {
        /// The launcher, or the probe itself.
        program: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The probe could not be put into the workspace.
    #[error("cannot copy the probe into the workspace")]
    Copy(#[source] io::Error),
    /// The context could not be written down.
    #[error("cannot write the context")]
    Context(#[source] serde_json::Error),
    /// A line of output was not a report.
    #[error("not a report: {0:?}")]
    Garbled(String),
    /// The suite ended before every probe had reported.
    #[error("{reported} of {expected} probes reported ({status}): {errors}")]
    Short {
        /// How many did.
        reported: usize,
        /// How many there are.
        expected: usize,
        /// How the launcher ended.
        status: String,
        /// What it wrote to standard error.
        errors: String,
    },
}

impl Launcher {
    /// A launcher from its words.
    pub fn new<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Self {
        Self { words: words.into_iter().map(Into::into).collect() }
    }

    /// No sandbox.
    #[must_use]
    pub fn none() -> Self {
        Self { words: Vec::new() }
    }

    /// This launcher started by another one, as in `setpriv … bwrap …`.
    #[must_use]
    pub fn under(&self, outer: &Self) -> Self {
        Self { words: outer.words.iter().chain(&self.words).cloned().collect() }
    }
}

impl Canaries {
    /// Runs every probe in one sandbox and returns their reports, in the order of the list.
    pub fn run_every_probe(&self, launcher: &Launcher, probe: &Path) -> Result<Vec<Report>, RunError> {
        let output = self.run(launcher, probe, &["all"])?;
        let reports = read_reports(&output)?;
        let expected = every_probe().len();
        if reports.len() == expected {
            return Ok(reports);
        }
        Err(RunError::Short {
            reported: reports.len(),
            expected,
            status: output.status.to_string(),
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Runs one probe in a sandbox of its own. A sandbox that is ended as a whole because a probe asked for more
    /// than was granted has contained it.
    pub fn run_probe(&self, launcher: &Launcher, program: &Path, probe: &Probe) -> Result<Report, RunError> {
        let output = self.run(launcher, program, &["run", probe.name])?;
        if let Some(report) = read_reports(&output)?.pop() {
            return Ok(report);
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let detail = format!("the sandbox ended ({}): {}", output.status, errors.trim());
        let killed = output.status.code().is_none_or(|code| code > 128);
        Ok(supervise::report(
            probe,
            match killed && probe.death == Death::Contains {
                true => Verdict::contained(detail),
                false => Verdict::unknown(detail),
            },
        ))
    }

    /// The probe as it lies in the workspace, for launchers that show nothing else. Copied there if need be.
    pub fn probe_in_workspace(&self, probe: &Path) -> Result<PathBuf, RunError> {
        let inside = self.context.workspace.join("belljar-probe");
        if !inside.exists() {
            fs::copy(probe, &inside).map_err(RunError::Copy)?;
            fs::set_permissions(&inside, fs::Permissions::from_mode(0o755)).map_err(RunError::Copy)?;
        }
        Ok(inside)
    }

    /// The launcher in front of `words`, holding everything it must not pass on: a terminal, a key, an open
    /// directory and secrets in its environment. Its working directory is the workspace.
    #[must_use]
    pub fn command(&self, launcher: &Launcher, words: &[OsString]) -> Option<Command> {
        let mut all = launcher.words.iter().chain(words);
        let mut command = Command::new(all.next()?);
        command.args(all).current_dir(&self.context.workspace);
        command
            .env(ENV_SECRET, self.context.secret(Secret::Environment))
            .env("SSH_AUTH_SOCK", &self.agent_path);
        command.stdin(self.terminal.input().ok()?).stdout(Stdio::piped()).stderr(Stdio::piped());
        let secret = self.context.secret(Secret::Key).into_bytes();
        inherit(&mut command, Inheritance { leaked: self.leaked.try_clone().ok()?, key: KEY, secret });
        Some(command)
    }

    fn run(&self, launcher: &Launcher, probe: &Path, words: &[&str]) -> Result<Output, RunError> {
        let program = self.probe_in_workspace(probe)?;
        let context = serde_json::to_string(&self.context).map_err(RunError::Context)?;
        let mut line = vec![program.clone().into_os_string()];
        line.extend(words.iter().map(OsString::from));
        line.extend(["--context".into(), context.into()]);
        let failed = |source| {
            let program =
                launcher.words.first().unwrap_or(&program.clone().into_os_string()).display().to_string();
            RunError::Start { program, source }
        };
        let command = self.command(launcher, &line);
        let command =
            command.ok_or_else(|| failed(io::Error::other("no terminal or descriptor to hand down")));
        command?.output().map_err(failed)
    }
}

fn read_reports(output: &Output) -> Result<Vec<Report>, RunError> {
    let text = String::from_utf8_lossy(&output.stdout);
    let parse =
        |line: &str| serde_json::from_str(line).map_err(|_not_a_report| RunError::Garbled(line.to_owned()));
    text.lines().map(parse).collect()
}
