//! What a workspace is to git: a repository, a part of one, a linked worktree, or none.
//!
//! Owns: the questions asked on the host, and which changed paths are no part of an attempt's work. Refuses: to change
//! anything there.

use std::{
    collections::HashSet,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde::{Deserialize, Serialize};

use crate::{changes::Omission, git::git};

/// The most bytes heard of git at once.
const HEARD: usize = 64 << 20;

/// Directories interpreters, test runners and linters keep for themselves.
const CACHES: [&str; 6] =
    ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".nyc_output"];

/// What a workspace is to git.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ground {
    /// Its repository, if it lies in one.
    #[serde(default)]
    pub repository: Option<Repository>,
}

/// The repository a workspace lies in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    /// Where the workspace is in it; empty at its top.
    pub prefix: String,
    /// The commit that was checked out; nothing before the first.
    pub head: Option<String>,
    /// The branch that was.
    pub branch: Option<String>,
    /// Where the repository is that this is a linked worktree of.
    pub linked_to: Option<PathBuf>,
    /// Other repositories within, relative to the workspace.
    pub submodules: Vec<PathBuf>,
}

impl Ground {
    /// Looks at a workspace. Without git, or without a repository, there is nothing to know.
    pub(super) fn of(workspace: &Path) -> Self {
        Self { repository: repository(workspace) }
    }

    /// Which of these paths are no part of an attempt's work, and why.
    pub(super) fn omissions(&self, workspace: &Path, paths: &[&Path]) -> Omissions {
        let Some(repository) = &self.repository else { return Omissions::default() };
        let mut left_out = Omissions { submodules: repository.submodules.clone(), ..Omissions::default() };
        ignored(workspace, paths, &mut left_out.ignored);
        left_out
    }

    /// Says whether git works in a sandbox that is shown the workspace.
    pub(super) fn is_top(&self) -> bool {
        self.repository.as_ref().is_some_and(|repository| repository.prefix.is_empty())
    }
}

/// What is left out of an attempt's changes.
#[derive(Debug, Default)]
pub(super) struct Omissions {
    ignored: HashSet<PathBuf>,
    submodules: Vec<PathBuf>,
}

impl Omissions {
    pub(super) fn of(&self, path: &Path) -> Option<Omission> {
        if path.components().any(|part| part.as_os_str() == ".git") {
            return Some(Omission::Repository);
        }
        // What running leaves behind is nobody's work, wherever there is no rule for it.
        let is_cache = |part: std::path::Component<'_>| CACHES.iter().any(|name| part.as_os_str() == *name);
        if path.components().any(is_cache) {
            return Some(Omission::Ignored);
        }
        if self.submodules.iter().any(|module| path.starts_with(module)) {
            return Some(Omission::Submodule);
        }
        self.ignored.contains(path).then_some(Omission::Ignored)
    }
}

fn repository(workspace: &Path) -> Option<Repository> {
    let asked = ["rev-parse", "--show-prefix", "--path-format=absolute", "--git-dir", "--git-common-dir"];
    let told = said(workspace, &asked)?;
    let mut lines = told.lines();
    let (prefix, own, common) = (lines.next()?, lines.next()?, lines.next()?);
    let (own, common) = (PathBuf::from(own), PathBuf::from(common));
    Some(Repository {
        prefix: prefix.to_owned(),
        head: said(workspace, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
            .map(|head| head.trim().to_owned()),
        branch: said(workspace, &["symbolic-ref", "--quiet", "--short", "HEAD"])
            .map(|branch| branch.trim().to_owned()),
        // A submodule has a directory of its own as well, but it is common to nobody.
        linked_to: (own != common).then_some(common),
        submodules: submodules(workspace),
    })
}

fn submodules(workspace: &Path) -> Vec<PathBuf> {
    let told = said(workspace, &["ls-files", "--stage", "-z", "--", "."]).unwrap_or_default();
    let modules = told.split('\0').filter(|line| line.starts_with("160000 "));
    modules.filter_map(|line| Some(PathBuf::from(line.split_once('\t')?.1))).collect()
}

/// What git says, if it has something to say.
fn said(dir: &Path, arguments: &[&str]) -> Option<String> {
    let output = git(dir).args(arguments).output().ok()?;
    let short = output.stdout.len() <= HEARD;
    (output.status.success() && short).then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Paths the base's own rules ignore. What is tracked is not ignored, whatever a rule says. At a path in a submodule, or
/// behind what is a link in the base, git gives up; then each half is asked about, and of such a path alone nothing is said.
fn ignored(workspace: &Path, paths: &[&Path], found: &mut HashSet<PathBuf>) {
    match check_ignore(workspace, paths) {
        Some(Ok(names)) => found.extend(names),
        Some(Err(GaveUp)) if paths.len() > 1 => {
            let (left, right) = paths.split_at(paths.len() / 2);
            ignored(workspace, left, found);
            ignored(workspace, right, found);
        }
        Some(Err(GaveUp)) | None => {}
    }
}

/// git could not say.
struct GaveUp;

/// Asks git; nothing if it is not there.
fn check_ignore(workspace: &Path, paths: &[&Path]) -> Option<Result<Vec<PathBuf>, GaveUp>> {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let mut asked = Vec::new();
    for path in paths {
        asked.extend_from_slice(path.as_os_str().as_bytes());
        asked.push(0);
    }
    let mut child =
        git(workspace).args(["check-ignore", "--stdin", "-z"]).stdin(Stdio::piped()).spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    // It answers while it is asked; whoever does not read would wait for ever.
    let asking = std::thread::spawn(move || stdin.write_all(&asked));
    let output = child.wait_with_output().ok()?;
    let asked = asking.join().is_ok_and(|asked| asked.is_ok());
    // It ends with 1 where nothing is ignored.
    if !asked || !matches!(output.status.code(), Some(0 | 1)) {
        return Some(Err(GaveUp));
    }
    let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    Some(Ok(names.map(|name| PathBuf::from(std::ffi::OsString::from_vec(name.to_vec()))).collect()))
}
