//! Running other programs: where this repository is, where build output goes, how a failure is told.

use std::{
    env,
    ffi::OsStr,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

/// Directories of system tools that an ordinary user's `PATH` leaves out on Debian.
const SYSTEM_DIRECTORIES: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The repository and the places its chores write to.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The directory of the workspace's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Where downloads and build output live: outside the clone, so a clone stays as it was checked out.
    pub(crate) cache: PathBuf,
    /// Cargo's target directory for everything started here.
    target: PathBuf,
}

impl Workspace {
    /// Finds the repository from the place cargo started this program.
    pub(crate) fn locate() -> anyhow::Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root =
            Path::new(&manifest).parent().context("xtask must lie one level below the workspace root")?;
        let cache = cache_directory(env::var_os("XDG_CACHE_HOME").as_deref(), env::var_os("HOME").as_deref())
            .context("neither XDG_CACHE_HOME nor HOME names an absolute path; set one of them")?;
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| cache.join("target"), PathBuf::from);
        Ok(Self { root: root.to_owned(), cache, target })
    }

    /// Where cargo puts what it builds here.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// A cargo command at the workspace root, building outside the clone.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        command
    }
}

/// `$XDG_CACHE_HOME/belljar`, else `~/.cache/belljar`; relative values do not count, as the XDG rules say.
fn cache_directory(xdg: Option<&OsStr>, home: Option<&OsStr>) -> Option<PathBuf> {
    let absolute = |value: Option<&OsStr>| value.map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(xdg).or_else(|| absolute(home).map(|home| home.join(".cache"))).map(|base| base.join("belljar"))
}

/// Runs a command with its output going straight to the terminal.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    println!("$ {}", describe(command));
    let status = command.status().with_context(|| format!("could not start `{}`", describe(command)))?;
    if !status.success() {
        bail!("`{}` failed: {status}", describe(command));
    }
    Ok(())
}

/// Runs a command and returns what it wrote to standard output.
pub(crate) fn read(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("could not start `{}`", describe(command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed: {}: {}", describe(command), output.status, said.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{}` wrote no UTF-8", describe(command)))
}

/// Says whether a command exists and succeeds; what it writes is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Finds an executable in `PATH` or among the system directories.
pub(crate) fn find(binary: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(SYSTEM_DIRECTORIES.iter().map(PathBuf::from))
        .map(|directory| directory.join(binary))
        .find(|candidate| is_executable(candidate))
}

/// Says whether a path is a file with an execute bit.
pub(crate) fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The command as one would type it.
fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// The chores of one run: each is done, failures are gathered, so that one run tells everything.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    failed: Vec<&'static str>,
}

impl Steps {
    /// Does one step and remembers whether it failed.
    pub(crate) fn step(&mut self, name: &'static str, act: impl FnOnce() -> anyhow::Result<()>) {
        println!("\n== {name}");
        if let Err(error) = act() {
            eprintln!("{name}: {error:#}");
            self.failed.push(name);
        }
    }

    /// Fails if any step did.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        if self.failed.is_empty() {
            return Ok(());
        }
        bail!("failed: {}", self.failed.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_lies_where_the_user_says_else_at_home() {
        let of = |xdg: Option<&str>, home: Option<&str>| {
            cache_directory(xdg.map(OsStr::new), home.map(OsStr::new))
                .map(|path| path.to_string_lossy().into_owned())
        };
        assert_eq!(of(Some("/var/cache"), Some("/home/a")).as_deref(), Some("/var/cache/belljar"));
        assert_eq!(of(None, Some("/home/a")).as_deref(), Some("/home/a/.cache/belljar"));
        assert_eq!(of(Some("relative"), Some("/home/a")).as_deref(), Some("/home/a/.cache/belljar"));
        assert_eq!(of(Some(""), None), None);
    }

    #[test]
    fn one_failed_step_fails_the_run_and_later_steps_still_happen() {
        let mut steps = Steps::default();
        let mut seen = Vec::new();
        steps.step("first", || bail!("broken"));
        steps.step("second", || {
            seen.push("second");
            Ok(())
        });
        assert_eq!(seen, ["second"]);
        assert_eq!(steps.finish().map_err(|error| error.to_string()), Err("failed: first".to_owned()));
    }

    #[test]
    fn a_failing_command_is_an_error_that_names_it() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).expect_err("it exits with 3");
        assert_eq!(error.to_string(), "`sh -c exit 3` failed: exit status: 3");
        assert!(read(&mut Command::new("no-such-program-here")).is_err());
    }

    #[test]
    fn executables_are_found_and_plain_files_are_not() {
        assert!(find("sh").is_some());
        assert!(find("no-such-program-here").is_none());
        assert!(!is_executable(Path::new("/etc/passwd")));
    }
}
