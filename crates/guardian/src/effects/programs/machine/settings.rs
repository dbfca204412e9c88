//! Accounts, kernel, firewall, network, clock and guards of the system.
//!
//! Owns: which of their commands change something. Most take a verb or an option to change; without it they show.

use super::super::call::Call;
use super::super::options::Options;
use crate::effects::act::{Act, Change, Power};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

const ACCOUNTS: &[&str] = &[
    "useradd",
    "adduser",
    "usermod",
    "userdel",
    "deluser",
    "groupadd",
    "addgroup",
    "groupmod",
    "groupdel",
    "delgroup",
    "gpasswd",
    "passwd",
    "chpasswd",
    "chgpasswd",
    "chage",
    "chsh",
    "chfn",
    "vipw",
    "vigr",
    "newusers",
    "pwconv",
    "pwunconv",
    "dscl",
    "dseditgroup",
    "sysadminctl",
    "smbpasswd",
    "faillock",
    "pam-auth-update",
    "authconfig",
];
const KERNEL: &[&str] = &[
    "insmod",
    "modprobe",
    "rmmod",
    "kmod",
    "depmod",
    "dkms",
    "sysctl",
    "iptables",
    "ip6tables",
    "iptables-restore",
    "ip6tables-restore",
    "ebtables",
    "arptables",
    "nft",
    "ufw",
    "firewall-cmd",
    "ipset",
    "pfctl",
    "setenforce",
    "setsebool",
    "semanage",
    "aa-disable",
    "aa-teardown",
    "aa-complain",
    "aa-enforce",
    "apparmor_parser",
    "auditctl",
    "hwclock",
    "timedatectl",
    "hostnamectl",
    "localectl",
    "hostname",
    "bpftool",
    "bpftrace",
    "ip",
    "ifconfig",
    "route",
    "nmcli",
    "ifup",
    "ifdown",
    "iw",
    "iwconfig",
    "rfkill",
    "tc",
    "ethtool",
    "brctl",
    "wg",
    "wg-quick",
    "openvpn",
    "resolvconf",
    "grub-install",
    "update-grub",
    "grub-mkconfig",
    "grub-editenv",
    "efibootmgr",
    "bootctl",
    "flashrom",
    "fwupdmgr",
    "mknod",
    "setterm",
    "swaplabel",
    "dmsetup",
    "sysfsutils",
    "cpupower",
    "ldattach",
    "dmesg",
    "networksetup",
    "csrutil",
    "spctl",
    "nvram",
    "kextload",
    "kextunload",
    "bcdedit",
    "netsh",
    "tuned-adm",
    "update-initramfs",
    "mkinitcpio",
    "dracut",
    "depmod",
    "date",
    "ntpdate",
    "debugfs",
    "format",
    "diskpart",
    "snapper",
    "timeshift",
    "update-ca-certificates",
    "update-ca-trust",
    "trust",
    "mkcert",
    "tccutil",
    "chvt",
    "resolvectl",
    "crash",
    "pw",
];
const RIGHTS: &[&str] = &[
    "newuidmap",
    "newgidmap",
    "runas",
    "gsudo",
    "capsh",
    "login",
    "setuidgid",
    "polkit-agent",
    "dockerd",
    "containerd",
    "kubelet",
    "sudoreplay",
];

/// Whether a program is of this family.
pub(super) fn knows(name: &str) -> bool {
    ACCOUNTS.contains(&name)
        || KERNEL.contains(&name)
        || RIGHTS.contains(&name)
        || name.starts_with("partclone.")
}

/// What it changes.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    if ACCOUNTS.contains(&call.name) {
        return accounts(call);
    }
    if RIGHTS.contains(&call.name) {
        return rights(call);
    }
    match call.name {
        "debugfs" | "format" | "diskpart" | "grub-install" | "snapper" | "timeshift" => disks(call),
        name if name.starts_with("partclone.") => disks(call),
        "mknod" => nodes(call),
        _ if changes(call) => Outcome::of([Act::Power(Power::Kernel(call.name.to_owned()))]),
        _ => Outcome::harmless(),
    }
}

fn accounts(call: &Call<'_>) -> Outcome {
    if call.says(&["-S", "--status", "-l", "--list", "-list", "-read"])
        && matches!(call.name, "passwd" | "chage" | "chsh" | "dscl")
    {
        return Outcome::harmless();
    }
    let mut outcome = Outcome::of([Act::Power(Power::Accounts(call.name.to_owned()))]);
    let removes = call.says(&["-r", "--remove", "--remove-home", "-rf", "-fr", "--remove-all-files"]);
    if removes && matches!(call.name, "userdel" | "deluser") {
        let user = call.words().filter(|word| !word.starts_with('-')).last().unwrap_or_default().to_owned();
        let path = Value::known(call.context.home_of(user.as_bytes()));
        outcome.push(Act::Delete { path, deep: true, filtered: false });
    }
    outcome
}

fn rights(call: &Call<'_>) -> Outcome {
    if call.name == "capsh" && call.says(&["--print", "--supports"]) {
        return Outcome::harmless();
    }
    Outcome::of([Act::Privilege { how: call.name.to_owned() }])
}

fn disks(call: &Call<'_>) -> Outcome {
    match call.name {
        "debugfs" if !call.says(&["-w"]) => Outcome::harmless(),
        "snapper" | "timeshift" => {
            let loses = call.says(&[
                "delete",
                "rm",
                "--delete",
                "--delete-all",
                "--restore",
                "undochange",
                "rollback",
            ]);
            if loses {
                Outcome::of([Act::Disk { device: Value::known("snapshots") }])
            } else {
                Outcome::harmless()
            }
        }
        // A project's own `format` takes files; drives have a colon.
        "format" if !call.words().any(|word| word.len() == 2 && word.ends_with(':')) => Outcome::harmless(),
        _ => {
            let device = call
                .args
                .iter()
                .rev()
                .find(|arg| !arg.prefix().starts_with(b"-"))
                .cloned()
                .unwrap_or_default();
            Outcome::of([Act::Disk { device }])
        }
    }
}

fn nodes(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("m:", "mode="));
    let Some(path) = read.operands.first() else { return Outcome::harmless() };
    let made = call.writes(path, Change::Make);
    if matches!(read.word(1), "b" | "c" | "u") {
        return Outcome::of([Act::Power(Power::Kernel("mknod: a device".to_owned())), made]);
    }
    Outcome::of([made])
}

/// Whether it changes something, and not only shows it.
fn changes(call: &Call<'_>) -> bool {
    let words: Vec<&str> = call.words().collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let starts =
        |wanted: &[&str]| words.iter().any(|word| wanted.iter().any(|start| word.starts_with(start)));
    let verb = words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
    match call.name {
        "modprobe" => !has(&["-n", "--dry-run", "-c", "--showconfig", "--show-depends", "-D"]),
        "kmod" => matches!(verb, "load" | "unload" | "insert" | "remove"),
        "dkms" => verb != "status",
        "sysctl" => {
            has(&["-w", "--write", "-p", "--load", "--system"])
                || starts(&["-p", "--load="])
                || words.iter().any(|word| word.contains('='))
        }
        "iptables" | "ip6tables" | "ebtables" | "arptables" => {
            !has(&["-L", "-S", "--list", "--list-rules", "-nL", "-nvL", "-vnL", "-C", "-Ln", "-Lnv"])
        }
        "nft" => !matches!(verb, "list" | "monitor" | "describe"),
        "ufw" => !matches!(verb, "status" | "show" | "version" | "app"),
        "firewall-cmd" => !words.iter().all(|word| starts_asking(word)),
        "ipset" => !matches!(verb, "list" | "test" | "save"),
        "pfctl" => !starts(&["-s", "-vs"]),
        "setsebool" | "semanage" => !has(&["-l", "--list"]),
        "auditctl" => !has(&["-l", "-s", "-v"]),
        "hwclock" => has(&["-w", "-s", "--systohc", "--hctosys", "--set", "--adjust"]),
        "timedatectl" | "localectl" => verb.starts_with("set-"),
        "hostnamectl" => {
            verb.starts_with("set-")
                || matches!(verb, "hostname" | "chassis" | "deployment" | "location") && words.len() > 1
        }
        "hostname" => has(&["-F", "--file", "-b"]) || !verb.is_empty(),
        "date" => has(&["-s", "--set"]) || starts(&["--set=", "-s2", "-s1"]),
        "bpftool" => matches!(
            words.get(1).copied(),
            Some("load" | "attach" | "detach" | "pin" | "delete" | "loadall" | "update" | "create")
        ),
        "ip" => matches!(
            ip_verb(&words),
            "add" | "del" | "delete" | "set" | "flush" | "change" | "replace" | "append" | "a" | "d" | "exec"
        ),
        "ifconfig" => words.iter().filter(|word| !word.starts_with('-')).count() > 1,
        "route" => matches!(verb, "add" | "del" | "delete" | "flush" | "change"),
        "nmcli" => has(&[
            "off",
            "on",
            "up",
            "down",
            "add",
            "delete",
            "modify",
            "disconnect",
            "connect",
            "mod",
            "del",
            "edit",
            "reload",
        ]),
        "iw" | "iwconfig" | "ethtool" | "brctl" | "wg" => has(&[
            "set",
            "add",
            "del",
            "addbr",
            "delbr",
            "addif",
            "delif",
            "-s",
            "-K",
            "-A",
            "-G",
            "setconf",
            "addconf",
            "syncconf",
            "disconnect",
            "connect",
            "essid",
            "power",
        ]),
        _ => firmware(call.name, verb, &words),
    }
}

/// The same of what lies beneath the system, and of other systems.
fn firmware(name: &str, verb: &str, words: &[&str]) -> bool {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let starts =
        |wanted: &[&str]| words.iter().any(|word| wanted.iter().any(|start| word.starts_with(start)));
    match name {
        "trust" => verb == "anchor" && !has(&["--list", "-l"]),
        "mkcert" => has(&["-install", "-uninstall"]),
        "tccutil" => verb == "reset",
        "resolvectl" => {
            matches!(verb, "dns" | "domain" | "revert" | "llmnr" | "mdns" | "dnssec") && words.len() > 2
        }
        "pw" => verb.starts_with("user") || verb.starts_with("group"),
        "rfkill" => matches!(verb, "block" | "unblock" | "toggle"),
        "tc" => matches!(words.get(1).copied(), Some("add" | "del" | "change" | "replace" | "delete")),
        "efibootmgr" => words.iter().any(|word| !matches!(*word, "-v" | "--verbose")),
        "bootctl" => matches!(verb, "install" | "update" | "remove" | "set-default" | "set-oneshot"),
        "fwupdmgr" => matches!(verb, "install" | "update" | "downgrade" | "reinstall"),
        "grub-editenv" => has(&["set", "unset", "create"]),
        "flashrom" => has(&["-w", "-E", "--write", "--erase"]),
        "dmsetup" => matches!(
            verb,
            "create" | "remove" | "remove_all" | "suspend" | "resume" | "load" | "wipe_table" | "rename"
        ),
        "cpupower" | "tuned-adm" => matches!(verb, "frequency-set" | "idle-set" | "set" | "profile" | "off"),
        "dmesg" => has(&["-C", "-c", "--clear", "--read-clear", "-D", "-n", "--console-off"]),
        "networksetup" => starts(&["-set", "-add", "-remove", "-create", "-switch"]),
        "csrutil" | "spctl" => {
            has(&["disable", "enable", "--master-disable", "--master-enable", "--global-disable", "clear"])
        }
        "nvram" => words.iter().any(|word| word.contains('=') || matches!(*word, "-c" | "-d")),
        "bcdedit" => starts(&["/set", "/delete", "/create", "/import"]),
        "netsh" => has(&["set", "add", "delete", "reset"]),
        "setterm" => false,
        _ => true,
    }
}

/// `firewall-cmd` asks by names that begin like this.
fn starts_asking(word: &str) -> bool {
    ["--list", "--get", "--query", "--state", "--info", "--zone", "--permanent", "--check"]
        .iter()
        .any(|start| word.starts_with(start))
}

/// The verb of `ip [options] object verb`.
fn ip_verb<'a>(words: &[&'a str]) -> &'a str {
    words.iter().filter(|word| !word.starts_with('-')).nth(1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn changing_is_told_from_showing() {
        check(&[
            ("useradd -m evil", "power Accounts(\"useradd\")"),
            ("userdel -r dev", "power Accounts(\"userdel\"); delete/ /home/dev"),
            ("modprobe vboxdrv", "power Kernel(\"modprobe\")"),
            ("sysctl -a", "compute"),
            ("sysctl vm.swappiness=1", "power Kernel(\"sysctl\")"),
            ("iptables -F", "power Kernel(\"iptables\")"),
            ("iptables -L -n", "compute"),
            ("ip addr", "compute"),
            ("ip route", "compute"),
            ("ip -br link show", "compute"),
            ("ip link set eth0 down", "power Kernel(\"ip\")"),
            ("ip route flush table main", "power Kernel(\"ip\")"),
            ("ifconfig", "compute"),
            ("ifconfig eth0 down", "power Kernel(\"ifconfig\")"),
            ("hostname -I", "compute"),
            ("date +%s", "compute"),
            ("date -s 2020-01-01", "power Kernel(\"date\")"),
            ("nmcli device status", "compute"),
            ("timedatectl set-time 2020-01-01", "power Kernel(\"timedatectl\")"),
            ("dmesg", "compute"),
            ("capsh --gid=0 --uid=0 --", "privilege capsh"),
            ("format c:", "disk c:"),
            ("mknod /tmp/sda b 8 0", "power Kernel(\"mknod: a device\"); write:Make /tmp/sda"),
        ]);
    }
}
