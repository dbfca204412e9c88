//! Trees: of directories to remove, of processes to end.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use crate::sys::{self, EAGAIN, Fd, HERE, O_DIRECTORY, O_NOFOLLOW, O_RDONLY};

/// Deepest directory this program will remove; a record of a sandbox is two levels.
const MAX_DEPTH: u32 = 64;

/// Removes a directory with everything in it, never following a link.
pub(crate) fn remove(path: &str) {
    if let Ok(dir) = sys::open(HERE, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0) {
        empty(&dir, MAX_DEPTH);
    }
    let _gone = sys::unlink(HERE, path, true);
}

fn empty(dir: &Fd, depth: u32) {
    for name in names(dir) {
        if sys::unlink(dir.0, &name, false).is_ok() || depth == 0 {
            continue;
        }
        if let Ok(inner) = sys::open(dir.0, &name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0) {
            empty(&inner, depth - 1);
        }
        let _gone = sys::unlink(dir.0, &name, true);
    }
}

/// Removes a control group with its children; a group whose last process just died may be busy for a moment.
pub(crate) fn remove_cgroup(path: &str) {
    const EBUSY: i32 = 16;
    if let Ok(dir) = sys::open(HERE, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0) {
        for name in names(&dir) {
            if sys::open(dir.0, &name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0).is_ok() {
                remove_cgroup(&sys::join(&[path, "/", &name]));
            }
        }
    }
    for _attempt in 0..200 {
        match sys::unlink(HERE, path, true) {
            Err(error) if error.0 == EBUSY || error == EAGAIN => {
                let _nothing = sys::wait_readable([-1], Some(2));
            }
            Ok(()) | Err(_) => return,
        }
    }
}

/// The names in a directory, without the two dots.
fn names(dir: &Fd) -> Vec<String> {
    let mut all = Vec::new();
    let mut block = [0_u8; 4096];
    sys::seek_start(dir);
    while let Ok(filled @ 1..) = sys::read_dir(dir, &mut block) {
        let mut rest = block.get(..filled).unwrap_or_default();
        // struct linux_dirent64: inode (8), offset (8), record length (2), type (1), name.
        while let Some([low, high]) = rest.get(16..18) {
            let length = usize::from(u16::from_ne_bytes([*low, *high]));
            let name = rest.get(19..length).unwrap_or_default();
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            if let Ok(name) = core::str::from_utf8(name)
                && name != "."
                && name != ".."
            {
                all.push(name.to_owned());
            }
            rest = rest.get(length.max(1)..).unwrap_or_default();
        }
    }
    all
}

/// Ends every process descended from this one. Orphans come to this process because it is a child subreaper, so what
/// double-forked is found too. Stops them all first, lest one forks while its siblings die.
pub(crate) fn end_descendants() {
    let own = sys::getpid();
    for _round in 0..100 {
        let found = descendants(own);
        if found.is_empty() {
            break;
        }
        for pid in &found {
            sys::kill(*pid, sys::SIGSTOP);
        }
        for pid in &found {
            sys::kill(*pid, sys::SIGKILL);
        }
        while sys::reap(-1, false).is_some() {}
        let _breath = sys::wait_readable([-1], Some(1));
    }
    while sys::reap(-1, false).is_some() {}
}

fn descendants(of: i32) -> Vec<i32> {
    let parents = all_parents();
    let mut found: Vec<i32> = Vec::new();
    loop {
        let before = found.len();
        for (pid, parent) in &parents {
            if (*parent == of || found.contains(parent)) && !found.contains(pid) {
                found.push(*pid);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Every process inside with its parent, from `/proc/PID/stat`. Zombies are left out: they are dead already.
fn all_parents() -> Vec<(i32, i32)> {
    let Ok(proc) = sys::open(HERE, "/proc", O_RDONLY | O_DIRECTORY, 0) else { return Vec::new() };
    names(&proc)
        .iter()
        .filter_map(|name| {
            let pid: i32 = name.parse().ok()?;
            let file = sys::open(proc.0, &sys::join(&[name, "/stat"]), O_RDONLY, 0).ok()?;
            let text = sys::read_file(&file, 8192).ok()?;
            // The command name is in brackets and may contain anything, brackets too: the last one ends it.
            let after = text.iter().rposition(|byte| *byte == b')')?;
            let rest = core::str::from_utf8(text.get(after + 1..)?).ok()?;
            let mut fields = rest.split_ascii_whitespace();
            let state = fields.next()?;
            let parent = fields.next()?.parse().ok()?;
            (state != "Z").then_some((pid, parent))
        })
        .collect()
}
