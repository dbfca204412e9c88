//! Whiteouts: entries of a layer saying that something of the layers below is gone. See "Whiteouts" in layer.md of the
//! OCI image specification.
//!
//! Owns recognising and applying them. Refuses: to hide what the same layer brings, whatever the order, and whiteouts
//! of `.` and `..`.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    io,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use rustix::fs::{FileType, Mode, OFlags, openat};

use super::{
    super::{UnpackError, remove},
    tree::{Place, Tree},
};

const PREFIX: &[u8] = b".wh.";
const OPAQUE: &[u8] = b".wh..wh..opq";
/// Bookkeeping of AUFS, which means nothing to us.
const RESERVED: &[u8] = b".wh..wh.";

/// The real paths a layer has brought so far.
#[derive(Debug, Default)]
pub(super) struct Fresh(BTreeSet<PathBuf>);

impl Fresh {
    pub(super) fn insert(&mut self, path: PathBuf) {
        self.0.insert(path);
    }

    /// Whether the layer brought this or something below it.
    fn reaches(&self, path: &Path) -> bool {
        self.0.range(path.to_owned()..).next().is_some_and(|next| next.starts_with(path))
    }
}

/// What a whiteout says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// This is gone.
    Gone(PathBuf),
    /// All that the layers below have in this directory is gone.
    Opaque(PathBuf),
    /// Nothing we act on.
    Ignored,
}

impl Mark {
    /// Reads the name of an entry as a whiteout, if it is one.
    pub(super) fn of(path: &Path) -> Result<Option<Self>, UnpackError> {
        let Some(name) = path.file_name() else { return Ok(None) };
        let parent = path.parent().unwrap_or(Path::new(""));
        if name.as_bytes() == OPAQUE {
            return Ok(Some(Self::Opaque(parent.to_owned())));
        }
        if name.as_bytes().starts_with(RESERVED) {
            return Ok(Some(Self::Ignored));
        }
        match name.as_bytes().strip_prefix(PREFIX) {
            None => Ok(None),
            Some(b"" | b"." | b"..") => {
                let name = path.display().to_string();
                Err(UnpackError::UnsafeName { name, why: "it is a whiteout of no file" })
            }
            Some(hidden) => Ok(Some(Self::Gone(parent.join(OsStr::from_bytes(hidden))))),
        }
    }

    pub(super) fn apply(&self, tree: &mut Tree, fresh: &Fresh) -> io::Result<()> {
        match self {
            Self::Ignored => Ok(()),
            Self::Gone(path) => {
                let parent = path.parent().unwrap_or(Path::new(""));
                match (tree.enter(parent)?, path.file_name()) {
                    (Some((directory, base)), Some(name)) => {
                        hide(tree, &Place::within(&directory, &base, name)?, fresh)
                    }
                    _ => Ok(()),
                }
            }
            Self::Opaque(path) => hide_below(tree, path, fresh),
        }
    }
}

fn hide(tree: &mut Tree, place: &Place, fresh: &Fresh) -> io::Result<()> {
    if !fresh.reaches(&place.path()) {
        return tree.clear(place);
    }
    match place.kind()? {
        Some(FileType::Directory) => hide_below(tree, &place.path(), fresh),
        _ => Ok(()),
    }
}

fn hide_below(tree: &mut Tree, path: &Path, fresh: &Fresh) -> io::Result<()> {
    let Some((directory, base)) = tree.enter(path)? else { return Ok(()) };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let listing = openat(&directory, ".", flags, Mode::empty())?;
    for name in remove::children(&listing)? {
        let child = Place::within(&directory, &base, OsStr::from_bytes(&name))?;
        hide(tree, &child, fresh)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whiteout_is_told_by_its_name() {
        let mark = |path: &str| Mark::of(Path::new(path));
        assert_eq!(mark("etc/passwd").unwrap(), None);
        assert_eq!(mark("etc/.wh.passwd").unwrap(), Some(Mark::Gone("etc/passwd".into())));
        assert_eq!(mark("etc/.wh..wh..opq").unwrap(), Some(Mark::Opaque("etc".into())));
        assert_eq!(mark(".wh..wh.plnk").unwrap(), Some(Mark::Ignored));
        assert_eq!(mark(".wh..hidden").unwrap(), Some(Mark::Gone(".hidden".into())));
        for refused in [".wh.", "etc/.wh..", "etc/.wh..."] {
            assert!(mark(refused).is_err(), "{refused}");
        }
    }
}
