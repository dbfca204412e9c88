//! A workspace on the host and what a sandbox made of it, side by side.

use std::{
    fs::{self, File},
    io::{self, Read},
    os::unix::{
        ffi::OsStrExt as _,
        fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink},
    },
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::SystemTime,
};

use belljar_domain::{Change, ChangeKind, Entry, HostPath, Node};
use belljar_ports::{ChangedFiles, Changes};
use tempfile::TempDir;

use super::{Look, diff, find_renames};

mod applies;
mod bundles;
mod conflicts;
mod merges;
mod renders;

#[derive(Debug)]
struct Tree(PathBuf);

impl ChangedFiles for Tree {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(self.0.join(path))?))
    }
}

struct Pair {
    dir: TempDir,
    since: SystemTime,
}

impl Pair {
    /// Fills the host's side, then makes the sandbox from it.
    fn new(fill: impl FnOnce(&Path)) -> Self {
        let dir = TempDir::new().unwrap();
        let host = dir.path().join("host");
        fs::create_dir(&host).unwrap();
        fill(&host);
        let copied =
            Command::new("cp").args(["-a", "host", "sandbox"]).current_dir(dir.path()).status().unwrap();
        assert!(copied.success());
        Self { dir, since: SystemTime::now() }
    }

    fn host(&self, path: &str) -> PathBuf {
        self.dir.path().join("host").join(path)
    }

    fn sandbox(&self, path: &str) -> PathBuf {
        self.dir.path().join("sandbox").join(path)
    }

    /// Compares the trees, as a provider would have.
    fn changes(&self) -> Changes {
        self.with(compare(&self.host(""), &self.sandbox("")))
    }

    fn with(&self, changes: Vec<Change>) -> Changes {
        Changes {
            base: HostPath::new(self.host("")).unwrap(),
            since: self.since,
            changes,
            files: Arc::new(Tree(self.sandbox(""))),
        }
    }

    /// Writes on the host until its clock, which ticks every few milliseconds, is past `since`.
    fn edit_host(&self, path: &str, content: &str) {
        loop {
            write(&self.host(path), content);
            let stat = fs::metadata(self.host(path)).unwrap();
            if stat.modified().unwrap() > self.since {
                return;
            }
        }
    }

    fn patch(&self) -> String {
        let mut out = Vec::new();
        diff(&find_renames(self.changes()), &mut out, Look::Patch).unwrap();
        String::from_utf8(out).unwrap()
    }
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "safe.directory=*"])
        .args(args)
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Everything in a tree but `.git`, with what it holds. Directories by name only.
fn listing(root: &Path) -> Vec<(PathBuf, Option<Entry>, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(root.join(&dir)).unwrap() {
            let path = dir.join(entry.unwrap().file_name());
            let entry = entry_at(&root.join(&path));
            let content = match entry {
                Some(Entry::File { .. }) => fs::read(root.join(&path)).unwrap(),
                _ => Vec::new(),
            };
            if entry.as_ref().is_some_and(Entry::is_directory) {
                open.push(path.clone());
            }
            found.push((path, entry, content));
        }
    }
    found.sort_by(|(one, ..), (two, ..)| one.as_os_str().as_bytes().cmp(two.as_os_str().as_bytes()));
    found
}

fn entry_at(path: &Path) -> Option<Entry> {
    let stat = fs::symlink_metadata(path).ok()?;
    let mode = stat.mode() & 0o7777;
    Some(match stat.file_type() {
        kind if kind.is_file() => Entry::File { size: stat.len(), mode },
        kind if kind.is_dir() => Entry::Directory { mode },
        kind if kind.is_symlink() => Entry::Symlink { target: fs::read_link(path).unwrap() },
        kind if kind.is_fifo() => Entry::Other { node: Node::Fifo, mode },
        _ => Entry::Other { node: Node::Socket, mode },
    })
}

fn compare(host: &Path, sandbox: &Path) -> Vec<Change> {
    let mut paths: Vec<_> =
        listing(host).into_iter().chain(listing(sandbox)).map(|(path, ..)| path).collect();
    paths.sort_by(|one, two| one.as_os_str().as_bytes().cmp(two.as_os_str().as_bytes()));
    paths.dedup();
    let change = |path: PathBuf| {
        let (before, after) = (entry_at(&host.join(&path)), entry_at(&sandbox.join(&path)));
        let content = |root: &Path| fs::read(root.join(&path)).ok();
        let kind = match (&before, &after) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            (Some(Entry::File { .. }), Some(Entry::File { .. })) if content(host) != content(sandbox) => {
                ChangeKind::Modified
            }
            (before, after) if before == after => return None,
            (Some(Entry::Symlink { .. }), Some(Entry::Symlink { .. })) => ChangeKind::Modified,
            (Some(one), Some(two)) if std::mem::discriminant(one) == std::mem::discriminant(two) => {
                ChangeKind::ModeChanged
            }
            _ => ChangeKind::TypeChanged,
        };
        Some(Change { path, kind, before, after })
    };
    paths.into_iter().filter_map(change).collect()
}
