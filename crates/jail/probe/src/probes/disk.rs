//! Disk: no more bytes and no more files than granted, on any one place that can be written.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use super::Probe;
use crate::context::{Context, Limits};
use crate::report::{Attempt, Verdict};
use crate::supervise::SCRATCH;
use crate::sys::Errno;
use crate::sys::fork::{Outcome, in_child};

pub(super) const PROBES: &[Probe] = &[
    Probe::bomb("58-disk-fill", "no more bytes on disk than granted", fill_disk),
    Probe::bomb("59-inode-exhaustion", "no more files than granted", make_files),
];

const PIECE: usize = 1 << 20;

fn fill_disk(context: &Context) -> Verdict {
    each_place(context, |place| {
        let limit = context.limits.disk;
        let mut file = open_nameless(place)?;
        let piece = vec![1; PIECE];
        let mut written = 0;
        while written < Limits::past(limit) {
            if let Err(error) = file.write_all(&piece) {
                return Ok(Attempt::stopped(format!("{} after {written} bytes", Errno::of(&error))));
            }
            written += 1 << 20;
        }
        // Space may be promised and refused only when it is used.
        Ok(Attempt::judge(&format!("{written} bytes, granted {limit}"), file.sync_all().map_err(Errno::from)))
    })
}

/// A file without a name where the file system has them, else one whose name is taken away at once: either way
/// the space is free again when this process ends.
fn open_nameless(place: &Path) -> Result<File, Errno> {
    let nameless = OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).mode(0o600).open(place);
    if let Ok(file) = nameless {
        return Ok(file);
    }
    let path = place.join(format!("{SCRATCH}-fill"));
    let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

fn make_files(context: &Context) -> Verdict {
    each_place(context, |place| {
        let limit = context.limits.inodes;
        let scratch = place.join(SCRATCH);
        fs::create_dir(&scratch)?;
        let mut stopped = None;
        let mut made = 0;
        while made < Limits::past(limit) && stopped.is_none() {
            match File::create(scratch.join(made.to_string())) {
                Ok(_) => made += 1,
                Err(error) => stopped = Some(Errno::of(&error)),
            }
        }
        // The supervisor of this probe sweeps once more, should it be killed before this.
        _ = fs::remove_dir_all(&scratch);
        Ok(match stopped {
            Some(errno) => Attempt::stopped(format!("{errno} after {made} files")),
            None => Attempt::through(format!("{made} files, granted {limit}")),
        })
    })
}

/// Attacks every place that can be written, each from a child of its own: the kernel may kill it for that, and the
/// next place must be tried all the same. Places that cannot be written are left out.
fn each_place(context: &Context, attack: impl Fn(&Path) -> Result<Attempt, Errno>) -> Verdict {
    let mut attempts = Vec::new();
    for place in context.writable_places() {
        let shown = place.display();
        let outcome = in_child(Duration::from_secs(10), || match attack(&place) {
            Ok(attempt) if attempt.is_through() => format!("+{}", attempt.text()),
            Ok(attempt) => format!("-{}", attempt.text()),
            Err(_not_writable) => String::new(),
        });
        attempts.push(match outcome {
            Ok(Outcome::Silent(0)) => continue,
            Ok(Outcome::Said(text)) if text.starts_with('+') => {
                Attempt::through(format!("{shown}: {}", text.trim_start_matches('+')))
            }
            Ok(Outcome::Said(text)) => Attempt::stopped(format!("{shown}: {}", text.trim_start_matches('-'))),
            Ok(Outcome::Killed(signal)) => Attempt::stopped(format!("{shown}: killed by signal {signal}")),
            Ok(Outcome::TimedOut | Outcome::Silent(_)) | Err(_) => {
                Attempt::through(format!("{shown}: no answer, {outcome:?}"))
            }
        });
    }
    if attempts.is_empty() {
        attempts.push(Attempt::stopped("no place can be written"));
    }
    Verdict::of(attempts)
}
