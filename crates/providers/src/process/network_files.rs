//! The few files of `/etc` that are written for each sandbox: who is in it, and whom it can reach.

use std::{fs, path::Path};

use belljar_domain::NetworkMode;
use belljar_jail::plan::Step;

/// The sandbox's user.
pub(super) struct Account<'a> {
    pub(super) name: &'a str,
    pub(super) id: (u32, u32),
    pub(super) home: &'a Path,
    /// Whether the template is this host; another one brings its own tables of users.
    pub(super) host: bool,
}

pub(super) fn steps(network: NetworkMode, account: &Account<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    if account.host {
        let (uid, gid) = account.id;
        let (name, home) = (account.name, account.home.display());
        let (mut passwd, mut group) = (String::new(), String::new());
        if uid != 0 {
            passwd.push_str("root:x:0:0:root:/root:/bin/sh\n");
        }
        if gid != 0 {
            group.push_str("root:x:0:\n");
        }
        passwd.push_str(&format!("{name}:x:{uid}:{gid}:{name}:{home}:/bin/sh\n"));
        passwd.push_str("nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
        group.push_str(&format!("{name}:x:{gid}:\ntty:x:5:\nnogroup:x:65534:\n"));
        steps.push(file("/etc/passwd", passwd));
        steps.push(file("/etc/group", group));
        steps.push(file("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n".to_owned()));
    }
    let (hosts, resolv) = match network {
        NetworkMode::Open => (read("/etc/hosts"), read("/etc/resolv.conf")),
        NetworkMode::None | NetworkMode::Allowlist => (String::new(), String::new()),
    };
    let local = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n".to_owned();
    steps.push(file("/etc/hosts", if hosts.is_empty() { local } else { hosts }));
    steps.push(file("/etc/resolv.conf", resolv));
    steps
}

fn file(at: &str, text: String) -> Step {
    Step::File { at: at.to_owned(), text }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
