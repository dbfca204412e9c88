//! Processes, descriptors and processor time: no more than granted.

use std::time::{Duration, Instant};

use super::Probe;
use crate::context::{Context, Limits};
use crate::report::Verdict;
use crate::sys::{Arg, call, call_fd, fork};

pub(super) const PROBES: &[Probe] = &[
    Probe::bomb("56-fork-bomb", "no more processes than granted", make_processes),
    Probe::bomb("60-fd-exhaustion", "no more descriptors than granted", open_descriptors),
    Probe::bomb("61-cpu-spin", "no more processor time than granted", spin),
];

/// The children do nothing and are gone when this probe ends.
fn make_processes(context: &Context) -> Verdict {
    let limit = context.limits.pids;
    let mut children = Vec::new();
    let mut stopped = None;
    for _ in 0..Limits::past(limit) {
        match fork::sleeper() {
            Ok(pid) => children.push(pid),
            Err(errno) => {
                stopped = Some(errno);
                break;
            }
        }
    }
    let count = children.len();
    children.into_iter().for_each(fork::end);
    match stopped {
        Some(errno) if within(count, limit) => {
            Verdict::contained(format!("{errno} after {count} of {limit}"))
        }
        Some(errno) => Verdict::escaped(format!("{errno} only after {count}, granted {limit}")),
        None => Verdict::escaped(format!("{count} processes, granted {limit}")),
    }
}

fn open_descriptors(context: &Context) -> Verdict {
    let limit = context.limits.open_files;
    raise_to_hard_limit();
    let mut held = Vec::new();
    for _ in 0..Limits::past(limit) {
        match call_fd(libc::SYS_eventfd2, [Arg::Int(0), Arg::Int(0)]) {
            Ok(fd) => held.push(fd),
            Err(errno) => {
                let detail = format!("{errno} after {} of {limit}", held.len());
                return Verdict { contained: within(held.len(), limit), detail };
            }
        }
    }
    Verdict::escaped(format!("{} descriptors, granted {limit}", held.len()))
}

/// An agent would do the same first: the soft limit binds nobody.
pub(super) fn raise_to_hard_limit() {
    let resource = || Arg::Int(libc::RLIMIT_NOFILE.into());
    let mut limits = [0; 16];
    if call(libc::SYS_prlimit64, [Arg::Int(0), resource(), Arg::Null, Arg::Into(&mut limits)]).is_ok() {
        let (soft, hard) = limits.split_at_mut(8);
        soft.copy_from_slice(hard);
        _ = call(libc::SYS_prlimit64, [Arg::Int(0), resource(), Arg::Bytes(&limits), Arg::Null]);
    }
}

/// Keeps every processor busy for two seconds and compares the time it got with the time it may have.
fn spin(context: &Context) -> Verdict {
    const LENGTH: Duration = Duration::from_secs(2);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| while start.elapsed() < LENGTH {});
        }
    });
    let used = processor_time().as_secs_f64() / start.elapsed().as_secs_f64();
    let granted = context.limits.cpus;
    // A quota is refilled per period, so a short measurement may see one period too many.
    Verdict {
        contained: used <= granted * 1.25 + 0.05,
        detail: format!("{used:.2} processors, granted {granted}"),
    }
}

fn processor_time() -> Duration {
    let mut time = [0; 16];
    let clock = Arg::Int(libc::CLOCK_PROCESS_CPUTIME_ID.into());
    if call(libc::SYS_clock_gettime, [clock, Arg::Into(&mut time)]).is_err() {
        // Unknown is not contained.
        return Duration::from_secs(3600);
    }
    let mut words = time.chunks_exact(8).filter_map(|word| word.try_into().ok()).map(u64::from_ne_bytes);
    let (seconds, nanoseconds) = (words.next().unwrap_or(0), words.next().unwrap_or(0));
    Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds)
}

fn within(count: usize, limit: u64) -> bool {
    u64::try_from(count).is_ok_and(|count| count <= limit)
}
