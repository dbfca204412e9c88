//! A range of host user ids for each sandbox, never shared by two that live at the same time.
//!
//! A range is taken by binding an abstract socket named after it; the keeper holds the socket, so the kernel gives the
//! range back the moment the sandbox is gone, however it went.

use std::os::fd::OwnedFd;

use belljar_domain::SandboxId;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, socket_with};

use super::blueprint::ID_COUNT;

/// Above everything `/etc/subuid` hands out by habit.
const FIRST: u32 = 0x1000_0000;
const RANGES: u32 = (u32::MAX - FIRST) / ID_COUNT - 1;

/// The range to try in a given attempt: scattered by the sandbox's own random bits.
pub(super) fn candidate(id: SandboxId, attempt: u32) -> u32 {
    let scattered = u32::try_from(id.entropy() % u128::from(RANGES)).unwrap_or(0);
    FIRST + (scattered + attempt) % RANGES * ID_COUNT
}

/// Takes a free range: its first id, and what must be held as long as it is used.
pub(super) fn take(id: SandboxId) -> std::io::Result<(u32, OwnedFd)> {
    for attempt in 0..RANGES {
        let base = candidate(id, attempt);
        let name = format!("belljar-ids-{base}");
        let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
        match bind(&socket, &SocketAddrUnix::new_abstract_name(name.as_bytes())?) {
            Ok(()) => return Ok((base, socket)),
            Err(rustix::io::Errno::ADDRINUSE) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(std::io::Error::from(std::io::ErrorKind::AddrInUse))
}
