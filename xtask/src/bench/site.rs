//! Where the race is held: directories of its own, the built program where every user can start it, empty homes.
//!
//! Homes are empty so that nobody is charged for the toolchains that happen to lie in one.

use std::{
    env, fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context as _;

use super::shout;
use crate::shell;

/// The ordinary user of the race.
const ORDINARY: u32 = 1000;

/// Somebody who starts sandboxes.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) home: PathBuf,
    pub(crate) workspace: PathBuf,
    state: PathBuf,
    /// Whom to become, if this process is not it already.
    pub(crate) switch_to: Option<u32>,
}

/// See the module. Dropped, everything is removed.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) dir: PathBuf,
    program: PathBuf,
    /// Only if this process is root.
    pub(crate) root: Option<Account>,
    pub(crate) user: Account,
    /// Whoever this process is.
    pub(crate) maker: Account,
}

impl Site {
    pub(crate) fn prepare(built: &Path) -> anyhow::Result<Self> {
        let dir = env::temp_dir().join(format!("belljar-race-{}", std::process::id()));
        fs::create_dir(&dir).with_context(|| format!("could not make {}", dir.display()))?;
        let program = dir.join("belljar");
        fs::copy(built, &program).context("could not copy the built program")?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        let is_root = fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
        let user = account(&dir.join("user"), is_root.then_some(ORDINARY))?;
        let root = is_root.then(|| account(&dir.join("root"), None)).transpose()?;
        if root.is_none() {
            shout("not root: root's rows stay empty; run `cargo xtask bench` as root for a whole page");
        }
        let maker = root.clone().unwrap_or_else(|| user.clone());
        Ok(Self { dir, program, root, user, maker })
    }

    /// A program of the host with as little environment as possible.
    pub(crate) fn plain(&self, program: &str) -> Command {
        let mut command = bare(&shell::find(program).unwrap_or_else(|| program.into()));
        command.current_dir(&self.dir);
        command
    }

    /// belljar as an account would start it; becoming the account is the caller's business.
    pub(crate) fn belljar(&self, account: &Account, arguments: &[&str]) -> Command {
        let mut command = bare(&self.program);
        command.env("HOME", &account.home).env("BELLJAR_HOME", &account.state);
        command.current_dir(&account.workspace).args(arguments);
        command
    }

    /// Starts a sandbox that stays; the answer is its id.
    pub(crate) fn keep_one(&self) -> anyhow::Result<String> {
        let said = shell::read(&mut self.belljar(&self.maker, &["run", "--quiet", "--keep"]))?;
        Ok(said.trim().to_owned())
    }

    /// What belljar wrote down about a sandbox of this process's own.
    pub(crate) fn record(&self, id: &str) -> anyhow::Result<serde_json::Value> {
        let path = self.maker.state.join("sandboxes").join(id).join("sandbox.json");
        let text = fs::read_to_string(&path).with_context(|| format!("no record of {id}"))?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Ends and removes every sandbox of this process's own.
    pub(crate) fn clear(&self) -> anyhow::Result<()> {
        shell::read(&mut self.belljar(&self.maker, &["terminate", "--all", "--force"]))?;
        shell::read(&mut self.belljar(&self.maker, &["discard", "--all"])).map(drop)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _nothing_ran = self.clear();
        if let Err(error) = fs::remove_dir_all(&self.dir) {
            shout(&format!("{} is left behind: {error}", self.dir.display()));
        }
    }
}

fn bare(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command
}

fn account(dir: &Path, switch_to: Option<u32>) -> anyhow::Result<Account> {
    let [home, workspace, state] = ["home", "workspace", "state"].map(|name| dir.join(name));
    for path in [dir, &home, &workspace, &state] {
        fs::create_dir(path).with_context(|| format!("could not make {}", path.display()))?;
        chown(path, switch_to, switch_to)?;
    }
    Ok(Account { home, workspace, state, switch_to })
}
