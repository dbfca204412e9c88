//! What is known about this host and its user before a plan is made.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use belljar_jail::{
    cgroup::{Controller, Hierarchy},
    disk::DiskKind,
    is_host_root, landlock,
};

/// Everything about the host that shapes a sandbox.
#[derive(Debug, Clone)]
pub struct HostFacts {
    /// Whether belljar runs as the host's root.
    pub root: bool,
    /// The caller's ids.
    pub uid: u32,
    /// See `uid`.
    pub gid: u32,
    /// The caller's home directory.
    pub home: PathBuf,
    /// The caller's login name.
    pub user: String,
    /// The environment, to be filtered.
    pub env: BTreeMap<String, String>,
    /// Version of Landlock; 0 is none.
    pub landlock: u32,
    /// Where control groups can be made.
    pub cgroups: Hierarchy,
    /// What holds the disk limit.
    pub disk: DiskKind,
}

impl HostFacts {
    /// Looks at this host as the calling user. `env` is the caller's environment.
    #[must_use]
    pub fn gather(env: BTreeMap<String, String>) -> Self {
        let uid = rustix::process::geteuid().as_raw();
        let gid = rustix::process::getegid().as_raw();
        let (user, passwd_home) = account(uid).unwrap_or_else(|| (uid.to_string(), PathBuf::from("/")));
        let home =
            env.get("HOME").map(PathBuf::from).filter(|path| path.is_absolute()).unwrap_or(passwd_home);
        Self {
            root: is_host_root(),
            uid,
            gid,
            home,
            user,
            env,
            landlock: landlock::abi(),
            cgroups: Hierarchy::discover(),
            disk: DiskKind::best(),
        }
    }

    /// Says whether a limit held by a control group can be held here.
    #[must_use]
    pub fn controls(&self, controller: Controller) -> bool {
        self.cgroups.has(controller)
    }
}

/// Login name and home directory of a user, from the host's own table.
pub(super) fn account(uid: u32) -> Option<(String, PathBuf)> {
    let table = fs::read_to_string("/etc/passwd").ok()?;
    table.lines().find_map(|line| {
        let fields: Vec<_> = line.split(':').collect();
        let matches = fields.get(2)?.parse() == Ok(uid);
        matches.then(|| Some(((*fields.first()?).to_owned(), PathBuf::from(fields.get(5)?))))?
    })
}

/// Who owns a directory: user and group.
pub(super) fn owner(path: &Path) -> io::Result<(u32, u32)> {
    fs::metadata(path).map(|meta| (meta.uid(), meta.gid()))
}
