//! Paths and ports inside a sandbox: used by a shepherd in there, on behalf of the sandbox's user, so that no link and no
//! race can lead anywhere a command of the sandbox could not go by itself.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::fd::OwnedFd,
    path::Path,
};

use belljar_domain::SandboxPath;
use belljar_jail::{Connection, Errand, ExecError, Stage, Task, read_small};
use belljar_ports::{FileChange, Open, SandboxError};
use rustix::fs::OFlags;

use super::{execution::explain, record::Record};

/// What the state column of `/proc/net/tcp` says of a listener.
const LISTENING: &str = "0A";

pub(super) fn open(path: &SandboxPath, how: Open) -> Task {
    let (flags, mode) = match how {
        Open::Read => (OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, 0),
        Open::List => (OFlags::RDONLY | OFlags::DIRECTORY, 0),
        Open::Look { follow: true } => (OFlags::PATH, 0),
        Open::Look { follow: false } => (OFlags::PATH | OFlags::NOFOLLOW, 0),
        Open::Create { mode } => {
            (OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW, mode & 0o777)
        }
    };
    Task::Open { path: path.to_string(), flags: flags.bits(), mode }
}

pub(super) fn change(change: &FileChange) -> Task {
    match change {
        FileChange::MakeDir { path, parents } => Task::MakeDir { path: path.to_string(), parents: *parents },
        FileChange::Rename { from, to } => Task::Rename { from: from.to_string(), to: to.to_string() },
        FileChange::Remove { path, recursive } => {
            Task::Remove { path: path.to_string(), recursive: *recursive }
        }
        FileChange::Link { path, target } => Task::Link { path: path.to_string(), target: target.clone() },
        FileChange::Mode { path, mode } => Task::Mode { path: path.to_string(), mode: *mode },
    }
}

/// Sends a shepherd.
pub(super) fn run(
    record: &Record,
    connection: Connection,
    what: Task,
) -> Result<Option<OwnedFd>, SandboxError> {
    match connection.errand(Errand { user: record.user, what }) {
        Err(ExecError::Start(error)) if error.stage() == Stage::Errand => {
            Err(SandboxError::File { what: error.about().to_owned(), errno: error.errno() })
        }
        other => other.map_err(|error| explain(record.id, error)),
    }
}

/// Reads the kernel's table of the sandbox's own network.
pub(super) fn listening(record: &Record) -> Vec<SocketAddr> {
    let table = |name: &str| {
        read_small(Path::new(&format!("/proc/{}/net/{name}", record.init.pid))).unwrap_or_default()
    };
    let mut all: Vec<_> = ["tcp", "tcp6"]
        .into_iter()
        .flat_map(|name| table(name).lines().skip(1).filter_map(listener).collect::<Vec<_>>())
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The address of a line of `/proc/net/tcp`, if something listens there.
fn listener(line: &str) -> Option<SocketAddr> {
    let mut fields = line.split_whitespace();
    let (address, port) = fields.nth(1)?.split_once(':')?;
    (fields.nth(1)? == LISTENING).then_some(())?;
    let port = u16::from_str_radix(port, 16).ok()?;
    // Words of 32 bits in the machine's own order.
    let words: Vec<u8> = (0..address.len() / 8)
        .filter_map(|word| u32::from_str_radix(address.get(word * 8..word * 8 + 8)?, 16).ok())
        .flat_map(u32::to_ne_bytes)
        .collect();
    let ip = match <[u8; 4]>::try_from(words.as_slice()) {
        Ok(v4) => IpAddr::V4(Ipv4Addr::from(v4)),
        Err(_longer) => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(words.as_slice()).ok()?)),
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_told_from_a_connection() {
        let listens = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1 1";
        assert_eq!(listener(listens), Some("127.0.0.1:8080".parse().unwrap()));
        assert_eq!(listener(&listens.replace(" 0A ", " 01 ")), None);
        let any = "  0: 00000000000000000000000000000000:0BB8 00000000000000000000000000000000:0000 0A 0 0 0";
        assert_eq!(listener(any), Some("[::]:3000".parse().unwrap()));
        assert_eq!(listener("  sl  local_address rem_address   st"), None);
    }
}
