//! An attempt as commits of the user's repository, by plumbing alone.
//!
//! Owns: trees and commits made of an attempt's files. Refuses: everything else of the attempt: its repository, its
//! settings, its hooks and its commits stay in the sandbox. No hook of this repository is run either, and the index and
//! the working tree are not touched.

use std::{
    io::Write as _,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail};
use belljar_engine::{
    changes::{Bundle, Held, Thing},
    git::git,
};
use tempfile::TempDir;

/// The repository a workspace lies in.
#[derive(Debug)]
pub(super) struct Repository {
    workspace: PathBuf,
    prefix: String,
    /// Holds an index of our own, and objects where nothing is to be kept.
    scratch: TempDir,
    /// Where objects go, if not into the repository.
    objects: Option<PathBuf>,
    /// Whether its settings are the caller's own: filters they name are programs.
    is_own: bool,
}

/// What an attempt is based on, and what it made of that.
#[derive(Debug)]
pub(super) struct Trees {
    pub(super) base: String,
    pub(super) after: String,
}

impl Repository {
    /// The repository, if there is one; objects are kept in it.
    pub(super) fn of(workspace: &Path) -> Result<Option<Self>> {
        let output = git(workspace).args(["rev-parse", "--show-prefix"]).output().context("run git")?;
        if !output.status.success() {
            return Ok(None);
        }
        let prefix = String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned();
        let scratch = tempfile::tempdir().context("make a directory for git")?;
        let is_own = is_own(workspace).unwrap_or(false);
        Ok(Some(Self { workspace: workspace.to_owned(), prefix, scratch, objects: None, is_own }))
    }

    /// The same, with objects that are gone afterwards.
    pub(super) fn passing(mut self) -> Result<Self> {
        let objects = self.scratch.path().join("objects");
        std::fs::create_dir(&objects).context("make a directory for git")?;
        self.objects = Some(objects);
        Ok(self)
    }

    /// Writes both sides of an attempt as trees, on top of a commit.
    pub(super) fn trees(&self, onto: Option<&str>, bundle: &Bundle) -> Result<Trees> {
        match onto {
            Some(commit) => drop(self.tell(&["read-tree", commit], &[])?),
            None => drop(self.tell(&["read-tree", "--empty"], &[])?),
        }
        let base = self.tree(bundle, |held| held.before.as_ref())?;
        let after = self.tree(bundle, |held| held.after.as_ref())?;
        Ok(Trees { base, after })
    }

    /// Puts one side of every file into the index, and writes the tree.
    fn tree<'b>(&self, bundle: &'b Bundle, side: impl Fn(&'b Held) -> Option<&'b Thing>) -> Result<String> {
        const NOTHING: &str = "0000000000000000000000000000000000000000";
        let mut lines = Vec::new();
        // What goes, goes first: a file may stand where a directory was.
        let (gone, there): (Vec<&Held>, Vec<&Held>) =
            bundle.files.iter().partition(|held| side(held).is_none());
        for held in gone.into_iter().chain(there) {
            let path = format!("{}{}", self.prefix, held.path);
            let (mode, object) = match side(held) {
                None => ("0", NOTHING.to_owned()),
                Some(thing) => (thing.git_mode(), self.blob(&path, thing)?),
            };
            lines.extend(format!("{mode} {object}\t{path}\0").into_bytes());
        }
        self.tell(&["update-index", "-z", "--index-info"], &lines)?;
        self.tell(&["write-tree"], &[])
    }

    fn blob(&self, path: &str, thing: &Thing) -> Result<String> {
        let path = format!("--path={path}");
        // As `git add` would: what the repository's own settings convert on the way in is converted, unless they are
        // somebody else's.
        let arguments: &[&str] = match thing {
            Thing::File { .. } if self.is_own => &["hash-object", "-w", "--stdin", &path],
            Thing::File { .. } | Thing::Symlink { .. } => &["hash-object", "-w", "--stdin", "--no-filters"],
        };
        self.tell(arguments, thing.bytes())
    }

    /// The difference between two trees, files that are no text included.
    pub(super) fn patch(&self, trees: &Trees) -> Result<Vec<u8>> {
        let arguments = [
            "diff-tree",
            "-p",
            "--binary",
            "--full-index",
            "--no-ext-diff",
            "--no-textconv",
            &trees.base,
            &trees.after,
        ];
        let output = self.git().args(arguments).output().context("run git")?;
        heard("diff-tree", &output)?;
        Ok(output.stdout)
    }

    /// Makes a branch of an attempt. What the workspace held beside its commit becomes a commit of its own, so that the
    /// attempt's is the attempt's alone.
    pub(super) fn branch(
        &self,
        name: &str,
        onto: Option<&str>,
        trees: &Trees,
        message: &str,
    ) -> Result<String> {
        let reference = format!("refs/heads/{name}");
        if !self.git().args(["check-ref-format", &reference]).status().context("run git")?.success() {
            bail!("`{name}` cannot be the name of a branch");
        }
        let known = match onto {
            Some(commit) => Some(self.tell(&["rev-parse", "--verify", &format!("{commit}^{{tree}}")], &[])?),
            None => None,
        };
        let parent = match (onto, known) {
            (Some(commit), Some(tree)) if tree == trees.base => Some(commit.to_owned()),
            (None, _) if self.is_empty_tree(&trees.base)? => None,
            (onto, _) => Some(self.commit(&trees.base, onto, "What the workspace held before the run\n")?),
        };
        let commit = self.commit(&trees.after, parent.as_deref(), message)?;
        let zero = "0".repeat(commit.len());
        self.tell(
            &["update-ref", "--create-reflog", "-m", "belljar runs apply", &reference, &commit, &zero],
            &[],
        )
        .with_context(|| {
            format!("make the branch `{name}`; if there is one already, give another name with --branch NAME")
        })?;
        Ok(commit)
    }

    fn is_empty_tree(&self, tree: &str) -> Result<bool> {
        Ok(self.tell(&["ls-tree", tree], &[])?.is_empty())
    }

    fn commit(&self, tree: &str, parent: Option<&str>, message: &str) -> Result<String> {
        let mut arguments = vec!["commit-tree", tree, "-F", "-"];
        if let Some(parent) = parent {
            arguments.extend(["-p", parent]);
        }
        let mut command = self.git();
        let known =
            git(&self.workspace).args(["config", "--get", "user.email"]).output().context("run git")?;
        if !known.status.success() {
            for who in ["AUTHOR", "COMMITTER"] {
                command
                    .env(format!("GIT_{who}_NAME"), "belljar")
                    .env(format!("GIT_{who}_EMAIL"), "belljar@localhost");
            }
        }
        said(command.args(arguments), message.as_bytes())
    }

    /// Checks a branch out in a new directory.
    pub(super) fn worktree(&self, dir: &Path, branch: &str) -> Result<()> {
        if !self.is_own {
            bail!(
                "the branch {branch} is made; the repository is another user's, so check it out as that user"
            );
        }
        let output = git(&self.workspace)
            .stderr(Stdio::piped())
            .args(["worktree", "add", "--quiet"])
            .arg(dir)
            .arg(branch)
            .output()
            .context("run git")?;
        heard("worktree add", &output)
    }

    fn tell(&self, arguments: &[&str], input: &[u8]) -> Result<String> {
        said(self.git().args(arguments), input)
    }

    fn git(&self) -> Command {
        let mut command = git(&self.workspace);
        command.env("GIT_INDEX_FILE", self.scratch.path().join("index")).stderr(Stdio::piped());
        // Paths given to plumbing are the repository's, wherever in it the workspace is.
        if let Some(objects) = &self.objects {
            let own = git(&self.workspace)
                .args(["rev-parse", "--path-format=absolute", "--git-path", "objects"])
                .output();
            if let Ok(own) = own {
                let own = String::from_utf8_lossy(&own.stdout).trim_end().to_owned();
                command.env("GIT_OBJECT_DIRECTORY", objects).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", own);
            }
        }
        command
    }
}

/// Says whether a workspace's repository belongs to whoever asks.
fn is_own(workspace: &Path) -> Option<bool> {
    let said = git(workspace).args(["rev-parse", "--absolute-git-dir"]).output().ok()?;
    let dir = PathBuf::from(String::from_utf8(said.stdout).ok()?.trim_end_matches('\n'));
    let owner = std::fs::metadata(dir).ok()?.uid();
    Some(owner == rustix::process::geteuid().as_raw())
}

/// Two texts merged onto a third.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) text: Vec<u8>,
    pub(super) clean: bool,
}

/// Merges `[one, base, other]`.
pub(super) fn merge(versions: [&[u8]; 3], names: (&str, &str)) -> Result<Merged> {
    let dir = tempfile::tempdir().context("make a directory for git")?;
    for (name, text) in ["one", "base", "other"].into_iter().zip(versions) {
        std::fs::write(dir.path().join(name), text).context("write what is to be merged")?;
    }
    let output = git(dir.path())
        .args([
            "merge-file",
            "-p",
            "--diff3",
            "-L",
            names.0,
            "-L",
            "base",
            "-L",
            names.1,
            "one",
            "base",
            "other",
        ])
        .output()
        .context("run git")?;
    match output.status.code() {
        Some(code @ 0..=127) => Ok(Merged { text: output.stdout, clean: code == 0 }),
        _ => bail!("git could not merge the two; they may be no text"),
    }
}

fn said(command: &mut Command, input: &[u8]) -> Result<String> {
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().context("run git")?;
    let mut stdin = child.stdin.take().context("talk to git")?;
    let output = std::thread::scope(|scope| {
        let telling = scope.spawn(move || stdin.write_all(input));
        let output = child.wait_with_output();
        // Whoever refuses says why.
        let _unread = telling.join();
        output
    })
    .context("hear git")?;
    heard("plumbing", &output)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned())
}

fn heard(what: &str, output: &std::process::Output) -> Result<()> {
    if output.status.success() {
        return Ok(());
    }
    bail!("git ({what}) said: {}", String::from_utf8_lossy(&output.stderr).trim())
}
