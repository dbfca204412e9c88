//! The glass a test looks through: a home, a workspace and an identity of its own, and the real program.
//!
//! Everything a test starts carries a mark, so that what is left behind can be told from what other tests are doing.

mod caller;
mod ended;
#[path = "../../support/http.rs"]
mod http;
mod paper;
mod served;
mod started;
mod terminal;
#[path = "../../support/traces.rs"]
mod traces;

use std::{
    ffi::OsStr,
    fs,
    io::Write as _,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) use caller::Caller;
use caller::Delegation;
pub(crate) use ended::Ended;
pub(crate) use served::Served;
pub(crate) use started::Started;
pub(crate) use terminal::Terminal;
pub(crate) use traces::{Watch, peak_memory};

/// How long anything may take on a machine that is busy with other things.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Writes one test per caller for each promise, and looks for traces after each.
macro_rules! promises {
    ($callers:tt: $($promise:ident),+ $(,)?) => {
        $($crate::support::promises!(@promise $callers $promise);)+
    };
    (@promise [$($caller:ident),+] $promise:ident) => {
        mod $promise {
            $($crate::support::promises!(@test $caller $promise);)+
        }
    };
    (@test root $promise:ident) => { $crate::support::promises!(@body as_root Root $promise); };
    (@test user $promise:ident) => { $crate::support::promises!(@body as_user User $promise); };
    (@test delegated $promise:ident) => { $crate::support::promises!(@body as_user_with_control_groups Delegated $promise); };
    (@body $name:ident $caller:ident $promise:ident) => {
        #[test]
        fn $name() {
            let glass = $crate::support::Glass::of($crate::support::Caller::$caller);
            super::$promise(&glass);
            glass.leaves_nothing_behind();
        }
    };
}
pub(crate) use promises;

/// One test's world.
pub(crate) struct Glass {
    pub(crate) caller: Caller,
    dir: TempDir,
    program: PathBuf,
    mark: u64,
    delegation: Option<Delegation>,
    pub(crate) watch: Watch,
}

impl Glass {
    pub(crate) fn of(caller: Caller) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let mark = 1_000_000_000_000
            + u64::from(std::process::id()) * 10_000
            + COUNT.fetch_add(1, Ordering::Relaxed);
        caller.check();
        let dir = tempfile::Builder::new().prefix("belljar-e2e-").tempdir().unwrap();
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        for name in ["home", "home/making", "home/sandboxes", "work", "user", "lent"] {
            let path = dir.path().join(name);
            fs::create_dir(&path).unwrap();
            caller.give(&path);
        }
        let program = caller.program(dir.path());
        let delegation = (caller == Caller::Delegated).then(|| Delegation::new(mark));
        let watch = Watch::over(&dir.path().join("home"), mark);
        Self { caller, dir, program, mark, delegation, watch }
    }

    /// `$BELLJAR_HOME`.
    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// The directory commands start in.
    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// The caller's home directory.
    pub(crate) fn user_home(&self) -> PathBuf {
        self.dir.path().join("user")
    }

    /// A directory of the caller's outside the workspace.
    pub(crate) fn lent(&self) -> PathBuf {
        self.dir.path().join("lent")
    }

    /// A file in the workspace, owned by the caller.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        fs::write(&path, content).unwrap();
        self.caller.give(&path);
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.work().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Names in the workspace.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.work())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A program run by the caller, marked, in the workspace, with an environment of its own.
    pub(crate) fn command(&self, program: &OsStr) -> Command {
        let mut words: Vec<String> = Vec::new();
        if let Some(delegation) = &self.delegation {
            words.extend(delegation.enter());
        }
        words.extend(["prlimit".into(), format!("--rttime={0}:{0}", self.mark), "--".into()]);
        words.extend(self.caller.switch());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg(program).current_dir(self.work()).env_clear();
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("HOME", self.user_home())
            .env("BELLJAR_HOME", self.home())
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null());
        command
    }

    /// belljar with these arguments, not started yet.
    pub(crate) fn belljar(&self, args: &[&str]) -> Command {
        let mut command = self.command(self.program.as_os_str());
        command.args(args);
        command
    }

    /// belljar itself, where the caller may read it.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Runs belljar to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        Ended::of(&mut self.belljar(args))
    }

    /// Runs a shell script in a fresh sandbox, with flags of `belljar run` before it.
    pub(crate) fn sh(&self, flags: &[&str], script: &str) -> Ended {
        self.run(&[&["run"], flags, &["--", "sh", "-c", script]].concat())
    }

    /// Runs belljar with `--json` and reads what it says.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let ended = self.run(&[&["--json"], args].concat());
        assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
        ended.json()
    }

    /// Starts a sandbox that stays, and returns its id.
    pub(crate) fn keep(&self, flags: &[&str]) -> String {
        let made = self.json(&[&["run", "--keep"], flags].concat());
        made["sandbox"].as_str().unwrap().to_owned()
    }

    /// Runs a shell script in a sandbox that is there.
    pub(crate) fn exec(&self, id: &str, script: &str) -> Ended {
        self.run(&["exec", id, "--", "sh", "-c", script])
    }

    /// One promise of the last sandbox: whether it is enforced.
    pub(crate) fn enforced(&self, id: &str, promise: &str) -> bool {
        let info = self.json(&["inspect", id]);
        let levels = info["levels"].as_array().unwrap();
        let level = levels.iter().find(|level| level["promise"] == promise).unwrap();
        level["enforced"].as_bool().unwrap()
    }

    /// Ends what the test kept, and fails if anything of any sandbox of this test is left.
    pub(crate) fn leaves_nothing_behind(&self) {
        self.run(&["terminate", "--all", "--force"]).ok();
        self.run(&["list"]).ok();
        eventually("no process, control group, loop device or mount is left", || {
            let left = self.watch.live_traces(&self.home());
            if left.is_empty() { Ok(()) } else { Err(left.join("\n")) }
        });
        self.run(&["discard", "--all"]).ok();
        eventually("no record is left", || {
            let dirs =
                ["making", "sandboxes"].map(|name| fs::read_dir(self.home().join(name)).unwrap().flatten());
            let left: Vec<_> = dirs.into_iter().flatten().map(|entry| entry.path()).collect();
            if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
        });
        let drafts = traces::drafts(&self.home());
        assert!(drafts.is_empty(), "half-written files left: {drafts:?}");
    }
}

impl Drop for Glass {
    fn drop(&mut self) {
        // Only a failed test leaves any of these.
        for process in self.watch.processes() {
            process.kill();
        }
        for group in self.watch.groups() {
            // What is frozen does not even die. The file is of one kind of control group or the other.
            for (file, thawed) in [("freezer.state", "THAWED"), ("cgroup.freeze", "0")] {
                let _other_kind = fs::OpenOptions::new()
                    .write(true)
                    .open(group.join(file))
                    .and_then(|mut file| file.write_all(thawed.as_bytes()));
            }
            for _busy in 0..200 {
                if fs::remove_dir(&group).is_ok() {
                    break;
                }
                thread::sleep(Duration::from_millis(2));
            }
        }
    }
}

/// Waits until a condition holds, and fails with its last complaint when patience is over.
pub(crate) fn eventually<T>(what: &str, mut check: impl FnMut() -> Result<T, String>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match check() {
            Ok(value) => return value,
            Err(complaint) => assert!(Instant::now() < deadline, "never came true: {what}: {complaint}"),
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// A condition without a complaint.
pub(crate) fn until(what: &str, mut check: impl FnMut() -> bool) {
    eventually(what, || if check() { Ok(()) } else { Err("no".to_owned()) });
}

fn own(path: &Path, uid: u32) {
    chown(path, Some(uid), Some(uid)).unwrap();
}
