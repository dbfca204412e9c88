//! Which of the changes are to be applied at all.

use std::{collections::HashSet, path::Path};

use belljar_domain::{Change, ChangeKind, Entry};

use super::{
    super::root::is_plain,
    Applied, ApplyError, GitInternals,
    internals::{is_disguised_repository, is_internal},
};

/// The changes to apply, and what they make of directories.
#[derive(Debug, Default)]
pub(super) struct Selected<'a> {
    pub(super) wanted: Vec<&'a Change>,
    /// Directories that will be there.
    pub(super) made: HashSet<&'a Path>,
    /// Directories that become something else.
    pub(super) replaced: HashSet<&'a Path>,
}

/// Leaves out what is held back or cannot be made, and names it in `result`.
///
/// Refuses the whole if one path is not plainly relative: whoever made that list is not to be trusted
/// with the rest.
pub(super) fn select<'a>(
    changes: &'a [Change],
    internals: GitInternals,
    result: &mut Applied,
) -> Result<Selected<'a>, ApplyError> {
    let mut disguised: Vec<&Path> = Vec::new();
    let mut selected = Selected::default();
    for change in changes {
        let origin = origin(change);
        if let Some(path) = [Some(change.path.as_path()), origin].into_iter().flatten().find(|p| !is_plain(p))
        {
            return Err(ApplyError::Path { path: path.to_owned() });
        }
        if is_disguised_repository(change) {
            disguised.push(&change.path);
        }
        let internal = is_internal(&change.path)
            || origin.is_some_and(is_internal)
            || disguised.iter().any(|repository| change.path.starts_with(repository));
        if internals == GitInternals::HoldBack && internal {
            result.held_back.push(change.path.clone());
        } else if matches!(change.after, Some(Entry::Other { .. })) {
            result.skipped.push(change.path.clone());
        } else {
            selected.take(change);
        }
    }
    Ok(selected)
}

impl<'a> Selected<'a> {
    fn take(&mut self, change: &'a Change) {
        self.wanted.push(change);
        let is_directory = |entry: &Option<Entry>| entry.as_ref().is_some_and(Entry::is_directory);
        match (is_directory(&change.before), is_directory(&change.after)) {
            (false, true) => drop(self.made.insert(&change.path)),
            (true, false) if change.after.is_some() => drop(self.replaced.insert(&change.path)),
            (true | false, _) => {}
        }
    }
}

/// The path a rename came from.
pub(super) fn origin(change: &Change) -> Option<&Path> {
    match &change.kind {
        ChangeKind::Renamed { from } => Some(from),
        ChangeKind::Added
        | ChangeKind::Modified
        | ChangeKind::Deleted
        | ChangeKind::ModeChanged
        | ChangeKind::TypeChanged => None,
    }
}
