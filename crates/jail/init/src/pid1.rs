//! PID 1: takes connections, forks a shepherd for each, buries the dead. Its loop allocates nothing and cannot fail.

use crate::{
    shepherd,
    sys::{self, Fd, HERE, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGTERM, Side},
};

/// Exit code, as a wait status, that tells the keeper nothing ran for too long.
pub(crate) const IDLE_STATUS: i32 = IDLE_CODE << 8;
const IDLE_CODE: i32 = 3;
/// Pause after a fork that failed for want of processes, so that a full sandbox is not also a busy one.
const BREATH_MS: u64 = 20;

pub(crate) fn serve(first: Fd, door: Fd, idle_ms: u64) -> ! {
    let (first, door) = rearrange_descriptors(first, door);
    let Ok(signals) = sys::signal_fd(&[SIGCHLD, SIGTERM, SIGINT, SIGHUP]) else { sys::exit(125) };
    let mut flock = Flock::default();
    flock.add(start_shepherd(first, &door, &signals));
    let mut idle_since = sys::now_ms();
    loop {
        let left =
            (idle_ms > 0 && flock.is_empty()).then(|| (idle_since + idle_ms).saturating_sub(sys::now_ms()));
        let [knocked, signalled] = sys::wait_readable([door.0, signals.0], left);
        if signalled {
            match sys::next_signal(&signals) {
                // A command has the same user as its shepherd and may stop it, and with it the clock it keeps.
                Some(SIGCHLD) | None => flock.wake(),
                Some(signal) => sys::kill(-1, signal),
            }
        }
        while let Some(ended) = sys::reap(-1, false) {
            if flock.remove(ended.pid) {
                idle_since = sys::now_ms();
                // Or kill it: then nobody is left to end what it guarded, and nobody can tell which processes those are.
                if ended.was_killed() {
                    sys::kill(-1, SIGKILL);
                }
            }
        }
        if knocked && let Ok(visitor) = sys::accept(&door) {
            // One too many is told by its connection closing.
            let started = if flock.is_full() { None } else { start_shepherd(visitor, &door, &signals) };
            if started.is_none() {
                let _nothing = sys::wait_readable([-1], Some(BREATH_MS));
            }
            flock.add(started);
        }
        if idle_ms > 0 && flock.is_empty() && sys::now_ms() >= idle_since + idle_ms {
            sys::exit(IDLE_CODE);
        }
    }
}

/// Keeps the two descriptors this process needs and closes every other: nothing of the host's stays open in here.
fn rearrange_descriptors(first: Fd, door: Fd) -> (Fd, Fd) {
    const FIRST: i32 = 60;
    const DOOR: i32 = 61;
    // Closed at exec: a command that held them could speak to the host in its shepherd's name, or answer at the door.
    let moved = sys::keep_as(first.0, FIRST).and_then(|()| sys::keep_as(door.0, DOOR));
    if moved.is_err() {
        sys::exit(125);
    }
    // The originals are among those closed below.
    core::mem::forget((first, door));
    sys::close(0);
    sys::close(1);
    sys::close(2);
    for number in 3..FIRST {
        sys::close(number);
    }
    sys::close_from(DOOR.unsigned_abs() + 1);
    for _standard in 0..3 {
        core::mem::forget(sys::open_inheritable(HERE, "/dev/null"));
    }
    (Fd(FIRST), Fd(DOOR))
}

fn start_shepherd(connection: Fd, door: &Fd, signals: &Fd) -> Option<i32> {
    match sys::fork(0) {
        Ok(Side::Child) => {
            sys::close(door.0);
            sys::close(signals.0);
            shepherd::tend(connection)
        }
        Ok(Side::Parent(pid)) => Some(pid),
        // The connection closes, which tells the visitor.
        Err(_) => None,
    }
}

/// The shepherds alive, so that orphans which end are not taken for them. As many as a sandbox may run executions.
struct Flock {
    pids: [i32; 512],
    count: usize,
}

impl Default for Flock {
    fn default() -> Self {
        Self { pids: [0; 512], count: 0 }
    }
}

impl Flock {
    const fn is_empty(&self) -> bool {
        self.count == 0
    }

    const fn is_full(&self) -> bool {
        self.count == self.pids.len()
    }

    fn add(&mut self, pid: Option<i32>) {
        if let (Some(pid), Some(slot)) = (pid, self.pids.get_mut(self.count)) {
            *slot = pid;
            self.count += 1;
        }
    }

    fn wake(&self) {
        for pid in self.pids.iter().take(self.count) {
            sys::kill(*pid, SIGCONT);
        }
    }

    fn remove(&mut self, pid: i32) -> bool {
        let found = self.pids.iter().take(self.count).position(|known| *known == pid);
        if let Some(index) = found {
            self.count -= 1;
            self.pids.swap(index, self.count);
        }
        found.is_some()
    }
}
