//! What can be done with a sandbox, whoever made it.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    os::fd::{AsFd, OwnedFd},
    sync::{Arc, PoisonError},
    time::SystemTime,
};

use belljar_domain::{
    ExecSpec, ExitReport, Isolation, KillCause, SandboxPath, SandboxSpec, SandboxState, SnapshotId, Span,
    Usage,
};
use belljar_jail::{Cause, Connection, Orphan, Task, ToKeeper, ask_keeper, cgroup::Gauges, disk::DiskKind};
use belljar_ports::{
    Changes, Execution, FileChange, Open, RawExit, RecordedInput, Recording, Sandbox, SandboxError,
    SandboxInfo, SnapshotInfo, Streams,
};

use super::{
    census, changes,
    execution::{Inquest, ProcessExecution, explain},
    handle::{ProcessSandbox, name},
    inside,
    record::Ended,
    snapshot,
    still::{self, Still},
    users,
};

impl Sandbox for ProcessSandbox {
    fn info(&self) -> SandboxInfo {
        let record = self.record();
        let dir = record.dir(&self.home);
        let (state, ended) = Self::state(&record, &dir);
        SandboxInfo {
            id: record.id,
            name: name(record.id, &record.spec),
            state,
            provider: "process".to_owned(),
            isolation: Isolation::Namespaces,
            spec: record.spec.clone(),
            created: record.created,
            ended: ended.map(|ended| ended.at),
            cause: ended.and_then(|ended| ended.cause),
            command: record.command.clone(),
            report: record.report.clone(),
            levels: record.levels.clone(),
            dir,
        }
    }

    fn exec(&self, spec: &ExecSpec, streams: Streams) -> Result<Box<dyn Execution>, SandboxError> {
        let record = self.record();
        // First of all: PID 1 starts a shepherd for whoever knocks, and does so while the rest is made ready here.
        let connection = self.connect(&record)?;
        let request = users::request(&record, spec)?;
        let disk = self.held.lock().unwrap_or_else(PoisonError::into_inner).disk.clone();
        let execution = ProcessExecution::start(
            &record,
            record.dir(&self.home),
            connection,
            &request,
            &streams,
            disk,
            Arc::clone(&self.verdict),
        )?;
        Ok(Box::new(execution))
    }

    fn record(&self, spec: &ExecSpec, recording: Recording) -> Result<OwnedFd, SandboxError> {
        let record = self.record();
        let connection = self.connect(&record)?;
        let mut request = users::request(&record, spec)?;
        let Recording { journal, orders, stdin, cap, is_whole } = recording;
        request.orphan = Orphan::Keep;
        let (stdin, input) = match stdin {
            RecordedInput::Given(stdin) => (stdin, false),
            RecordedInput::Piped(pipe) => (pipe, true),
        };
        request.recording = Some(belljar_jail::Recording { cap, input });
        request.is_whole = is_whole;
        connection
            .exec(&request, &[&journal, &orders, &stdin].map(AsFd::as_fd))
            .map(OwnedFd::from)
            .map_err(|error| explain(record.id, error))
    }

    fn stand_by(&self) {
        let record = self.record();
        // Every counter a command is judged by is open from now on.
        let _opened = record.group.usage(&self.gauges);
        let first = || self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if record.ended.is_some() || record.group.is_frozen(&self.gauges) || first().first.is_some() {
            return;
        }
        // PID 1 starts a shepherd, which waits. Whoever cannot be reached now is asked when there is a command.
        if let Ok(connection) = Connection::open(&record.dir(&self.home)) {
            first().first.get_or_insert(connection);
        }
    }

    fn stands_by(&self) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.first.as_ref().is_some_and(Connection::is_open)
    }

    fn rest(&self) {
        // Its shepherd waits for a command as long as this is open.
        self.held.lock().unwrap_or_else(PoisonError::into_inner).first = None;
        self.gauges.close();
    }

    fn strikes(&self) -> Usage {
        self.record().group.strikes(&self.gauges)
    }

    fn judge(&self, exit: Option<&RawExit>, strikes: &Usage, duration: Span) -> ExitReport {
        let record = self.record();
        let inquest = Inquest {
            state_dir: &record.dir(&self.home),
            disk: self.held.lock().unwrap_or_else(PoisonError::into_inner).disk.clone(),
            decided: *self.verdict.lock().unwrap_or_else(PoisonError::into_inner),
            record: &record,
            gauges: &self.gauges,
        };
        inquest.report(exit, strikes, duration)
    }

    fn open(&self, path: &SandboxPath, how: Open) -> Result<OwnedFd, SandboxError> {
        self.errand(inside::open(path, how))?.ok_or_else(|| SandboxError::Over(self.record().id))
    }

    fn change(&self, change: &FileChange) -> Result<(), SandboxError> {
        self.errand(inside::change(change)).map(drop)
    }

    fn dial(&self, port: u16) -> Result<OwnedFd, SandboxError> {
        self.errand(Task::Dial { port })?.ok_or_else(|| SandboxError::Over(self.record().id))
    }

    fn listen(&self) -> Result<OwnedFd, SandboxError> {
        self.errand(Task::Listen { port: 0 })?.ok_or_else(|| SandboxError::Over(self.record().id))
    }

    fn listening(&self) -> Result<Vec<SocketAddr>, SandboxError> {
        self.live("only a running sandbox listens").map(|record| inside::listening(&record))
    }

    fn owner_inside(&self, uid: u32, gid: u32) -> (u32, u32) {
        const NOBODY: u32 = 65_534;
        let record = self.record();
        match record.id_base {
            Some(base) => (uid.checked_sub(base).unwrap_or(NOBODY), gid.checked_sub(base).unwrap_or(NOBODY)),
            None => record.user,
        }
    }

    fn reassign(&self, spec: &SandboxSpec) -> Result<(), SandboxError> {
        self.update(|record| {
            record.env.extend(spec.env.clone());
            record.spec.env = spec.env.clone();
            record.spec.agent = spec.agent.clone();
            record.spec.labels = spec.labels.clone();
            record.spec.clocks = spec.clocks;
            record.created = SystemTime::now();
        })
    }

    fn keep_env(&self, env: &BTreeMap<String, String>) -> Result<(), SandboxError> {
        self.update(|record| record.spec.env.clone_from(env))
    }

    fn usage(&self) -> Result<Usage, SandboxError> {
        let record = self.record();
        if !record.init.is_alive() {
            return Err(SandboxError::Over(record.id));
        }
        let mut usage = super::execution::measure(&record, self.disk().ok().as_deref(), &Gauges::default());
        // Looking at every process of the host is for those who watch, not for every command that ends.
        usage.pids = usage.pids.or_else(|| census::population(record.init.pid));
        Ok(usage)
    }

    fn pause(&self) -> Result<(), SandboxError> {
        let record = self.live("only a running sandbox can be paused")?;
        if !record.group.can_freeze() {
            return Err(SandboxError::Unsupported {
                what: "this host has no control group that could freeze the sandbox".to_owned(),
                hint: "`belljar doctor` says how to get one".to_owned(),
            });
        }
        still::forget(&record.dir(&self.home));
        record.group.set_frozen(true).map_err(|e| SandboxError::provider("pause the sandbox", e))
    }

    fn resume(&self) -> Result<(), SandboxError> {
        let record = self.record();
        match Self::state(&record, &record.dir(&self.home)).0 {
            SandboxState::Paused => {}
            state => {
                return Err(SandboxError::State {
                    id: record.id,
                    state,
                    hint: "only a paused sandbox can be resumed",
                });
            }
        }
        record.group.set_frozen(false).map_err(|e| SandboxError::provider("resume the sandbox", e))
    }

    fn extend(&self, ttl: Span) -> Result<(), SandboxError> {
        self.live("only a running sandbox can be extended")?;
        ask_keeper(&self.dir(), ToKeeper::Extend { ttl_ms: ttl.as_millis() })
            .map(drop)
            .map_err(|e| SandboxError::provider("extend the sandbox's life", e))
    }

    fn is_untouched(&self) -> Result<bool, SandboxError> {
        if self.record().spec.workspace.is_none() {
            return Ok(true);
        }
        changes::is_untouched(&*self.disk()?)
    }

    fn changes(&self) -> Result<Changes, SandboxError> {
        changes::of(&self.record(), self.disk()?)
    }

    fn note(&self, command: &[String], report: Option<&ExitReport>) -> Result<(), SandboxError> {
        self.update(|record| {
            record.command = command.to_vec();
            record.report = report.cloned();
        })
    }

    fn snapshot(&self, id: SnapshotId, name: Option<&str>) -> Result<SnapshotInfo, SandboxError> {
        let record = self.record();
        // A moving target makes a torn snapshot.
        let still = Still::hold(&record, &record.dir(&self.home))?;
        let taken = self.disk().and_then(|disk| snapshot::take(&self.home, &record, &disk, id, name));
        still.release()?;
        taken
    }

    fn stop(&self, cause: Option<KillCause>) -> Result<(), SandboxError> {
        let record = self.record();
        if record.ended.is_some() {
            return Ok(());
        }
        *self.verdict.lock().unwrap_or_else(PoisonError::into_inner) = cause;
        if record.disk == DiskKind::Tmpfs && record.spec.workspace.is_some() {
            // Memory goes with the sandbox; what it changed must not.
            if let Ok(disk) = self.disk() {
                changes::export(&record, &record.dir(&self.home), &disk)?;
            }
        }
        let reason = if cause.is_some() { Cause::Killswitch } else { Cause::Stopped };
        self.tell_keeper(ToKeeper::Stop { cause: reason })?;
        self.held.lock().unwrap_or_else(PoisonError::into_inner).disk = None;
        // Until the keeper has let go of the disk, what was written last may not be in the image.
        record.keeper.ends();
        // One that was killed has removed nothing.
        record.group.remove();
        // What ended it first is what ended it.
        let earlier = Self::state(&record, &self.dir()).1.filter(|ended| ended.cause.is_some());
        let ended = earlier.unwrap_or(Ended { at: SystemTime::now(), cause });
        match self.update(|record| record.end(ended)) {
            // Its maker had nothing to keep and removed it meanwhile.
            Err(_) if !self.dir().exists() => Ok(()),
            written => written,
        }
    }

    fn abandon(self: Box<Self>) -> Result<(), SandboxError> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).lifeline.is_some();
        let record = self.record();
        // A keeper whose sandbox ended by itself keeps the record, and is on its way out.
        if !held || !record.keeper.is_alive() || !record.init.is_alive() {
            return self.destroy();
        }
        // Nobody shall find it any more; the keeper sees its lifeline end and does the rest.
        record.forget(&self.home);
        Ok(())
    }

    fn destroy(&self) -> Result<(), SandboxError> {
        let record = self.record();
        self.held.lock().unwrap_or_else(PoisonError::into_inner).disk = None;
        self.tell_keeper(ToKeeper::Destroy)?;
        let dir = record.dir(&self.home);
        if dir.exists() {
            record.group.remove();
            changes::remove_tree(&dir)
                .map_err(|e| SandboxError::provider("remove the sandbox's directory", e))?;
        }
        Ok(())
    }
}
