//! The handle of one sandbox, whoever made it.

use std::{
    collections::BTreeMap,
    fs, io,
    net::SocketAddr,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use belljar_domain::{
    ExecSpec, ExitReport, Isolation, KillCause, SandboxId, SandboxPath, SandboxSpec, SandboxState,
    SnapshotId, Span, Usage,
};
use belljar_jail::{
    Cause, Connection, FromKeeper, Launched, Lifeline, Orphan, Task, ToKeeper, ask_keeper,
    cgroup::Gauges,
    disk::{self, DiskKind, ImageAccess},
};
use belljar_ports::{
    Changes, Execution, FileChange, Keep, Open, RawExit, RecordedInput, Recording, Sandbox, SandboxError,
    SandboxInfo, SnapshotInfo, Streams,
};

use super::{
    census, changes, create,
    execution::{Inquest, ProcessExecution, explain},
    inside,
    record::{Ended, Record},
    snapshot, users,
};

/// A sandbox of the `process` provider.
#[derive(Debug)]
pub(super) struct ProcessSandbox {
    home: PathBuf,
    record: Mutex<Arc<Record>>,
    held: Mutex<Held>,
    /// Why this process ended it, if it did; shared with the executions, which report it.
    verdict: Arc<Mutex<Option<KillCause>>>,
    /// Counters that are looked at with every command.
    gauges: Gauges,
}

/// What only the maker has.
#[derive(Debug, Default)]
struct Held {
    lifeline: Option<Lifeline>,
    first: Option<Connection>,
    disk: Option<Arc<OwnedFd>>,
}

impl ProcessSandbox {
    pub(super) fn adopt(home: &Path, record: Record) -> Self {
        Self::with(home, record, Held::default())
    }

    pub(super) fn launched(
        home: &Path,
        record: Record,
        launched: Launched,
        keep: Keep,
    ) -> Result<Self, SandboxError> {
        let Launched { disk, first, lifeline, .. } = launched;
        let lifeline = match keep {
            Keep::WithMaker => Some(lifeline),
            Keep::Alive => {
                lifeline.release().map_err(|e| SandboxError::provider("release the sandbox", e))?;
                None
            }
        };
        Ok(Self::with(home, record, Held { lifeline, first: Some(first), disk: Some(Arc::new(disk)) }))
    }

    fn with(home: &Path, record: Record, held: Held) -> Self {
        Self {
            home: home.to_path_buf(),
            record: Mutex::new(Arc::new(record)),
            held: Mutex::new(held),
            verdict: Arc::default(),
            gauges: Gauges::default(),
        }
    }

    pub(super) fn record(&self) -> Arc<Record> {
        Arc::clone(&self.record.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn update(&self, change: impl FnOnce(&mut Record)) -> Result<(), SandboxError> {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        // Another process may have written since; only the change is ours.
        if let Ok(stored) = Record::load(&self.home, record.id) {
            *record = Arc::new(stored);
        }
        change(Arc::make_mut(&mut record));
        record.save(&self.home)
    }

    fn dir(&self) -> PathBuf {
        self.record().dir(&self.home)
    }

    fn state(record: &Record, dir: &Path) -> (SandboxState, Option<Ended>) {
        if let Some(ended) = record.ended {
            return (SandboxState::Stopped, Some(ended));
        }
        if record.keeper.is_alive() && record.init.is_alive() {
            let frozen = record.group.is_frozen(&Gauges::default());
            return (if frozen { SandboxState::Paused } else { SandboxState::Running }, None);
        }
        // The keeper makes the file, then writes into it.
        let read = || fs::read_to_string(dir.join("ended")).ok().filter(|word| !word.is_empty());
        let mut word = read();
        if word.is_none() {
            if record.keeper.is_alive() {
                // It has yet to write down why.
                return (SandboxState::Stopping, None);
            }
            // It may have done so just before it went.
            word = read();
        }
        let at = fs::metadata(dir.join("ended")).and_then(|meta| meta.modified()).unwrap_or(record.created);
        match word.as_deref() {
            Some("died") | None => (SandboxState::Failed, Some(Ended { at, cause: None })),
            Some("ttl") => (SandboxState::Stopped, Some(Ended { at, cause: Some(KillCause::Ttl) })),
            Some("idle") => (SandboxState::Stopped, Some(Ended { at, cause: Some(KillCause::Idle) })),
            Some("killswitch") => {
                (SandboxState::Stopped, Some(Ended { at, cause: Some(KillCause::Killswitch) }))
            }
            Some(_) => (SandboxState::Stopped, Some(Ended { at, cause: None })),
        }
    }

    fn live(&self, hint: &'static str) -> Result<Arc<Record>, SandboxError> {
        let record = self.record();
        match Self::state(&record, &record.dir(&self.home)).0 {
            SandboxState::Running => Ok(record),
            state => Err(SandboxError::State { id: record.id, state, hint }),
        }
    }

    /// A conversation with PID 1 of a running sandbox.
    fn connect(&self, record: &Record) -> Result<Connection, SandboxError> {
        const HINT: &str = "resume it with `belljar resume` or start a new one with `belljar run`";
        let first = self.held.lock().unwrap_or_else(PoisonError::into_inner).first.take();
        let opened = first.map_or_else(|| Connection::open(&record.dir(&self.home)), Ok);
        match opened {
            // Whoever answers the door lives; a frozen one has a door, too.
            Ok(connection) if record.ended.is_none() && !record.group.is_frozen(&self.gauges) => {
                Ok(connection)
            }
            Ok(_) => self.live(HINT).and(Err(SandboxError::Over(record.id))),
            Err(error) => self.live(HINT).and(Err(SandboxError::provider("reach the sandbox", error))),
        }
    }

    fn errand(&self, what: Task) -> Result<Option<OwnedFd>, SandboxError> {
        let record = self.record();
        let connection = self.connect(&record)?;
        inside::run(&record, connection, what)
    }

    /// A descriptor of the private disk: the maker's own, the keeper's, or the image of one that is over.
    pub(super) fn disk(&self) -> Result<Arc<OwnedFd>, SandboxError> {
        if let Some(disk) = &self.held.lock().unwrap_or_else(PoisonError::into_inner).disk {
            return Ok(Arc::clone(disk));
        }
        let record = self.record();
        let dir = record.dir(&self.home);
        if record.keeper.is_alive() {
            match ask_keeper(&dir, ToKeeper::Disk) {
                Ok((FromKeeper::Disk, Some(disk))) => return Ok(Arc::new(disk)),
                Ok(_) => return Err(SandboxError::Over(record.id)),
                // It is ending just now, and what it leaves can be opened once it let go.
                Err(_) if record.keeper.ends() => {}
                Err(error) => {
                    return Err(SandboxError::provider("ask the keeper for the private disk", error));
                }
            }
        }
        let opened = match record.disk {
            DiskKind::Image => disk::mount_image(&dir.join(create::IMAGE), ImageAccess::Read)
                .map_err(|e| SandboxError::provider("open the private disk", e))?,
            DiskKind::Tmpfs => fs::File::open(dir.join(changes::EXPORT))
                .map_err(|e| SandboxError::provider("open what is left of the private disk", e))?
                .into(),
        };
        Ok(Arc::new(opened))
    }

    fn tell_keeper(&self, request: ToKeeper) -> Result<(), SandboxError> {
        let record = self.record();
        let lifeline = self.held.lock().unwrap_or_else(PoisonError::into_inner).lifeline.take();
        let told = match lifeline {
            Some(lifeline) => lifeline.end(request),
            None if !record.keeper.is_alive() => return Ok(()),
            None => ask_keeper(&record.dir(&self.home), request).map(drop),
        };
        match told {
            Ok(()) => Ok(()),
            // It ended by itself just now: its time was over, or somebody else ended it, and its door is gone.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
                    || record.keeper.ends() =>
            {
                Ok(())
            }
            Err(error) => Err(SandboxError::provider("end the sandbox", error)),
        }
    }
}

/// What a sandbox is called unless somebody calls it otherwise.
pub(super) fn name(id: SandboxId, spec: &SandboxSpec) -> String {
    let agent = spec.agent.as_deref().unwrap_or("none");
    let agent: String =
        agent.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(32).collect();
    format!("sandbox_{agent}_{}", id.short())
}

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
        let Recording { journal, orders, stdin, cap } = recording;
        request.orphan = Orphan::Keep;
        let (stdin, input) = match stdin {
            RecordedInput::Given(stdin) => (stdin, false),
            RecordedInput::Piped(pipe) => (pipe, true),
        };
        request.recording = Some(belljar_jail::Recording { cap, input });
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
        let running = Self::state(&record, &self.dir()).0 == SandboxState::Running;
        // A moving target makes a torn snapshot; hold it still if this host can.
        let freeze = running && record.group.can_freeze();
        if freeze {
            self.pause()?;
        }
        let taken = self.disk().and_then(|disk| snapshot::take(&self.home, &record, &disk, id, name));
        if freeze {
            self.resume()?;
        }
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
