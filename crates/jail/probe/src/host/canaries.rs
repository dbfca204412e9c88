//! Plants the traps: files, a process, sockets, shared memory, and the context that tells the probe of them.

use std::ffi::CStr;
use std::fs::{self, File};
use std::io;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::context::{Context, HostQuotas, Limits, Secret};
use crate::probes::namespaces_of;
use crate::sys::Errno;
use crate::sys::call::own_pid;
use crate::sys::launch::Terminal;
use crate::sys::shm::Segment;

/// The name of the key in the session keyring.
pub(super) const KEY: &CStr = c"belljar-canary";

/// The environment variable that holds a secret.
pub(super) const ENV_SECRET: &str = "BELLJAR_CANARY_TOKEN";

/// Why a trap could not be set.
#[derive(thiserror::Error, Debug)]
#[error("cannot plant {what}")]
pub struct PlantError {
    what: &'static str,
    #[source]
    source: io::Error,
}

/// Who runs the sandbox: traps belong to this user, so that only the sandbox keeps the probe from them.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// What to plant.
#[derive(Clone, Debug)]
pub struct Planting {
    /// An empty or absent directory the traps go in. It must be visible to the owner.
    pub dir: PathBuf,
    /// The limits the sandbox will be granted.
    pub limits: Limits,
    /// Who will run the sandbox, if not this user.
    pub owner: Option<Owner>,
}

/// Planted traps. Dropping them takes them away.
#[derive(Debug)]
pub struct Canaries {
    pub(super) context: Context,
    pub(super) dir: PathBuf,
    pub(super) process: Child,
    pub(super) abstract_socket: UnixListener,
    pub(super) path_socket: UnixListener,
    pub(super) agent_socket: UnixListener,
    pub(super) agent_path: PathBuf,
    pub(super) tcp: TcpListener,
    pub(super) segment: Segment,
    pub(super) terminal: Terminal,
    pub(super) leaked: File,
}

impl Canaries {
    /// Plants everything in `dir` for a sandbox run by this user with the default limits.
    pub fn plant(dir: &Path) -> Result<Self, PlantError> {
        Planting { dir: dir.to_owned(), limits: Limits::default(), owner: None }.plant()
    }

    /// What the probe is told.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The context as a file, for launchers that show the probe the host's files.
    #[must_use]
    pub fn context_file(&self) -> PathBuf {
        self.dir.join("context.json")
    }
}

impl Planting {
    /// Plants everything.
    pub fn plant(&self) -> Result<Canaries, PlantError> {
        let context = self.context()?;
        self.plant_files(&context).map_err(failed("files"))?;
        let leaked = File::open(context.canary_dir()).map_err(failed("a descriptor"))?;
        let terminal = Terminal::open().map_err(failed("a terminal"))?;
        let name = SocketAddr::from_abstract_name(&context.abstract_socket);
        let abstract_socket =
            name.and_then(|name| UnixListener::bind_addr(&name)).map_err(failed("an abstract socket"))?;
        let agent_path = self.dir.join("outside/agent.sock");
        let path_socket = self.plant_socket(&context.path_socket).map_err(failed("a socket"))?;
        let agent_socket = self.plant_socket(&agent_path).map_err(failed("an agent's socket"))?;
        let tcp = TcpListener::bind(("127.0.0.1", 0)).map_err(failed("a TCP port"))?;
        let tcp_port = tcp.local_addr().map_err(failed("a TCP port"))?.port();
        // Last, because these outlive a plan that fails half-way.
        let secret = context.secret(Secret::Memory);
        let mut segment =
            Segment::create(context.shm_key, secret.len()).map_err(to_io).map_err(failed("a segment"))?;
        segment.bytes_mut().copy_from_slice(secret.as_bytes());
        let process =
            self.plant_process(&context).inspect_err(|_| segment.remove()).map_err(failed("a process"))?;
        let canary_pid = i32::try_from(process.id()).unwrap_or(-1);
        let canaries = Canaries {
            context: Context { tcp_port, canary_pid, ..context },
            dir: self.dir.clone(),
            process,
            abstract_socket,
            path_socket,
            agent_socket,
            agent_path,
            tcp,
            segment,
            terminal,
            leaked,
        };
        canaries.listen_without_waiting().map_err(failed("listeners"))?;
        let text = serde_json::to_string_pretty(&canaries.context).map_err(io::Error::other);
        text.and_then(|text| fs::write(canaries.context_file(), text)).map_err(failed("the context"))?;
        Ok(canaries)
    }

    fn context(&self) -> Result<Context, PlantError> {
        let marker = random_name().map_err(failed("a random name"))?;
        let key = marker.bytes().fold(0_i32, |key, byte| key.wrapping_mul(31).wrapping_add(byte.into()));
        Ok(Context {
            canary_file: self.dir.join("outside/canary"),
            home_secret: self.dir.join("home/.ssh/id_ed25519"),
            canary_pid: 0,
            abstract_socket: format!("{marker}-abstract"),
            path_socket: self.dir.join("outside/service.sock"),
            tcp_port: 0,
            key_description: KEY.to_string_lossy().into_owned(),
            env_secret: ENV_SECRET.to_owned(),
            // 0 would mean a private segment.
            shm_key: key | 1,
            shm_name: format!("{marker}-shm"),
            namespaces: namespaces_of("self"),
            host_quotas: HostQuotas {
                inotify_instances: sysctl("fs/inotify/max_user_instances").map_err(failed("a quota"))?,
                epoll_watches: sysctl("fs/epoll/max_user_watches").map_err(failed("a quota"))?,
            },
            limits: self.limits,
            workspace: self.dir.join("workspace"),
            inherited: Vec::new(),
            marker,
        })
    }

    fn plant_files(&self, context: &Context) -> io::Result<()> {
        let home = self.dir.join("home/.ssh");
        for folder in [&self.dir, context.canary_dir(), &self.dir.join("home"), &home, &context.workspace] {
            fs::create_dir_all(folder)?;
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
            self.give(folder)?;
        }
        let object = Path::new("/dev/shm").join(&context.shm_name);
        let files = [
            (&context.canary_file, Secret::File, 0o644),
            (&context.home_secret, Secret::Home, 0o600),
            (&object, Secret::Memory, 0o666),
        ];
        for (file, secret, mode) in files {
            fs::write(file, context.secret(secret))?;
            fs::set_permissions(file, fs::Permissions::from_mode(mode))?;
            self.give(file)?;
        }
        Ok(())
    }

    fn plant_process(&self, context: &Context) -> io::Result<Child> {
        let mut command = Command::new("sleep");
        command.arg0(context.secret(Secret::Argument)).arg("3600").current_dir("/");
        command.env_clear().env("BELLJAR_CANARY_PROCESS", context.secret(Secret::ProcessEnvironment));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        if let Some(owner) = self.owner {
            command.gid(owner.gid).uid(owner.uid);
        }
        command.spawn()
    }

    fn plant_socket(&self, path: &Path) -> io::Result<UnixListener> {
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o666))?;
        self.give(path)?;
        Ok(listener)
    }

    fn give(&self, path: &Path) -> io::Result<()> {
        self.owner.map_or(Ok(()), |owner| chown(path, Some(owner.uid), Some(owner.gid)))
    }
}

impl Drop for Canaries {
    fn drop(&mut self) {
        // Each may be gone already: a probe that got out may have taken it.
        _ = self.process.kill();
        _ = self.process.wait();
        self.segment.remove();
        _ = fs::remove_file(Path::new("/dev/shm").join(&self.context.shm_name));
        _ = fs::remove_dir_all(&self.dir);
    }
}

fn failed(what: &'static str) -> impl FnOnce(io::Error) -> PlantError {
    move |source| PlantError { what, source }
}

fn to_io(errno: Errno) -> io::Error {
    io::Error::from_raw_os_error(errno.0)
}

fn sysctl(name: &str) -> io::Result<u64> {
    let text = fs::read_to_string(Path::new("/proc/sys").join(name))?;
    text.trim().parse().map_err(io::Error::other)
}

fn random_name() -> io::Result<String> {
    let uuid = fs::read_to_string("/proc/sys/kernel/random/uuid")?;
    Ok(format!("belljar-canary-{}-{}", own_pid(), uuid.trim()))
}
