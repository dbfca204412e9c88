//! A sandbox uses no more than it was granted, and says which limit it met.

use serde_json::json;

use crate::support::{Glass, promises};

promises! { [root, delegated]:
    too_much_memory_is_killed_and_named,
    a_memory_bomb_in_a_child_is_named_too,
    a_greedy_command_is_throttled_and_not_killed,
    usage_is_measured,
}

promises! { [user]:
    limits_that_do_not_hold_are_said_not_to_hold,
    requiring_everything_is_refused_with_names,
}

promises! { [root, user, delegated]:
    processes_are_limited,
    a_fork_bomb_is_ended_and_named,
    a_shell_fork_bomb_ends_with_its_sandbox,
    open_files_are_limited,
}

promises! { [root, delegated]: requiring_everything_works_where_it_can_be_had }

const EAT: &str = "x = bytearray(500_000_000)";

fn too_much_memory_is_killed_and_named(glass: &Glass) {
    let run = ["run", "--memory", "64M", "--", "python3", "-c", EAT];
    glass.run(&run).code(137).says("killed (oom)").says("64M").says("--memory");
    let ended = glass.run(&[&["--json"], &run[..]].concat()).code(137).json();
    assert_eq!((&ended["cause"], &ended["oom"]), (&json!("oom"), &json!(true)));
}

fn a_memory_bomb_in_a_child_is_named_too(glass: &Glass) {
    let script = format!("python3 -c '{EAT}'; echo survived");
    let ended = glass.sh(&["--memory", "64M"], &script).code(0).says("limit reached (oom)");
    assert_eq!(ended.out, "survived\n");
}

/// Forks as fast as it can, for as long as it lives.
const BOMB: &str = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass";

fn a_fork_bomb_is_ended_and_named(glass: &Glass) {
    let run = ["run", "--pids", "64", "--timeout", "60s", "--", "python3", "-c", BOMB];
    glass.run(&run).code(137).says("killed (pids)").says("the limit is 64");
}

fn processes_are_limited(glass: &Glass) {
    let count = "import os, signal\nmade = []\ntry:\n    \
                 while len(made) < 500:\n        pid = os.fork()\n        if pid == 0: signal.pause()\n        \
                 made.append(pid)\nexcept OSError as error: print(error.errno)\nprint(len(made))";
    let ended = glass.run(&["run", "--pids", "64", "--", "python3", "-c", count]).code(0);
    let lines: Vec<i64> = ended.out.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(lines[0], 11, "EAGAIN: {ended:?}");
    assert!((32..64).contains(&lines[1]), "{ended:?}");
    if glass.caller.has_control_groups() {
        ended.says("limit reached (pids)");
    }
}

fn a_shell_fork_bomb_ends_with_its_sandbox(glass: &Glass) {
    let ended =
        glass.run(&["run", "--pids", "64", "--timeout", "5s", "--", "bash", "-c", ":(){ :|:& };:; wait"]);
    assert_ne!(ended.code, Some(125), "{ended:?}");
    crate::support::until("the bomb is gone", || glass.watch.processes().is_empty());
}

fn open_files_are_limited(glass: &Glass) {
    let open = "import os\nfds = []\ntry:\n    while True: fds.append(os.open('/dev/null', 0))\n\
                except OSError as error: print(error.errno, len(fds) < 64)";
    assert_eq!(glass.run(&["run", "--open-files", "64", "--", "python3", "-c", open]).ok(), "24 True\n");
}

fn a_greedy_command_is_throttled_and_not_killed(glass: &Glass) {
    // Runs until it has used half a second of a processor of which it is granted a tenth.
    let spin = "import time\nwhile time.process_time() < 0.5: pass\nprint('done')";
    let ended = glass.json(&["run", "--cpus", "0.1", "--", "python3", "-c", spin]);
    assert_eq!((&ended["stdout"], &ended["cause"]), (&json!("done\n"), &json!(null)));
    assert!(ended["usage"]["throttled_micros"].as_u64().unwrap() > 0, "{ended}");
    assert!(ended["usage"]["cpu_micros"].as_u64().unwrap() >= 500_000, "{ended}");
}

fn usage_is_measured(glass: &Glass) {
    let use_some = "x = bytearray(50_000_000); open('f', 'wb').write(bytes(2_000_000))";
    let ended = glass.json(&["run", "--", "python3", "-c", use_some]);
    let used = |name: &str| ended["usage"][name].as_u64().unwrap_or_else(|| panic!("{name}: {ended}"));
    assert!(used("memory_peak_bytes") > 50_000_000);
    assert!(used("disk_bytes") > 2_000_000);
    assert!(used("cpu_micros") > 0);
    assert!(used("inodes") > 0);
}

fn limits_that_do_not_hold_are_said_not_to_hold(glass: &Glass) {
    let id = glass.keep(&[]);
    for promise in ["memory", "cpus"] {
        assert!(!glass.enforced(&id, promise), "{promise}");
    }
    for promise in ["filesystem", "identity", "network", "seccomp", "pids", "disk", "inodes", "open_files"] {
        assert!(glass.enforced(&id, promise), "{promise}");
    }
    // Less than the promise, but not nothing: no process alone may have more.
    let ended = glass.run(&["run", "--memory", "64M", "--", "python3", "-c", EAT]);
    assert!(ended.code == Some(1) && ended.err.contains("MemoryError"), "{ended:?}");
    glass.run(&["pause", &id]).code(125).says("no control group");
}

fn requiring_everything_is_refused_with_names(glass: &Glass) {
    let refused = glass.run(&["run", "--require-all", "--", "touch", "/tmp/ran"]).code(125);
    let refused = refused.says("--require-all").says("memory: ").says("cpus: ");
    assert!(!refused.err.contains("pids: ") && !refused.err.contains("network: "), "{refused:?}");
    glass.run(&["run", "--require-all", "--keep"]).code(125);
    assert_eq!(glass.json(&["list", "--all"]), json!([]));
}

fn requiring_everything_works_where_it_can_be_had(glass: &Glass) {
    let id = glass.keep(&[]);
    let levels = glass.json(&["inspect", &id])["levels"].as_array().unwrap().clone();
    let missing: Vec<_> = levels.iter().filter(|level| level["enforced"] == false).collect();
    // A kernel may be without Landlock; that is then what is named.
    for network in ["none", "open"] {
        let ended = glass.sh(&["--require-all", "--net", network], "echo ran");
        match missing.as_slice() {
            [] => assert_eq!(ended.ok(), "ran\n"),
            missing => {
                let refused = ended.code(125);
                assert!(missing.iter().all(|level| refused.err.contains(level["promise"].as_str().unwrap())));
            }
        }
    }
}
