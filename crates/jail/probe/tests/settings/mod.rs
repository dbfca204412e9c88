//! The settings the suite is validated in: who runs which launcher, one at a time.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up must fail")]

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use belljar_probe::context::{Context, Limits};
use belljar_probe::host::{Canaries, Launcher, Owner, Planting, Touch};
use belljar_probe::report::Report;
use belljar_probe::sys::call::effective_uid;

/// The program under test.
pub(crate) const PROBE: &str = env!("CARGO_BIN_EXE_belljar-probe");

/// Who starts the launcher.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    Root,
    Ordinary,
}

/// A launcher and who starts it.
pub(crate) struct Setting {
    pub(crate) launcher: Launcher,
    user: User,
    /// Removed with the setting; the traps lie inside.
    dir: tempfile::TempDir,
    /// Bombs share the machine's processors and users' quotas, so settings take turns.
    _turn: MutexGuard<'static, ()>,
}

/// What came of a run.
pub(crate) struct Run {
    pub(crate) reports: Vec<Report>,
    pub(crate) touches: Vec<Touch>,
    pub(crate) context: Context,
}

static TURN: Mutex<()> = Mutex::new(());

impl Setting {
    pub(crate) fn none(user: User) -> Self {
        Self::launcher(user, [""; 0])
    }

    pub(crate) fn plain_bwrap(user: User) -> Self {
        Self::launcher(
            user,
            ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "--dev", "/dev", "--proc", "/proc"],
        )
    }

    /// As much as bubblewrap can do by its options alone, with descriptors closed by a shell in front of it.
    pub(crate) fn careful_bwrap(user: User) -> Self {
        let mut setting = Self::none(user);
        let workspace = setting.dir.path().join("canaries/workspace").into_os_string();
        let mut words: Vec<OsString> = ["bash", "-c", CLOSE_AND_RUN, "bwrap", "bwrap"].map(Into::into).into();
        for argument in CAREFUL.split_whitespace() {
            words.push(if argument == "WORKSPACE" { workspace.clone() } else { argument.into() });
        }
        setting.launcher = Launcher::new(words).under(&outer(user));
        setting
    }

    pub(crate) fn launcher<const N: usize>(user: User, words: [&str; N]) -> Self {
        for program in ["setpriv", "bwrap"] {
            let version = Command::new(program).arg("--version").output();
            assert!(version.is_ok(), "{program} is missing: apt-get install util-linux bubblewrap");
        }
        assert_eq!(
            effective_uid(),
            0,
            "these tests switch between root and a user: run them as root (sudo -E)"
        );
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        Self { launcher: Launcher::new(words).under(&outer(user)), user, dir, _turn: turn }
    }

    pub(crate) fn plant(&self) -> Canaries {
        let owner = (self.user == User::Ordinary).then_some(Owner { uid: 1000, gid: 1000 });
        // Small, so that the machine hardly notices; the processors' share is far below what a busy machine leaves.
        let limits = Limits { cpus: 0.1, ..Limits::default() };
        Planting { dir: self.dir.path().join("canaries"), limits, owner }.plant().unwrap()
    }

    pub(crate) fn run(&self) -> Run {
        let canaries = self.plant();
        let reports = canaries.run_every_probe(&self.launcher, PROBE.as_ref());
        let reports = reports.unwrap_or_else(|error| panic!("the suite did not run: {error}"));
        Run { reports, touches: canaries.verify(), context: canaries.context().clone() }
    }
}

/// `bwrap` passes on every descriptor it inherits; bash can close them first.
const CLOSE_AND_RUN: &str =
    r#"for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] && eval "exec $fd>&-"; done; exec "$@""#;

const CAREFUL: &str = "--unshare-all --die-with-parent --new-session --cap-drop ALL --clearenv --setenv PATH /usr/bin \
     --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin \
     --dev /dev --proc /proc --tmpfs /tmp --bind WORKSPACE WORKSPACE --chdir WORKSPACE";

fn outer(user: User) -> Launcher {
    match user {
        User::Root => Launcher::none(),
        User::Ordinary => Launcher::new(["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups"]),
    }
}
