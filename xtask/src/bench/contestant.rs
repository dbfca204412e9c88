//! Who races: the same `true`, started by each means.

use std::{fs, os::unix::process::CommandExt as _, path::Path, process::Command, time::Duration};

use super::{
    docker::Docker,
    site::{Account, Site},
};

/// One way to start `true`.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    pub(crate) how: How,
    /// Pause after it.
    pub(crate) settle: Duration,
}

/// How it is started.
pub(crate) enum How {
    /// A process of its own, timed from before it is started until it is reaped.
    Process(Command),
    /// The same, with something to read.
    Fed(Command, Vec<u8>),
    /// By asking a server; the answer is whether it ran.
    Asking(Box<dyn FnMut() -> anyhow::Result<bool>>),
}

pub(crate) const HTTP_LIFE: &str = "HTTP: create, exec, delete";
pub(crate) const HTTP_LIFE_POOL: &str = "HTTP: create, exec, delete, warm pool";
pub(crate) const HTTP_EXEC: &str = "HTTP: exec";
pub(crate) const HOOK: &str = "belljar hook, server up";
pub(crate) const HOOK_DENY: &str = "belljar hook, call denied";
pub(crate) const HOOK_KILLED: &str = "belljar hook, server killed";
pub(crate) const HOOK_DENY_KILLED: &str = "belljar hook, call denied, server killed";
pub(crate) const HOOK_BEHIND: &str = "belljar hook, no server, 10,000 wait";
pub(crate) const PYTHON_HOOK: &str = "a hook in Python with urllib";
pub(crate) const FLOOR: &str = "spawn, no sandbox";
pub(crate) const BWRAP_ROOT: &str = "bwrap, root";
pub(crate) const BELLJAR_ROOT: &str = "belljar run, root";
pub(crate) const BWRAP_USER: &str = "bwrap, user";
pub(crate) const BELLJAR_USER: &str = "belljar run, user";
pub(crate) const DOCKER_RUN: &str = "docker run";
pub(crate) const BELLJAR_EXEC: &str = "belljar exec";
pub(crate) const DOCKER_EXEC: &str = "docker exec";

const SHORT: Duration = Duration::from_millis(10);
/// Docker removes a container after its client has returned.
const LONG: Duration = Duration::from_millis(150);

/// Directories that are links into `/usr` on a modern host.
const MERGED: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Everybody who can race here. `live` is a sandbox that is running.
pub(crate) fn all(site: &Site, docker: Option<&Docker>, live: &str) -> Vec<Contestant> {
    let short = |name, command| Contestant { name, how: How::Process(command), settle: SHORT };
    let long = |name, command| Contestant { name, how: How::Process(command), settle: LONG };
    let mut all = vec![
        short(FLOOR, site.plain("true")),
        short(BWRAP_USER, as_account(&site.user, bwrap(site, &site.user))),
        short(BELLJAR_USER, as_account(&site.user, belljar(site, &site.user))),
        short(BELLJAR_EXEC, site.belljar(&site.maker, &["exec", live, "--", "true"])),
    ];
    if let Some(root) = &site.root {
        all.push(short(BWRAP_ROOT, bwrap(site, root)));
        all.push(short(BELLJAR_ROOT, belljar(site, root)));
    }
    if let Some(docker) = docker {
        all.push(long(DOCKER_RUN, docker.run()));
        all.push(long(DOCKER_EXEC, docker.exec()));
    }
    all
}

/// What a life over HTTP is compared with.
pub(crate) fn yardsticks(site: &Site) -> Vec<Contestant> {
    let account = site.root.as_ref().unwrap_or(&site.user);
    let short = |name, command| Contestant { name, how: How::Process(command), settle: SHORT };
    vec![short(FLOOR, site.plain("true")), short(BWRAP_ROOT, bwrap(site, account))]
}

fn belljar(site: &Site, account: &Account) -> Command {
    site.belljar(account, &["run", "--quiet", "--", "true"])
}

/// The same namespaces and the same view of the host. What belljar does on top has no counterpart in bubblewrap alone:
/// control groups, a disk limit, copy-on-write, a system-call filter, Landlock, a record.
fn bwrap(site: &Site, account: &Account) -> Command {
    let mut command = site.plain("bwrap");
    command.args(["--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--hostname", "sandbox"]);
    for shown in ["/usr", "/opt", "/etc"].into_iter().filter(|path| Path::new(path).is_dir()) {
        command.args(["--ro-bind", shown, shown]);
    }
    for path in MERGED {
        match fs::read_link(path) {
            Ok(to) => command.arg("--symlink").arg(to).arg(path),
            Err(_) if Path::new(path).is_dir() => command.args(["--ro-bind", path, path]),
            Err(_) => &mut command,
        };
    }
    command.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run", "--tmpfs", "/tmp"]);
    command.args(["--tmpfs", "/var/tmp", "--tmpfs"]).arg(&account.home);
    command.arg("--bind").args([&account.workspace, &account.workspace]);
    command.arg("--chdir").arg(&account.workspace).arg("true");
    command
}

fn as_account(account: &Account, mut command: Command) -> Command {
    if let Some(id) = account.switch_to {
        command.uid(id).gid(id);
    }
    command
}
