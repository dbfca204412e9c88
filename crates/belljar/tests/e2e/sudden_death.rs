//! Whatever is killed, and whenever, nothing of its sandbox is left once belljar has been asked for anything again.

use std::{
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use crate::support::{Glass, Started, promises, until};

promises! { [root, user, delegated]:
    belljar_killed_at_any_moment_leaves_nothing,
    belljar_killed_in_the_middle_of_a_command_leaves_nothing,
    a_killed_keeper_takes_its_sandbox_along,
    a_killed_first_process_ends_its_sandbox,
    a_kept_sandbox_whose_keeper_was_killed_can_be_discarded,
    belljar_killed_in_the_middle_of_a_snapshot_leaves_nothing,
}

/// A sequence that looks random and is the same every time.
struct Moments(u64);

impl Iterator for Moments {
    type Item = Duration;

    /// Up to 40 milliseconds, which is longer than a sandbox takes to make.
    fn next(&mut self) -> Option<Duration> {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(Duration::from_micros((self.0 >> 33) % 40_000))
    }
}

fn kill_at_many_moments(seed: u64, mut start: impl FnMut(u64) -> Command) {
    for (moment, turn) in Moments(seed).take(60).zip(0..) {
        let mut child = start(turn).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Not to wait for anything: the moment is the point.
        thread::sleep(moment);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

fn belljar_killed_at_any_moment_leaves_nothing(glass: &Glass) {
    kill_at_many_moments(1, |turn| {
        // Every third has a size of its own, for which a disk must be formatted first.
        let disk = format!("{}M", if turn.is_multiple_of(3) { 16 + turn } else { 16 });
        glass.belljar(&["run", "--disk", &disk, "--", "sh", "-c", "echo x > f; sleep 1000"])
    });
    // Every maker is dead, so its sandbox ends without being asked to.
    until("all processes are gone", || glass.watch.processes().is_empty());
    glass.run(&["list"]).ok();
    assert!(glass.watch.groups().is_empty());
    assert_eq!(glass.json(&["list", "--all"]), serde_json::json!([]));
}

fn belljar_killed_in_the_middle_of_a_command_leaves_nothing(glass: &Glass) {
    let daemon = "setsid sleep 1000 > /dev/null 2>&1 & echo ready; sleep 1000";
    let run = Started::of(&mut glass.belljar(&["run", "--", "sh", "-c", daemon]));
    run.signal(rustix::process::Signal::KILL);
    drop(run.wait());
    until("all processes are gone", || glass.watch.processes().is_empty());
    until("the record is gone", || {
        std::fs::read_dir(glass.home().join("sandboxes")).unwrap().next().is_none()
    });
}

fn a_killed_keeper_takes_its_sandbox_along(glass: &Glass) {
    let run = Started::of(&mut glass.belljar(&["run", "--", "sh", "-c", "echo ready; sleep 1000"]));
    glass.watch.keeper_and_first().0.kill();
    let ended = run.wait();
    assert!(ended.code.is_some_and(|code| code != 0), "{ended:?}");
    until("all processes are gone", || glass.watch.processes().is_empty());
}

fn a_killed_first_process_ends_its_sandbox(glass: &Glass) {
    let run = Started::of(&mut glass.belljar(&["run", "--", "sh", "-c", "echo ready; sleep 1000"]));
    glass.watch.keeper_and_first().1.kill();
    run.wait().code(137);
    until("all processes are gone", || glass.watch.processes().is_empty());
}

fn a_kept_sandbox_whose_keeper_was_killed_can_be_discarded(glass: &Glass) {
    let id = glass.keep(&[]);
    glass.exec(&id, "setsid sleep 1000 > /dev/null 2>&1 &").ok();
    glass.watch.keeper_and_first().0.kill();
    until("all processes are gone", || glass.watch.processes().is_empty());
    let info = glass.json(&["inspect", &id]);
    assert_eq!(info["state"], "failed", "{info}");
    glass.exec(&id, "true").code(125);
    glass.run(&["discard", &id]).ok();
    assert_eq!(glass.json(&["list", "--all"]), serde_json::json!([]));
}

fn belljar_killed_in_the_middle_of_a_snapshot_leaves_nothing(glass: &Glass) {
    let id = glass.keep(&[]);
    glass.exec(&id, "for n in 1 2 3 4 5 6 7 8; do head -c 1000000 /dev/zero > f$n; done").ok();
    kill_at_many_moments(2, |_| glass.belljar(&["snapshot", &id]));
    // Frozen while its files are copied, and let go on by whoever comes next.
    glass.run(&["list"]).ok();
    assert_eq!(glass.json(&["inspect", &id])["state"], "running");
    glass.exec(&id, "ls f8").ok();
}
