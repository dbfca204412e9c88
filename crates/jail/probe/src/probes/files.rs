//! The host's files: not read, not written, not reached through links.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::Probe;
use super::tools::{find_in, read_one_byte};
use crate::context::{Context, Secret};
use crate::report::{Attempt, Verdict};
use crate::supervise::SCRATCH;
use crate::sys::Errno;

pub(super) const PROBES: &[Probe] = &[
    Probe::new("01-host-file-read", "host files outside the workspace cannot be read", read_host_file),
    Probe::new("02-host-file-write", "host files outside the workspace cannot be written", write_host_file),
    Probe::new("03-home-secrets", "credentials in home directories cannot be read", read_home_secrets),
    Probe::new("04-etc-shadow", "password hashes cannot be read", read_shadow),
    Probe::new("62-symlink-plant", "links made inside lead nowhere outside", plant_links),
];

fn read_host_file(context: &Context) -> Verdict {
    Verdict::of(vec![find_in(&context.canary_file, &context.secret(Secret::File))])
}

/// Writes only to what the host planted for it, so that the host can see it too.
fn write_host_file(context: &Context) -> Verdict {
    // Without `create`: a file of the same name inside an own root would be no escape.
    let appended = OpenOptions::new().append(true).open(&context.canary_file);
    let appended = appended.and_then(|mut file| file.write_all(b"\ntouched by 02-host-file-write\n"));
    let mut attempts = vec![Attempt::judge("append to the canary file", appended.map_err(Errno::from))];
    let created = fs::write(context.canary_dir().join("made-by-02-host-file-write"), b"made inside\n");
    attempts.push(Attempt::judge("create beside the canary file", created.map_err(Errno::from)));
    let etc = Path::new("/etc/.belljar-probe");
    // An own, private /etc may be writable. It is the host's if the canary can be seen beside it.
    if context.canary_file.exists() {
        let created = fs::write(etc, b"").and_then(|()| fs::remove_file(etc));
        attempts.push(Attempt::judge("create in /etc", created.map_err(Errno::from)));
    }
    Verdict::of(attempts)
}

fn read_home_secrets(context: &Context) -> Verdict {
    let mut attempts = vec![find_in(&context.home_secret, &context.secret(Secret::Home))];
    let kept = [".ssh/id_ed25519", ".ssh/id_rsa", ".aws/credentials", ".netrc", ".git-credentials", ".npmrc"];
    let mut homes: Vec<_> =
        fs::read_dir("/home").into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    homes.push("/root".into());
    for file in homes.iter().flat_map(|home| kept.iter().map(|name| home.join(name))) {
        let attempt = read_one_byte(&file);
        if attempt.is_through() {
            attempts.push(attempt);
        }
    }
    Verdict::of(attempts)
}

fn read_shadow(_: &Context) -> Verdict {
    let files = ["/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/security/opasswd"];
    Verdict::of(files.iter().map(|file| read_one_byte(Path::new(file))).collect())
}

/// Symbolic links to the canary, to its directory by way of `/`, and a hard link.
fn plant_links(context: &Context) -> Verdict {
    let secret = context.secret(Secret::File);
    let relative = context.canary_file.strip_prefix("/").unwrap_or(&context.canary_file);
    let mut attempts = Vec::new();
    for place in context.writable_places() {
        let scratch = place.join(SCRATCH);
        if fs::create_dir(&scratch).is_err() {
            continue;
        }
        let (file, root, up) = (scratch.join("file"), scratch.join("root"), scratch.join("up"));
        for (target, link) in [(context.canary_file.as_path(), &file), (Path::new("/"), &root)] {
            if symlink(target, link).is_err() {
                attempts.push(Attempt::stopped("no symbolic links"));
            }
        }
        // More steps up than any directory is deep.
        let made = symlink("../".repeat(40), &up);
        attempts.push(find_in(&file, &secret));
        attempts.push(find_in(&root.join(relative), &secret));
        if made.is_ok() {
            attempts.push(find_in(&up.join(relative), &secret));
        }
        let hard = fs::hard_link(&context.canary_file, scratch.join("hard"));
        attempts.push(Attempt::judge("hard link to the canary file", hard.map_err(Errno::from)));
        _ = fs::remove_dir_all(&scratch);
    }
    if attempts.is_empty() {
        attempts.push(Attempt::stopped("no place to make a link"));
    }
    Verdict::of(attempts)
}
