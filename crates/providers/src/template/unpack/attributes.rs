//! Modes, owners and times. Owns what of an entry's header reaches the disk.
//!
//! Refuses: setuid and setgid bits, and owners that a sandbox's users could not be mapped to.

use std::{io, os::fd::AsFd};

use rustix::{
    fs::{
        AtFlags, Gid, Mode, Timespec, Timestamps, UTIME_OMIT, Uid, chownat, fchmod, fchown, futimens,
        utimensat,
    },
    io::Errno,
};

use super::tree::Place;

/// Whose the unpacked files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ownership {
    /// As the archive says: we are root.
    Archive,
    /// All the caller's, for lack of the right to give files away.
    Caller,
}

impl Ownership {
    pub(super) fn of_caller() -> Self {
        if rustix::process::geteuid().is_root() { Self::Archive } else { Self::Caller }
    }
}

/// What is set on a file besides its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attributes {
    mode: u32,
    owner: Option<(u32, u32)>,
    modified: Option<i64>,
}

/// The ids that the users of a sandbox have.
const LAST_ID: u64 = 65535;

impl Attributes {
    /// What a directory gets that the archive needs but does not describe.
    pub(super) const IMPLIED: Self = Self { mode: 0o755, owner: None, modified: None };

    pub(super) fn of(header: &tar::Header, ownership: Ownership) -> io::Result<Self> {
        let id = |id: u64| u32::try_from(if id <= LAST_ID { id } else { 0 }).unwrap_or(0);
        Ok(Self {
            mode: header.mode()?,
            owner: match ownership {
                Ownership::Archive => Some((id(header.uid()?), id(header.gid()?))),
                Ownership::Caller => None,
            },
            modified: i64::try_from(header.mtime()?).ok(),
        })
    }

    pub(super) fn apply_to_file(&self, file: impl AsFd) -> io::Result<()> {
        self.apply(file, 0o777)
    }

    pub(super) fn apply_to_directory(&self, directory: impl AsFd) -> io::Result<()> {
        self.apply(directory, 0o1777)
    }

    fn apply(&self, file: impl AsFd, mask: u32) -> io::Result<()> {
        if let Some((user, group)) = self.owner {
            unless_unmapped(fchown(&file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group))))?;
        }
        fchmod(&file, Mode::from_raw_mode(self.mode & mask))?;
        if let Some(times) = self.times() {
            futimens(&file, &times)?;
        }
        Ok(())
    }

    /// A link has no mode of its own.
    pub(super) fn apply_to_link(&self, place: &Place) -> io::Result<()> {
        let (directory, name) = (&place.directory, &place.name);
        if let Some((user, group)) = self.owner {
            let (user, group) = (Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
            unless_unmapped(chownat(directory, name, user, group, AtFlags::SYMLINK_NOFOLLOW))?;
        }
        if let Some(times) = self.times() {
            utimensat(directory, name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        Ok(())
    }

    fn times(&self) -> Option<Timestamps> {
        let last_modification = Timespec { tv_sec: self.modified?, tv_nsec: 0 };
        Some(Timestamps { last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT }, last_modification })
    }
}

/// Root of a user namespace cannot give files to ids that are not mapped there (EINVAL); they stay its own.
fn unless_unmapped(outcome: Result<(), Errno>) -> Result<(), Errno> {
    match outcome {
        Err(Errno::INVAL) => Ok(()),
        other => other,
    }
}
