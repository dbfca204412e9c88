//! Commands of the run itself, in its sandboxes: by a shell, with a clock, and their output at hand.

use std::{collections::BTreeMap, time::Duration};

use belljar_domain::{ExecutionId, ExitReport, SandboxId, Span};
use belljar_ports::store::StoreError;

use super::{
    super::{Service, ServiceError, StartExecution},
    live::{Halt, LiveRun},
};

/// How long a command is waited for before it is asked whether the run goes on.
const STEP: Duration = Duration::from_millis(100);
/// How much of a command's output people are shown, and how much is read for results.
const TAIL: usize = 4096;
const HEARD: usize = 16 << 20;

/// A shell command.
pub(super) fn order(command: &str, patience: Span) -> StartExecution {
    StartExecution {
        argv: ["sh", "-c", command].map(str::to_owned).to_vec(),
        timeout: Some(patience),
        ..StartExecution::default()
    }
}

/// git without hooks, whoever owns the repository.
pub(super) fn quiet_git() -> BTreeMap<String, String> {
    let settings = [("core.hooksPath", "/dev/null"), ("safe.directory", "*"), ("core.fsmonitor", "false")];
    let mut env = BTreeMap::from([("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string())]);
    for (place, (key, value)) in settings.into_iter().enumerate() {
        env.insert(format!("GIT_CONFIG_KEY_{place}"), key.to_owned());
        env.insert(format!("GIT_CONFIG_VALUE_{place}"), value.to_owned());
    }
    env
}

/// A command that is over, with what it wrote in the order it came.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) report: ExitReport,
    pub(super) output: String,
}

impl Done {
    /// The end of what it wrote, for people.
    pub(super) fn tail(&self) -> String {
        let from = self.output.ceil_char_boundary(self.output.len().saturating_sub(TAIL));
        self.output.get(from..).unwrap_or_default().trim().to_owned()
    }
}

impl Service {
    /// Runs a command of the run to its end, or until the run is to stop.
    pub(super) fn see_through(
        &self,
        run: &LiveRun,
        id: SandboxId,
        order: StartExecution,
    ) -> Result<Done, Halt> {
        let who = run.who();
        let started = self.start(&who, id, order)?;
        loop {
            if let Some(report) = self.wait(&who, started.id, STEP)?.report {
                return Ok(Done { report, output: self.said(run, started.id)? });
            }
            if let Err(halt) = self.goes_on(run) {
                // It may be over by now.
                let _over = self.kill(&who, started.id);
                return Err(halt);
            }
        }
    }

    /// What a command wrote, as the log has it.
    fn said(&self, run: &LiveRun, id: ExecutionId) -> Result<String, Halt> {
        let (mut said, mut after) = (Vec::new(), 0);
        loop {
            let page = self.output(&run.who(), id, after, HEARD)?;
            let Some(last) = page.chunks.last() else { break };
            after = last.place;
            said.extend(page.chunks.into_iter().flat_map(|chunk| chunk.bytes));
            if page.end || said.len() > HEARD {
                break;
            }
        }
        Ok(String::from_utf8_lossy(&said).into_owned())
    }
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Self {
        ServiceError::from(error).into()
    }
}
