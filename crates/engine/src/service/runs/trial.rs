//! The trial: the build, the check and the linter, on the base and on each attempt, in sandboxes nobody worked in.
//!
//! Owns: what such a sandbox holds: the base, and of the attempt its files alone; its repository, its home and whatever
//! else it left behind stay behind. Refuses: to believe an attempt's own tests and settings where the base has some.

use std::{collections::BTreeSet, io::Read as _, path::Path, thread, time::Duration};

use belljar_domain::{ExitReport, KillCause, Outcome, SandboxId, SandboxPath};
use belljar_quality::contest::{
    Boundary, Check, CheckEnd, Ending, Lints, Transcript, asking, lints, results,
};

use super::{
    super::{FileKind, Service, ServiceError, StartExecution},
    attempt::with,
    base::{FORK, ROLE},
    evidence::restored,
    live::{For, Halt, LiveRun},
    order::Trial,
    record::Run,
    shell::{self, Done},
};
use crate::changes::{Bundle, Held, Omission, Thing};

/// Where runners are asked to write reports, and the most of them that are read.
const REPORTS: &str = "/tmp/belljar-reports";
const MOST_REPORTS: usize = 200;
const REPORT_BYTES: u64 = 16 << 20;
/// How often room for a sandbox is looked for.
const LOOK: Duration = Duration::from_millis(200);

/// What the commands of a trial said about one state of the code.
#[derive(Debug, Clone, Default)]
pub(super) struct Signs {
    pub(super) build: Option<Check>,
    pub(super) check: Option<Check>,
    pub(super) lint: Option<Lints>,
}

impl Signs {
    /// Nothing could be tried.
    fn untold(trial: &Trial, why: &str) -> Self {
        let untold =
            |command: &Option<String>| command.as_ref().map(|_| judged(Err(why.to_owned()), |_| None));
        let lint = trial.lint.as_ref().map(|_| Lints::default());
        Self { build: untold(&trial.build), check: untold(&trial.check), lint }
    }

    /// Puts what is known of the base beside what is known of the attempt.
    pub(super) fn beside<T: Clone>(base: Option<&T>, after: Option<T>) -> Option<Boundary<T>> {
        Some(Boundary { base: base?.clone(), after: after? })
    }
}

impl Service {
    /// Tries everything on a state of the code: the base's where there is no bundle.
    pub(super) fn try_out(&self, run: &LiveRun, view: &Run, what: State<'_>) -> Result<Signs, Halt> {
        let Trial { build, check, lint, .. } = &run.given(For::Trial)?.trial;
        if build.is_none() && check.is_none() && lint.is_none() {
            return Ok(Signs::default());
        }
        let id = match self.fresh(run, view, what) {
            // Without a sandbox nothing is known, and nobody is to blame.
            Err(Stuck::Unmade(why)) => return Ok(Signs::untold(&run.given(For::Trial)?.trial, &why)),
            made => made?,
        };
        let signs = self.signs(run, view, id, what);
        // What cannot be removed now has a clock.
        let _later = self.delete(&run.who(), id);
        signs
    }

    fn signs(&self, run: &LiveRun, view: &Run, id: SandboxId, what: State<'_>) -> Result<Signs, Halt> {
        let trial = &run.given(For::Trial)?.trial;
        let mut signs = Signs::default();
        // The linter first: nothing of the attempt has run by then.
        if let Some(lint) = &trial.lint {
            tell(run, what, "the linter runs");
            signs.lint = match self.tried(run, id, shell::order(lint, trial.patience))? {
                Ok(done) => Some(lints(code(&done.report), &done.output)),
                Err(_) => Some(Lints::default()),
            };
        }
        if let Some(build) = &trial.build {
            tell(run, what, "the build runs");
            let done = self.tried(run, id, shell::order(build, trial.patience))?;
            signs.build = Some(judged(done, |_| None));
            self.put_back(run, view, id)?;
        }
        if let Some(check) = &trial.check {
            tell(run, what, "the check runs");
            signs.check = Some(self.check(run, id, check)?);
        }
        Ok(signs)
    }

    /// Puts tests and settings back again after the build, which is the attempt's to write.
    fn put_back(&self, run: &LiveRun, view: &Run, id: SandboxId) -> Result<(), Halt> {
        let changes = self.changes(&run.who(), id)?;
        let is_theirs = |path: &Path| path.to_str().is_none_or(|path| !view.restores(path, true));
        let built = Bundle::gather(&changes, &|path| is_theirs(path).then_some(Omission::Ignored));
        let built = built.map_err(|error| ServiceError::Conflict(error.to_string()))?;
        let turned: Vec<Held> = built
            .files
            .into_iter()
            .filter(|held| view.restores(&held.path, held.before.is_some()))
            .map(|held| Held { path: held.path, before: held.after, after: held.before })
            .collect();
        self.put_files(run, view, id, &turned.iter().collect::<Vec<_>>(), &BTreeSet::new())
    }

    /// The acceptance command with an attempt's own tests.
    pub(super) fn try_own(
        &self,
        run: &LiveRun,
        view: &Run,
        fork: u32,
        bundle: &Bundle,
    ) -> Result<Option<Check>, Halt> {
        let Some(check) = &run.given(For::Trial)?.trial.check else { return Ok(None) };
        let id = match self.fresh(run, view, State::Own(fork, bundle)) {
            Err(Stuck::Unmade(why)) => return Ok(Some(judged(Err(why), |_| None))),
            made => made?,
        };
        tell(run, State::Own(fork, bundle), "the check runs with its own tests");
        let done = self.check(run, id, check);
        let _later = self.delete(&run.who(), id);
        done.map(Some)
    }

    fn check(&self, run: &LiveRun, id: SandboxId, command: &str) -> Result<Check, Halt> {
        let asked = asking(command, REPORTS);
        let mut order = shell::order(&asked.command, run.given(For::Trial)?.trial.patience);
        order.env.extend(asked.env);
        if let Ok(dir) = SandboxPath::new(REPORTS) {
            // A runner that finds no place for its report says so, and its output is read instead.
            let _without = self.make_dir(&run.who(), id, &dir, true);
        }
        let done = self.tried(run, id, order)?;
        let files = self.reports(run, id, &asked.files);
        Ok(judged(done, |done| results(&Transcript { output: &done.output, files: &files })))
    }

    /// Runs a command of the trial. That it could not be run says something about the attempt, or nothing; that the run is
    /// to stop is another matter.
    fn tried(
        &self,
        run: &LiveRun,
        id: SandboxId,
        mut order: StartExecution,
    ) -> Result<Result<Done, String>, Halt> {
        order.env.insert("TASK_PROMPT".to_owned(), run.given(For::Trial)?.prompt.clone());
        match self.see_through(run, id, order) {
            Ok(done) => Ok(Ok(done)),
            Err(Halt::Broken(error)) => Ok(Err(error.to_string())),
            Err(halt) => Err(halt),
        }
    }

    /// Reports runners wrote, as far as they can be read.
    fn reports(&self, run: &LiveRun, id: SandboxId, patterns: &[String]) -> Vec<(String, String)> {
        let who = run.who();
        // Patterns are ours and have no blanks; the shell of the sandbox knows its files.
        let list = format!("ls -1d {} 2>/dev/null", patterns.join(" "));
        let order = shell::order(&list, belljar_domain::Span::millis(10_000));
        let Ok(found) = self.see_through(run, id, order) else { return Vec::new() };
        let workspace = run.view().shape.workspace.to_string();
        let read = found.output.lines().take(MOST_REPORTS).filter_map(|path| {
            let whole = if path.starts_with('/') { path.to_owned() } else { format!("{workspace}/{path}") };
            let (file, _) = self.open_file(&who, id, &SandboxPath::new(whole).ok()?).ok()?;
            let mut text = Vec::new();
            file.take(REPORT_BYTES).read_to_end(&mut text).ok()?;
            Some((path.to_owned(), String::from_utf8_lossy(&text).into_owned()))
        });
        read.collect()
    }

    /// A sandbox for a judge, who looks at what it is told and nothing else.
    pub(super) fn fresh_for_judge(&self, run: &LiveRun, view: &Run) -> Result<SandboxId, Halt> {
        Ok(self.fresh(run, view, State::Base)?)
    }

    /// A sandbox nobody worked in, with a state of the code.
    fn fresh(&self, run: &LiveRun, view: &Run, what: State<'_>) -> Result<SandboxId, Stuck> {
        let who = run.who();
        let mut order = self.sandbox_order(run, view, "trial", None)?;
        order.labels.insert(ROLE.to_owned(), "trial".to_owned());
        if let State::Restored(fork, _) | State::Own(fork, _) = what {
            order.labels.insert(FORK.to_owned(), fork.to_string());
        }
        let made = loop {
            match self.create(&who, order.clone()) {
                Ok(made) => break made,
                Err(ServiceError::Quota(_)) => {
                    self.goes_on(run)?;
                    thread::sleep(LOOK);
                }
                Err(ServiceError::Closing) => return Err(Halt::Closing.into()),
                Err(error) => return Err(Stuck::Unmade(error.to_string())),
            }
        };
        let (files, back): (Vec<&Held>, BTreeSet<&str>) = match what {
            State::Base => (Vec::new(), BTreeSet::new()),
            State::Own(_, bundle) => (bundle.files.iter().collect(), BTreeSet::new()),
            State::Restored(_, bundle) => {
                let back = restored(view, bundle);
                (bundle.files.iter().filter(|held| !back.contains(held.path.as_str())).collect(), back)
            }
        };
        let put = self.put_files(run, view, made.id, &files, &back);
        Ok(put.map(|()| made.id).inspect_err(|_| drop(self.delete(&who, made.id)))?)
    }

    /// Puts an attempt's files into a sandbox with the base, but for those of the base that come back.
    fn put_files(
        &self,
        run: &LiveRun,
        view: &Run,
        id: SandboxId,
        files: &[&Held],
        back: &BTreeSet<&str>,
    ) -> Result<(), Halt> {
        let (who, workspace) = (run.who(), view.shape.workspace.to_string());
        // What goes, goes first and from below, so that something else can take its place.
        for held in files.iter().rev().filter(|held| held.before.is_some() && !stays(held)) {
            let path = SandboxPath::new(format!("{workspace}/{}", held.path));
            self.remove(&who, id, &path.map_err(|error| ServiceError::Invalid(error.to_string()))?, false)?;
        }
        for held in files.iter().filter(|held| held.before.is_none() && held.after.is_some()) {
            let path = SandboxPath::new(format!("{workspace}/{}", held.path));
            let path = path.map_err(|error| ServiceError::Invalid(error.to_string()))?;
            // A directory stands where a file or a link goes.
            if self.stat(&who, id, &path, false).is_ok_and(|found| found.kind == FileKind::Directory) {
                let below = format!("{}/", held.path);
                if let Some(base) = back.iter().find(|path| path.starts_with(&below)) {
                    let why = format!("`{}` stands where the base's `{base}` belongs", held.path);
                    return Err(ServiceError::Conflict(why).into());
                }
                self.remove(&who, id, &path, true)?;
            }
        }
        let archive = archive(files).map_err(|error| ServiceError::Conflict(error.to_string()))?;
        if archive.is_empty() {
            return Ok(());
        }
        let root = SandboxPath::new(workspace).map_err(|error| ServiceError::Invalid(error.to_string()))?;
        self.unpack(&who, id, &root, &mut archive.as_slice())?;
        Ok(())
    }
}

/// Shows what is tried. While it is the base, everybody waits for it.
fn tell(run: &LiveRun, what: State<'_>, words: &str) {
    match what {
        State::Restored(fork, _) | State::Own(fork, _) => {
            run.show(|run| with(run, fork, |one| one.activity = Some(words.to_owned())));
        }
        State::Base => run.show(|run| {
            let waiting =
                run.attempts.iter_mut().filter(|one| matches!(one.ending, Some(Ending::Exited { code: 0 })));
            for one in waiting {
                one.activity = Some(format!("waits while {words} on the base"));
            }
        }),
    }
}

/// Why there is no sandbox with a state of the code.
#[derive(Debug)]
enum Stuck {
    /// None could be made, whatever the code.
    Unmade(String),
    /// The code does not go into it, or the run is to stop.
    Halted(Halt),
}

impl From<Halt> for Stuck {
    fn from(halt: Halt) -> Self {
        Self::Halted(halt)
    }
}

impl From<Stuck> for Halt {
    fn from(stuck: Stuck) -> Self {
        match stuck {
            Stuck::Unmade(why) => Self::Broken(ServiceError::Unsupported(why)),
            Stuck::Halted(halt) => halt,
        }
    }
}

/// A state of the code.
#[derive(Debug, Clone, Copy)]
pub(super) enum State<'b> {
    /// Before anybody touched it.
    Base,
    /// With an attempt's changes, but for tests and settings of the base.
    Restored(u32, &'b Bundle),
    /// With an attempt's changes.
    Own(u32, &'b Bundle),
}

/// Whether what was there is written over in place.
const fn stays(held: &Held) -> bool {
    matches!((&held.before, &held.after), (Some(Thing::File { .. }), Some(Thing::File { .. })))
}

fn archive(files: &[&Held]) -> std::io::Result<Vec<u8>> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut count = 0;
    for held in files {
        let Some(after) = &held.after else { continue };
        count += 1;
        let mut header = tar::Header::new_gnu();
        match after {
            Thing::File { mode, content } => {
                header.set_size(content.0.len() as u64);
                header.set_mode(mode & 0o777);
                builder.append_data(&mut header, &held.path, content.0.as_slice())?;
            }
            Thing::Symlink { target } => {
                header.set_entry_type(tar::EntryType::Symlink);
                header.set_size(0);
                builder.append_link(&mut header, &held.path, target)?;
            }
        }
    }
    if count == 0 { Ok(Vec::new()) } else { builder.into_inner() }
}

fn judged(
    done: Result<Done, String>,
    tests: impl FnOnce(&Done) -> Option<belljar_quality::contest::Results>,
) -> Check {
    match done {
        Ok(done) => Check {
            end: end(&done.report),
            tests: tests(&done),
            duration_ms: done.report.duration.as_millis(),
            tail: done.tail(),
        },
        Err(why) => Check { end: CheckEnd::NotRun { why }, tests: None, duration_ms: 0, tail: String::new() },
    }
}

fn end(report: &ExitReport) -> CheckEnd {
    match (report.cause, report.outcome) {
        (Some(KillCause::Timeout | KillCause::Ttl | KillCause::Idle), _) => CheckEnd::TimedOut,
        (Some(cause), _) => CheckEnd::Killed { why: cause.to_string() },
        (None, Outcome::Code(code)) => CheckEnd::Exited { code: code.into() },
        (None, Outcome::Signal(signal)) => CheckEnd::Killed { why: format!("signal {signal}") },
    }
}

fn code(report: &ExitReport) -> Option<i32> {
    match end(report) {
        CheckEnd::Exited { code } => Some(code),
        CheckEnd::TimedOut | CheckEnd::Killed { .. } | CheckEnd::NotRun { .. } => None,
    }
}
