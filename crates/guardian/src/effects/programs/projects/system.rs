//! Packages of the whole machine: `apt`, `dnf`, `brew`, `pacman` and their kin.
//!
//! Owns: what removes and what brings from elsewhere. Installing asks for rights the machine guards itself; taking away what it needs
//! to run is another matter.

use super::super::call::Call;
use super::super::options::Options;
use super::{Packages, address, names};
use crate::effects::act::Act;
use crate::effects::invocation::{Outcome, Stream};
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
        "dpkg" if call.says(&["-x", "-X", "--extract", "--vextract"]) => {
            Outcome::of(read.operands.get(1).map(|directory| call.fills(directory)))
        }
        "dpkg" | "rpm" => {
            let removes = |word: &&str| {
                matches!(*word, "-r" | "-P" | "--remove" | "--purge" | "--erase") || word.starts_with("-e")
            };
            let installs = |word: &&str| {
                matches!(*word, "-i" | "--install" | "-U" | "-ivh" | "-Uvh" | "-F" | "--upgrade" | "--import")
            };
            match () {
                () if words.iter().any(removes) => removed(call, &read.operands),
                () if words.iter().any(installs) => packages("install", false, &read.operands),
                () => Outcome::harmless(),
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
        "brew" => brew(call, verb, rest),
        _ => match verb {
            "remove" | "purge" | "autoremove" | "erase" | "uninstall" | "del" | "rm" | "delete"
            | "unmerge" | "--unmerge" => removed(call, rest),
            "install" | "add" | "reinstall" | "upgrade" | "dist-upgrade" | "full-upgrade"
            | "localinstall" | "in" | "build-dep" => packages("install", false, rest),
            _ => Outcome::harmless(),
        },
    };
    outcome.rehearsed_if(simulated)
}

fn brew(call: &Call<'_>, verb: &str, rest: &[Value]) -> Outcome {
    let global = call.says(&["--zap", "--force"]);
    match (verb, rest.first().and_then(Value::text)) {
        ("services", Some("start" | "restart")) => {
            Outcome::of([Act::Persist { how: "brew services".to_owned() }])
        }
        ("shellenv", _) => Outcome::harmless().saying(Stream::text(Value::known(":"))),
        ("uninstall" | "remove" | "rm" | "zap", _) => {
            Outcome::of(
                [Packages { call, operation: "remove", names: names(rest), global, from: None }.act()],
            )
        }
        ("install" | "reinstall" | "upgrade" | "tap", _) => {
            let from = address(rest).filter(|address| !address.prefix().starts_with(b"https://github.com/"));
            let names = names(rest);
            Outcome::of([Packages { call, operation: "install", names, global: false, from }.act()])
        }
        _ => Outcome::harmless(),
    }
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
