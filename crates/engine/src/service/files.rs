//! Files of a sandbox: every path is resolved inside it, as its user; nothing here walks a path on the host.

use std::{
    ffi::{CStr, CString},
    fs::File,
    os::fd::OwnedFd,
};

use belljar_domain::{EventKind, EventStatus, Principal, SandboxId, SandboxPath, Timestamp};
use belljar_ports::{FileChange, Open, Sandbox};
use rustix::fs::{AtFlags, Dir, FileType, Stat};

use super::{
    FileKind, FileView, FileWriter, Passage, Result, Service, ServiceError, live::LiveSandbox, tool,
};

/// Deepest listing, and the most names of one directory.
const MAX_DEPTH: u32 = 64;
const MAX_NAMES: usize = 1_000_000;

impl Service {
    /// Shows what there is at a path.
    ///
    /// # Errors
    /// When there is nothing, or the sandbox does not run.
    pub fn stat(&self, who: &Principal, id: SandboxId, path: &SandboxPath, follow: bool) -> Result<FileView> {
        let live = self.live(who, id)?;
        look(&*live.sandbox, path, follow)
    }

    /// Lists a directory in the order of names, each directory before what is in it, down to a depth and after a path that
    /// was listed before. What changes meanwhile is there or not; everything else is listed once.
    ///
    /// # Errors
    /// When it is none, or the sandbox does not run.
    pub fn list(
        &self,
        who: &Principal,
        id: SandboxId,
        path: &SandboxPath,
        depth: u32,
        after: Option<&SandboxPath>,
        limit: usize,
    ) -> Result<Vec<FileView>> {
        let live = self.live(who, id)?;
        let after = after.map(|after| parts_below(path, after)).transpose()?.unwrap_or_default();
        let mut listing = Listing { sandbox: &*live.sandbox, limit, found: Vec::new() };
        listing.list(path, depth.min(MAX_DEPTH), &after)?;
        Ok(listing.found)
    }

    /// Opens a plain file for reading.
    ///
    /// # Errors
    /// When it is none.
    pub fn open_file(&self, who: &Principal, id: SandboxId, path: &SandboxPath) -> Result<(File, FileView)> {
        let live = self.live(who, id)?;
        let passage = self.pass_file(who, &live.view(), tool::READ, path)?;
        live.touch();
        let file = live.sandbox.open(path, Open::Read)?;
        let view = describe(&*live.sandbox, path, &file, &status(&file)?);
        match view.kind {
            FileKind::File => {}
            FileKind::Directory => {
                return Err(ServiceError::Invalid(format!(
                    "`{path}` is a directory; ask for it as a tar archive"
                )));
            }
            FileKind::Symlink | FileKind::Other => {
                return Err(ServiceError::Invalid(format!("`{path}` is not a plain file")));
            }
        }
        self.note_file(who, &live, path, EventKind::FileRead, &passage);
        Ok((file.into(), view))
    }

    /// Begins a file that takes its place when it is whole.
    ///
    /// # Errors
    /// When it cannot be made there.
    pub fn write_file(
        &self,
        who: &Principal,
        id: SandboxId,
        path: &SandboxPath,
        mode: u32,
        make_parents: bool,
    ) -> Result<FileWriter> {
        let live = self.live(who, id)?;
        let passage = self.pass_file(who, &live.view(), tool::WRITE, path)?;
        live.touch();
        if make_parents && let Some((parent, _)) = split(path) {
            live.sandbox.change(&FileChange::MakeDir { path: parent, parents: true })?;
        }
        if look(&*live.sandbox, path, true).is_ok_and(|there| there.kind == FileKind::Directory) {
            return Err(ServiceError::Conflict(format!("`{path}` is a directory")));
        }
        self.note_file(who, &live, path, EventKind::FileWrite, &passage);
        FileWriter::begin(self, live, path, mode)
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// When it cannot be made, or is there and `parents` is not asked for.
    pub fn make_dir(
        &self,
        who: &Principal,
        id: SandboxId,
        path: &SandboxPath,
        parents: bool,
    ) -> Result<FileView> {
        self.alter(who, id, path, &FileChange::MakeDir { path: path.clone(), parents })?;
        self.stat(who, id, path, true)
    }

    /// Gives a path another name.
    ///
    /// # Errors
    /// When it is not there, or something other than a file is in its way.
    pub fn rename(
        &self,
        who: &Principal,
        id: SandboxId,
        from: &SandboxPath,
        to: &SandboxPath,
    ) -> Result<FileView> {
        self.alter(who, id, from, &FileChange::Rename { from: from.clone(), to: to.clone() })?;
        self.stat(who, id, to, false)
    }

    /// Removes a path.
    ///
    /// # Errors
    /// When it is not there, or a directory that is not empty and `recursive` is not asked for.
    pub fn remove(&self, who: &Principal, id: SandboxId, path: &SandboxPath, recursive: bool) -> Result<()> {
        if path.to_string() == "/" {
            return Err(ServiceError::Invalid("the root stays; delete the sandbox instead".to_owned()));
        }
        self.alter(who, id, path, &FileChange::Remove { path: path.clone(), recursive })
    }

    fn alter(&self, who: &Principal, id: SandboxId, path: &SandboxPath, change: &FileChange) -> Result<()> {
        let live = self.live(who, id)?;
        let mut paths = vec![path];
        if let FileChange::Rename { to, .. } = change {
            paths.push(to);
        }
        let passage = self.pass_files(who, &live.view(), tool::WRITE, &paths)?;
        live.touch();
        live.sandbox.change(change)?;
        self.note_file(who, &live, path, EventKind::FileWrite, &passage);
        Ok(())
    }

    /// Records that a file was used; nobody waits for it.
    pub(super) fn note_file(
        &self,
        who: &Principal,
        live: &LiveSandbox,
        path: &SandboxPath,
        kind: EventKind,
        passage: &Passage,
    ) {
        let view = live.view();
        let mut event = self.sandbox_event(&view.project, &who.name, view.id, kind);
        event.actor.id = view.spec.agent;
        event.status = Some(EventStatus::Success);
        event.target = Some(path.to_string());
        event.target_type = Some("file".to_owned());
        passage.write(&mut event);
        drop(self.record(event));
    }
}

/// A path's directory and last name; the root has none.
pub(super) fn split(path: &SandboxPath) -> Option<(SandboxPath, String)> {
    let text = path.to_string();
    let (parent, name) = text.rsplit_once('/')?;
    let parent = SandboxPath::new(if parent.is_empty() { "/" } else { parent }).ok()?;
    (!name.is_empty()).then(|| (parent, name.to_owned()))
}

pub(super) fn look(sandbox: &dyn Sandbox, path: &SandboxPath, follow: bool) -> Result<FileView> {
    let there = sandbox.open(path, Open::Look { follow })?;
    Ok(describe(sandbox, path, &there, &status(&there)?))
}

fn status(fd: &OwnedFd) -> Result<Stat> {
    rustix::fs::fstat(fd).map_err(|error| unreadable(&error.into()))
}

fn unreadable(error: &std::io::Error) -> ServiceError {
    ServiceError::Conflict(format!("it changed while it was looked at: {error}"))
}

/// The names on the way from a directory to something below it.
fn parts_below(base: &SandboxPath, path: &SandboxPath) -> Result<Vec<String>> {
    let wrong = |_not_below| ServiceError::Invalid(format!("`{path}` is not below `{base}`"));
    let rest = path.as_path().strip_prefix(base.as_path()).map_err(wrong)?;
    Ok(rest.iter().map(|part| part.to_string_lossy().into_owned()).collect())
}

/// A tree on its way into a list.
struct Listing<'s> {
    sandbox: &'s dyn Sandbox,
    limit: usize,
    found: Vec<FileView>,
}

impl Listing<'_> {
    fn list(&mut self, path: &SandboxPath, depth: u32, after: &[String]) -> Result<()> {
        let dir = Directory::open(self.sandbox, path)?;
        let first = after.first();
        let from = dir.names.partition_point(|(shown, _)| first.is_some_and(|first| shown < first));
        for (shown, name) in dir.names.get(from..).unwrap_or_default() {
            if self.found.len() >= self.limit {
                break;
            }
            // A name that is gone again is not there.
            let Some(view) = dir.look(self.sandbox, shown, name) else { continue };
            let inner =
                SandboxPath::new(&view.path).ok().filter(|_| view.kind == FileKind::Directory && depth > 1);
            let is_listed = first == Some(shown);
            if !is_listed {
                self.found.push(view);
            }
            if let Some(inner) = inner {
                let after = after.get(1..).filter(|_| is_listed).unwrap_or_default();
                // One that vanished, or is not theirs to read, has no entries.
                let _closed = self.list(&inner, depth - 1, after);
            }
        }
        Ok(())
    }
}

/// A directory and its names, in their order.
struct Directory {
    fd: OwnedFd,
    base: String,
    names: Vec<(String, CString)>,
}

impl Directory {
    fn open(sandbox: &dyn Sandbox, path: &SandboxPath) -> Result<Self> {
        let fd = sandbox.open(path, Open::List)?;
        let read = Dir::read_from(&fd).map_err(|error| unreadable(&error.into()))?;
        let entries = read.flatten().map(|entry| entry.file_name().to_owned());
        let mut names: Vec<_> = entries
            .filter(|name| !matches!(name.as_bytes(), b"." | b".."))
            .take(MAX_NAMES)
            .map(|name| (name.to_string_lossy().into_owned(), name))
            .collect();
        names.sort();
        let base = path.to_string().trim_end_matches('/').to_owned();
        Ok(Self { fd, base, names })
    }

    /// What there is under a name. Links are shown, not followed.
    fn look(&self, sandbox: &dyn Sandbox, shown: &str, name: &CStr) -> Option<FileView> {
        let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let mut view = view_of(sandbox, format!("{}/{shown}", self.base), shown.to_owned(), &stat);
        if view.kind == FileKind::Symlink {
            view.target = target(&self.fd, name);
        }
        Some(view)
    }
}

/// The first entries of a directory, by name.
pub(super) fn entries(sandbox: &dyn Sandbox, path: &SandboxPath, limit: usize) -> Result<Vec<FileView>> {
    let dir = Directory::open(sandbox, path)?;
    let found = dir.names.iter().filter_map(|(shown, name)| dir.look(sandbox, shown, name));
    Ok(found.take(limit).collect())
}

fn target(dir: &OwnedFd, name: &CStr) -> Option<String> {
    rustix::fs::readlinkat(dir, name, Vec::new()).ok().map(|target| target.to_string_lossy().into_owned())
}

fn describe(sandbox: &dyn Sandbox, path: &SandboxPath, fd: &OwnedFd, stat: &Stat) -> FileView {
    let name = split(path).map_or_else(String::new, |(_, name)| name);
    let mut view = view_of(sandbox, path.to_string(), name, stat);
    if view.kind == FileKind::Symlink {
        view.target = target(fd, c"");
    }
    view
}

fn view_of(sandbox: &dyn Sandbox, path: String, name: String, stat: &Stat) -> FileView {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Other,
    };
    let (uid, gid) = sandbox.owner_inside(stat.st_uid, stat.st_gid);
    let micros = stat
        .st_mtime
        .saturating_mul(1_000_000)
        .saturating_add(i64::try_from(stat.st_mtime_nsec / 1000).unwrap_or(0));
    FileView {
        path,
        name,
        kind,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        mode: stat.st_mode & 0o7777,
        uid,
        gid,
        modified: Timestamp::from_micros(micros),
        target: None,
    }
}
