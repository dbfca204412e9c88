//! What is written down about a sandbox, in `sandbox.json` in its own directory (readable by its owner only).

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use belljar_domain::{ExitReport, KillCause, SandboxId, SandboxSpec};
use belljar_jail::{cgroup::Group, disk::DiskKind, read_small};
use belljar_ports::{Level, SandboxError};
use serde::{Deserialize, Serialize};

use super::sandboxes;

/// A process, told apart from a later one with the same number by when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) started: u64,
}

impl Process {
    pub(super) fn of(pid: u32) -> Self {
        Self { pid, started: start_time(pid).unwrap_or(0) }
    }

    pub(super) fn is_alive(self) -> bool {
        start_time(self.pid) == Some(self.started)
    }

    /// Waits for a process that is about to end; says whether it did.
    pub(super) fn ends(self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(2);
        while self.is_alive() {
            if Instant::now() > deadline {
                return false;
            }
            thread::sleep(Duration::from_micros(200));
        }
        true
    }
}

/// Field 22 of `/proc/PID/stat`, counted after the bracketed name; `None` for a zombie or no process.
fn start_time(pid: u32) -> Option<u64> {
    let stat = read_small(Path::new(&format!("/proc/{pid}/stat"))).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<_> = rest.split_whitespace().collect();
    if *fields.first()? == "Z" {
        return None;
    }
    fields.get(19)?.parse().ok()
}

/// The record itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) id: SandboxId,
    pub(super) spec: SandboxSpec,
    pub(super) created: SystemTime,
    pub(super) command: Vec<String>,
    pub(super) keeper: Process,
    pub(super) init: Process,
    pub(super) disk: DiskKind,
    /// First host id of its range, as root.
    pub(super) id_base: Option<u32>,
    pub(super) user: (u32, u32),
    pub(super) home: PathBuf,
    pub(super) cwd: String,
    pub(super) env: BTreeMap<String, String>,
    pub(super) group: Group,
    pub(super) levels: Vec<Level>,
    /// Host directories of the template's root, for looking up its users.
    pub(super) layers: Vec<PathBuf>,
    /// Snapshots it started from, newest first.
    pub(super) snapshots: Vec<PathBuf>,
    pub(super) ended: Option<Ended>,
    pub(super) report: Option<ExitReport>,
}

/// When and why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) at: SystemTime,
    pub(super) cause: Option<KillCause>,
}

const FILE: &str = "sandbox.json";
/// What it is called while it is being written.
pub(super) const DRAFT: &str = "sandbox.json.draft";

impl Record {
    pub(super) fn dir(&self, home: &Path) -> PathBuf {
        sandboxes(home).join(self.id.to_string())
    }

    /// Reads one.
    pub(super) fn load(home: &Path, id: SandboxId) -> Result<Self, SandboxError> {
        let path = sandboxes(home).join(id.to_string()).join(FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(SandboxError::Unknown(id)),
            Err(error) => return Err(SandboxError::provider("read the sandbox's record", error)),
        };
        serde_json::from_slice(&text)
            .map_err(|e| SandboxError::provider("understand the sandbox's record", e))
    }

    /// Reads all, oldest first. A directory without a readable record is somebody's half-made sandbox, not an error.
    pub(super) fn all(home: &Path) -> Result<Vec<Self>, SandboxError> {
        let entries = match fs::read_dir(sandboxes(home)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(SandboxError::provider("list sandboxes", error)),
        };
        let names =
            entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<SandboxId>().ok());
        let mut all: Vec<_> = names.filter_map(|id| Self::load(home, id).ok()).collect();
        all.sort_by_key(|record| record.id);
        Ok(all)
    }

    /// Writes down its end. Nothing runs in it any more, so the values of its environment are forgotten.
    pub(super) fn end(&mut self, ended: Ended) {
        self.ended = Some(ended);
        for value in self.env.values_mut().chain(self.spec.env.values_mut()) {
            value.clear();
        }
    }

    /// Removes it, so that the sandbox is no longer known.
    pub(super) fn forget(&self, home: &Path) {
        let _already = fs::remove_file(self.dir(home).join(FILE));
    }

    /// Writes it, whole or not at all.
    pub(super) fn save(&self, home: &Path) -> Result<(), SandboxError> {
        let dir = self.dir(home);
        let draft = dir.join(DRAFT);
        let write = || -> io::Result<()> {
            let mut options = fs::OpenOptions::new();
            let file = options.write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
            serde_json::to_writer(io::BufWriter::new(file), self)?;
            fs::rename(&draft, dir.join(FILE))
        };
        write().map_err(|e| SandboxError::provider("write the sandbox's record", e))
    }
}
