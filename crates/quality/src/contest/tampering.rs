//! What an attempt did to tests, and to what settles how they run. Gates are tried with the base's versions in place;
//! this is what shows that somebody tried.

use serde::{Deserialize, Serialize};

use super::{
    cases::{self, Case, Suite, is_trivial},
    diff::Touched,
    ground::{Role, role},
    intrusion::{intrusions, runs_by_itself},
    settings::{self, Whose},
};

/// How many traces are kept.
const MOST: usize = 200;

/// What an attempt did to tests and settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tampering {
    /// What was found, worst first.
    pub traces: Vec<Trace>,
    /// Tests it added, by file.
    pub tests_added: usize,
    /// Files it added tests to.
    pub test_files: usize,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Trace {
    /// What sort of thing.
    pub kind: TraceKind,
    /// Its file.
    pub path: String,
    /// Its line, where there is one.
    #[serde(default)]
    pub line: Option<u32>,
    /// What exactly.
    pub what: String,
}

/// What sort of thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceKind {
    /// Tests end the program before they are counted.
    Exit,
    /// A test is gone.
    Removed,
    /// A test is not run any more.
    Skipped,
    /// A test asserts less.
    Weakened,
    /// Other tests are not run because of this one.
    Focused,
    /// How tests are found or run.
    Runner,
    /// A test or a setting was changed in a way that takes nothing away. Told, and held against nobody.
    Touched,
}

impl Trace {
    /// In words.
    #[must_use]
    pub fn said(&self) -> String {
        let place = self.line.map_or_else(|| self.path.clone(), |line| format!("{}:{line}", self.path));
        let what = &self.what;
        match self.kind {
            TraceKind::Exit => format!("{place} ends the program while tests run: {what}"),
            TraceKind::Removed => format!("{what} was removed from {place}"),
            TraceKind::Skipped => format!("{what} is skipped now ({place})"),
            TraceKind::Weakened => format!("{what} asserts less than before ({place})"),
            TraceKind::Focused => format!("{what} keeps other tests from running ({place})"),
            TraceKind::Runner => format!("how tests run was changed in {place}: {what}"),
            TraceKind::Touched => format!("{place}: {what}"),
        }
    }
}

/// Looks at every file an attempt touched. The harness is what the check's own command runs.
#[must_use]
pub fn inspect(files: &[Touched<'_>], harness: &[String]) -> Tampering {
    let mut found = Tampering::default();
    let pairs: Vec<Pair<'_>> = files.iter().filter_map(Pair::read).collect();
    // A test that moved is not gone.
    let arrived: Vec<&Case> = pairs.iter().flat_map(Pair::arrived).collect();
    for pair in &pairs {
        pair.compare(&arrived, &mut found.traces);
        let added = pair.arrived().filter(|case| !case.is_skipped).count();
        found.tests_added += added;
        found.test_files += usize::from(added > 0);
    }
    for file in files.iter().filter(|file| file.base != file.after || file.is_binary) {
        if harness.iter().any(|own| own == file.path) {
            let what = format!("the check's own script was {}; the base's was used", verb(file));
            found.traces.push(Trace::of(TraceKind::Runner, file.path, what));
            continue;
        }
        found.traces.extend(intrusions(file));
        if let Some(why) = runs_by_itself(file.path).filter(|_| file.after.is_some()) {
            let what = format!("the file was {}, and {why}", verb(file));
            found.traces.push(Trace::of(TraceKind::Touched, file.path, what));
        }
        if let Some(trace) = settled(file) {
            found.traces.extend(trace);
        }
    }
    let unread = files.iter().filter(|file| role(file.path) == Role::Test && file.base != file.after);
    for file in unread.filter(|file| !pairs.iter().any(|pair| pair.file.path == file.path)) {
        let trace = match (file.base, file.after) {
            (Some(_), None) => Trace::of(TraceKind::Removed, file.path, "a file of tests"),
            (Some(_), Some(_)) => Trace::of(TraceKind::Touched, file.path, "what tests use was changed"),
            (None, _) => continue,
        };
        found.traces.push(trace);
    }
    found.traces.sort();
    found.traces.truncate(MOST);
    found
}

impl Trace {
    pub(super) fn of(kind: TraceKind, path: &str, what: impl Into<String>) -> Self {
        Self { kind, path: path.to_owned(), line: None, what: what.into() }
    }

    pub(super) fn at(self, line: u32) -> Self {
        Self { line: Some(line), ..self }
    }
}

/// Settings, whole files of them or parts.
fn settled(file: &Touched<'_>) -> Option<Vec<Trace>> {
    let name = file.path.rsplit('/').next().unwrap_or(file.path);
    match role(file.path) {
        Role::Runner if name == "conftest.py" => None,
        Role::Runner if file.path.starts_with('.') && name.ends_with("yml") => {
            Some(vec![Trace::of(TraceKind::Touched, file.path, "what runs on every push was changed")])
        }
        Role::Runner => {
            let verb = verb(file);
            Some(vec![Trace::of(TraceKind::Runner, file.path, format!("the file was {verb}"))])
        }
        Role::Lint => {
            let what = format!("the linter's settings were {}; the base's were used", verb(file));
            Some(vec![Trace::of(TraceKind::Touched, file.path, what)])
        }
        Role::Shared => {
            let changed = settings::changed(file.path, file.base, file.after).into_iter();
            let trace = |(whose, what): (Whose, String)| match whose {
                Whose::Runner => Trace::of(TraceKind::Runner, file.path, what),
                Whose::Linter => {
                    Trace::of(TraceKind::Touched, file.path, format!("the linter's settings: {what}"))
                }
            };
            Some(changed.map(trace).collect())
        }
        Role::Code | Role::Test | Role::Lock | Role::Other => None,
    }
}

fn verb(file: &Touched<'_>) -> &'static str {
    match (file.base, file.after) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    }
}

/// A file with tests, before and after.
struct Pair<'f> {
    file: &'f Touched<'f>,
    base: Suite,
    after: Suite,
    is_runner: bool,
}

impl<'f> Pair<'f> {
    fn read(file: &'f Touched<'f>) -> Option<Self> {
        let role = role(file.path);
        let is_conftest = file.path.ends_with("conftest.py");
        if file.base == file.after
            || file.is_binary
            || !(matches!(role, Role::Test | Role::Code) || is_conftest)
        {
            return None;
        }
        let is_test = role != Role::Code;
        let read = |text: Option<&str>| match text {
            Some(text) => cases::read(file.path, text, is_test),
            None => Some(Suite::default()),
        };
        let (base, after) = (read(file.base)?, read(file.after)?);
        let has_cases = !base.cases.is_empty() || !after.cases.is_empty();
        (is_test || has_cases).then_some(Self { file, base, after, is_runner: is_conftest })
    }

    /// Tests that were not there before.
    fn arrived(&self) -> impl Iterator<Item = &Case> {
        self.after.cases.iter().filter(|case| !self.base.cases.iter().any(|old| old.name == case.name))
    }

    fn compare(&self, arrived: &[&Case], traces: &mut Vec<Trace>) {
        let path = self.file.path;
        let before = traces.len();
        let is_test = self.is_runner || role(path) == Role::Test;
        if is_test && self.after.exits > self.base.exits {
            traces.push(Trace::of(TraceKind::Exit, path, "a call that ends the program was added"));
        }
        if self.after.is_skipped && !self.base.is_skipped {
            traces.push(Trace::of(TraceKind::Skipped, path, "a whole file of tests"));
        }
        if self.is_runner {
            self.compare_hooks(traces);
        }
        for old in &self.base.cases {
            match self.after.cases.iter().find(|case| case.name == old.name) {
                Some(new) => compare(path, old, new, traces),
                None if arrived.iter().any(|case| is_moved(old, case)) => {}
                None => traces
                    .push(Trace::of(TraceKind::Removed, path, format!("test `{}`", old.name)).at(old.line)),
            }
        }
        for case in self.after.cases.iter().filter(|case| case.is_focused) {
            let was = self.base.cases.iter().any(|old| old.name == case.name && old.is_focused);
            if !was {
                traces
                    .push(Trace::of(TraceKind::Focused, path, format!("test `{}`", case.name)).at(case.line));
            }
        }
        if traces.len() == before && is_test && self.file.base.is_some() {
            traces.push(Trace::of(TraceKind::Touched, path, "tests were changed; nothing was taken away"));
        }
    }

    /// Functions pytest calls decide what runs and what counts.
    fn compare_hooks(&self, traces: &mut Vec<Trace>) {
        let path = self.file.path;
        for hook in self.after.hooks.iter().filter(|hook| !self.base.hooks.contains(hook)) {
            traces.push(Trace::of(TraceKind::Runner, path, format!("added `{hook}`")));
        }
        let (base, after) = (self.file.base.unwrap_or_default(), self.file.after.unwrap_or_default());
        let gone =
            base.lines().filter(|line| !line.trim().is_empty() && !after.contains(line.trim())).count();
        if gone > 0 {
            traces.push(Trace::of(TraceKind::Runner, path, format!("{gone} lines of it are gone")));
        }
    }
}

fn is_moved(old: &Case, new: &Case) -> bool {
    let last = |name: &str| name.rsplit(['.', '>']).next().unwrap_or_default().trim().to_owned();
    let says_as_much = old.assertions.iter().all(|assertion| new.assertions.contains(assertion));
    says_as_much && (last(&old.name) == last(&new.name) || !old.assertions.is_empty()) && !new.is_skipped
}

fn compare(path: &str, old: &Case, new: &Case, traces: &mut Vec<Trace>) {
    let name = format!("test `{}`", old.name);
    if new.is_skipped && !old.is_skipped {
        traces.push(Trace::of(TraceKind::Skipped, path, name.clone()).at(new.line));
    }
    let gone: Vec<&String> = old.assertions.iter().filter(|one| !new.assertions.contains(one)).collect();
    let came = || new.assertions.iter().filter(|one| !old.assertions.contains(one));
    let is_hollow = came().any(|one| is_trivial(one));
    if !gone.is_empty() && (new.assertions.len() < old.assertions.len() || is_hollow) {
        traces.push(Trace::of(TraceKind::Weakened, path, name).at(new.line));
    } else if !gone.is_empty() {
        let what = format!("test `{}` asserts something else now; the base's version was used", old.name);
        traces.push(Trace::of(TraceKind::Touched, path, what).at(new.line));
    }
}
