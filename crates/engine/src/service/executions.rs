//! Running commands: start, follow, steer.

use std::{
    collections::VecDeque,
    fmt,
    fs::File,
    io::{Seek, Write},
    os::fd::OwnedFd,
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use belljar_domain::{EventKind, ExecSpec, ExecutionId, Principal, SandboxId, Span, Terminal};
use belljar_ports::{
    Order, RecordedInput, Recording,
    store::{ExecutionFilter, LogStream},
};
use rustix::fs::MemfdFlags;
use serde_json::Value;

use super::{
    ExecutionView, Finished, Heard, OwnOutput, Result, Service, ServiceError, StartExecution, Stdin, entries,
    journal::{self, Head, Journal, Placed},
    live::LiveExecution,
    new_execution_id, now,
    scribe::{Counts, Scribe},
    surplus::Surplus,
    tracker::Tracker,
};

/// What a moment made of a command.
#[derive(Debug)]
pub enum Brief {
    /// It is over.
    Over(Box<Finished>),
    /// It is not.
    Going(Going),
}

/// A command that is not over yet.
pub struct Going(Box<Tracker>);

impl Going {
    /// Follows it to its end.
    ///
    /// # Errors
    /// When its end cannot be written down.
    pub fn follow(self) -> Result<Finished> {
        Ok(self.0.follow()?)
    }
}

impl fmt::Debug for Going {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Going").field(&self.0.head.view.id).finish()
    }
}

/// Most bytes of a command line and its environment; the kernel's own limit is near.
const MAX_COMMAND: usize = 2 << 20;

impl Service {
    /// Runs a command to its end and answers with what it wrote.
    ///
    /// # Errors
    /// When it cannot be started. That it failed is not an error.
    pub fn run(&self, who: &Principal, id: SandboxId, order: StartExecution) -> Result<Finished> {
        Ok(self.begin(who, id, order)?.follow()?)
    }

    /// As [`Service::run`], but answers in a moment: with the end of a short command, or with a longer one to be
    /// followed on.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run_briefly(&self, who: &Principal, id: SandboxId, order: StartExecution) -> Result<Brief> {
        Ok(match self.begin(who, id, order)?.follow_briefly() {
            Ok(finished) => Brief::Over(Box::new(finished?)),
            Err(tracker) => Brief::Going(Going(tracker)),
        })
    }

    /// Starts a command; it goes on whatever becomes of this service.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(&self, who: &Principal, id: SandboxId, order: StartExecution) -> Result<ExecutionView> {
        Ok(self.start_heard(who, id, order)?.0)
    }

    /// As [`Service::start`], for whoever wants to hear the command themselves.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start_heard(
        &self,
        who: &Principal,
        id: SandboxId,
        order: StartExecution,
    ) -> Result<(ExecutionView, OwnOutput)> {
        let mut tracker = self.begin(who, id, order)?;
        let view = tracker.live.view();
        let own = OwnOutput { service: self.clone(), live: Arc::clone(&tracker.live) };
        let begun = tracker.tell_beginning();
        self.track(tracker)?;
        begun.wait()?;
        Ok((view, own))
    }

    pub(super) fn track(&self, tracker: Tracker) -> Result<()> {
        let follow = move || drop(tracker.follow());
        thread::Builder::new()
            .name("tracker".to_owned())
            .stack_size(256 * 1024)
            .spawn(follow)
            .map(drop)
            .map_err(|error| ServiceError::Unsupported(format!("no thread to follow the command: {error}")))
    }

    fn begin(&self, who: &Principal, id: SandboxId, mut order: StartExecution) -> Result<Tracker> {
        let sandbox = self.live(who, id)?;
        sandbox.touch();
        let passage = self.pass_command(who, &sandbox.view(), &mut order)?;
        let size = order.argv.iter().map(String::len).sum::<usize>()
            + order.env.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        if size > MAX_COMMAND {
            return Err(ServiceError::TooLarge(format!("the command and its environment have {size} bytes")));
        }
        let taken =
            |id| self.0.registry.execution(id).is_some() || matches!(self.store().execution(id), Ok(Some(_)));
        if let Some(id) = order.id.filter(|id| taken(*id)) {
            return Err(ServiceError::Conflict(format!("there is an execution {id} already")));
        }
        let owner = sandbox.view();
        let view = ExecutionView {
            id: order.id.unwrap_or_else(new_execution_id),
            sandbox: id,
            project: owner.project,
            argv: self.shown_command(&order.argv),
            cwd: order.cwd.as_ref().map(ToString::to_string),
            env: order.env.keys().cloned().collect(),
            user: order.user.clone(),
            terminal: order.terminal,
            started_by: who.name.clone(),
            started: now(),
            ended: None,
            report: None,
            written: Default::default(),
            truncated: false,
        };
        let cap = self.0.settings.output_cap.min(owner.spec.limits.memory.as_bytes() / 8);
        let is_attached = matches!(order.heard, Heard::AsItComes);
        // A terminal has to be alive whoever looks at it, and however late.
        let whole = (is_attached || order.terminal.is_some()).then_some(cap);
        let head = Head { view: view.clone(), strikes: sandbox.sandbox.strikes(), whole, is_attached };
        let journal = Journal::begin(&self.0.runtime_dir, &head)
            .map_err(|error| ServiceError::Unsupported(format!("the output cannot be kept: {error}")))?;
        let timeout = order.timeout.unwrap_or(owner.spec.clocks.exec_timeout);
        // What was set since the sandbox was made is here alone; the provider knows how it began.
        let mut env = owner.spec.env;
        env.extend(order.env);
        let recorded = recording(&journal, order.stdin, order.terminal.is_some(), cap);
        let started = recorded.and_then(|recording| {
            let recording = Recording { is_whole: whole.is_some(), ..recording };
            let spec = ExecSpec {
                argv: order.argv,
                cwd: order.cwd,
                env,
                user: order.user,
                terminal: order.terminal,
                timeout: (timeout > Span::millis(0)).then_some(timeout),
            };
            Ok(sandbox.sandbox.record(&spec, recording)?)
        });
        let bell = started.inspect_err(|_| journal.remove())?;
        let mut event = entries::event_of(&view, owner.spec.agent, EventKind::ExecutionStarted);
        passage.write(&mut event);
        let beginning = entries::told(&view, event);
        let live = LiveExecution::new(sandbox, view);
        let live = self.0.registry.begin(match whole {
            None => live,
            Some(cap) if is_attached => live.whole(Surplus::new(cap, Counts::default()).followed()).heard(),
            Some(cap) => live.whole(Surplus::new(cap, Counts::default())),
        });
        let scribe = |stream| Scribe::new(stream, self.0.recorder.redactor(), Placed::default());
        Ok(Tracker {
            service: self.clone(),
            live,
            head,
            journal,
            bell: Some(bell),
            beginning: Some(beginning),
            held: Vec::new(),
            beyond: Vec::new(),
            has_more: false,
            marks: VecDeque::new(),
            stdout: scribe(LogStream::Stdout),
            stderr: scribe(LogStream::Stderr),
        })
    }

    /// A command line as it is shown and kept: without its secrets.
    fn shown_command(&self, argv: &[String]) -> Vec<String> {
        let mut shown = Value::from(argv.to_vec());
        self.0.recorder.redactor().value(&mut shown);
        serde_json::from_value(shown).unwrap_or_default()
    }

    /// Shows a command.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn execution(&self, who: &Principal, id: ExecutionId) -> Result<ExecutionView> {
        if let Some(live) = self.0.registry.execution(id) {
            let view = live.view();
            return if who.sees(&view.project) { Ok(view) } else { Err(ServiceError::NoExecution(id)) };
        }
        let row = self.store().execution(id)?.filter(|row| who.sees(&row.project));
        let row = row.ok_or(ServiceError::NoExecution(id))?;
        serde_json::from_value(row.record).map_err(|_unreadable| ServiceError::NoExecution(id))
    }

    /// Lists a sandbox's commands, newest first.
    ///
    /// # Errors
    /// When there is no such sandbox.
    pub fn executions(
        &self,
        who: &Principal,
        sandbox: SandboxId,
        below: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<ExecutionView>> {
        self.sandbox(who, sandbox)?;
        let filter = ExecutionFilter { sandbox: Some(sandbox), ..ExecutionFilter::default() };
        let rows = self.store().executions(&filter, below, limit)?;
        let current = |id| self.0.registry.execution(id).map(|live| live.view());
        Ok(rows
            .into_iter()
            .filter_map(|row| current(row.id).or_else(|| serde_json::from_value(row.record).ok()))
            .collect())
    }

    /// Waits for a command's end, as long as patience lasts.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn wait(&self, who: &Principal, id: ExecutionId, patience: Duration) -> Result<ExecutionView> {
        let view = self.execution(who, id)?;
        Ok(self.0.registry.execution(id).map_or(view, |live| live.wait(patience)))
    }

    /// Sends a signal to a command's process group.
    ///
    /// # Errors
    /// When it is over.
    pub fn signal(&self, who: &Principal, id: ExecutionId, signal: u8) -> Result<()> {
        if !(1..=64).contains(&signal) {
            return Err(ServiceError::Invalid(format!("{signal} is no signal; use 1 to 64")));
        }
        self.order(who, id, &Order::Signal(signal))
    }

    /// Ends a command and everything it started.
    ///
    /// # Errors
    /// When it is over.
    pub fn kill(&self, who: &Principal, id: ExecutionId) -> Result<()> {
        self.order(who, id, &Order::Kill)
    }

    /// Brings input to a command that was started with an open one.
    ///
    /// # Errors
    /// When it is over, or does not read as fast.
    pub fn input(&self, who: &Principal, id: ExecutionId, bytes: &[u8]) -> Result<()> {
        self.running(who, id)?;
        journal::feed(&self.0.runtime_dir, id, bytes)
    }

    /// Ends a command's input.
    ///
    /// # Errors
    /// When it is over.
    pub fn close_input(&self, who: &Principal, id: ExecutionId) -> Result<()> {
        self.order(who, id, &Order::CloseInput)
    }

    /// Tells a command's terminal its new size.
    ///
    /// # Errors
    /// When it is over.
    pub fn resize(&self, who: &Principal, id: ExecutionId, size: Terminal) -> Result<()> {
        self.order(who, id, &Order::Resize(size.rows, size.cols))
    }

    fn order(&self, who: &Principal, id: ExecutionId, order: &Order) -> Result<()> {
        self.running(who, id)?;
        journal::send(&self.0.runtime_dir, id, &self.0.provider.write_order(order))
    }

    fn running(&self, who: &Principal, id: ExecutionId) -> Result<()> {
        let view = self.execution(who, id)?;
        if view.report.is_some() {
            return Err(ServiceError::Over(id));
        }
        if let Some(live) = self.0.registry.execution(id) {
            live.sandbox.touch();
        }
        Ok(())
    }
}

/// What the recorded execution gets of its journal, and its input.
fn recording(journal: &Journal, stdin: Stdin, terminal: bool, cap: u64) -> Result<Recording> {
    let failed =
        |error: std::io::Error| ServiceError::Unsupported(format!("the input cannot be passed: {error}"));
    let (file, orders) = journal.ends().map_err(failed)?;
    let stdin = match stdin {
        _ if terminal => RecordedInput::Piped(journal.input().map_err(failed)?),
        Stdin::Open => RecordedInput::Piped(journal.input().map_err(failed)?),
        Stdin::Empty => RecordedInput::Given(nothing().map_err(failed)?),
        Stdin::Bytes(bytes) => {
            let fd = rustix::fs::memfd_create("belljar-stdin", MemfdFlags::CLOEXEC);
            let mut file = File::from(fd.map_err(|error| failed(error.into()))?);
            file.write_all(&bytes).and_then(|()| file.rewind()).map_err(failed)?;
            RecordedInput::Given(file.into())
        }
    };
    Ok(Recording { journal: file, orders, stdin, cap, is_whole: false })
}

/// An input that is over before it begins; opened once, since looking it up takes longer than what is done with it.
fn nothing() -> std::io::Result<OwnedFd> {
    static NOTHING: OnceLock<File> = OnceLock::new();
    let file = match NOTHING.get() {
        Some(file) => file,
        None => {
            let opened = File::open("/dev/null")?;
            NOTHING.get_or_init(|| opened)
        }
    };
    Ok(file.try_clone()?.into())
}
