//! User, network and pid namespaces. Entered for good: a probe's process ends with its answer.

use std::{
    fs,
    io::{self, Read, Write},
    process::{Child, Stdio},
};

use belljar_init::wire::{Failure, Stage};
use rustix::{
    process::{getegid, geteuid, getpid},
    thread::{UnshareFlags, unshare_unsafe},
};

use super::{
    Prober,
    ask::{ask_helper, sit},
    step::{At, without_effect},
};
use crate::is_host_root;

/// The helper that lives in a user namespace of its own until its standard input ends.
pub(super) const HOLD: &str = "hold-user-namespace";
/// The helper that should find itself to be process 1.
pub(super) const FIRST: &str = "first-process";

/// As many ids as a sandbox has as root, from where sandboxes take theirs.
const RANGE: &str = "0 268435456 65536\n";

pub(super) fn user() -> Result<String, Failure> {
    if is_host_root() {
        let held = Held::new()?;
        drop(held);
        return Ok("made, with a range of 65536 ids of its own".to_owned());
    }
    enter()?;
    // AppArmor can let the namespace be made and take away all power in it.
    unshare(UnshareFlags::NEWUTS, "uts")?;
    rustix::system::sethostname(b"belljar-probe").at(Stage::Hostname, "belljar-probe")?;
    Ok("made by an ordinary user, with power in it".to_owned())
}

pub(super) fn network() -> Result<String, Failure> {
    enter()?;
    unshare(UnshareFlags::NEWNET, "net")?;
    let devices = fs::read_to_string("/proc/self/net/dev").at(Stage::Namespaces, "/proc/self/net/dev")?;
    let names: Vec<_> =
        devices.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim()).collect();
    // Some kernels give every namespace their tunnels, down and without address; what must not be there is a way out.
    match names.contains(&"lo") && !names.iter().any(|name| name.starts_with("eth") || name.starts_with("en"))
    {
        true => Ok("made, with nothing in it but loopback".to_owned()),
        false => Err(without_effect(Stage::Namespaces, "net")),
    }
}

pub(super) fn pid() -> Result<String, Failure> {
    enter()?;
    unshare(UnshareFlags::NEWPID, "pid")?;
    helper(FIRST)
}

pub(super) fn is_first() -> Result<String, Failure> {
    match getpid().is_init() {
        true => Ok("made, its first process is number 1".to_owned()),
        false => Err(without_effect(Stage::Namespaces, "pid")),
    }
}

/// Runs a helper of this process, in the namespaces it has made for its children.
pub(super) fn helper(name: &str) -> Result<String, Failure> {
    let silent = || Failure { stage: Stage::Namespaces, errno: libc::ECHILD, about: name.to_owned() };
    ask_helper(name).ok_or_else(silent)?
}

/// Gets the power to make the other namespaces: root has it, others by a user namespace with their own id in it.
pub(super) fn enter() -> Result<(), Failure> {
    if is_host_root() {
        return Ok(());
    }
    let (uid, gid) = (geteuid(), getegid());
    unshare_at(UnshareFlags::NEWUSER, Stage::UserNamespace, "user")?;
    // As root inside: a helper is executed, and executing takes the powers of everyone else.
    let one = |id: u32| format!("0 {id} 1\n");
    fs::write("/proc/self/setgroups", "deny").at(Stage::IdMap, "setgroups")?;
    fs::write("/proc/self/uid_map", one(uid.as_raw())).at(Stage::IdMap, "uid_map")?;
    fs::write("/proc/self/gid_map", one(gid.as_raw())).at(Stage::IdMap, "gid_map")
}

pub(super) fn unshare(flags: UnshareFlags, about: &str) -> Result<(), Failure> {
    unshare_at(flags, Stage::Namespaces, about)
}

fn unshare_at(flags: UnshareFlags, stage: Stage, about: &str) -> Result<(), Failure> {
    // SAFETY: unshare_unsafe demands that no other thread rely on sharing descriptors with this one, which only
    // CLONE_FILES would end; the callers here pass namespace flags alone.
    unsafe { unshare_unsafe(flags) }.at(stage, about)
}

/// A user namespace with a range of ids, alive as long as its helper.
pub(super) struct Held {
    helper: Child,
    /// The namespace.
    pub(super) file: fs::File,
}

impl Held {
    pub(super) fn new() -> Result<Self, Failure> {
        let mut helper = Prober::this_program().start(HOLD, Stdio::piped()).at(Stage::Fork, "helper")?;
        match Self::map(&mut helper) {
            Ok(file) => Ok(Self { helper, file }),
            Err(failure) => {
                end(&mut helper);
                Err(failure)
            }
        }
    }

    fn map(helper: &mut Child) -> Result<fs::File, Failure> {
        let mut byte = [0_u8; 4];
        let said = helper.stdout.as_mut().map(|out| out.read_exact(&mut byte));
        said.unwrap_or(Ok(())).at(Stage::UserNamespace, "helper")?;
        // It says the number of its error, or 0.
        let errno = i32::from_ne_bytes(byte);
        if errno != 0 {
            return Err(Failure { stage: Stage::UserNamespace, errno, about: "helper".to_owned() });
        }
        let proc = format!("/proc/{}", helper.id());
        fs::write(format!("{proc}/uid_map"), RANGE).at(Stage::IdMap, "uid_map")?;
        fs::write(format!("{proc}/gid_map"), RANGE).at(Stage::IdMap, "gid_map")?;
        fs::File::open(format!("{proc}/ns/user")).at(Stage::UserNamespace, "ns/user")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        end(&mut self.helper);
    }
}

fn end(helper: &mut Child) {
    drop(helper.stdin.take());
    // It has nothing to say any more.
    let _status = helper.wait();
}

/// Makes a user namespace, says how that went, and stays in it.
pub(super) fn hold() -> io::Result<()> {
    let made = unshare_at(UnshareFlags::NEWUSER, Stage::UserNamespace, "user");
    let errno = made.map_or_else(|failure| failure.errno, |()| 0);
    let mut out = io::stdout().lock();
    out.write_all(&errno.to_ne_bytes())?;
    out.flush()?;
    sit()
}
