//! Throwaway children: each act of a probe runs in one, under a clock, so that no crash, kill or hang ends
//! the suite.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::{Arg, Errno, call};

/// How a child ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It said this.
    Said(String),
    /// A signal ended it before it could say anything.
    Killed(i32),
    /// It left with this code and said nothing.
    Silent(i32),
    /// It was still running when its time was up, and was killed.
    TimedOut,
}

/// Runs `act` in a child for at most `limit`. The caller must have a single thread.
pub fn in_child(limit: Duration, act: impl FnOnce() -> String) -> Result<Outcome, Errno> {
    let (reader, writer) = pipe()?;
    let pid = fork()?;
    if pid == 0 {
        drop(reader);
        become_child();
        let said = catch_unwind(AssertUnwindSafe(act));
        let code = match said {
            Ok(text) => i32::from(File::from(writer).write_all(text.as_bytes()).is_err()),
            Err(_panic) => 101,
        };
        leave(code);
    }
    drop(writer);
    Ok(watch(pid, File::from(reader), limit))
}

/// Starts a child that does nothing until it is killed or its parent ends.
pub fn sleeper() -> Result<i32, Errno> {
    let pid = fork()?;
    if pid == 0 {
        die_with_parent();
        loop {
            std::thread::sleep(Duration::from_secs(60));
        }
    }
    Ok(pid)
}

/// Kills a child and collects it.
pub fn end(pid: i32) {
    _ = call(libc::SYS_kill, [Arg::Int(pid.into()), Arg::Int(libc::SIGKILL.into())]);
    _ = wait(pid, 0);
}

/// `clone` by number with these flags and nothing else: the child leaves at once. Says the child's pid.
pub fn clone_and_leave(flags: i64) -> Result<i64, Errno> {
    let flags = flags | i64::from(libc::SIGCHLD);
    let answer = call(libc::SYS_clone, [Arg::Int(flags), Arg::Null, Arg::Null, Arg::Null, Arg::Null]);
    leave_if_child(answer)
}

/// `clone3` by number with these flags and nothing else: the child leaves at once. Says the child's pid.
pub fn clone3_and_leave(flags: u64) -> Result<i64, Errno> {
    // struct clone_args, version 0: flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls.
    let words = [flags, 0, 0, 0, libc::SIGCHLD.unsigned_abs().into(), 0, 0, 0];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    leave_if_child(call(libc::SYS_clone3, [Arg::Bytes(&bytes), Arg::Int(64)]))
}

fn leave_if_child(answer: Result<i64, Errno>) -> Result<i64, Errno> {
    if answer == Ok(0) {
        leave(0);
    }
    if let Ok(pid) = answer {
        _ = wait(i32::try_from(pid).unwrap_or(-1), 0);
    }
    answer
}

fn watch(pid: i32, mut reader: File, limit: Duration) -> Outcome {
    let deadline = Instant::now() + limit;
    let status = loop {
        match wait(pid, libc::WNOHANG) {
            Some(status) => break status,
            None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
            None => {
                end_group(pid);
                return Outcome::TimedOut;
            }
        }
    };
    // What the child left running must not outlive it, nor hold the pipe open.
    end_group(pid);
    if libc::WIFSIGNALED(status) {
        return Outcome::Killed(libc::WTERMSIG(status));
    }
    let mut said = String::new();
    match reader.read_to_string(&mut said) {
        Ok(_) if !said.is_empty() => Outcome::Said(said),
        Ok(_) | Err(_) => Outcome::Silent(libc::WEXITSTATUS(status)),
    }
}

fn end_group(pid: i32) {
    _ = call(libc::SYS_kill, [Arg::Int((-pid).into()), Arg::Int(libc::SIGKILL.into())]);
    _ = wait(pid, 0);
}

/// The status of `pid` if it has ended. A child that cannot be waited for counts as ended with code 0.
fn wait(pid: i32, flags: i32) -> Option<i32> {
    let mut status = 0;
    // SAFETY: waitpid(2) writes one int through its second argument, which points at `status`.
    let waited = unsafe { libc::waitpid(pid, &raw mut status, flags) };
    (waited != 0).then_some(status)
}

fn become_child() {
    _ = call(libc::SYS_setpgid, [Arg::Int(0), Arg::Int(0)]);
    die_with_parent();
}

fn die_with_parent() {
    _ = call(libc::SYS_prctl, [Arg::Int(libc::PR_SET_PDEATHSIG.into()), Arg::Int(libc::SIGKILL.into())]);
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let (reader, writer) = std::io::pipe().map_err(Errno::from)?;
    debug_assert!(reader.as_raw_fd() > 2, "standard descriptors are open");
    Ok((reader.into(), writer.into()))
}

fn fork() -> Result<i32, Errno> {
    // SAFETY: fork(2) leaves only the calling thread in the child; this program has no other, so no lock is
    // held by a thread that is gone.
    let pid = unsafe { libc::fork() };
    if pid == -1 { Err(Errno::last()) } else { Ok(pid) }
}

fn leave(code: i32) -> ! {
    // SAFETY: _exit(2) ends the process without running the parent's exit handlers a second time.
    unsafe { libc::_exit(code) }
}
