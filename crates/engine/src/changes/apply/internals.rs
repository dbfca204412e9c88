//! Which files make git run programs on the host.
//!
//! Hooks are programs; a configuration names programs (fsmonitor, filters, editors); `commondir`, and a
//! `.git` that is a file or a symlink, lead git to another configuration. Repositories can lie anywhere in
//! a workspace and hold others, so every `.git` counts.

use std::path::{Component, Path};

use belljar_domain::{Change, ChangeKind, Entry};

/// Says whether a path is one of them.
pub(super) fn is_internal(path: &Path) -> bool {
    let mut names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_ascii_lowercase()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    });
    if !names.any(|name| name == ".git") {
        return false;
    }
    let inside: Vec<_> = names.collect();
    // A branch may be called `hooks` or `config`.
    let content = |name: &_| ["refs", "logs", "objects"].iter().any(|content| *content == *name);
    if inside.first().is_some_and(content) {
        return false;
    }
    let redirecting = |name: &_| ["config", "config.worktree", "commondir"].iter().any(|file| *file == *name);
    inside.iter().any(|name| name == "hooks") || inside.last().is_some_and(redirecting)
}

/// Says whether a change puts something other than a directory where a repository is looked for.
pub(super) fn is_disguised_repository(change: &Change) -> bool {
    let is_git = change.path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
    is_git && change.kind != ChangeKind::Deleted && !change.after.as_ref().is_some_and(Entry::is_directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_programs_is_known_at_any_depth() {
        let internal = [
            ".git/config",
            ".git/hooks",
            ".git/hooks/pre-commit",
            ".git/modules/a/config",
            ".git/modules/a/b/hooks/x",
            ".git/worktrees/w/config.worktree",
            ".git/commondir",
            "vendor/lib/.git/config",
            ".GIT/Hooks/post-checkout",
        ];
        let harmless = [
            "config",
            "hooks/pre-commit",
            ".git/HEAD",
            ".git/index",
            ".git/refs/heads/hooks/config",
            ".git/logs/refs/heads/config",
            ".gitconfig",
            ".git",
        ];
        for path in internal {
            assert!(is_internal(Path::new(path)), "{path}");
        }
        for path in harmless {
            assert!(!is_internal(Path::new(path)), "{path}");
        }
    }
}
