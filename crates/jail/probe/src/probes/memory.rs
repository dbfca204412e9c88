//! Memory: no more than granted, by whichever door it is taken.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use super::Probe;
use crate::context::{Context, Limits};
use crate::report::{Attempt, Verdict};
use crate::sys::fork::{Outcome, in_child};
use crate::sys::shm::Segment;
use crate::sys::{Arg, Errno, call, call_fd};

pub(super) const PROBES: &[Probe] = &[
    Probe::bomb("57-memory-bomb", "no more memory than granted", take_heap),
    Probe::bomb("81-memory-memfd", "no more memory than granted, in anonymous files", take_memfd),
    Probe::bomb("82-memory-shm", "no more memory than granted, in shared segments", take_segment),
    Probe::bomb("83-memory-tmpfs", "no more memory than granted, in memory file systems", take_tmpfs),
    Probe::bomb("84-memory-locked", "no more memory locked than granted", take_locked),
];

/// Written in pieces of this size, so that it is known how far it went.
const PIECE: usize = 4 << 20;

fn take_heap(context: &Context) -> Verdict {
    taken(context, |want| {
        let mut memory = Vec::new();
        let mut got = 0;
        while got < want {
            let mut piece: Vec<u8> = Vec::new();
            piece.try_reserve_exact(PIECE).map_err(|_refused| Errno(libc::ENOMEM))?;
            // Any value but zero, so that every page is really written.
            piece.resize(PIECE, 1);
            memory.push(std::hint::black_box(piece));
            got += PIECE;
        }
        Ok(())
    })
}

fn take_memfd(context: &Context) -> Verdict {
    taken(context, |want| {
        let file = call_fd(libc::SYS_memfd_create, [Arg::Text(c"probe"), Arg::Int(0)])?;
        fill(File::from(file), want)
    })
}

fn take_segment(context: &Context) -> Verdict {
    taken(context, |want| {
        let mut segment = Segment::create(libc::IPC_PRIVATE, want)?;
        // Marked first: it is gone with this process, however that ends.
        segment.remove();
        segment.bytes_mut().fill(1);
        Ok(())
    })
}

fn take_tmpfs(context: &Context) -> Verdict {
    let mut attempts = Vec::new();
    for place in ["/dev/shm", "/tmp", "/run", "/dev", "/"] {
        // An unnamed file: it is gone with this process, however that ends.
        let made = |place: &Path| {
            OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).mode(0o600).open(place)
        };
        if !is_tmpfs(Path::new(place)) || made(Path::new(place)).is_err() {
            continue;
        }
        let verdict = taken(context, |want| fill(made(Path::new(place))?, want));
        let text = format!("{place}: {}", verdict.detail);
        attempts.push(if verdict.contained { Attempt::stopped(text) } else { Attempt::through(text) });
    }
    Verdict::of(attempts)
}

fn take_locked(context: &Context) -> Verdict {
    taken(context, |want| {
        let memory = vec![0_u8; want];
        call(libc::SYS_mlock, [Arg::Bytes(&memory), Arg::Int(i64::try_from(want).unwrap_or(i64::MAX))])?;
        Ok(())
    })
}

/// Takes half as much again as granted, in a child, because the kernel may well kill it for that.
fn taken(context: &Context, take: impl FnOnce(usize) -> Result<(), Errno>) -> Verdict {
    let want = usize::try_from(Limits::past(context.limits.memory)).unwrap_or(usize::MAX);
    let mib = want >> 20;
    let outcome = in_child(Duration::from_secs(50), || match take(want) {
        Ok(()) => "taken".to_owned(),
        Err(errno) => errno.to_string(),
    });
    match outcome {
        Ok(Outcome::Said(text)) if text == "taken" => Verdict::escaped(format!("took {mib} MiB")),
        Ok(Outcome::Said(errno)) => Verdict::contained(format!("{errno} before {mib} MiB")),
        Ok(Outcome::Killed(signal)) => {
            Verdict::contained(format!("killed by signal {signal} before {mib} MiB"))
        }
        Ok(other) => Verdict::unknown(format!("{other:?}")),
        Err(errno) => Verdict::unknown(format!("fork: {errno}")),
    }
}

fn fill(mut file: File, want: usize) -> Result<(), Errno> {
    let piece = vec![1; PIECE];
    for _ in 0..want.div_ceil(PIECE) {
        file.write_all(&piece)?;
    }
    Ok(())
}

fn is_tmpfs(place: &Path) -> bool {
    let mut buffer = [0; 120];
    let path = super::tools::c_path(place);
    let known = call(libc::SYS_statfs, [Arg::Text(&path), Arg::Into(&mut buffer)]).is_ok();
    let kind = buffer.first_chunk().map_or(0, |word: &[u8; 8]| i64::from_ne_bytes(*word));
    known && kind == libc::TMPFS_MAGIC
}
