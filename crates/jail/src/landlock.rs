//! Landlock: a second lock on files behind the mounts, where the kernel has one.

use belljar_init::plan::{Landlock, LandlockRule};

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
/// Remove and make entries of every kind: bits 4 to 12.
const CHANGE_DIR: u64 = 0x1ff0;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
/// Abstract sockets and signals.
const SCOPES: u64 = 3;

/// Returns the version of Landlock this kernel speaks; 0 is none.
#[must_use]
pub fn abi() -> u32 {
    const ASK_VERSION: u32 = 1;
    // SAFETY: landlock_create_ruleset with a null attribute of size 0 and the version flag reads no memory.
    let answer =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, ASK_VERSION) };
    u32::try_from(answer).unwrap_or(0)
}

/// Builds rules: everything can be read and run, only `writable` can be changed. `None` without a usable Landlock:
/// its first version refuses every rename between directories, which breaks ordinary builds.
#[must_use]
pub fn rules(abi: u32, writable: &[String]) -> Option<Landlock> {
    if abi < 2 {
        return None;
    }
    let truncate = if abi >= 3 { TRUNCATE } else { 0 };
    let ioctl = if abi >= 5 { IOCTL_DEV } else { 0 };
    let read = EXECUTE | READ_FILE | READ_DIR;
    let write = read | WRITE_FILE | CHANGE_DIR | REFER | truncate;
    let mut rules = vec![LandlockRule { at: "/".to_owned(), allow: read }];
    for at in writable {
        rules.push(LandlockRule { at: at.clone(), allow: write });
    }
    rules.push(LandlockRule { at: "/dev".to_owned(), allow: read | WRITE_FILE | truncate | ioctl });
    rules.push(LandlockRule { at: "/proc".to_owned(), allow: read | WRITE_FILE | truncate });
    Some(Landlock { handled: write | ioctl, scoped: if abi >= 6 { SCOPES } else { 0 }, rules })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_kernel_is_never_asked_for_what_it_does_not_know() {
        assert_eq!(rules(0, &[]), None);
        assert_eq!(rules(1, &[]), None);
        let second = rules(2, &["/w".to_owned()]).unwrap();
        assert_eq!(second.handled & (TRUNCATE | IOCTL_DEV), 0);
        assert_eq!(second.scoped, 0);
        assert_eq!(rules(7, &[]).unwrap().scoped, SCOPES);
    }
}
