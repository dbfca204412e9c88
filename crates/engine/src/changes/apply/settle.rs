//! What to do where the host changed too, and which directories can go.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use belljar_domain::Entry;

use super::{
    super::{
        content::{Content, LINEWISE},
        merge::{self, Merged},
    },
    ApplyError, Conflict, ConflictReason, OnConflict,
    host::Found,
    plan::{Failure, Planner, Source, Write, safe_mode},
};

impl Planner<'_> {
    /// Joins the two versions of a text if that is wanted and git knows where they came from.
    pub(super) fn merge_or(
        &mut self,
        reason: ConflictReason,
        path: &Path,
        before: Option<&Entry>,
        after: &Entry,
        found: &Found,
    ) -> Result<(), Failure> {
        let (Entry::File { size: ours, mode }, Entry::File { size: theirs, mode: wanted }) =
            (&found.entry, after)
        else {
            return self.conflict(path, reason);
        };
        if self.options.on_conflict == OnConflict::Refuse || *ours > LINEWISE || *theirs > LINEWISE {
            return self.conflict(path, reason);
        }
        let ours = Content::read(self.root.file(path)?)?;
        let theirs = Content::read(self.files.open(path)?)?;
        let (Content::Text(ours), Content::Text(theirs)) = (ours, theirs) else {
            return self.conflict(path, reason);
        };
        let merged =
            merge::three_way(self.workspace, path, self.since, &ours, &theirs).map_err(Failure::Merge)?;
        let text = match merged {
            None => return self.conflict(path, reason),
            Some(Merged::Clean(text)) => text,
            Some(Merged::Conflicting(text)) => {
                self.plan.result.conflicted.push(path.to_owned());
                text
            }
        };
        self.plan.result.merged.push(path.to_owned());
        self.plan.result.written.push(path.to_owned());
        // Only a mode that the sandbox changed replaces the host's.
        let mode = if before.and_then(Entry::mode) == Some(*wanted) { *mode } else { *wanted };
        let source = Source::Merged { text, mode: safe_mode(mode) };
        self.plan.writes.push(Write { path: path.to_owned(), source, replaces: Some(found.stamp) });
        Ok(())
    }

    /// Directories go only if all they hold goes; from the deepest up, since one that stays keeps its parent.
    pub(super) fn empty_directories(&mut self) -> Result<(), ApplyError> {
        let mut directories: Vec<_> = std::mem::take(&mut self.directories).into_iter().collect();
        directories.sort_unstable_by(|(one, _), (two, _)| two.as_os_str().cmp(one.as_os_str()));
        let mut going: HashSet<PathBuf> = self.plan.removals.iter().map(|(path, _)| path.clone()).collect();
        let mut gone = Vec::new();
        for (path, replaced) in directories {
            let names = self.root.names(&path).map_err(|error| Failure::Compare(error).at(&path))?;
            if names.iter().all(|name| going.contains(&path.join(name))) {
                going.insert(path.clone());
                self.plan.directories_gone.push(path.clone());
                if !replaced {
                    gone.push(path);
                }
            } else if replaced {
                self.conflicts.push(Conflict { path, reason: ConflictReason::NotEmpty });
            } else {
                self.plan.result.kept.push(path);
            }
        }
        self.plan.result.kept.reverse();
        self.plan.result.removed.extend(gone);
        self.plan.result.removed.sort_by(|one, two| one.as_os_str().cmp(two.as_os_str()));
        Ok(())
    }
}
