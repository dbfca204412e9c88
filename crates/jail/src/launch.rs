//! Starting a sandbox: the carried program is executed as keeper and handed the plan.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Mutex, OnceLock, PoisonError},
};

use belljar_init::{
    plan::{Groundwork, Plan},
    wire::{Boot, Charge, FromKeeper, Ground, Prelude, ToKeeper, encode, line},
};
use rustix::{
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create},
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with},
};

use crate::{Connection, StartError, wire};

static INIT: &[u8] = include_bytes!(env!("BELLJAR_INIT"));

/// Why a sandbox could not be launched.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// Something on the host's side failed.
    #[error("could not {doing}")]
    Host {
        /// The step under way.
        doing: &'static str,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The sandbox could not be built.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The builder died without a word.
    #[error("the sandbox's builder died without saying why; the host may be out of memory or processes")]
    Silent,
}

/// A sandbox that has been started, seen by its supervisor.
#[derive(Debug)]
pub struct Launched {
    /// Process id of the keeper on the host.
    pub keeper: u32,
    /// Process id of PID 1 on the host.
    pub init: u32,
    /// A descriptor of the private disk.
    pub disk: OwnedFd,
    /// The first conversation with PID 1, open already.
    pub first: Connection,
    /// Closing this ends the sandbox, unless it was released.
    pub lifeline: Lifeline,
}

/// The supervisor's hold on a sandbox. Dropped, the sandbox and every trace of it go.
#[derive(Debug)]
pub struct Lifeline {
    socket: OwnedFd,
}

/// Names of the two doors in a sandbox's directory.
pub(crate) const CONTROL_DOOR: &str = "control.sock";
/// See [`CONTROL_DOOR`].
pub(crate) const KEEPER_DOOR: &str = "keeper.sock";

/// A sandbox's two doors, open in its directory whatever that is called later.
#[derive(Debug)]
pub struct Doors {
    control: OwnedFd,
    keeper: OwnedFd,
}

impl Doors {
    /// Makes both and has them listen.
    ///
    /// # Errors
    /// When there can be no sockets in the directory.
    pub fn open(dir: &Path) -> io::Result<Self> {
        let doors = Self::make()?;
        doors.open_in(dir)?;
        Ok(doors)
    }

    fn make() -> io::Result<Self> {
        Ok(Self { control: door()?, keeper: door()? })
    }

    fn open_in(&self, dir: &Path) -> io::Result<()> {
        open_door(&self.control, dir, CONTROL_DOOR)?;
        open_door(&self.keeper, dir, KEEPER_DOOR)
    }
}

/// A keeper that makes namespaces while the plan is still being drawn. Dropped, it vanishes.
#[derive(Debug)]
pub struct Cradle {
    lifeline: OwnedFd,
    line: OwnedFd,
    /// What was laid ahead.
    ground: Option<Groundwork>,
}

/// A sandbox being built. Dropped, it vanishes.
#[derive(Debug)]
pub struct Launching {
    lifeline: Lifeline,
    first: Connection,
    line: OwnedFd,
    born: Option<(u32, u32)>,
    ready: Option<OwnedFd>,
}

const fn host(doing: &'static str) -> impl FnOnce(io::Error) -> LaunchError {
    move |source| LaunchError::Host { doing, source }
}

impl Cradle {
    /// Starts a keeper and has it make the namespaces.
    ///
    /// # Errors
    /// When no process can be started.
    pub fn prepare(prelude: Prelude) -> Result<Self, LaunchError> {
        let (lifeline, lifeline_inside) = wire::pair().map_err(host("make a socket pair"))?;
        let (line, line_inside) = wire::pair().map_err(host("make a socket pair"))?;
        let program = init_program().map_err(host("unpack the carried program"))?;
        wire::send(&lifeline, &encode(&prelude), &[line_inside.as_fd()]).map_err(host("reach the keeper"))?;
        let child = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()))
            // No directory is set: without a libc that can do so by itself, this process would have to fork for it, and
            // every page it writes to afterwards would be copied. The keeper goes to the root by itself.
            .env_clear()
            .stdin(Stdio::from(lifeline_inside))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(host("start the keeper"))?;
        bury_later(child);
        Ok(Self { lifeline, line, ground: None })
    }

    /// Has the first part of a plan carried out before there is a plan. `groups` are directories of control groups made
    /// for it; they go with this process unless there is a plan before.
    ///
    /// # Errors
    /// When the builder cannot be reached.
    pub fn lay(&mut self, work: Groundwork, groups: Vec<String>) -> Result<(), LaunchError> {
        let ground = Ground { work, groups };
        let file = memory_file("belljar-ground", &encode(&ground)).map_err(host("write the groundwork"))?;
        wire::send(&self.line, line::GROUND, &[file.as_fd()]).map_err(host("reach the builder"))?;
        self.ground = Some(ground.work);
        Ok(())
    }

    /// Says whether a plan can be carried out here: nothing was laid, or what was laid is how it begins.
    #[must_use]
    pub fn suits(&self, plan: &Plan) -> bool {
        self.ground.as_ref().is_none_or(|ground| *ground == plan.groundwork())
    }

    /// Has the sandbox built; the plan must be one that suits. `doors` are those of its directory, if they are open
    /// already; `cgroups` the open files by which it joins its control group; `held` are kept open as long as it lives.
    ///
    /// # Errors
    /// When the plan cannot be handed over; then nothing is left but what the caller made.
    pub fn launch(
        self,
        plan: Plan,
        doors: Option<Doors>,
        cgroups: &[OwnedFd],
        held: &[OwnedFd],
    ) -> Result<Launching, LaunchError> {
        let closed = doors.is_none().then(|| Path::new(&plan.life.state_dir).to_path_buf());
        let doors = doors.map_or_else(Doors::make, Ok).map_err(host("make the doors"))?;
        let (first, first_inside) = wire::pair().map_err(host("make a socket pair"))?;
        let charge = encode(&Charge { life: plan.life.clone() });
        let laid = self.ground.map_or(0, |ground| ground.steps.len());
        let boot = Boot { plan, laid: u32::try_from(laid).unwrap_or(u32::MAX) };
        let plan_file = memory_file("belljar-plan", &encode(&boot)).map_err(host("write the plan"))?;
        let fds = [plan_file.as_fd(), first_inside.as_fd(), doors.control.as_fd()].into_iter();
        let fds: Vec<_> = fds.chain(cgroups.iter().map(AsFd::as_fd)).collect();
        let kept: Vec<_> =
            std::iter::once(doors.keeper.as_fd()).chain(held.iter().map(AsFd::as_fd)).collect();
        let mut launching = Launching {
            lifeline: Lifeline { socket: self.lifeline },
            first: Connection::new(first),
            line: self.line,
            born: None,
            ready: None,
        };
        // They are opened while the root is being built: each costs the host a new inode.
        let handed = wire::send(&launching.line, line::BOOT, &fds)
            .and_then(|()| closed.map_or(Ok(()), |dir| doors.open_in(&dir)))
            .and_then(|()| wire::send(&launching.lifeline.socket, &charge, &kept));
        match handed {
            Ok(()) => Ok(launching),
            // A keeper that is gone already has said why.
            Err(source) => Err(launching
                .born()
                .and_then(|_| launching.hear())
                .err()
                .unwrap_or(LaunchError::Host { doing: "hand over the plan", source })),
        }
    }
}

impl Launching {
    /// Hands over the private disk, if the plan says that it is passed.
    ///
    /// # Errors
    /// When the builder is gone; then [`Launching::ready`] knows why.
    pub fn give_disk(&self, disk: &OwnedFd) -> Result<(), LaunchError> {
        wire::send(&self.line, b"d", &[disk.as_fd()])
            .map_err(|source| LaunchError::Host { doing: "hand over the private disk", source })
    }

    /// Waits until the processes exist: keeper and PID 1, as the host numbers them.
    ///
    /// # Errors
    /// When the sandbox could not be built.
    pub fn born(&mut self) -> Result<(u32, u32), LaunchError> {
        loop {
            match self.born {
                Some(pids) => return Ok(pids),
                None => self.hear()?,
            }
        }
    }

    /// Waits until commands can be run.
    ///
    /// # Errors
    /// When the sandbox could not be built.
    pub fn ready(mut self) -> Result<Launched, LaunchError> {
        let (keeper, init) = self.born()?;
        loop {
            if let Some(disk) = self.ready.take() {
                return Ok(Launched { keeper, init, disk, first: self.first, lifeline: self.lifeline });
            }
            self.hear()?;
        }
    }

    /// Takes one word from the keeper or the builder, which speak for themselves, in either order.
    fn hear(&mut self) -> Result<(), LaunchError> {
        let frame = wire::receive(&self.lifeline.socket)
            .map_err(|source| LaunchError::Host { doing: "hear from the keeper", source })?;
        match frame {
            Some((FromKeeper::Born { keeper, init }, _)) => self.born = Some((keeper, init)),
            Some((FromKeeper::Ready, fds)) => self.ready = fds.into_iter().next(),
            Some((FromKeeper::Failed(failure), _)) => return Err(StartError::new(failure).into()),
            Some((FromKeeper::Disk | FromKeeper::Done | FromKeeper::Gone { .. }, _)) | None => {
                return Err(LaunchError::Silent);
            }
        }
        Ok(())
    }
}

impl Lifeline {
    /// Lets the sandbox live on without a supervisor.
    ///
    /// # Errors
    /// When the keeper is gone.
    pub fn release(self) -> io::Result<()> {
        self.ask(ToKeeper::Release)
    }

    /// Ends the sandbox and waits until it is gone.
    ///
    /// # Errors
    /// When the keeper is gone already.
    pub fn end(self, request: ToKeeper) -> io::Result<()> {
        self.ask(request)
    }

    fn ask(&self, request: ToKeeper) -> io::Result<()> {
        wire::send(&self.socket, &encode(&request), &[])?;
        match wire::receive::<FromKeeper>(&self.socket)? {
            Some(_) => Ok(()),
            None => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
        }
    }
}

impl AsFd for Lifeline {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Keepers are children of whoever started them. A long-lived starter collects the dead ones now and then, so that they
/// do not pile up as zombies; a short-lived one leaves that to the system.
fn bury_later(child: Child) {
    static KEEPERS: Mutex<(Vec<Child>, usize)> = Mutex::new((Vec::new(), 16));
    let mut guard = KEEPERS.lock().unwrap_or_else(PoisonError::into_inner);
    let (children, next_round) = &mut *guard;
    children.push(child);
    if children.len() >= *next_round {
        children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        *next_round = children.len() * 2 + 16;
    }
}

fn door() -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// Makes a packet socket listen in a directory, reached through the directory's descriptor because a socket's path may
/// have no more than 107 bytes and a home directory may be deep.
fn open_door(socket: &OwnedFd, dir: &Path, name: &str) -> io::Result<()> {
    let handle = File::open(dir)?;
    let address = SocketAddrUnix::new(format!("/proc/self/fd/{}/{name}", handle.as_raw_fd()))?;
    bind(socket, &address)?;
    rustix::fs::chmod(dir.join(name), rustix::fs::Mode::from_raw_mode(0o600))?;
    listen(socket, 64)?;
    Ok(())
}

/// Connects to a door in a sandbox's directory.
pub(crate) fn knock(dir: &Path, name: &str) -> io::Result<OwnedFd> {
    let handle = File::open(dir)?;
    let address = SocketAddrUnix::new(format!("/proc/self/fd/{}/{name}", handle.as_raw_fd()))?;
    let socket = door()?;
    rustix::net::connect(&socket, &address)?;
    Ok(socket)
}

pub(crate) fn memory_file(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    file.write_all(bytes)?;
    // Sealed: what was checked is what is read, and a sandbox can never write to the program that keeps it.
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file.into())
}

/// The carried program as a sealed file in memory, shared by every sandbox this process starts.
fn init_program() -> io::Result<BorrowedFd<'static>> {
    static PROGRAM: OnceLock<OwnedFd> = OnceLock::new();
    if let Some(program) = PROGRAM.get() {
        return Ok(program.as_fd());
    }
    let made = memory_file("belljar-init", INIT)?;
    Ok(PROGRAM.get_or_init(|| made).as_fd())
}
