//! What a handle of a sandbox holds, and how it reaches PID 1, the keeper and the disk.

use std::{
    fs, io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use belljar_domain::{KillCause, SandboxId, SandboxSpec, SandboxState};
use belljar_jail::{
    Connection, FromKeeper, Launched, Lifeline, Task, ToKeeper, ask_keeper,
    cgroup::Gauges,
    disk::{self, DiskKind, ImageAccess},
};
use belljar_ports::{Keep, SandboxError};

use super::{
    changes, create, inside,
    record::{Ended, Record},
};

/// A sandbox of the `process` provider.
#[derive(Debug)]
pub(super) struct ProcessSandbox {
    pub(super) home: PathBuf,
    record: Mutex<Arc<Record>>,
    pub(super) held: Mutex<Held>,
    /// Why this process ended it, if it did; shared with the executions, which report it.
    pub(super) verdict: Arc<Mutex<Option<KillCause>>>,
    /// Counters that are looked at with every command.
    pub(super) gauges: Gauges,
}

/// What only the maker has.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) lifeline: Option<Lifeline>,
    pub(super) first: Option<Connection>,
    pub(super) disk: Option<Arc<OwnedFd>>,
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

    pub(super) fn update(&self, change: impl FnOnce(&mut Record)) -> Result<(), SandboxError> {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        // Another process may have written since; only the change is ours.
        if let Ok(stored) = Record::load(&self.home, record.id) {
            *record = Arc::new(stored);
        }
        change(Arc::make_mut(&mut record));
        record.save(&self.home)
    }

    pub(super) fn dir(&self) -> PathBuf {
        self.record().dir(&self.home)
    }

    pub(super) fn state(record: &Record, dir: &Path) -> (SandboxState, Option<Ended>) {
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

    pub(super) fn live(&self, hint: &'static str) -> Result<Arc<Record>, SandboxError> {
        let record = self.record();
        match Self::state(&record, &record.dir(&self.home)).0 {
            SandboxState::Running => Ok(record),
            state => Err(SandboxError::State { id: record.id, state, hint }),
        }
    }

    /// A conversation with PID 1 of a running sandbox.
    pub(super) fn connect(&self, record: &Record) -> Result<Connection, SandboxError> {
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

    pub(super) fn errand(&self, what: Task) -> Result<Option<OwnedFd>, SandboxError> {
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

    pub(super) fn tell_keeper(&self, request: ToKeeper) -> Result<(), SandboxError> {
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
