//! Tools the probes share: opening, walking, and telling a filtered system call from an open one.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::report::Attempt;
use crate::sys::fork::{Outcome, in_child};
use crate::sys::{Arg, Errno, call};

/// Time for one small act in a child.
pub(super) const MOMENT: Duration = Duration::from_secs(5);

/// Opens for writing without writing. Success is the finding; the file stays as it was.
pub(super) fn open_for_write(path: &Path) -> Attempt {
    // O_NONBLOCK so that a pipe or terminal without a reader cannot hold us.
    let opened = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path);
    Attempt::judge(&format!("open {} for writing", path.display()), opened.map_err(Errno::from))
}

/// Reads the first byte.
pub(super) fn read_one_byte(path: &Path) -> Attempt {
    let mut byte = [0];
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path);
    let read = opened.and_then(|mut file| file.read_exact(&mut byte));
    Attempt::judge(&format!("read {}", path.display()), read.map_err(Errno::from))
}

/// Whether a file can be read and holds `text`.
pub(super) fn holds(path: &Path, text: &str) -> Result<bool, Errno> {
    let mut content = Vec::new();
    File::open(path)?.take(1 << 20).read_to_end(&mut content)?;
    Ok(content.windows(text.len()).any(|window| window == text.as_bytes()))
}

/// Judges an attempt to find `text` in a file.
pub(super) fn find_in(path: &Path, text: &str) -> Attempt {
    let shown = path.display();
    match holds(path, text) {
        Ok(true) => Attempt::through(format!("{shown} holds the secret")),
        Ok(false) => Attempt::stopped(format!("{shown} holds no secret")),
        Err(errno) => Attempt::stopped(format!("read {shown}: {errno}")),
    }
}

/// The files below `root`, links not followed, at most `most` of them.
pub(super) fn files_below(root: &Path, most: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if !kind.is_symlink() => found.push(entry.path()),
                Ok(_) | Err(_) => {}
            }
            if found.len() >= most {
                return found;
            }
        }
    }
    found
}

/// The process ids visible in `/proc`.
pub(super) fn visible_pids() -> Vec<u32> {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.parse().ok()).collect()
}

/// A field of `/proc/self/status`.
pub(super) fn own_status(field: &str) -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))
        .map(|value| value.trim().to_owned())
}

/// The namespaces of a process: name → inode number, as far as they can be read.
#[must_use]
pub fn namespaces_of(process: &str) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for name in ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"] {
        // The link reads `mnt:[4026531841]`.
        let link = fs::read_link(format!("/proc/{process}/ns/{name}")).unwrap_or_default();
        let number = link.to_str().and_then(|text| text.split(['[', ']']).nth(1)?.parse().ok());
        if let Some(number) = number {
            found.insert(name.to_owned(), number);
        }
    }
    found
}

/// A path for the kernel.
pub(super) fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

/// Runs one act in a child of its own and judges what it said: `Ok` came through, `Err` was stopped. A child
/// killed by the system call filter was stopped too; one that died otherwise counts as through, because nothing
/// refused it.
pub(super) fn alone(what: &str, act: impl FnOnce() -> Result<String, String>) -> Attempt {
    let outcome = in_child(MOMENT, || match act() {
        Ok(text) => format!("+{text}"),
        Err(text) => format!("-{text}"),
    });
    match outcome {
        Ok(Outcome::Said(text)) => match text.strip_prefix('+') {
            Some(text) => Attempt::through(format!("{what}: {text}")),
            None => Attempt::stopped(format!("{what}: {}", text.trim_start_matches('-'))),
        },
        Ok(Outcome::Killed(libc::SIGSYS)) => Attempt::stopped(format!("{what}: SIGSYS")),
        Ok(other) => Attempt::through(format!("{what}: no answer, {other:?}")),
        Err(errno) => Attempt::through(format!("{what}: not tried, fork said {errno}")),
    }
}

/// Whether a system call can be reached at all. Any answer but "not allowed" or "not there" means that the code
/// behind it runs, also when it found fault with the arguments.
pub(super) fn reach<const N: usize>(what: &str, number: i64, args: [Arg<'_>; N]) -> Attempt {
    alone(what, || match call(number, args) {
        Ok(_) => Ok("worked".to_owned()),
        Err(errno) if errno.refuses() => Err(errno.to_string()),
        Err(errno) => Ok(format!("reached ({errno})")),
    })
}
