//! Packages of the whole machine: `apt`, `dnf`, `brew`, `pacman` and their kin.
//!
//! Owns: what removes and what brings from elsewhere. Installing asks for rights the machine guards itself; taking away what it needs
//! to run is another matter.

use super::super::call::Call;
use super::super::options::Options;
use super::{Packages, address, names};
use crate::effects::act::Act;
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// `apt` and the others.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() || call.args.is_empty() {
        return Outcome::harmless();
    }
    let read =
        call.read(&Options::new("o:c:t:a:", "option= config-file= target-release= repo= root= prefix="));
    let verb = read.verb();
    let words: Vec<&str> = call.words().collect();
    let packages = |operation: &'static str, global: bool, operands: &[Value]| {
        let from = address(operands);
        Outcome::of([Packages { call, operation, names: names(operands), global, from }.act()])
    };
    let rest = read.operands.get(1..).unwrap_or_default();
    let simulated =
        call.says(&["-s", "--simulate", "--dry-run", "--just-print", "--assumeno", "-p", "--print"])
            && call.name != "dpkg";
    let outcome = match call.name {
        "dpkg" => {
            let removes = words.iter().any(|word| matches!(*word, "-r" | "-P" | "--remove" | "--purge"));
            let installs = words.iter().any(|word| matches!(*word, "-i" | "--install"));
            let query = call.says(&[
                "-l",
                "-L",
                "-S",
                "-s",
                "--list",
                "--print-architecture",
                "--status",
                "--get-selections",
            ]);
            match (removes, installs) {
                (true, _) => removed(call, &read.operands),
                (_, true) => packages("install", false, &read.operands),
                _ if query => Outcome::harmless(),
                _ => Outcome::harmless(),
            }
        }
        "rpm" => {
            if words.iter().any(|word| *word == "--erase" || word.starts_with("-e")) {
                removed(call, &read.operands)
            } else if words.iter().any(|word| {
                matches!(*word, "-i" | "-U" | "-ivh" | "-Uvh" | "-F" | "--install" | "--upgrade" | "--import")
            }) {
                packages("install", false, &read.operands)
            } else {
                Outcome::harmless()
            }
        }
        "pacman" | "yay" | "paru" => {
            let flag = words.iter().find(|word| word.starts_with('-')).copied().unwrap_or_default();
            if flag.starts_with("-R") || flag == "--remove" {
                removed(call, &read.operands)
            } else if flag.starts_with("-S") && !flag.contains(['s', 'i', 'l', 'g', 'p']) || flag == "-U" {
                packages("install", false, &read.operands)
            } else {
                Outcome::harmless()
            }
        }
        "xbps-remove" => removed(call, &read.operands),
        "apt-key" | "add-apt-repository" => match verb {
            "list" | "finger" | "" => Outcome::harmless(),
            _ => Outcome::of([Act::Persist { how: format!("{}: another source of packages", call.name) }]),
        },
        "nix-env" if call.says(&["-e", "--uninstall"]) => packages("remove", false, &read.operands),
        "brew" => match verb {
            "services" => match rest.first().and_then(Value::text) {
                Some("start" | "restart") => Outcome::of([Act::Persist { how: "brew services".to_owned() }]),
                Some("stop") => Outcome::harmless(),
                _ => Outcome::harmless(),
            },
            "shellenv" => {
                Outcome::harmless().saying(crate::effects::invocation::Stream::text(Value::known(":")))
            }
            "uninstall" | "remove" | "rm" | "zap" => {
                packages("remove", call.says(&["--zap", "--force"]), rest)
            }
            "install" | "reinstall" | "upgrade" | "tap" => packages("install", false, rest),
            _ => Outcome::harmless(),
        },
        _ => match verb {
            "remove" | "purge" | "autoremove" | "erase" | "uninstall" | "del" | "rm" | "delete"
            | "unmerge" | "--unmerge" | "full-upgrade-never" => removed(call, rest),
            "install" | "add" | "reinstall" | "upgrade" | "dist-upgrade" | "full-upgrade"
            | "localinstall" | "in" | "build-dep" => packages("install", false, rest),
            _ => Outcome::harmless(),
        },
    };
    outcome.rehearsed_if(simulated)
}

/// What is removed; without these a machine does not run, and a pattern may be anything.
fn removed(call: &Call<'_>, operands: &[Value]) -> Outcome {
    const NEEDED: [&str; 30] = [
        "libc6",
        "glibc",
        "bash",
        "coreutils",
        "systemd",
        "dpkg",
        "apt",
        "rpm",
        "dnf",
        "pacman",
        "sudo",
        "login",
        "passwd",
        "init",
        "util-linux",
        "openssh-server",
        "network-manager",
        "networkmanager",
        "grub",
        "linux-image",
        "kernel",
        "filesystem",
        "base",
        "musl",
        "busybox",
        "libc-bin",
        "e2fsprogs",
        "ubuntu-minimal",
        "ubuntu-desktop",
        "gnome-shell",
    ];
    let mut outcome = Outcome::of([Packages {
        call,
        operation: "remove",
        names: names(operands),
        global: true,
        from: None,
    }
    .act()]);
    let breaks = operands.iter().any(|name| {
        let text = name.text().unwrap_or("*");
        text.contains(['*', '^', '?', '['])
            || NEEDED.iter().any(|needed| {
                text == *needed
                    || text.starts_with(&format!("{needed}-"))
                    || text.starts_with(&format!("{needed}:"))
            })
    });
    if breaks
        || call.says(&[
            "--force-all",
            "--nodeps",
            "-Rdd",
            "--force-remove-essential",
            "--allow-remove-essential",
        ])
    {
        outcome.push(Act::Delete { path: Value::known("/usr"), deep: true, filtered: true });
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn installing_is_told_from_removing_what_is_needed() {
        check(&[
            ("apt-get install -y build-essential", "package apt-get install build-essential"),
            ("apt-get update", "compute"),
            ("apt-get remove --purge libc6", "package! apt-get remove libc6; delete/% /usr"),
            ("apt-get remove nginx", "package! apt-get remove nginx"),
            ("dpkg -l", "compute"),
            ("pacman -S base-devel", "package pacman install base-devel"),
            ("pacman -Ss x", "compute"),
            ("pacman -Rdd glibc", "package! pacman remove glibc; delete/% /usr"),
            ("brew install jq", "package brew install jq"),
            ("brew services start postgresql", "persist brew services"),
            ("snap list", "compute"),
        ]);
    }
}
