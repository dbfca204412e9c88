//! `belljar doctor` as people run it: as root, as an ordinary user, and where something is taken away for real. Root is
//! needed, because only root can take things away.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail the test where they stand"
)]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::TempDir;

#[path = "support/place.rs"]
mod place;

const USER: u32 = 1000;

/// Every check there is; one that vanishes is missed.
const CHECKS: [&str; 28] = [
    "version",
    "user-namespace",
    "mount-namespace",
    "network-namespace",
    "pid-namespace",
    "proc",
    "overlay",
    "idmapped-mounts",
    "seccomp",
    "landlock",
    "apparmor-userns",
    "unprivileged-userns-clone",
    "max-user-namespaces",
    "max-net-namespaces",
    "container",
    "cgroups",
    "cgroup-memory",
    "cgroup-cpu",
    "cgroup-cpuacct",
    "cgroup-pids",
    "freezer",
    "mke2fs",
    "disk-image",
    "git",
    "docker",
    "runsc",
    "kvm",
    "sandbox",
];

/// A copy of the binary that ordinary users can reach, and a home for its data.
struct Bench {
    dir: TempDir,
    program: PathBuf,
}

impl Bench {
    fn new() -> Self {
        assert!(rustix::process::geteuid().is_root(), "these tests take features away, which takes root");
        let dir = tempfile::tempdir_in("/tmp").unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let program = dir.path().join("belljar");
        place::place(Path::new(env!("CARGO_BIN_EXE_belljar")), &program);
        Self { dir, program }
    }

    fn home(&self, uid: u32) -> PathBuf {
        let home = self.dir.path().join(format!("home-{uid}"));
        if !home.exists() {
            fs::create_dir(&home).unwrap();
            chown(&home, Some(uid), Some(uid)).unwrap();
        }
        home
    }

    /// Runs belljar at the end of a wrapper's command line.
    fn run(&self, wrapper: &[&str], uid: u32, args: &[&str]) -> Output {
        let words: Vec<_> = wrapper.iter().map(PathBuf::from).chain([self.program.clone()]).collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(args).current_dir("/tmp").env("BELLJAR_HOME", self.home(uid));
        command.env("HOME", self.home(uid)).output().unwrap()
    }

    fn doctor(&self, wrapper: &[&str], uid: u32) -> (Value, i32) {
        let output = self.run(wrapper, uid, &["doctor", "--json"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {stderr}"));
        (value, output.status.code().unwrap())
    }
}

fn as_user() -> [&'static str; 6] {
    ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups"]
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no check {name}"))
}

fn assert_whole(report: &Value) {
    let checks = report["checks"].as_array().unwrap();
    let names: BTreeSet<_> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!(names, CHECKS.into_iter().collect());
    for check in checks {
        let status = check["status"].as_str().unwrap();
        assert!(["ok", "degraded", "missing"].contains(&status), "{check}");
        assert!(!check["found"].as_str().unwrap().is_empty(), "{check}");
        let same_cause = check["name"] == "disk-image" || check["name"] == "sandbox";
        assert!(status == "ok" || same_cause || check["remedy"]["advice"].is_string(), "no remedy: {check}");
    }
    let providers: Vec<_> =
        report["providers"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(providers, ["process", "docker", "gvisor", "e2b"]);
}

fn level(report: &Value, promise: &str) -> bool {
    let levels = report["providers"][0]["levels"].as_array().unwrap();
    levels.iter().find(|level| level["promise"] == promise).unwrap()["enforced"].as_bool().unwrap()
}

#[test]
fn root_is_told_about_everything_and_leaves_nothing_behind() {
    let bench = Bench::new();
    let (report, code) = bench.doctor(&["env"], 0);
    assert_whole(&report);
    assert_eq!((check(&report, "sandbox")["status"].as_str(), code), (Some("ok"), 0), "{report}");
    for promise in ["memory", "cpus", "pids", "disk", "filesystem", "seccomp"] {
        assert!(level(&report, promise), "{promise}");
    }
    let left = |name: &str| fs::read_dir(bench.home(0).join(name)).unwrap().flatten();
    assert_eq!((left("sandboxes").count(), left("making").count()), (0, 0));
    let own = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().contains("doctor");
    assert_eq!(left("cache").filter(own).count(), 0, "the disk made for trial");
}

#[test]
fn an_ordinary_user_is_told_how_to_get_control_groups() {
    let bench = Bench::new();
    let (report, code) = bench.doctor(&as_user(), USER);
    assert_whole(&report);
    assert_eq!((report["verdict"].as_str(), code), (Some("degraded"), 0), "{report}");
    for name in ["user-namespace", "proc", "overlay", "sandbox"] {
        assert_eq!(check(&report, name)["status"], "ok", "{name}");
    }
    assert_eq!(check(&report, "cgroup-memory")["status"], "degraded");
    assert!(!level(&report, "memory") && level(&report, "disk"));
    assert!(check(&report, "cgroups")["remedy"]["commands"][0].as_str().unwrap().contains("belljar"));
}

#[test]
fn the_commands_it_prints_do_give_control_groups() {
    let bench = Bench::new();
    // A user of the test's own, so that its groups are nobody else's.
    let user = ["setpriv", "--reuid", "4242", "--regid", "4242", "--clear-groups"];
    let output = bench.run(&user, 4242, &["doctor", "--delegate-commands"]);
    let commands = String::from_utf8(output.stdout).unwrap();
    let script = format!("sudo() {{ \"$@\"; }}\n{{\n{commands}}} >/dev/null\nexec {} \"$@\"", user.join(" "));
    let (report, code) = bench.doctor(&["bash", "-c", &script, "bash"], 4242);
    for group in commands.lines().filter(|line| line.trim().starts_with('/')) {
        let mount = group.trim().trim_end_matches(['\\', ' ']);
        remove_group(&Path::new(mount).join("belljar-4242"));
    }
    assert_eq!(code, 0);
    for name in ["cgroups", "cgroup-memory", "cgroup-cpu", "cgroup-pids", "freezer"] {
        assert_eq!(check(&report, name)["status"], "ok", "{}", check(&report, name));
    }
    assert!(level(&report, "memory") && level(&report, "cpus"));
    assert_eq!(report["verdict"], "ready", "{}", report["summary"]);
}

/// A process that has just ended stays in its group for a moment.
fn remove_group(group: &Path) {
    for _attempt in 0..500 {
        if fs::remove_dir(group).is_ok() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{} is still in use", group.display());
}

#[test]
fn without_user_namespaces_doctor_and_run_say_the_same() {
    let bench = Bench::new();
    let none = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    for uid in [0, USER] {
        let inside = ["unshare", "--user", "--map-root-user", "sh", "-c", none, "sh"];
        let user = as_user();
        let wrapper: Vec<_> =
            if uid == 0 { inside.to_vec() } else { user.iter().copied().chain(inside).collect() };
        let (report, code) = bench.doctor(&wrapper, uid);
        assert_whole(&report);
        assert_eq!((report["verdict"].as_str(), code), (Some("unable"), 1), "{report}");
        for name in ["user-namespace", "max-user-namespaces"] {
            let check = check(&report, name);
            assert_eq!(check["status"], "missing");
            assert_eq!(check["remedy"]["commands"][0], "sudo sysctl -w user.max_user_namespaces=15000");
        }
        let output = bench.run(&wrapper, uid, &["run", "--workspace", "none", "--", "true"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let advice = check(&report, "user-namespace")["remedy"]["advice"].as_str().unwrap();
        assert_eq!(output.status.code(), Some(125), "{stderr}");
        assert!(
            stderr.contains(&format!("hint: {advice}: sudo sysctl -w user.max_user_namespaces=15000")),
            "{stderr}"
        );
    }
}

#[test]
fn root_of_a_namespace_is_an_ordinary_user() {
    let bench = Bench::new();
    let (report, code) = bench.doctor(&["unshare", "--user", "--map-root-user"], 0);
    assert_eq!((check(&report, "sandbox")["status"].as_str(), code), (Some("ok"), 0), "{report}");
    assert!(check(&report, "user-namespace")["found"].as_str().unwrap().contains("ordinary user"));
}

#[test]
fn a_missing_formatter_is_named_with_the_command_that_installs_it() {
    let bench = Bench::new();
    let empty = bench.dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let hide = format!("mount --bind {} /usr/sbin && exec \"$@\"", empty.display());
    let wrapper = ["unshare", "--mount", "--propagation", "private", "sh", "-c", &hide, "sh"];
    let (report, code) = bench.doctor(&wrapper, 0);
    assert_eq!((report["verdict"].as_str(), code), (Some("degraded"), 0), "{report}");
    let formatter = check(&report, "mke2fs");
    assert_eq!(formatter["status"], "degraded");
    assert!(formatter["remedy"]["commands"][0].as_str().unwrap().contains("e2fsprogs"), "{formatter}");
    assert!(check(&report, "disk-image")["found"].as_str().unwrap().contains("tmpfs"));
    assert!(level(&report, "disk"), "memory holds the limit too");
}

#[test]
fn people_get_at_most_100_plain_columns_and_a_verdict() {
    let bench = Bench::new();
    for (wrapper, uid) in [(vec!["env"], 0), (as_user().to_vec(), USER)] {
        let output = bench.run(&wrapper, uid, &["doctor"]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(!text.contains('\x1b'), "colours only on a terminal");
        assert!(text.lines().last().unwrap().starts_with("Sandboxes run here"), "{text}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let bench = Bench::new();
    let pages = bench.dir.path().join("man");
    let output = bench.run(&["env"], 0, &["man", pages.to_str().unwrap()]);
    assert!(output.status.success());
    let text = |name: &str| fs::read_to_string(pages.join(name)).unwrap();
    assert!(
        text("belljar.1").contains(".TH belljar 1")
            && text("belljar-doctor.1").contains("delegate\\-commands")
    );
    assert!(!pages.join("belljar-__probe.1").exists(), "hidden commands stay hidden");
    let main = bench.run(&["env"], 0, &["man"]);
    assert!(String::from_utf8_lossy(&main.stdout).contains(".SH SUBCOMMANDS"));
}
