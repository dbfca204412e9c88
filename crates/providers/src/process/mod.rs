//! The `process` provider: sandboxes made of this kernel's own namespaces, with nothing installed.
//!
//! Owns: what a sandbox is made of on this host ([`facts`], [`blueprint`]), its [`record`] on disk, and the handles.
//! Kernel facts are the truth about what runs; records say what it was meant to be.

mod bed;
mod blueprint;
mod census;
mod changes;
mod create;
mod environment;
mod etc;
mod execution;
mod facts;
mod handle;
mod ids;
mod inside;
mod journal;
mod levels;
mod marker;
mod nest;
mod network_files;
mod quotas;
mod ready;
mod record;
mod sandbox;
mod snapshot;
mod stack;
mod still;
mod sweep;
mod templates;
mod toolchain;
mod users;
mod workspace;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
    time::SystemTime,
};

use belljar_domain::{Capability, Isolation, SandboxId, SandboxSpec, SandboxState, SnapshotId, TemplateRef};
use belljar_jail::cgroup::Controller;
pub use belljar_jail::plan::Plan;
use belljar_ports::{
    JournalRecord, Keep, Level, Order, Sandbox, SandboxError, SandboxInfo, SandboxProvider, SnapshotInfo,
    TemplateInfo,
};
pub use facts::HostFacts;

use bed::Bed;
use handle::ProcessSandbox;
use record::Record;
use uuid::Uuid;

/// Sandboxes of this host's kernel, recorded below one directory.
#[derive(Debug)]
pub struct ProcessProvider {
    home: PathBuf,
    env: BTreeMap<String, String>,
    /// Gathered when first needed: whoever only talks to a sandbox needs none.
    facts: OnceLock<HostFacts>,
    /// Made in advance for whoever comes next.
    beds: Mutex<Vec<Bed>>,
}

impl ProcessProvider {
    /// Looks at the host once, when first needed. `home` is `$BELLJAR_HOME`; `env` the caller's environment.
    ///
    /// # Errors
    /// When `home` cannot be made.
    pub fn open(home: &Path, env: BTreeMap<String, String>) -> Result<Self, SandboxError> {
        for dir in [home.to_path_buf(), sandboxes(home), making(home)] {
            match fs::create_dir(&dir) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    fs::create_dir_all(&dir)
                        .map_err(|e| SandboxError::provider("make belljar's own directory", e))?;
                }
                other => other.map_err(|e| SandboxError::provider("make belljar's own directory", e))?,
            }
        }
        Ok(Self { home: home.to_path_buf(), env, facts: OnceLock::new(), beds: Mutex::default() })
    }

    /// What this provider knows about the host.
    #[must_use]
    pub fn facts(&self) -> &HostFacts {
        self.facts.get_or_init(|| HostFacts::gather(self.env.clone()))
    }

    /// Which promises of such a sandbox hold on this host, and by what: what its record would say.
    #[must_use]
    pub fn levels(&self, spec: &SandboxSpec) -> Vec<Level> {
        levels::of(self.facts(), spec)
    }

    /// What commands in a sandbox that this process makes find of this process' environment.
    #[must_use]
    pub fn taken_over(&self, spec: &SandboxSpec) -> BTreeMap<String, String> {
        environment::taken_over(self.facts(), spec.template == TemplateRef::Host)
    }

    /// Draws the plan of a sandbox without making it.
    ///
    /// # Errors
    /// When no such sandbox can be made.
    pub fn plan(&self, id: SandboxId, spec: &SandboxSpec) -> Result<Plan, SandboxError> {
        let roots = create::resolve(&self.home, self.facts(), spec)?;
        let dir = sandboxes(&self.home).join(id.to_string());
        blueprint::draw(self.facts(), id, spec, &roots, &dir, ids::candidate(id, 0)).map(|drawn| drawn.plan)
    }
}

pub(crate) fn sandboxes(home: &Path) -> PathBuf {
    home.join("sandboxes")
}

pub(crate) fn making(home: &Path) -> PathBuf {
    home.join("making")
}

impl SandboxProvider for ProcessProvider {
    fn name(&self) -> &'static str {
        "process"
    }

    fn isolation(&self) -> Isolation {
        Isolation::Namespaces
    }

    fn capabilities(&self) -> Vec<Capability> {
        let mut all = vec![
            Capability::LimitDisk,
            Capability::LimitInodes,
            Capability::LimitPids,
            Capability::Snapshot,
            Capability::Changes,
            Capability::Terminal,
            Capability::NetworkNone,
            Capability::NetworkOpen,
        ];
        let controlled = [
            (Controller::Memory, Capability::LimitMemory),
            (Controller::Cpu, Capability::LimitCpus),
            (Controller::Freezer, Capability::Pause),
        ];
        all.extend(
            controlled
                .into_iter()
                .filter(|(c, _)| self.facts().controls(*c))
                .map(|(_, capability)| capability),
        );
        if self.facts().root {
            all.push(Capability::Users);
        }
        all
    }

    fn check(&self) -> Result<(), SandboxError> {
        ready::check(&self.home, &self.facts().cgroups)
    }

    fn outline(&self, id: SandboxId, spec: &SandboxSpec) -> SandboxInfo {
        SandboxInfo {
            id,
            name: handle::name(id, spec),
            state: SandboxState::Creating,
            provider: self.name().to_owned(),
            isolation: self.isolation(),
            spec: spec.clone(),
            created: SystemTime::now(),
            ended: None,
            cause: None,
            command: Vec::new(),
            report: None,
            levels: levels::of(self.facts(), spec),
            dir: sandboxes(&self.home).join(id.to_string()),
        }
    }

    fn create(
        &self,
        id: SandboxId,
        spec: &SandboxSpec,
        keep: Keep,
    ) -> Result<Box<dyn Sandbox>, SandboxError> {
        let bed = self.beds.lock().unwrap_or_else(PoisonError::into_inner).pop();
        create::create(create::Order { home: &self.home, facts: self.facts(), id, spec, keep }, bed)
            .map(|made| Box::new(made) as Box<dyn Sandbox>)
    }

    fn find(&self, id: SandboxId) -> Result<Box<dyn Sandbox>, SandboxError> {
        let record = Record::load(&self.home, id)?;
        Ok(Box::new(ProcessSandbox::adopt(&self.home, record)))
    }

    fn list(&self) -> Result<Vec<SandboxInfo>, SandboxError> {
        let records = Record::all(&self.home)?;
        Ok(records.into_iter().map(|record| ProcessSandbox::adopt(&self.home, record).info()).collect())
    }

    fn snapshots(&self) -> Result<Vec<SnapshotInfo>, SandboxError> {
        snapshot::all(&self.home)
    }

    fn snapshot_spec(&self, id: SnapshotId) -> Result<SandboxSpec, SandboxError> {
        snapshot::spec(&self.home, id)
    }

    fn remove_snapshot(&self, id: SnapshotId) -> Result<(), SandboxError> {
        snapshot::remove(&self.home, id)
    }

    fn templates(&self) -> Result<Vec<TemplateInfo>, SandboxError> {
        templates::all(&self.home)
    }

    fn import_template(&self, name: &str, source: &Path) -> Result<TemplateInfo, SandboxError> {
        templates::import(&self.home, name, source)
    }

    fn remove_template(&self, name: &str) -> Result<(), SandboxError> {
        templates::remove(&self.home, name)
    }

    fn sweep(&self) -> Result<usize, SandboxError> {
        sweep::sweep(&self.home, &self.facts().cgroups)
    }

    fn prepare(&self, spec: &SandboxSpec, count: usize) -> Result<bool, SandboxError> {
        let mut beds = self.beds.lock().unwrap_or_else(PoisonError::into_inner);
        if beds.len() >= count {
            let surplus = beds.split_off(count);
            drop(beds);
            drop(surplus);
            return Ok(false);
        }
        drop(beds);
        let bed = Bed::ahead(&self.home, self.facts(), SandboxId::from_uuid(Uuid::now_v7()), spec)?;
        self.beds.lock().unwrap_or_else(PoisonError::into_inner).push(bed);
        Ok(true)
    }

    fn read_journal(&self, bytes: &[u8]) -> Result<(Vec<JournalRecord>, usize), SandboxError> {
        journal::read(bytes)
    }

    fn write_order(&self, order: &Order) -> Vec<u8> {
        journal::write_order(order)
    }
}
