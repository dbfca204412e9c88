//! A private home for belljar, a user to run it, and a directory for the test: all gone with the value.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, Instant},
};

use belljar_probe::{
    context::Limits,
    host::{Canaries, Launcher, Owner, Planting},
    sys::call::effective_uid,
};

use super::{BELLJAR, groups::Groups, place::place, require};

/// Who runs belljar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum User {
    Root,
    /// User 1000, with control groups delegated to them.
    Ordinary,
}

const UID: u32 = 1000;

/// The limits the probes are told of, as flags.
const LIMITS: &str =
    "--memory 256M --pids 128 --disk 64M --inodes 4096 --open-files 1024 --cpus 0.25 --require-all --quiet";

#[derive(Debug)]
pub(crate) struct Jar {
    user: User,
    dir: tempfile::TempDir,
    groups: Option<Groups>,
    /// Host directories shown elsewhere: from, to.
    shown: Vec<(PathBuf, PathBuf)>,
}

/// Mounts pairs of directories up to `--`, then becomes the command after it.
const SHOW: &str =
    r#"while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 125; shift 2; done; shift; exec "$@""#;

impl Jar {
    pub(crate) fn new(user: User) -> Self {
        require("setpriv", "util-linux");
        assert_eq!(
            effective_uid(),
            0,
            "these tests switch between root and a user: run them as root (sudo -E)"
        );
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let program = dir.path().join("belljar");
        // The build may lie in a home that is closed to others.
        place(Path::new(BELLJAR), &program);
        let groups = (user == User::Ordinary).then(|| Groups::delegate(UID));
        let jar = Self { user, dir, groups, shown: Vec::new() };
        for name in ["state", "home", "work"] {
            jar.make_dir(name);
        }
        jar
    }

    /// A directory of the test's that belongs to the user.
    pub(crate) fn make_dir(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        self.give(&path);
        path
    }

    /// A file of the test's that belongs to the user.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        let parent = path.parent().unwrap().strip_prefix(self.dir.path()).unwrap();
        self.make_dir(parent.to_str().unwrap());
        fs::write(&path, text).unwrap();
        self.give(&path);
        path
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Shows belljar a host directory under a path of the test's, because the way to it may be closed to the user.
    /// Nobody else sees it there.
    pub(crate) fn show(&mut self, from: &Path, name: &str) -> PathBuf {
        let to = self.make_dir(name);
        self.shown.push((from.to_owned(), to.clone()));
        to
    }

    pub(crate) fn give(&self, path: &Path) {
        if self.user == User::Ordinary {
            chown(path, Some(UID), Some(UID)).unwrap();
        }
    }

    /// The words that go before `belljar`'s own: who it is and where it lives.
    fn words(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        if !self.shown.is_empty() {
            let show = ["unshare", "--mount", "--propagation", "private", "sh", "-c", SHOW, "sh"];
            words.extend(show.map(OsString::from));
            words.extend(self.shown.iter().flat_map(|(from, to)| [from.into(), to.into()]));
            words.push("--".into());
        }
        words.extend(self.groups.iter().flat_map(Groups::entering));
        words.extend(self.becoming_user());
        words.push(self.path("belljar").into());
        words.extend(["--home".into(), self.path("state").into()]);
        words
    }

    /// The words that make a command the user's.
    fn becoming_user(&self) -> Vec<OsString> {
        if self.user == User::Root {
            return Vec::new();
        }
        let uid = UID.to_string();
        let words = ["setpriv", "--reuid", &uid, "--regid", &uid, "--clear-groups", "env"];
        let mut words: Vec<OsString> = words.map(OsString::from).into();
        let mut home = OsString::from("HOME=");
        home.push(self.path("home"));
        words.push(home);
        words
    }

    /// A program run by the user without belljar.
    pub(crate) fn as_user<const N: usize>(&self, program: &str, arguments: [&str; N], dir: &Path) -> Command {
        let mut words = self.becoming_user();
        words.push(program.into());
        let mut command = Command::new(words.remove(0));
        command.args(words).args(arguments).current_dir(dir);
        command
    }

    /// `belljar` with these arguments, in the directory `work`.
    pub(crate) fn belljar<A: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Command {
        let words = self.words();
        let (program, rest) = words.split_first().unwrap();
        let mut command = Command::new(program);
        command.args(rest).args(arguments).current_dir(self.path("work"));
        command
    }

    /// Runs a script in a fresh sandbox; it must succeed. The answer is what it printed.
    pub(crate) fn run(&self, flags: &[&str], script: &str) -> String {
        let mut words = vec!["run", "--quiet"];
        words.extend(flags);
        words.extend(["--", "sh", "-ec", script]);
        succeed(self.belljar(words))
    }

    /// `belljar run` with the limits the probes are told of, for the suite.
    pub(crate) fn launcher(&self, flags: &[&str]) -> Launcher {
        let mut words = self.words();
        words.push("run".into());
        words.extend(LIMITS.split(' ').chain(flags.iter().copied()).map(OsString::from));
        words.push("--".into());
        Launcher::new(words)
    }

    pub(crate) fn plant(&self) -> Canaries {
        let owner = (self.user == User::Ordinary).then_some(Owner { uid: UID, gid: UID });
        Planting { dir: self.path("canaries"), limits: Limits::default(), owner }.plant().unwrap()
    }

    /// The workspace on the host holds these names and no other.
    pub(crate) fn assert_work_is(&self, names: &[&str]) {
        let entries = fs::read_dir(self.path("work")).unwrap();
        let mut found: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        found.sort();
        assert_eq!(found, names);
    }

    /// A sandbox that is over leaves nothing but what it changed, and the probes change nothing that lasts.
    fn assert_nothing_is_left(&self) {
        let mut left = String::new();
        let gone = eventually(|| {
            left = succeed(self.belljar(["list", "--all"]));
            !left.contains("running")
        });
        assert!(gone, "{left}");
    }
}

impl Drop for Jar {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.assert_nothing_is_left();
        }
    }
}

/// Asks until the answer is yes: belljar does not wait for the end of a sandbox nobody needs any more.
pub(crate) fn eventually(mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        match is_so() {
            true => return true,
            false if Instant::now() >= end => return false,
            false => std::thread::yield_now(),
        }
    }
}

/// Runs to the end and returns what was printed; fails with everything that was said.
pub(crate) fn succeed(mut command: Command) -> String {
    let output: Output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{text}\n{errors}", output.status);
    text
}
