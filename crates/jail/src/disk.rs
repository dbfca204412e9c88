//! The private disk: a real limit on bytes and inodes, by the strongest mechanism this host and user have.
//!
//! As root: a sparse ext4 image on a loop device, mounted nowhere but in the sandbox; the kernel frees the device when
//! the last holder is gone. Otherwise: a tmpfs with a size, which counts against memory. Nothing else can hold a limit
//! on a host without project quotas, so nothing else is offered.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
};

use belljar_domain::Limits;
use rustix::fs::{FlockOperation, flock};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string,
    fsmount, fsopen,
};

/// How the disk limit is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiskKind {
    /// A sparse ext4 image on a loop device.
    Image,
    /// Memory with a size.
    Tmpfs,
}

/// Why a private disk could not be made.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// A step failed.
    #[error("could not {doing} `{}`", path.display())]
    Step {
        /// The step under way.
        doing: &'static str,
        /// About what.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The formatting program failed.
    #[error("mke2fs could not format a disk of {bytes} bytes with {inodes} inodes: {said}")]
    Format {
        /// Size asked for.
        bytes: u64,
        /// Inodes asked for.
        inodes: u64,
        /// What it said.
        said: String,
    },
}

impl DiskKind {
    /// Chooses what this host can do.
    #[must_use]
    pub fn best() -> Self {
        if crate::is_host_root() && Path::new("/dev/loop-control").exists() && mke2fs().is_some() {
            Self::Image
        } else {
            Self::Tmpfs
        }
    }

    /// One sentence on what holds the limit.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Image => "ext4 image on a loop device: bytes and inodes are hard limits, stored on disk",
            Self::Tmpfs => "tmpfs: bytes and inodes are hard limits, stored in memory and counted against it",
        }
    }
}

/// Where the formatting program is.
#[must_use]
pub fn mke2fs() -> Option<&'static Path> {
    ["/usr/sbin/mke2fs", "/sbin/mke2fs", "/usr/bin/mke2fs"]
        .into_iter()
        .map(Path::new)
        .find(|path| path.exists())
}

/// Makes an empty image of the right size at `path`. A formatted blank is kept in `cache`, so that the second sandbox
/// of a size costs a copy of some 150 KiB.
///
/// # Errors
/// When formatting or copying fails.
pub fn make_image(cache: &Path, path: &Path, limits: &Limits) -> Result<(), DiskError> {
    let blank = blank(cache, limits);
    if !blank.exists() {
        format_blank(&blank, limits.disk.as_bytes(), limits.inodes)?;
    }
    copy_sparse(&blank, path).map_err(|source| step("copy the blank disk to", path, source))
}

/// Where the formatted blank for these limits is kept. The number changes with the way it is formatted.
#[must_use]
pub fn blank(cache: &Path, limits: &Limits) -> PathBuf {
    cache.join(format!("blank2-{}-{}.ext4", limits.disk.as_bytes(), limits.inodes))
}

/// Where a keeper leaves a copy of the blank for the next sandbox.
#[must_use]
pub fn spare(cache: &Path, limits: &Limits) -> PathBuf {
    cache.join(format!("spare2-{}-{}.ext4", limits.disk.as_bytes(), limits.inodes))
}

/// Takes the copy a keeper left, if there is one and nobody is quicker: mounts it and makes it `path`.
///
/// Mounted first and renamed after: attaching a file whose name just changed would wait for the disk again.
#[must_use]
pub fn take_spare(cache: &Path, path: &Path, limits: &Limits) -> Option<OwnedFd> {
    let spare = spare(cache, limits);
    let image = OpenOptions::new().read(true).write(true).open(&spare).ok()?;
    flock(&image, FlockOperation::NonBlockingLockExclusive).ok()?;
    // Whoever had the lock before may have taken it.
    let (mine, there) = (rustix::fs::fstat(&image).ok()?, rustix::fs::stat(&spare).ok()?);
    if (mine.st_dev, mine.st_ino) != (there.st_dev, there.st_ino) {
        return None;
    }
    let device = attach(&image, &spare, ImageAccess::Write).ok()?;
    fs::rename(&spare, path).ok()?;
    mount(&device, path, ImageAccess::Write).ok()
}

fn format_blank(blank: &Path, bytes: u64, inodes: u64) -> Result<(), DiskError> {
    let dir = blank.parent().unwrap_or_else(|| Path::new("/"));
    fs::create_dir_all(dir).map_err(|source| step("make", dir, source))?;
    // Until the blank is whole.
    let _drafting = share(dir).map_err(|source| step("lock", dir, source))?;
    let turn = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let draft = blank.with_extension(format!("{}-{turn}.draft", std::process::id()));
    let create = || {
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&draft)?;
        // A whole number of blocks, with room for the file system's own tables on top of what was granted.
        let tables = inodes * 256 + bytes / 64 + (2 << 20);
        file.set_len((bytes + tables).next_multiple_of(4096))
    };
    create().map_err(|source| step("make", &draft, source))?;
    // The directories every sandbox has: the first one made on a fresh ext4 costs a third of a millisecond.
    let tree = draft.with_extension("tree.draft");
    for part in ["tmp", "home", "workspace/upper", "workspace/work"] {
        fs::create_dir_all(tree.join(part)).map_err(|source| step("make", &tree, source))?;
    }
    let program = mke2fs().unwrap_or_else(|| Path::new("mke2fs"));
    let output = Command::new(program)
        .args(["-q", "-F", "-t", "ext4", "-b", "4096", "-m", "0", "-I", "256", "-N", &inodes.to_string()])
        // No journal: it would cost 33 MiB of real blocks per sandbox, and nothing here outlives a crash of the host.
        .args(["-O", "^has_journal,^resize_inode,^metadata_csum,uninit_bg,extent,sparse_super2"])
        .args(["-E", "lazy_itable_init=1,nodiscard,root_owner=0:0"])
        .arg("-d")
        .arg(&tree)
        .arg(&draft)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| step("start", program, source));
    let _unused = fs::remove_dir_all(&tree);
    let output = output?;
    if !output.status.success() {
        let _unused = fs::remove_file(&draft);
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(DiskError::Format { bytes, inodes, said });
    }
    fs::rename(&draft, blank).map_err(|source| step("keep", blank, source))
}

/// Tells the drafts of one process apart.
static DRAFTS: AtomicU64 = AtomicU64::new(0);

/// Keeps [`remove_drafts`] away from a cache while something is drafted in it: drafts in a cache nobody shares were left
/// by somebody killed.
///
/// # Errors
/// When there is no such directory.
pub fn share(cache: &Path) -> io::Result<File> {
    let lock = File::open(cache)?;
    flock(&lock, FlockOperation::LockShared)?;
    Ok(lock)
}

/// Removes what was never finished.
pub fn remove_drafts(cache: &Path) {
    let Ok(lock) = File::open(cache) else { return };
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return;
    }
    for entry in fs::read_dir(cache).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|end| end == READY) {
            Ready::remove_if_left(&path);
        } else if path.extension().is_some_and(|end| end == "draft") {
            // The next sweep tries again.
            let _stays = fs::remove_file(entry.path()).or_else(|_| fs::remove_dir_all(entry.path()));
        }
    }
}

/// The ending of a disk that waits for its sandbox.
const READY: &str = "ready";

/// A disk made and mounted before its sandbox is. Dropped, it is gone.
#[derive(Debug)]
pub struct Ready {
    path: PathBuf,
    mount: Option<OwnedFd>,
    /// Held as long as somebody means to use it; the device holds it for one that was a spare.
    _lock: Option<File>,
}

impl Ready {
    /// Makes one below a cache.
    ///
    /// # Errors
    /// When it cannot be made or mounted.
    pub fn make(cache: &Path, limits: &Limits) -> Result<Self, DiskError> {
        fs::create_dir_all(cache).map_err(|source| step("make", cache, source))?;
        let turn = DRAFTS.fetch_add(1, Ordering::Relaxed);
        let path = cache.join(format!("disk-{}-{turn}.{READY}", std::process::id()));
        let _drafting = share(cache).map_err(|source| step("lock", cache, source))?;
        if let Some(mount) = take_spare(cache, &path, limits) {
            return Ok(Self { path, mount: Some(mount), _lock: None });
        }
        make_image(cache, &path, limits)?;
        let lock = File::open(&path).map_err(|source| step("open", &path, source))?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|error| step("lock", &path, error.into()))?;
        let mount = mount_image(&path, ImageAccess::Write)?;
        Ok(Self { path, mount: Some(mount), _lock: Some(lock) })
    }

    /// Gives it to a sandbox: its image gets this path.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn place(mut self, at: &Path) -> io::Result<OwnedFd> {
        fs::rename(&self.path, at)?;
        self.mount.take().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn remove_if_left(path: &Path) {
        let unlocked = |file: &File| flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
        if File::open(path).is_ok_and(|file| unlocked(&file)) {
            let _gone = fs::remove_file(path);
        }
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        if self.mount.is_some() {
            let _gone = fs::remove_file(&self.path);
        }
    }
}

/// Copies only what is written; the rest stays a hole.
fn copy_sparse(from: &Path, to: &Path) -> io::Result<()> {
    let source = File::open(from)?;
    let target = OpenOptions::new().write(true).create_new(true).open(to)?;
    if rustix::fs::ioctl_ficlone(&target, &source).is_ok() {
        return Ok(());
    }
    let length = source.metadata()?.len();
    target.set_len(length)?;
    let mut at = 0;
    while let Ok(start) = rustix::fs::seek(&source, rustix::fs::SeekFrom::Data(at)) {
        let end = rustix::fs::seek(&source, rustix::fs::SeekFrom::Hole(start))?;
        let (mut read_at, mut write_at) = (start, start);
        while read_at < end {
            let left = usize::try_from(end - read_at).unwrap_or(usize::MAX);
            if rustix::fs::copy_file_range(&source, Some(&mut read_at), &target, Some(&mut write_at), left)?
                == 0
            {
                break;
            }
        }
        at = end;
    }
    Ok(())
}

/// Whether an image may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageAccess {
    /// As the sandbox's disk.
    Write,
    /// To look at what is left of a sandbox.
    Read,
}

/// Mounts an image without putting it anywhere: the descriptor is the mount, and closing it ends it.
///
/// # Errors
/// When no loop device can be had or the image cannot be mounted.
pub fn mount_image(path: &Path, access: ImageAccess) -> Result<OwnedFd, DiskError> {
    let write = access == ImageAccess::Write;
    let image = OpenOptions::new().read(true).write(write).open(path).map_err(|e| step("open", path, e))?;
    mount(&attach(&image, path, access)?, path, access)
}

fn mount(device: &OwnedFd, path: &Path, access: ImageAccess) -> Result<OwnedFd, DiskError> {
    let source = format!("/proc/self/fd/{}", device.as_raw_fd());
    let name = fs::read_link(&source).map_err(|error| step("find the device of", path, error))?;
    let mount = || -> rustix::io::Result<OwnedFd> {
        let config = fsopen("ext4", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(config.as_fd(), "source", name.as_os_str().as_encoded_bytes())?;
        let flags = match access {
            // Nothing is read ahead or tidied up: most sandboxes touch a few blocks and are gone.
            ImageAccess::Write => ["noinit_itable", "nobarrier", "no_prefetch_block_bitmaps"].as_slice(),
            ImageAccess::Read => &["ro", "noload"],
        };
        for flag in flags {
            fsconfig_set_flag(config.as_fd(), *flag)?;
        }
        fsconfig_create(config.as_fd())?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        fsmount(config.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
    };
    mount().map_err(|error| step("mount", path, error.into()))
}

/// Attaches an image to a free loop device that frees itself when the last user is gone.
fn attach(image: &File, path: &Path, access: ImageAccess) -> Result<OwnedFd, DiskError> {
    let failed = |source| step("attach a loop device to", path, source);
    let write = access == ImageAccess::Write;
    let control = File::open("/dev/loop-control").map_err(failed)?;
    for _attempt in 0..64 {
        let number = loop_device::free(control.as_fd()).map_err(failed)?;
        let name = PathBuf::from(format!("/dev/loop{number}"));
        let device =
            OpenOptions::new().read(true).write(write).open(&name).map_err(|e| step("open", &name, e))?;
        match loop_device::configure(device.as_fd(), image.as_fd(), write) {
            Ok(()) => return Ok(device.into()),
            // Another sandbox took it between asking and attaching.
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err(failed(io::Error::from(io::ErrorKind::ResourceBusy)))
}

/// Bytes and inodes in use on a mounted disk.
///
/// # Errors
/// When the kernel does not say.
pub fn usage(disk: impl AsFd) -> io::Result<(u64, u64)> {
    let stat = rustix::fs::fstatvfs(disk)?;
    Ok(((stat.f_blocks - stat.f_bfree) * stat.f_frsize, stat.f_files - stat.f_ffree))
}

fn step(doing: &'static str, path: &Path, source: io::Error) -> DiskError {
    DiskError::Step { doing, path: path.to_path_buf(), source }
}

/// The three requests of the loop driver that the libraries do not know.
mod loop_device {
    use std::{
        io,
        os::fd::{AsRawFd, BorrowedFd},
    };

    const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4c82;
    const LOOP_CONFIGURE: libc::Ioctl = 0x4c0a;
    const READ_ONLY: u32 = 1;
    const AUTOCLEAR: u32 = 4;

    /// `struct loop_config` with its `struct loop_info64`, as plain words: descriptor, block size, then the info, of
    /// which only the flags at byte 8 + 52 matter here.
    #[repr(C, align(8))]
    struct Config([u8; 304]);

    pub(super) fn free(control: BorrowedFd<'_>) -> io::Result<u32> {
        // SAFETY: LOOP_CTL_GET_FREE takes no argument and touches no memory of ours.
        let answer = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) };
        u32::try_from(answer).map_err(|_negative| io::Error::last_os_error())
    }

    pub(super) fn configure(device: BorrowedFd<'_>, image: BorrowedFd<'_>, write: bool) -> io::Result<()> {
        let mut config = Config([0; 304]);
        let flags = AUTOCLEAR | if write { 0 } else { READ_ONLY };
        let parts = [
            (0, image.as_raw_fd().to_ne_bytes()),
            (4, 4096_u32.to_ne_bytes()),
            (8 + 52, flags.to_ne_bytes()),
        ];
        for (at, bytes) in parts {
            if let Some(room) = config.0.get_mut(at..at + 4) {
                room.copy_from_slice(&bytes);
            }
        }
        // SAFETY: LOOP_CONFIGURE reads a struct loop_config of 304 bytes, which `config` is and outlives the call.
        let answer = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, &raw const config) };
        if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
