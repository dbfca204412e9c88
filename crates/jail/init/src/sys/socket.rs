//! Packets with descriptors, waiting, signals, terminals, the loopback interface.

use alloc::vec::Vec;

use linux_raw_sys::general as k;

use super::{EINTR, EINVAL, Errno, Fd, O_CREAT, O_EXCL, Sys, call, decimal, join, open, plain, reg, to_fd};

const MSG_NOSIGNAL: usize = 0x4000;
const MSG_CMSG_CLOEXEC: usize = 0x4000_0000;
const SOL_SOCKET: i32 = 1;
const SCM_RIGHTS: i32 = 1;
const MAX_FDS: usize = belljar_init::wire::MAX_FDS;

#[repr(C)]
struct IoVec {
    base: usize,
    len: usize,
}

#[repr(C)]
struct MsgHdr {
    name: usize,
    name_len: u32,
    iov: usize,
    iov_len: usize,
    control: usize,
    control_len: usize,
    flags: i32,
}

#[repr(C, align(8))]
struct Control {
    len: usize,
    level: i32,
    kind: i32,
    fds: [i32; MAX_FDS],
}

const HEADER: usize = 16;

impl Control {
    const fn empty() -> Self {
        Self { len: 0, level: SOL_SOCKET, kind: SCM_RIGHTS, fds: [-1; MAX_FDS] }
    }
}

/// Sends one small packet, unless so many wait already that one more says nothing new.
pub(crate) fn send_if_room(socket: i32, bytes: &[u8]) {
    const MSG_DONTWAIT: usize = 0x40;
    let args = [reg(socket), bytes.as_ptr() as usize, bytes.len(), MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0];
    // SAFETY: sendto reads `len` bytes at the pointer, exactly the slice, and no address.
    let _heard = unsafe { call(k::__NR_sendto, args) };
}

/// Sends one packet with at most one descriptor.
pub(crate) fn send(socket: i32, bytes: &[u8], fd: Option<&Fd>) -> Sys<()> {
    let mut control = Control::empty();
    if let (Some(fd), Some(slot)) = (fd, control.fds.first_mut()) {
        *slot = fd.0;
        control.len = HEADER + 4;
    }
    let iov = IoVec { base: bytes.as_ptr() as usize, len: bytes.len() };
    let message = MsgHdr {
        name: 0,
        name_len: 0,
        iov: &raw const iov as usize,
        iov_len: 1,
        control: if control.len == 0 { 0 } else { &raw const control as usize },
        // Padded to eight bytes, as CMSG_SPACE demands.
        control_len: if control.len == 0 { 0 } else { HEADER + 8 },
        flags: 0,
    };
    // SAFETY: sendmsg reads a msghdr, its one iovec (exactly `bytes`) and the control block, all alive until it returns.
    unsafe { call(k::__NR_sendmsg, [reg(socket), &raw const message as usize, MSG_NOSIGNAL, 0, 0, 0]) }
        .map(drop)
}

/// Receives one packet and its descriptors. `Ok` with no bytes is the end of the connection.
pub(crate) fn receive(socket: i32, into: &mut [u8]) -> Sys<(usize, Vec<Fd>)> {
    let mut control = Control::empty();
    let iov = IoVec { base: into.as_mut_ptr() as usize, len: into.len() };
    let mut message = MsgHdr {
        name: 0,
        name_len: 0,
        iov: &raw const iov as usize,
        iov_len: 1,
        control: &raw mut control as usize,
        control_len: size_of::<Control>(),
        flags: 0,
    };
    let count = loop {
        let args = [reg(socket), &raw mut message as usize, MSG_CMSG_CLOEXEC, 0, 0, 0];
        // SAFETY: recvmsg writes into the one iovec (exactly `into`, borrowed mutably) and the control block, whose
        // size is given; both outlive the call.
        match unsafe { call(k::__NR_recvmsg, args) } {
            Err(EINTR) => {}
            other => break other?,
        }
    };
    let mut fds = Vec::new();
    if message.control_len >= HEADER && control.len >= HEADER {
        let received = (control.len - HEADER) / 4;
        fds.extend(control.fds.iter().take(received).map(|fd| Fd(*fd)));
    }
    Ok((count, fds))
}

/// Two connected ends of a packet socket.
pub(crate) fn socket_pair() -> Sys<(Fd, Fd)> {
    const AF_UNIX: usize = 1;
    const SOCK_SEQPACKET: usize = 5;
    let mut ends = [-1_i32; 2];
    let kind = SOCK_SEQPACKET | k::O_CLOEXEC as usize;
    // SAFETY: socketpair writes two descriptors, for which `ends` has room.
    unsafe { call(k::__NR_socketpair, [AF_UNIX, kind, 0, ends.as_mut_ptr() as usize, 0, 0]) }?;
    let [left, right] = ends;
    Ok((Fd(left), Fd(right)))
}

/// Takes the next waiting connection.
pub(crate) fn accept(door: &Fd) -> Sys<Fd> {
    plain(k::__NR_accept4, [reg(door.0), 0, 0, k::O_CLOEXEC as usize]).map(to_fd)
}

/// What to wait for. A negative descriptor is passed over.
#[derive(Clone, Copy)]
pub(crate) enum Wait {
    /// Something to read, or the other end is closed.
    Readable(i32),
    /// Room to write, or the other end is closed.
    Writable(i32),
}

/// Waits until one of the descriptors is readable or closed, or the time is over (`None`: for ever). A negative
/// descriptor is passed over. The answer has one flag per descriptor.
pub(crate) fn wait_readable<const N: usize>(fds: [i32; N], timeout_ms: Option<u64>) -> [bool; N] {
    wait_for(fds.map(Wait::Readable), timeout_ms)
}

/// Waits until one of these comes true, or the time is over (`None`: for ever). The answer has one flag for each.
pub(crate) fn wait_for<const N: usize>(waits: [Wait; N], timeout_ms: Option<u64>) -> [bool; N] {
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct PollFd {
        fd: i32,
        events: i16,
        revents: i16,
    }
    const POLLIN: i16 = 1;
    const POLLOUT: i16 = 4;
    let mut list = waits.map(|wait| match wait {
        Wait::Readable(fd) => PollFd { fd, events: POLLIN, revents: 0 },
        Wait::Writable(fd) => PollFd { fd, events: POLLOUT, revents: 0 },
    });
    let time = timeout_ms.map(|ms| [ms / 1000, ms % 1000 * 1_000_000]);
    let time_at = time.as_ref().map_or(0, |time| time.as_ptr() as usize);
    let args = [list.as_mut_ptr() as usize, N, time_at, 0, 0, 0];
    // SAFETY: ppoll reads and writes N pollfd and reads a timespec (two 64-bit numbers) or nothing; all live until it
    // returns.
    let _ready = unsafe { call(k::__NR_ppoll, args) };
    list.map(|entry| entry.revents != 0)
}

/// Blocks signals and returns a descriptor that tells them.
pub(crate) fn signal_fd(signals: &[i32]) -> Sys<Fd> {
    let mask = signals.iter().fold(0_u64, |mask, signal| mask | 1 << (signal - 1));
    set_signal_mask(mask)?;
    // SAFETY: signalfd4 reads an 8-byte signal set, which `mask` is and outlives the call.
    unsafe { call(k::__NR_signalfd4, [usize::MAX, &raw const mask as usize, 8, k::O_CLOEXEC as usize, 0, 0]) }
        .map(to_fd)
}

/// Takes one signal from a signal descriptor.
pub(crate) fn next_signal(fd: &Fd) -> Option<i32> {
    let mut info = [0_u8; 128];
    super::read(fd.0, &mut info).ok().filter(|count| *count == info.len())?;
    let [a, b, c, d, ..] = info;
    Some(i32::from_ne_bytes([a, b, c, d]))
}

pub(crate) fn set_signal_mask(mask: u64) -> Sys<()> {
    const SIG_SETMASK: usize = 2;
    // SAFETY: rt_sigprocmask reads an 8-byte signal set, which `mask` is and outlives the call, and writes nothing.
    unsafe { call(k::__NR_rt_sigprocmask, [SIG_SETMASK, &raw const mask as usize, 0, 8, 0, 0]) }.map(drop)
}

/// A pipe whose ends close on exec: (read, write).
pub(crate) fn pipe() -> Sys<(Fd, Fd)> {
    let mut ends = [-1_i32; 2];
    // SAFETY: pipe2 writes two descriptors, for which `ends` has room.
    unsafe { call(k::__NR_pipe2, [ends.as_mut_ptr() as usize, k::O_CLOEXEC as usize, 0, 0, 0, 0]) }?;
    let [read, write] = ends;
    Ok((Fd(read), Fd(write)))
}

/// Makes `fd` also known as `number`, closed at exec.
pub(crate) fn keep_as(fd: i32, number: i32) -> Sys<()> {
    plain(k::__NR_dup3, [reg(fd), reg(number), k::O_CLOEXEC as usize, 0]).map(drop)
}

/// Makes `fd` also known as `number`, without close-on-exec.
pub(crate) fn duplicate_as(fd: i32, number: i32) -> Sys<()> {
    if fd == number {
        const F_SETFD: usize = 2;
        return plain(k::__NR_fcntl, [reg(fd), F_SETFD, 0, 0]).map(drop);
    }
    plain(k::__NR_dup3, [reg(fd), reg(number), 0, 0]).map(drop)
}

/// Has every descriptor from `first` on closed at exec.
pub(crate) fn close_at_exec_from(first: u32) {
    const CLOSE_RANGE_CLOEXEC: usize = 4;
    let _kernels_before_5_11 =
        plain(k::__NR_close_range, [first as usize, u32::MAX as usize, CLOSE_RANGE_CLOEXEC, 0]);
}

/// Closes every descriptor from `first` on.
pub(crate) fn close_from(first: u32) {
    let _done = plain(k::__NR_close_range, [first as usize, u32::MAX as usize, 0, 0]);
}

/// Has reads and writes answer at once.
pub(crate) fn set_nonblocking(fd: &Fd) -> Sys<()> {
    const F_SETFL: usize = 4;
    plain(k::__NR_fcntl, [reg(fd.0), F_SETFL, k::O_NONBLOCK as usize, 0]).map(drop)
}

/// A second descriptor of the same thing, closed at exec.
pub(crate) fn duplicate(fd: &Fd) -> Sys<Fd> {
    const F_DUPFD_CLOEXEC: usize = 1030;
    plain(k::__NR_fcntl, [reg(fd.0), F_DUPFD_CLOEXEC, 3, 0]).map(to_fd)
}

/// Milliseconds of a clock that only goes forward.
pub(crate) fn now_ms() -> u64 {
    const CLOCK_BOOTTIME: usize = 7;
    clock_ms(CLOCK_BOOTTIME)
}

/// Milliseconds since 1970.
pub(crate) fn real_ms() -> u64 {
    const CLOCK_REALTIME: usize = 0;
    clock_ms(CLOCK_REALTIME)
}

fn clock_ms(clock: usize) -> u64 {
    let mut time = [0_u64; 2];
    // SAFETY: clock_gettime writes a timespec (two 64-bit numbers), for which `time` has room.
    let _set = unsafe { call(k::__NR_clock_gettime, [clock, time.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    let [seconds, nanos] = time;
    seconds * 1000 + nanos / 1_000_000
}

/// A terminal of the sandbox's own: (master, slave).
pub(crate) fn open_terminal(rows: u16, cols: u16) -> Sys<(Fd, Fd)> {
    const TIOCGPTN: usize = 0x8004_5430;
    const TIOCSPTLCK: usize = 0x4004_5431;
    const TIOCSWINSZ: usize = 0x5414;
    let master = open(super::HERE, "/dev/pts/ptmx", super::O_RDWR | super::O_NOCTTY, 0)?;
    let mut number = 0_u32;
    let unlock = 0_i32;
    let size = [rows, cols, 0, 0];
    // SAFETY: TIOCSPTLCK reads an int, which `unlock` is and outlives the call.
    unsafe { call(k::__NR_ioctl, [reg(master.0), TIOCSPTLCK, &raw const unlock as usize, 0, 0, 0]) }?;
    // SAFETY: TIOCGPTN writes an unsigned int, for which `number` is the room.
    unsafe { call(k::__NR_ioctl, [reg(master.0), TIOCGPTN, &raw mut number as usize, 0, 0, 0]) }?;
    // SAFETY: TIOCSWINSZ reads a struct winsize (four u16), which `size` is and outlives the call.
    unsafe { call(k::__NR_ioctl, [reg(master.0), TIOCSWINSZ, size.as_ptr() as usize, 0, 0, 0]) }?;
    let slave = open(
        super::HERE,
        &join(&["/dev/pts/", &decimal(u64::from(number))]),
        super::O_RDWR | super::O_NOCTTY,
        0,
    )?;
    Ok((master, slave))
}

/// Tells a terminal its window's size.
pub(crate) fn resize_terminal(master: &Fd, rows: u16, cols: u16) {
    const TIOCSWINSZ: usize = 0x5414;
    let size = [rows, cols, 0, 0];
    // SAFETY: TIOCSWINSZ reads a struct winsize (four u16), which `size` is and outlives the call.
    let _gone = unsafe { call(k::__NR_ioctl, [reg(master.0), TIOCSWINSZ, size.as_ptr() as usize, 0, 0, 0]) };
}

/// Connects to a port of this network namespace's loopback, by either family.
pub(crate) fn dial_loopback(port: u16) -> Sys<Fd> {
    const AF_INET: u16 = 2;
    const AF_INET6: u16 = 10;
    let [high, low] = port.to_be_bytes();
    let v4 = [AF_INET.to_ne_bytes(), [high, low], [127, 0], [0, 1]].concat();
    let mut v6 = [AF_INET6.to_ne_bytes(), [high, low], [0, 0], [0, 0]].concat();
    v6.extend([0; 15]);
    v6.push(1);
    v6.extend([0; 4]);
    dial(AF_INET, &v4.into_iter().chain([0; 8]).collect::<Vec<u8>>()).or_else(|_refused| dial(AF_INET6, &v6))
}

fn dial(family: u16, address: &[u8]) -> Sys<Fd> {
    const SOCK_STREAM: usize = 1;
    let kind = SOCK_STREAM | k::O_CLOEXEC as usize;
    let socket = plain(k::__NR_socket, [usize::from(family), kind, 0, 0]).map(to_fd)?;
    let args = [reg(socket.0), address.as_ptr() as usize, address.len(), 0, 0, 0];
    // SAFETY: connect reads `len` bytes at the pointer: exactly the slice.
    unsafe { call(k::__NR_connect, args) }?;
    Ok(socket)
}

/// Listens on a port of this network namespace's loopback.
pub(crate) fn listen_loopback(port: u16) -> Sys<Fd> {
    const AF_INET: u16 = 2;
    const SOCK_STREAM: usize = 1;
    const WAITING: usize = 128;
    let [high, low] = port.to_be_bytes();
    let mut address = [AF_INET.to_ne_bytes(), [high, low], [127, 0], [0, 1]].concat();
    address.extend([0; 8]);
    let kind = SOCK_STREAM | k::O_CLOEXEC as usize;
    let socket = plain(k::__NR_socket, [usize::from(AF_INET), kind, 0, 0]).map(to_fd)?;
    let args = [reg(socket.0), address.as_ptr() as usize, address.len(), 0, 0, 0];
    // SAFETY: bind reads `len` bytes at the pointer: exactly the vector.
    unsafe { call(k::__NR_bind, args) }?;
    plain(k::__NR_listen, [reg(socket.0), WAITING, 0, 0])?;
    Ok(socket)
}

/// Makes a terminal the controlling one of the new session.
pub(crate) fn take_terminal(fd: i32) -> Sys<()> {
    const TIOCSCTTY: usize = 0x540e;
    plain(k::__NR_ioctl, [reg(fd), TIOCSCTTY, 0, 0]).map(drop)
}

/// Brings the loopback interface of this network namespace up.
pub(crate) fn loopback_up() -> Sys<()> {
    const AF_INET: usize = 2;
    const SOCK_DGRAM: usize = 2;
    const SIOCSIFFLAGS: usize = 0x8914;
    const IFF_UP: u8 = 1;
    let socket = to_fd(plain(k::__NR_socket, [AF_INET, SOCK_DGRAM | k::O_CLOEXEC as usize, 0, 0])?);
    let mut request = [0_u8; 40];
    for (slot, byte) in request.iter_mut().zip(*b"lo") {
        *slot = byte;
    }
    if let Some(flags) = request.get_mut(16) {
        *flags = IFF_UP;
    }
    // SAFETY: SIOCSIFFLAGS reads a struct ifreq (40 bytes: name, then flags), which `request` is and outlives the call.
    unsafe { call(k::__NR_ioctl, [reg(socket.0), SIOCSIFFLAGS, request.as_ptr() as usize, 0, 0, 0]) }
        .map(drop)
}

/// Writes a small new file that must not exist yet.
pub(crate) fn create_file(path: &str, text: &str) -> Result<(), Errno> {
    let file = open(super::HERE, path, O_CREAT | O_EXCL | super::O_WRONLY | super::O_NOFOLLOW, 0o600)?;
    match super::write(file.0, text.as_bytes()) {
        Ok(count) if count == text.len() => Ok(()),
        Ok(_) => Err(EINVAL),
        Err(error) => Err(error),
    }
}
