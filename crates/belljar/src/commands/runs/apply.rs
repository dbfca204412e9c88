//! `belljar runs apply`: an attempt, kept where its user wants it.

use std::{
    collections::HashSet,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::SystemTime,
};

use anyhow::{Context as _, Result, bail};
use belljar_domain::{HostPath, Timestamp};
use belljar_engine::changes::{self, Applied, ApplyError, ApplyOptions, Bundle, Look, OnConflict};
use serde_json::{Value, json};

use super::{
    changes as fetched, find,
    git::{Repository, Trees},
    text,
};
use crate::{
    args::RunApply,
    client::Client,
    commands::embedded::field,
    context::Context,
    output::{many, print_json, remark},
};

pub(super) fn apply(context: &Context, server: &Client, args: &RunApply) -> Result<ExitCode> {
    let id = find(server, &args.run)?;
    let run = server.records(&format!("runs/{id}"), &[])?;
    let chosen =
        args.fork.or_else(|| field(&run, "winner_fork").as_u64().and_then(|fork| u32::try_from(fork).ok()));
    let Some(fork) = chosen else {
        bail!("run {id} has no winner; name the attempt to keep, as in `belljar runs apply {} 2`", args.run);
    };
    let bundle = fetched(server, &id, "base", &fork.to_string())?;
    if bundle.is_empty() {
        bail!("attempt {fork} changed nothing");
    }
    if bundle.is_cut {
        bail!(
            "attempt {fork} changed more than is kept; `belljar runs show {}` says what is missing",
            args.run
        );
    }
    let kept = Kept { context, run: &run, fork, bundle: &bundle };
    match args {
        RunApply { patch: Some(file), .. } => kept.patch(file),
        RunApply { branch: Some(name), .. } => kept.branch((!name.is_empty()).then_some(name)),
        RunApply { worktree: Some(dir), .. } => kept.worktree(dir),
        RunApply { pr: true, .. } => kept.pull_request(),
        RunApply { merge, .. } => kept.in_place(*merge),
    }
}

/// An attempt that is kept.
struct Kept<'a> {
    context: &'a Context,
    run: &'a Value,
    fork: u32,
    bundle: &'a Bundle,
}

impl Kept<'_> {
    fn workspace(&self) -> PathBuf {
        PathBuf::from(text(self.run, "workspace"))
    }

    fn base(&self) -> Option<&str> {
        field(self.run, "base_commit").as_str()
    }

    fn branch_name(&self) -> String {
        let id = text(self.run, "id");
        format!("belljar/{}/{}", id.get(id.len().saturating_sub(8)..).unwrap_or(id), self.fork)
    }

    fn repository(&self) -> Result<Repository> {
        let workspace = self.workspace();
        Repository::of(&workspace)?.with_context(|| {
            format!(
                "`{}` is no git repository; without --branch the changes go into it as they are",
                workspace.display()
            )
        })
    }

    fn message(&self) -> String {
        let prompt = text(self.run, "prompt");
        let first =
            prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or(text(self.run, "task_id"));
        let subject: String = first.trim_start_matches(['#', ' ']).chars().take(72).collect();
        let why = self.why().map(|reason| format!("\n{reason}\n")).unwrap_or_default();
        format!(
            "{subject}\n{why}\nAttempt {} of {} ({}).\n",
            self.fork,
            field(self.run, "attempts"),
            text(self.run, "id")
        )
    }

    /// Why this attempt is kept, if somebody said: a person's reason before the judge's, and no reason for another.
    fn why(&self) -> Option<&str> {
        let is_this = |fork: &Value| fork.as_u64() == Some(u64::from(self.fork));
        let picked = field(self.run, "picked");
        if is_this(field(picked, "fork")) {
            return field(picked, "reason").as_str();
        }
        field(self.run, "reason").as_str().filter(|_| is_this(field(self.run, "judged_fork")))
    }

    /// Into the workspace, all or nothing.
    fn in_place(&self, merge: bool) -> Result<ExitCode> {
        let created: Timestamp =
            text(self.run, "created_at").parse().context("understand when the run began")?;
        let since = SystemTime::UNIX_EPOCH
            + std::time::Duration::from_micros(u64::try_from(created.as_micros()).unwrap_or(0));
        let base = HostPath::new(self.workspace()).context("find the workspace")?;
        let options = ApplyOptions {
            on_conflict: if merge { OnConflict::Merge } else { OnConflict::Refuse },
            ..ApplyOptions::default()
        };
        let applied = match changes::apply(&self.bundle.onto(base, since), options) {
            Ok(applied) => applied,
            Err(ApplyError::Conflicts(conflicts)) => {
                for conflict in &conflicts {
                    remark(&format!("  {}: {}", conflict.path.display(), conflict.reason));
                }
                bail!(
                    "nothing was applied: {} changed since the run began; --merge merges, --branch keeps it apart",
                    many(conflicts.len(), "file")
                );
            }
            Err(error) => return Err(error).context("apply the attempt"),
        };
        let files = self.bundle.files.iter().filter(|held| held.after.is_some());
        let held: HashSet<&Path> = files.map(|held| Path::new(&held.path)).collect();
        // Directories come along, and nobody counts them.
        let is_held = |path: &Path| held.contains(path);
        self.tell(
            json!({ "applied": summary(&applied), "workspace": text(self.run, "workspace") }),
            &format!(
                "attempt {}: {} written, {} removed{}",
                self.fork,
                many(applied.written.iter().filter(|path| is_held(path)).count(), "file"),
                applied.removed.len(),
                if applied.held_back.is_empty() {
                    String::new()
                } else {
                    format!(", {} held back", applied.held_back.len())
                },
            ),
        )
    }

    fn patch(&self, file: &Path) -> Result<ExitCode> {
        let patch = match Repository::of(&self.workspace())? {
            Some(repository) => {
                let repository = repository.passing()?;
                repository.patch(&repository.trees(self.base(), self.bundle)?)?
            }
            None => {
                let mut patch = Vec::new();
                self.bundle.patch(&mut patch, Look::Patch)?;
                patch
            }
        };
        if file == Path::new("-") {
            io::stdout().write_all(&patch)?;
            return Ok(ExitCode::SUCCESS);
        }
        fs::write(file, patch).with_context(|| format!("write `{}`", file.display()))?;
        self.tell(json!({ "patch": file }), &format!("wrote {}", file.display()))
    }

    fn made(&self, name: Option<&String>) -> Result<(Repository, String, String)> {
        let repository = self.repository()?;
        let trees: Trees = repository.trees(self.base(), self.bundle)?;
        let branch = name.cloned().unwrap_or_else(|| self.branch_name());
        let commit = repository.branch(&branch, self.base(), &trees, &self.message())?;
        Ok((repository, branch, commit))
    }

    fn branch(&self, name: Option<&String>) -> Result<ExitCode> {
        let (_, branch, commit) = self.made(name)?;
        self.tell(
            json!({ "branch": branch, "commit": commit }),
            &format!("attempt {} is the branch {branch}; `git switch {branch}` shows it", self.fork),
        )
    }

    fn worktree(&self, dir: &Path) -> Result<ExitCode> {
        let dir = std::path::absolute(dir).context("find the directory")?;
        if dir.exists() {
            bail!("`{}` is there already; name a directory that is not", dir.display());
        }
        let (repository, branch, commit) = self.made(None)?;
        repository.worktree(&dir, &branch)?;
        self.tell(
            json!({ "branch": branch, "commit": commit, "worktree": dir }),
            &format!("attempt {} is the branch {branch}, checked out in {}", self.fork, dir.display()),
        )
    }

    /// A branch, pushed, and a pull request of it. git and gh run as the user has them, but for hooks.
    fn pull_request(&self) -> Result<ExitCode> {
        let gh = Command::new("gh").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !gh.is_ok_and(|status| status.success()) {
            bail!("a pull request needs gh, which is not here; --branch makes the branch, and you push it");
        }
        let (_, branch, commit) = self.made(None)?;
        let workspace = self.workspace();
        let pushed = Command::new("git")
            .current_dir(&workspace)
            .args(["-c", "core.hooksPath=/dev/null", "push", "--quiet", "origin"])
            .arg(format!("{branch}:{branch}"))
            .status()
            .context("run git")?;
        if !pushed.success() {
            bail!("the branch {branch} is made, and git could not push it");
        }
        let message = self.message();
        let (title, body) = message.split_once('\n').unwrap_or((&message, ""));
        let opened = Command::new("gh")
            .current_dir(&workspace)
            .args(["pr", "create", "--head", &branch, "--title", title, "--body", body.trim()])
            .stderr(Stdio::inherit())
            .output()
            .context("run gh")?;
        if !opened.status.success() {
            bail!("the branch {branch} is pushed, and gh could not open a pull request");
        }
        let url = String::from_utf8_lossy(&opened.stdout).trim().to_owned();
        self.tell(json!({ "branch": branch, "commit": commit, "pull_request": url }), &url)
    }

    fn tell(&self, mut answer: Value, words: &str) -> Result<ExitCode> {
        if let Some(fields) = answer.as_object_mut() {
            fields.insert("run".to_owned(), json!(text(self.run, "id")));
            fields.insert("fork".to_owned(), json!(self.fork));
        }
        if self.context.json {
            print_json(&answer)?;
        } else {
            writeln!(io::stdout(), "{words}")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn summary(applied: &Applied) -> Value {
    json!({
        "written": applied.written, "removed": applied.removed, "already": applied.already,
        "merged": applied.merged, "conflicted": applied.conflicted, "held_back": applied.held_back,
    })
}
