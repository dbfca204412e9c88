//! Files, directories, memory.

use alloc::vec::Vec;

use linux_raw_sys::general as k;

use super::{CText, EEXIST, EINTR, EINVAL, Fd, Sys, call, plain, reg, to_fd};

pub(crate) const O_PATH: u32 = k::O_PATH;
pub(crate) const O_DIRECTORY: u32 = k::O_DIRECTORY;
pub(crate) const O_RDONLY: u32 = k::O_RDONLY;
pub(crate) const O_WRONLY: u32 = k::O_WRONLY;
pub(crate) const O_RDWR: u32 = k::O_RDWR;
pub(crate) const O_NOCTTY: u32 = k::O_NOCTTY;
pub(crate) const O_CREAT: u32 = k::O_CREAT;
pub(crate) const O_EXCL: u32 = k::O_EXCL;
pub(crate) const O_NOFOLLOW: u32 = k::O_NOFOLLOW;
pub(crate) const O_TRUNC: u32 = k::O_TRUNC;
/// "Relative to the working directory", for calls that take a directory descriptor.
pub(crate) const HERE: i32 = k::AT_FDCWD;

pub(crate) fn close(fd: i32) {
    let _unused = plain(k::__NR_close, [reg(fd), 0, 0, 0]);
}

/// Opens with plain path rules; close-on-exec always.
pub(crate) fn open(dir: i32, path: &str, flags: u32, mode: u32) -> Sys<Fd> {
    let path = CText::new(path);
    let flags = (flags | k::O_CLOEXEC) as usize;
    // SAFETY: openat reads a NUL-terminated path, which `path` is and outlives the call.
    unsafe { call(k::__NR_openat, [reg(dir), path.addr(), flags, mode as usize, 0, 0]) }.map(to_fd)
}

/// Opens for reading and writing so that a program started later has it too.
pub(crate) fn open_inheritable(dir: i32, path: &str) -> Sys<Fd> {
    let path = CText::new(path);
    // SAFETY: openat reads a NUL-terminated path, which `path` is and outlives the call.
    unsafe { call(k::__NR_openat, [reg(dir), path.addr(), k::O_RDWR as usize, 0, 0, 0]) }.map(to_fd)
}

/// Opens below a directory taken as root: links and `..` cannot lead out of it.
pub(crate) fn open_in_root(root: &Fd, path: &str, flags: u32) -> Sys<Fd> {
    let path = CText::new(path.trim_start_matches('/'));
    let text = if path.0.len() == 1 { CText::new(".") } else { path };
    let how = k::open_how {
        flags: u64::from(flags | k::O_CLOEXEC),
        mode: 0,
        resolve: u64::from(k::RESOLVE_IN_ROOT | k::RESOLVE_NO_MAGICLINKS),
    };
    let args = [reg(root.0), text.addr(), &raw const how as usize, size_of::<k::open_how>(), 0, 0];
    // SAFETY: openat2 reads a NUL-terminated path and an open_how of the given size; both live until it returns.
    unsafe { call(k::__NR_openat2, args) }.map(to_fd)
}

/// Makes a directory; one that exists is fine.
pub(crate) fn mkdir(dir: i32, name: &str, mode: u32) -> Sys<()> {
    let name = CText::new(name);
    // SAFETY: mkdirat reads a NUL-terminated name, which `name` is and outlives the call.
    match unsafe { call(k::__NR_mkdirat, [reg(dir), name.addr(), mode as usize, 0, 0, 0]) } {
        Ok(_) | Err(EEXIST) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes a directory that is not there yet.
pub(crate) fn make_new_dir(path: &str, mode: u32) -> Sys<()> {
    let path = CText::new(path);
    // SAFETY: mkdirat reads a NUL-terminated path, which `path` is and outlives the call.
    unsafe { call(k::__NR_mkdirat, [reg(HERE), path.addr(), mode as usize, 0, 0, 0]) }.map(drop)
}

pub(crate) fn symlink(to: &str, dir: i32, name: &str) -> Sys<()> {
    let (to, name) = (CText::new(to), CText::new(name));
    // SAFETY: symlinkat reads two NUL-terminated texts, both alive until it returns.
    unsafe { call(k::__NR_symlinkat, [to.addr(), reg(dir), name.addr(), 0, 0, 0]) }.map(drop)
}

/// Removes a name; `dir` flag for directories.
pub(crate) fn unlink(dir: i32, name: &str, is_dir: bool) -> Sys<()> {
    let name = CText::new(name);
    let flags = if is_dir { k::AT_REMOVEDIR as usize } else { 0 };
    // SAFETY: unlinkat reads a NUL-terminated name, which `name` is and outlives the call.
    unsafe { call(k::__NR_unlinkat, [reg(dir), name.addr(), flags, 0, 0, 0]) }.map(drop)
}

pub(crate) fn rename(from: &str, to: &str) -> Sys<()> {
    let (from, to) = (CText::new(from), CText::new(to));
    let args = [reg(HERE), from.addr(), reg(HERE), to.addr(), 0, 0];
    // SAFETY: renameat2 reads two NUL-terminated paths, both alive until it returns.
    unsafe { call(k::__NR_renameat2, args) }.map(drop)
}

pub(crate) fn chmod(dir: i32, name: &str, mode: u32) -> Sys<()> {
    let name = CText::new(name);
    // SAFETY: fchmodat reads a NUL-terminated name, which `name` is and outlives the call.
    unsafe { call(k::__NR_fchmodat, [reg(dir), name.addr(), mode as usize, 0, 0, 0]) }.map(drop)
}

/// Gives a file itself (not what a link points to) to another user.
pub(crate) fn chown(dir: i32, name: &str, uid: u32, gid: u32) -> Sys<()> {
    let name = CText::new(name);
    let args = [reg(dir), name.addr(), uid as usize, gid as usize, k::AT_SYMLINK_NOFOLLOW as usize, 0];
    // SAFETY: fchownat reads a NUL-terminated name, which `name` is and outlives the call.
    unsafe { call(k::__NR_fchownat, args) }.map(drop)
}

/// Gives one directory the owner and permission bits of another, as this process sees them.
pub(crate) fn copy_owner(from: &str, to: &str) -> Sys<()> {
    const OVERFLOW_ID: u32 = 65534;
    let path = CText::new(from);
    // SAFETY: statx is a structure of plain numbers, for which all zeroes is a value.
    let mut stat: k::statx = unsafe { core::mem::zeroed() };
    let args = [reg(HERE), path.addr(), 0, k::STATX_BASIC_STATS as usize, &raw mut stat as usize, 0];
    // SAFETY: statx reads a NUL-terminated path and writes a struct statx, for which `stat` is the room.
    unsafe { call(k::__NR_statx, args) }?;
    // A directory of somebody this namespace has no name for stays with whoever builds the sandbox.
    if stat.stx_uid != OVERFLOW_ID && stat.stx_gid != OVERFLOW_ID {
        chown(HERE, to, stat.stx_uid, stat.stx_gid)?;
    }
    chmod(HERE, to, u32::from(stat.stx_mode) & 0o777)
}

pub(crate) fn chdir(path: &str) -> Sys<()> {
    let path = CText::new(path);
    // SAFETY: chdir reads a NUL-terminated path, which `path` is and outlives the call.
    unsafe { call(k::__NR_chdir, [path.addr(), 0, 0, 0, 0, 0]) }.map(drop)
}

pub(crate) fn fchdir(fd: &Fd) -> Sys<()> {
    plain(k::__NR_fchdir, [reg(fd.0), 0, 0, 0]).map(drop)
}

pub(crate) fn umask(mask: u32) {
    let _old = plain(k::__NR_umask, [mask as usize, 0, 0, 0]);
}

/// Says whether an open file is a directory.
pub(crate) fn is_dir(fd: &Fd) -> bool {
    open(fd.0, ".", O_PATH | O_DIRECTORY, 0).is_ok()
}

pub(crate) fn write(fd: i32, bytes: &[u8]) -> Sys<usize> {
    // SAFETY: write reads `len` bytes at the pointer: exactly the slice.
    unsafe { call(k::__NR_write, [reg(fd), bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]) }
}

pub(crate) fn write_all(fd: i32, mut bytes: &[u8]) {
    while let Ok(count) = write(fd, bytes) {
        bytes = bytes.get(count..).unwrap_or_default();
        if bytes.is_empty() || count == 0 {
            break;
        }
    }
}

pub(crate) fn read(fd: i32, into: &mut [u8]) -> Sys<usize> {
    // SAFETY: read writes at most `len` bytes at the pointer: within the slice, which is borrowed mutably.
    unsafe { call(k::__NR_read, [reg(fd), into.as_mut_ptr() as usize, into.len(), 0, 0, 0]) }
}

/// Reads a file from its start, up to `most` bytes.
pub(crate) fn read_file(fd: &Fd, most: usize) -> Sys<Vec<u8>> {
    let mut all = Vec::new();
    let mut offset = 0_usize;
    loop {
        let mut part = [0_u8; 4096];
        let args = [reg(fd.0), part.as_mut_ptr() as usize, part.len(), offset, 0, 0];
        // SAFETY: pread64 writes at most `len` bytes into `part`, which outlives the call.
        match unsafe { call(k::__NR_pread64, args) } {
            Err(EINTR) => {}
            Err(error) => return Err(error),
            Ok(0) => return Ok(all),
            Ok(count) => {
                all.extend_from_slice(part.get(..count).unwrap_or_default());
                offset += count;
                if all.len() > most {
                    return Err(EINVAL);
                }
            }
        }
    }
}

/// Writes a whole small file that exists.
pub(crate) fn put(path: &str, text: &str) -> Sys<()> {
    let file = open(HERE, path, O_WRONLY, 0)?;
    write(file.0, text.as_bytes()).map(drop)
}

/// Reads directory entries into `into`; the answer is how many bytes are filled.
pub(crate) fn read_dir(dir: &Fd, into: &mut [u8]) -> Sys<usize> {
    let args = [reg(dir.0), into.as_mut_ptr() as usize, into.len(), 0, 0, 0];
    // SAFETY: getdents64 writes at most `len` bytes into the slice, which is borrowed mutably.
    unsafe { call(k::__NR_getdents64, args) }
}

pub(crate) fn seek_start(fd: &Fd) {
    let _unused = plain(k::__NR_lseek, [reg(fd.0), 0, 0, 0]);
}

pub(crate) fn map_memory(size: usize) -> Sys<usize> {
    let protection = (k::PROT_READ | k::PROT_WRITE) as usize;
    let flags = (k::MAP_PRIVATE | k::MAP_ANONYMOUS) as usize;
    // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no memory in use.
    unsafe { call(k::__NR_mmap, [0, size, protection, flags, usize::MAX, 0]) }
}

/// Copies only what is written; the rest stays a hole.
pub(crate) fn copy_sparse(from: &Fd, to: &Fd) -> Sys<()> {
    const SEEK_END: usize = 2;
    const SEEK_DATA: usize = 3;
    const SEEK_HOLE: usize = 4;
    let seek = |offset: usize, whence: usize| plain(k::__NR_lseek, [reg(from.0), offset, whence, 0]);
    let length = seek(0, SEEK_END)?;
    plain(k::__NR_ftruncate, [reg(to.0), length, 0, 0])?;
    let mut end = 0;
    while let Ok(start) = seek(end, SEEK_DATA) {
        end = seek(start, SEEK_HOLE)?;
        let (mut read_at, mut write_at) = (start as u64, start as u64);
        while read_at < end as u64 {
            let left = end - usize::try_from(read_at).unwrap_or(end);
            let args =
                [reg(from.0), &raw mut read_at as usize, reg(to.0), &raw mut write_at as usize, left, 0];
            // SAFETY: copy_file_range reads and writes the two offsets (64-bit numbers), which outlive the call.
            if unsafe { call(k::__NR_copy_file_range, args) }? == 0 {
                break;
            }
        }
    }
    Ok(())
}

pub(crate) fn sync(fd: &Fd) -> Sys<()> {
    plain(k::__NR_fsync, [reg(fd.0), 0, 0, 0]).map(drop)
}
