//! Where agents' own files are opened: on this machine, or in a sandbox.
//!
//! Refuses: links, pipes, devices and other users' files, however they are called, and names that are not a session's.

use std::{
    fs::{self, File},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use belljar_domain::SandboxPath;
use belljar_ports::{Open, Sandbox};
use rustix::fs::{Mode, OFlags};

use super::{Service, Whose, files, transcripts::SUBAGENTS};

/// Whether a file is a session's own by its name: `SESSION.jsonl`, or Codex's `rollout-TIME-SESSION.jsonl`.
pub(super) fn is_named_after(path: &Path, session: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let stem = name.and_then(|name| name.strip_suffix(".jsonl")).filter(|_| !session.is_empty());
    stem.is_some_and(|stem| {
        let before = stem.strip_suffix(session);
        before.is_some_and(|before| {
            before.is_empty() || (before.starts_with("rollout-") && before.ends_with('-'))
        })
    })
}

/// Where files are opened.
pub(super) enum Shelf {
    Host(u32),
    Sandbox(Box<dyn Sandbox>),
}

impl Shelf {
    pub(super) fn of(service: &Service, whose: Whose) -> Option<Self> {
        match whose {
            Whose::User(id) => Some(Self::Host(id)),
            Whose::Sandbox(id) => service.0.provider.find(id).ok().map(Self::Sandbox),
        }
    }

    pub(super) fn open(&self, path: &Path) -> Option<File> {
        match self {
            Self::Host(owner) => open(path, *owner),
            Self::Sandbox(sandbox) => open_in(&**sandbox, path),
        }
    }

    pub(super) fn names(&self, dir: &Path) -> Vec<String> {
        match self {
            Self::Host(_) => {
                let entries = fs::read_dir(dir).into_iter().flatten().flatten();
                entries.filter_map(|entry| entry.file_name().into_string().ok()).take(SUBAGENTS).collect()
            }
            Self::Sandbox(sandbox) => {
                let dir = SandboxPath::new(dir).ok();
                let listed = dir.and_then(|dir| files::entries(&**sandbox, &dir, SUBAGENTS).ok());
                listed.unwrap_or_default().into_iter().map(|entry| entry.name).collect()
            }
        }
    }
}

/// Opens a regular file of a sandbox.
pub(super) fn open_in(sandbox: &dyn Sandbox, path: &Path) -> Option<File> {
    let is_named = path.extension().is_some_and(|ending| ending == "jsonl");
    let path = SandboxPath::new(path).ok().filter(|_| is_named)?;
    let file = File::from(sandbox.open(&path, Open::Read).ok()?);
    file.metadata().ok().filter(fs::Metadata::is_file).map(|_| file)
}

/// Opens a file of this user's, and nothing else: no link, pipe or device, however it is called.
pub(super) fn open(path: &Path, owner: u32) -> Option<File> {
    let is_named = path.is_absolute() && path.extension().is_some_and(|ending| ending == "jsonl");
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file =
        is_named.then(|| rustix::fs::open(path, flags, Mode::empty()).ok()).flatten().map(File::from)?;
    let about = file.metadata().ok()?;
    (about.is_file() && about.uid() == owner).then_some(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_are_named_after_their_session() {
        let is_named = |name: &str| is_named_after(&Path::new("/x").join(name), "s-1");
        assert!(is_named("s-1.jsonl") && is_named("rollout-2026-11-18T14-00-00-s-1.jsonl"));
        for name in ["s-1", "s-1.json", "s-2.jsonl", "xs-1.jsonl", "rollouts-1.jsonl", ".jsonl"] {
            assert!(!is_named(name), "{name}");
        }
        assert!(!is_named_after(Path::new("/x/rollout-1-.jsonl"), ""));
    }

    #[test]
    fn only_plain_files_of_the_senders_own_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let own = rustix::process::geteuid().as_raw();
        let file = dir.path().join("s.jsonl");
        fs::write(&file, "{}\n").unwrap();
        assert!(open(&file, own).is_some());
        assert!(open(&file, own + 1).is_none(), "another user's");
        symlink(&file, dir.path().join("link.jsonl")).unwrap();
        assert!(open(&dir.path().join("link.jsonl"), own).is_none());
        fs::write(dir.path().join("s.txt"), "").unwrap();
        assert!(open(&dir.path().join("s.txt"), own).is_none());
        assert!(open(dir.path(), own).is_none());
        assert!(open(Path::new("s.jsonl"), own).is_none(), "from the root only");
    }
}
