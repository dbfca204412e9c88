//! Deciding, for every change, what to do on the host, before anything is done.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use belljar_domain::{Change, Entry};
use belljar_ports::{ChangedFiles, Changes};

use super::{
    super::root::Root,
    Applied, ApplyError, ApplyOptions, Conflict, ConflictReason,
    host::{self, Found, Stamp, leads_outside},
    select::{self, Selected, origin},
};

/// What will be done, by kind; each is carried out in an order of its own.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) removals: Vec<(PathBuf, Stamp)>,
    pub(super) directories_gone: Vec<PathBuf>,
    pub(super) directories_new: Vec<(PathBuf, u32)>,
    pub(super) writes: Vec<Write>,
    pub(super) modes: Vec<(PathBuf, u32)>,
    pub(super) result: Applied,
}

/// Something to be put at a path.
#[derive(Debug)]
pub(super) struct Write {
    pub(super) path: PathBuf,
    pub(super) source: Source,
    /// What is there now and will be replaced in one step.
    pub(super) replaces: Option<Stamp>,
}

#[derive(Debug)]
pub(super) enum Source {
    /// The sandbox's file, of this size.
    Sandbox {
        size: u64,
        mode: u32,
    },
    Merged {
        text: Vec<u8>,
        mode: u32,
    },
    Link(PathBuf),
}

pub(super) fn make(changes: &Changes, options: ApplyOptions, root: &Root) -> Result<Plan, ApplyError> {
    let mut plan = Plan::default();
    let selected = select::select(&changes.changes, options.git_internals, &mut plan.result)?;
    let mut planner = Planner {
        root,
        files: changes.files.as_ref(),
        workspace: changes.base.as_path(),
        since: changes.since,
        options,
        plan,
        conflicts: Vec::new(),
        selected,
        directories: HashMap::new(),
    };
    for change in &planner.selected.wanted.clone() {
        planner.change(change).map_err(|failure| failure.at(&change.path))?;
    }
    planner.empty_directories()?;
    if planner.conflicts.is_empty() {
        Ok(planner.plan)
    } else {
        Err(ApplyError::Conflicts(planner.conflicts))
    }
}

pub(super) struct Planner<'a> {
    pub(super) root: &'a Root,
    pub(super) files: &'a dyn ChangedFiles,
    pub(super) workspace: &'a Path,
    pub(super) since: SystemTime,
    pub(super) options: ApplyOptions,
    pub(super) plan: Plan,
    pub(super) conflicts: Vec<Conflict>,
    pub(super) selected: Selected<'a>,
    /// Directories to be removed from the host, and whether something takes their place.
    pub(super) directories: HashMap<PathBuf, bool>,
}

pub(super) enum Failure {
    Compare(io::Error),
    Merge(super::MergeError),
}

impl Failure {
    pub(super) fn at(self, path: &Path) -> ApplyError {
        let path = path.to_owned();
        match self {
            Self::Compare(source) => ApplyError::Compare { path, source },
            Self::Merge(source) => ApplyError::Merge { path, source },
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Compare(error)
    }
}

impl Planner<'_> {
    fn change(&mut self, change: &Change) -> Result<(), Failure> {
        let path = &change.path;
        match (origin(change), &change.before, &change.after) {
            (Some(from), Some(before), Some(after)) => {
                self.remove(from, before)?;
                self.put(path, None, after)
            }
            (_, Some(before), None) => self.remove(path, before),
            (None, before, Some(after)) => self.put(path, before.as_ref(), after),
            (_, None, _) => Ok(()),
        }
    }

    fn remove(&mut self, path: &Path, before: &Entry) -> Result<(), Failure> {
        let found = match host::find(self.root, path) {
            Ok(found) => found,
            // What it lay in has become something else. If that is what the sandbox did, and it is on the
            // host already, then this is gone with it; if not, that change is the one in conflict.
            Err(_) if path.ancestors().any(|above| self.selected.replaced.contains(above)) => None,
            Err(_) if self.root.parent(path).is_err() => return self.conflict(path, ConflictReason::Parent),
            Err(error) => return Err(error.into()),
        };
        match found {
            None => self.plan.result.already.push(path.to_owned()),
            Some(found) if before.is_directory() && found.entry.is_directory() => {
                self.directories.insert(path.to_owned(), false);
            }
            Some(found) if !before.is_directory() && found.is_untouched(before, self.since) => {
                self.plan.removals.push((path.to_owned(), found.stamp));
                self.plan.result.removed.push(path.to_owned());
            }
            Some(_) => return self.conflict(path, ConflictReason::Changed),
        }
        Ok(())
    }

    fn put(&mut self, path: &Path, before: Option<&Entry>, after: &Entry) -> Result<(), Failure> {
        if let Entry::Symlink { target } = after
            && leads_outside(path, target, self.workspace)
        {
            self.plan.result.outside_links.push(path.to_owned());
        }
        let parent = path.parent().unwrap_or(Path::new(""));
        let found = match self.root.dir(parent) {
            Ok(_) => host::find(self.root, path)?,
            // It will be made; its own change decides whether it can be.
            Err(_) if self.selected.made.contains(parent) => None,
            Err(_) => return self.conflict(path, ConflictReason::Parent),
        };
        let Some(found) = found else {
            return match before {
                Some(_) if !self.selected.made.contains(parent) => self.conflict(path, ConflictReason::Gone),
                _ => self.write(path, after, None),
            };
        };
        if found.has_content_of(after, self.root, path, self.files)? {
            return self.same_content(path, before, after, &found);
        }
        match before {
            Some(before) if before.is_directory() && found.entry.is_directory() => {
                self.directories.insert(path.to_owned(), true);
                self.write(path, after, None)
            }
            Some(before) if found.is_untouched(before, self.since) => {
                if after.is_directory() {
                    self.plan.removals.push((path.to_owned(), found.stamp));
                    return self.write(path, after, None);
                }
                self.write(path, after, Some(found.stamp))
            }
            Some(_) => self.merge_or(ConflictReason::Changed, path, before, after, &found),
            None => self.merge_or(ConflictReason::Exists, path, before, after, &found),
        }
    }

    /// The content is there already; the mode may have to follow if the sandbox changed it.
    fn same_content(
        &mut self,
        path: &Path,
        before: Option<&Entry>,
        after: &Entry,
        found: &Found,
    ) -> Result<(), Failure> {
        let wanted = after.mode().map(safe_mode);
        // A directory's setgid is the host's: it says whose group new files get.
        let host = found.entry.mode();
        let is_wanted = if after.is_directory() { host.map(safe_mode) == wanted } else { host == wanted };
        match before.map(Entry::mode) {
            None => {}
            Some(given) if given == after.mode() || is_wanted => {}
            Some(given) if given == host => {
                self.plan.modes.push((path.to_owned(), wanted.unwrap_or_default()));
                self.plan.result.written.push(path.to_owned());
                return Ok(());
            }
            Some(_) => return self.conflict(path, ConflictReason::Changed),
        }
        self.plan.result.already.push(path.to_owned());
        Ok(())
    }

    fn write(&mut self, path: &Path, after: &Entry, replaces: Option<Stamp>) -> Result<(), Failure> {
        let source = match after {
            Entry::File { size, mode } => Source::Sandbox { size: *size, mode: safe_mode(*mode) },
            Entry::Symlink { target } => Source::Link(target.clone()),
            Entry::Directory { mode } => {
                self.plan.directories_new.push((path.to_owned(), safe_mode(*mode)));
                self.plan.result.written.push(path.to_owned());
                return Ok(());
            }
            Entry::Other { .. } => return Ok(()),
        };
        self.plan.writes.push(Write { path: path.to_owned(), source, replaces });
        self.plan.result.written.push(path.to_owned());
        Ok(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "reads as an outcome where it is returned")]
    pub(super) fn conflict(&mut self, path: &Path, reason: ConflictReason) -> Result<(), Failure> {
        self.conflicts.push(Conflict { path: path.to_owned(), reason });
        Ok(())
    }
}

/// Nothing from a sandbox becomes setuid or setgid on the host.
pub(super) const fn safe_mode(mode: u32) -> u32 {
    mode & 0o1777
}
