//! The `/etc` of the `host` template: an allow list of the host's own, plus the files written for each user and network.
//!
//! Put together once and kept in belljar's cache, because lending thirty files one by one costs more than everything
//! else a sandbox is made of. The cache's name is a digest of all that went into it, so it is never stale.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use belljar_jail::{disk, plan::Step};
use sha2::{Digest, Sha256};

/// The parts of `/etc` that programs need and that hold no secret.
const LENT: [&str; 42] = [
    "alternatives",
    "bash.bashrc",
    "bash_completion.d",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "fonts",
    "gai.conf",
    "host.conf",
    "inputrc",
    "java-11-openjdk",
    "java-17-openjdk",
    "java-21-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "login.defs",
    "magic",
    "magic.mime",
    "manpath.config",
    "maven",
    "mime.types",
    "nanorc",
    "networks",
    "openssl",
    "os-release",
    "perl",
    "pki/ca-trust",
    "pki/tls/certs",
    "profile",
    "protocols",
    "python3",
    "python3.11",
    "services",
    "shells",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
];

/// What tells that something changed: files of `/etc` are replaced, not edited, so a directory's time tells of its files.
const TELLING: [&str; 6] = ["", "alternatives", "ca-certificates.conf", "ld.so.conf.d", "ssl", "ssl/certs"];

/// Tells the drafts of one process apart.
static DRAFTS: AtomicU64 = AtomicU64::new(0);

/// Returns the directory to lend as `/etc`, making it if this combination was never asked for.
pub(super) fn prepare(cache: &Path, written: &[Step]) -> io::Result<PathBuf> {
    let dir = cache.join(format!("etc-{}", digest(written)));
    if dir.is_dir() {
        return Ok(dir);
    }
    fs::create_dir_all(cache)?;
    // Whoever sweeps away drafts holds this alone.
    let _drafting = disk::share(cache)?;
    let draft =
        cache.join(format!("etc-{}-{}.draft", std::process::id(), DRAFTS.fetch_add(1, Ordering::Relaxed)));
    fs::create_dir(&draft)?;
    let filled = fill(&draft, written);
    // Whoever was first, the contents are the same.
    if filled.is_err() || (fs::rename(&draft, &dir).is_err() && dir.is_dir()) {
        fs::remove_dir_all(&draft)?;
    }
    filled.map(|()| dir)
}

fn digest(written: &[Step]) -> String {
    let mut hash = Sha256::new();
    for step in written {
        hash.update(format!("{step:?}"));
    }
    for name in TELLING {
        if let Ok(meta) = fs::symlink_metadata(Path::new("/etc").join(name)) {
            hash.update(name);
            hash.update(meta.ino().to_le_bytes());
            hash.update(meta.size().to_le_bytes());
            hash.update(meta.mtime().to_le_bytes());
            hash.update(meta.mtime_nsec().to_le_bytes());
        }
    }
    hash.finalize().iter().take(10).map(|byte| format!("{byte:02x}")).collect()
}

fn fill(draft: &Path, written: &[Step]) -> io::Result<()> {
    for name in LENT {
        let from = Path::new("/etc").join(name);
        if fs::symlink_metadata(&from).is_ok() {
            let to = draft.join(name);
            fs::create_dir_all(to.parent().unwrap_or(draft))?;
            copy(&from, &to)?;
        }
    }
    for step in written {
        if let Step::File { at, text } = step {
            let name = Path::new(at.strip_prefix("/etc/").unwrap_or(at));
            let to = draft.join(name);
            fs::create_dir_all(to.parent().unwrap_or(draft))?;
            fs::write(&to, text)?;
            // Whatever the caller's mask is, inside everybody reads it.
            for made in to.ancestors().take(name.components().count()).skip(1) {
                fs::set_permissions(made, fs::Permissions::from_mode(0o755))?;
            }
            fs::set_permissions(&to, fs::Permissions::from_mode(0o644))?;
        }
    }
    fs::set_permissions(draft, fs::Permissions::from_mode(0o755))
}

/// Copies a tree. A link is taken as it is: what it points to is either in the sandbox too, or not for it to see. What
/// the caller may not read is left out.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(from)?.file_type();
    if kind.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if kind.is_dir() {
        fs::create_dir(to)?;
        let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
        for entry in entries {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    if !kind.is_file() {
        return Ok(());
    }
    match fs::copy(from, to) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        other => other.map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_wishes_share_one_directory_and_secrets_are_not_in_it() {
        let cache = tempfile::tempdir().unwrap();
        let file = |text: &str| [Step::File { at: "/etc/hosts".to_owned(), text: text.to_owned() }];
        let first = prepare(cache.path(), &file("one")).unwrap();
        assert_eq!(prepare(cache.path(), &file("one")).unwrap(), first);
        assert_ne!(prepare(cache.path(), &file("two")).unwrap(), first);
        assert_eq!(fs::read_to_string(first.join("hosts")).unwrap(), "one");
        let below = [Step::File { at: "/etc/a/b/c.json".to_owned(), text: "three".to_owned() }];
        let third = prepare(cache.path(), &below).unwrap();
        assert_eq!(fs::read_to_string(third.join("a/b/c.json")).unwrap(), "three");
        assert_eq!(fs::metadata(third.join("a/b")).unwrap().mode() & 0o777, 0o755);
        for secret in ["shadow", "gshadow", "sudoers", "ssh", "ssl/private", "machine-id"] {
            assert!(!first.join(secret).exists(), "{secret}");
        }
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 3, "no draft is left");
    }

    #[test]
    fn many_at_once_and_a_sweep_do_not_hurt_each_other() {
        let cache = &tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for turn in 0..8 {
                let file = [Step::File { at: "/etc/hosts".to_owned(), text: (turn / 2).to_string() }];
                scope.spawn(move || disk::remove_drafts(cache.path()));
                scope.spawn(move || prepare(cache.path(), &file).unwrap());
            }
        });
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 4);
    }
}
