//! Changes that stand on their own: both sides of every changed file, wherever the sandbox and the host have gone since.
//!
//! Owns: gathering them, the difference between two of them, their patch. Refuses: what a patch has no word for
//! (directories, pipes, sockets), names that are not UTF-8, and more than may be kept; all of that is named, not hidden.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use belljar_domain::{Change, ChangeKind, Entry, HostPath};
use belljar_ports::{ChangedFiles, Changes};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{
    RenderError,
    render::{Look, held, write_held},
    root::{Root, is_plain},
};

/// The most bytes of one side of a file, of all of them, and the most files.
const LARGEST: u64 = 16 << 20;
const ALL: u64 = 64 << 20;
const MOST: usize = 10_000;
/// How many names of what is left out are kept.
const NAMED: usize = 200;

/// What was changed, with both sides of everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// The files, by path.
    pub files: Vec<Held>,
    /// What is not in it, and why.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// How many paths are not in it; the first of them are named.
    #[serde(default)]
    pub left_out_count: usize,
    /// Whether something that should be in it was too much.
    #[serde(default)]
    pub is_cut: bool,
}

/// A path that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Where, relative to the workspace.
    pub path: String,
    /// What was there; nothing if it is new.
    pub before: Option<Thing>,
    /// What is there; nothing if it is gone.
    pub after: Option<Thing>,
}

/// What a path held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Thing {
    /// A regular file.
    File {
        /// Permission bits.
        mode: u32,
        /// Its content.
        #[serde(flatten)]
        content: Content,
    },
    /// A symbolic link.
    Symlink {
        /// What it says.
        target: String,
    },
}

/// Bytes, written as text where they are text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content(pub Vec<u8>);

/// A path that is not in a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Where, as far as it can be written.
    pub path: String,
    /// Why not.
    pub why: Omission,
}

/// Why a path is not in a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Omission {
    /// It belongs to the repository's inside.
    Repository,
    /// The repository ignores it.
    Ignored,
    /// It belongs to another repository within.
    Submodule,
    /// It is a pipe, a socket or a device.
    Special,
    /// Its name is not UTF-8.
    Name,
    /// It is larger than may be kept, or one too many.
    TooMuch,
}

/// How large a change is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Files.
    pub files: usize,
    /// Lines added.
    pub additions: usize,
    /// Lines removed.
    pub deletions: usize,
}

impl Bundle {
    /// Reads both sides of what a sandbox changed. `omit` says of a path why it is to be left out.
    ///
    /// # Errors
    /// When either side cannot be read.
    pub fn gather(changes: &Changes, omit: &dyn Fn(&Path) -> Option<Omission>) -> Result<Self, RenderError> {
        let base = changes.base.as_path();
        let root =
            Root::open(base).map_err(|source| RenderError::Workspace { path: base.to_owned(), source })?;
        let mut bundle = Self::default();
        let mut room = ALL;
        for change in &changes.changes {
            let sides = [change.before.as_ref(), change.after.as_ref()];
            if sides.iter().flatten().all(|entry| entry.is_directory()) {
                continue;
            }
            let omission = omit(&change.path).or_else(|| bundle.unfit(change, room));
            match (omission, change.path.to_str()) {
                (None, Some(path)) => {
                    let held = read(change, path, &root, changes.files.as_ref())?;
                    room = room.saturating_sub(held.bytes());
                    if held.before != held.after {
                        bundle.files.push(held);
                    }
                }
                (omission, _) => bundle.leave_out(&change.path, omission.unwrap_or(Omission::Name)),
            }
        }
        Ok(bundle)
    }

    fn unfit(&self, change: &Change, room: u64) -> Option<Omission> {
        let sides = [change.before.as_ref(), change.after.as_ref()].into_iter().flatten();
        let mut bytes = 0;
        for entry in sides {
            match entry {
                Entry::File { size, .. } => bytes += *size,
                Entry::Other { .. } => return Some(Omission::Special),
                Entry::Symlink { .. } | Entry::Directory { .. } => {}
            }
        }
        if change.path.to_str().is_none() || !is_plain(&change.path) {
            return Some(Omission::Name);
        }
        (bytes > 2 * LARGEST || bytes > room || self.files.len() >= MOST).then_some(Omission::TooMuch)
    }

    fn leave_out(&mut self, path: &Path, why: Omission) {
        self.left_out_count += 1;
        self.is_cut |= matches!(why, Omission::TooMuch | Omission::Name);
        if self.left_out.len() < NAMED && why != Omission::Repository {
            self.left_out.push(LeftOut { path: path.to_string_lossy().into_owned(), why });
        }
    }

    /// Says whether nothing was changed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// What leads from one outcome to another, when both began at the same place.
    #[must_use]
    pub fn between(from: &Self, to: &Self) -> Self {
        let by_path = |bundle: &Self| -> BTreeMap<String, Held> {
            bundle.files.iter().map(|held| (held.path.clone(), held.clone())).collect()
        };
        let (from, to) = (by_path(from), by_path(to));
        let paths: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
        let files = paths.into_iter().filter_map(|path| {
            let (one, two) = (from.get(path), to.get(path));
            // Where one of them changed nothing, it has what the other began with.
            let before =
                one.map_or_else(|| two.and_then(|held| held.before.clone()), |held| held.after.clone());
            let after =
                two.map_or_else(|| one.and_then(|held| held.before.clone()), |held| held.after.clone());
            (before != after).then(|| Held { path: path.clone(), before, after })
        });
        Self { files: files.collect(), ..Self::default() }
    }

    /// Writes it as git would show it.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn patch(&self, out: &mut dyn Write, look: Look) -> Result<(), RenderError> {
        write_held(&self.files, out, look)
    }

    /// How large it is.
    #[must_use]
    pub fn extent(&self) -> Extent {
        let (additions, deletions) = held::counts(&self.files);
        Extent { files: self.files.len(), additions, deletions }
    }

    /// The same as changes to a directory of this host, to be applied there.
    #[must_use]
    pub fn onto(&self, base: HostPath, since: SystemTime) -> Changes {
        let changes = with_directories(self.files.iter().map(Held::change), base.as_path());
        Changes { base, since, changes, files: Arc::new(Contents::from(self)) }
    }
}

/// Files with the directories they need and the ones they replace, of which a bundle says nothing.
fn with_directories(files: impl Iterator<Item = Change>, base: &Path) -> Vec<Change> {
    let directory = || Some(Entry::Directory { mode: 0o755 });
    let mut all: BTreeMap<PathBuf, Change> = files.map(|change| (change.path.clone(), change)).collect();
    let above = |holds: fn(&Change) -> bool| -> BTreeSet<PathBuf> {
        let paths = all.values().filter(|change| holds(change)).map(|change| change.path.as_path());
        let above = paths.flat_map(|path| path.ancestors().skip(1));
        above.filter(|path| !path.as_os_str().is_empty()).map(Path::to_owned).collect()
    };
    let (were, are) = (above(|change| change.before.is_some()), above(|change| change.after.is_some()));
    for path in are {
        match all.get_mut(&path) {
            // What was a file makes room.
            Some(change) => {
                change.kind = ChangeKind::TypeChanged;
                change.after = directory();
            }
            None if base.join(&path).is_dir() => {}
            None => {
                let made =
                    Change { path: path.clone(), kind: ChangeKind::Added, before: None, after: directory() };
                all.insert(path, made);
            }
        }
    }
    let mut replaced: Vec<PathBuf> = Vec::new();
    for path in were {
        let is_within = replaced.iter().any(|other| path.starts_with(other));
        match all.get_mut(&path) {
            Some(change) if change.before.is_none() && change.after != directory() => {
                change.kind = ChangeKind::TypeChanged;
                change.before = directory();
                replaced.push(path);
            }
            None if is_within => {
                let gone = Change {
                    path: path.clone(),
                    kind: ChangeKind::Deleted,
                    before: directory(),
                    after: None,
                };
                all.insert(path, gone);
            }
            Some(_) | None => {}
        }
    }
    all.into_values().collect()
}

impl Held {
    fn bytes(&self) -> u64 {
        let size = |thing: &Thing| match thing {
            Thing::File { content, .. } => content.0.len() as u64,
            Thing::Symlink { target } => target.len() as u64,
        };
        [&self.before, &self.after].into_iter().flatten().map(size).sum()
    }

    fn change(&self) -> Change {
        let is_file = |thing: &Option<Thing>| matches!(thing, Some(Thing::File { .. }));
        let kind = match (&self.before, &self.after) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            _ if is_file(&self.before) != is_file(&self.after) => ChangeKind::TypeChanged,
            (Some(before), Some(after)) if before.bytes() == after.bytes() => ChangeKind::ModeChanged,
            _ => ChangeKind::Modified,
        };
        let entry = |thing: &Option<Thing>| thing.as_ref().map(Thing::entry);
        Change { path: (&self.path).into(), kind, before: entry(&self.before), after: entry(&self.after) }
    }
}

impl Thing {
    /// What it holds; of a link, what it says.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::File { content, .. } => &content.0,
            Self::Symlink { target } => target.as_bytes(),
        }
    }

    /// Its mode as git writes it.
    #[must_use]
    pub const fn git_mode(&self) -> &'static str {
        match self {
            Self::File { mode, .. } if *mode & 0o100 != 0 => "100755",
            Self::File { .. } => "100644",
            Self::Symlink { .. } => "120000",
        }
    }

    fn entry(&self) -> Entry {
        match self {
            Self::File { mode, content } => Entry::File { size: content.0.len() as u64, mode: *mode },
            Self::Symlink { target } => Entry::Symlink { target: target.into() },
        }
    }
}

fn read(change: &Change, path: &str, root: &Root, files: &dyn ChangedFiles) -> Result<Held, RenderError> {
    let before = thing(change.before.as_ref(), || root.file(&change.path).map(|file| Box::new(file) as _))
        .map_err(|source| RenderError::Host { path: change.path.clone(), source })?;
    let after = thing(change.after.as_ref(), || files.open(&change.path))
        .map_err(|source| RenderError::Sandbox { path: change.path.clone(), source })?;
    Ok(Held { path: path.to_owned(), before, after })
}

fn thing(
    entry: Option<&Entry>,
    open: impl FnOnce() -> io::Result<Box<dyn Read + Send>>,
) -> io::Result<Option<Thing>> {
    Ok(match entry {
        Some(Entry::File { mode, .. }) => {
            let mut bytes = Vec::new();
            open()?.take(2 * LARGEST).read_to_end(&mut bytes)?;
            Some(Thing::File { mode: *mode, content: Content(bytes) })
        }
        Some(Entry::Symlink { target }) => {
            Some(Thing::Symlink { target: target.to_string_lossy().into_owned() })
        }
        Some(Entry::Directory { .. } | Entry::Other { .. }) | None => None,
    })
}

/// The new contents, by path.
#[derive(Debug)]
struct Contents(BTreeMap<String, Vec<u8>>);

impl From<&Bundle> for Contents {
    fn from(bundle: &Bundle) -> Self {
        let content = |held: &Held| Some((held.path.clone(), held.after.as_ref()?.bytes().to_vec()));
        Self(bundle.files.iter().filter_map(content).collect())
    }
}

impl ChangedFiles for Contents {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        let found = path.to_str().and_then(|path| self.0.get(path)).cloned();
        Ok(Box::new(io::Cursor::new(found.ok_or(io::ErrorKind::NotFound)?)))
    }

    fn copy(&self, path: &Path, _size: u64, mut to: &File) -> io::Result<u64> {
        io::copy(&mut self.open(path)?, &mut to)
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let encoded = match std::str::from_utf8(&self.0) {
            Ok(text) => Encoded { text: Some(text.to_owned()), base64: None },
            Err(_) => Encoded { text: None, base64: Some(BASE64.encode(&self.0)) },
        };
        encoded.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Encoded::deserialize(deserializer)? {
            Encoded { text: Some(text), .. } => Ok(Self(text.into_bytes())),
            Encoded { base64: Some(text), .. } => BASE64.decode(text).map(Self).map_err(D::Error::custom),
            Encoded { .. } => Err(D::Error::custom("a file needs `text` or `base64`")),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Encoded {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}
