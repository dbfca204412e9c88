//! git, asked on the host about somebody's repository, which is as untrusted as the workspace it lies in.
//!
//! Owns: how it is started. Refuses: to let the repository run anything. Hooks and fsmonitor are off, nothing is fetched,
//! the environment says nothing, and there is no shell.

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// git in a directory, with nothing to read and its answer in a pipe.
#[must_use]
pub fn git(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(dir).env_clear();
    for kept in ["PATH", "HOME", "TMPDIR"] {
        if let Some(value) = std::env::var_os(kept) {
            command.env(kept, value);
        }
    }
    // `safe.directory`: as root we read a user's repository. What that guards against is the
    // repository's configuration running programs, which reading a blob by name gives no occasion to
    // once hooks, fsmonitor and lazy fetching from a promised remote are off.
    for option in
        ["core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.allow=never", "safe.directory=*"]
    {
        command.args(["-c", option]);
    }
    command
        .args(["--no-pager", "--no-replace-objects"])
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}
