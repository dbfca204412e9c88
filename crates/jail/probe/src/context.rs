//! What the host planted and what it granted, as told to the probe inside.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The traps and limits one run of the suite is judged by.
#[derive(Clone, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// Random text every planted secret starts with. The secrets themselves are made from it by [`Secret`],
    /// so this file holding it gives none of them away.
    pub marker: String,
    /// A host file any user may read, in a directory any user may write.
    pub canary_file: PathBuf,
    /// A private key in a home directory.
    pub home_secret: PathBuf,
    /// A process on the host, by the host's number.
    pub canary_pid: i32,
    /// A listening abstract Unix socket, without its leading zero byte.
    pub abstract_socket: String,
    /// A listening Unix socket in the file system.
    pub path_socket: PathBuf,
    /// A listening TCP port on the host's 127.0.0.1.
    pub tcp_port: u16,
    /// The description of a `user` key in the session keyring.
    pub key_description: String,
    /// The name of an environment variable that holds a secret.
    pub env_secret: String,
    /// The key of a System V shared memory segment.
    pub shm_key: i32,
    /// A POSIX shared memory object, by its name under `/dev/shm`.
    pub shm_name: String,
    /// The host's namespaces: name under `/proc/self/ns` → inode number.
    pub namespaces: BTreeMap<String, u64>,
    /// What the kernel grants each user of the host.
    pub host_quotas: HostQuotas,
    /// What the sandbox was granted; nothing is tried much beyond it.
    pub limits: Limits,
    /// Where the agent works; it may write here.
    pub workspace: PathBuf,
    /// Descriptors above 2 that were open when the probe started. Filled in by the probe, not by the host.
    #[serde(skip)]
    pub inherited: Vec<i64>,
}

/// Resource limits granted to the sandbox.
#[derive(Clone, Copy, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Memory, in bytes.
    pub memory: u64,
    /// Processes and threads.
    pub pids: u64,
    /// Bytes on any one writable place.
    pub disk: u64,
    /// Files on any one writable place.
    pub inodes: u64,
    /// Open descriptors of one process.
    pub open_files: u64,
    /// Processors' worth of time.
    pub cpus: f64,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        Self { memory: 256 * MIB, pids: 128, disk: 64 * MIB, inodes: 4096, open_files: 1024, cpus: 0.25 }
    }
}

impl Limits {
    /// How far a probe goes past a limit before it says that there is none.
    #[must_use]
    pub fn past(limit: u64) -> u64 {
        limit + limit / 2
    }
}

/// Kernel objects counted per user.
#[derive(Clone, Copy, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct HostQuotas {
    /// `fs.inotify.max_user_instances`.
    pub inotify_instances: u64,
    /// `fs.epoll.max_user_watches`.
    pub epoll_watches: u64,
}

/// A secret planted in one place. Each place has its own, so finding one says where it leaked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Secret {
    /// In the canary file.
    File,
    /// In the private key.
    Home,
    /// In the canary process's command line.
    Argument,
    /// In the canary process's environment.
    ProcessEnvironment,
    /// In the environment the sandbox was started with.
    Environment,
    /// In the session keyring.
    Key,
    /// In shared memory.
    Memory,
}

impl Context {
    /// The text of a planted secret.
    #[must_use]
    pub fn secret(&self, secret: Secret) -> String {
        let place = match secret {
            Secret::File => "file",
            Secret::Home => "home",
            Secret::Argument => "argument",
            Secret::ProcessEnvironment => "process-environment",
            Secret::Environment => "environment",
            Secret::Key => "key",
            Secret::Memory => "memory",
        };
        format!("{}:{place}", self.marker)
    }

    /// The directory of the canary file.
    #[must_use]
    pub fn canary_dir(&self) -> &Path {
        self.canary_file.parent().unwrap_or(Path::new("/"))
    }

    /// Places an agent would try to write to, the workspace first.
    #[must_use]
    pub fn writable_places(&self) -> Vec<PathBuf> {
        let fixed = ["/tmp", "/dev/shm", "/var/tmp", "/run", "/dev", "/dev/mqueue", "/home", "/root", "/"];
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let mut places = vec![self.workspace.clone()];
        for place in fixed.iter().map(PathBuf::from).chain(home) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }
}
