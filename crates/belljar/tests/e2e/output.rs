//! What a command prints arrives whole, costs belljar little, and is kept up to a limit.

use std::{
    fs,
    io::Read,
    process::{Command, Stdio},
};

use serde_json::json;

use crate::support::{Ended, Glass, peak_memory, promises};

promises! { [root, user]:
    endless_output_is_ended_by_the_clock_and_its_log_is_capped,
    a_hundred_megabytes_in_one_line_pass_through_whole,
    a_reader_that_leaves_ends_the_command,
    both_streams_stay_apart,
    output_of_what_a_command_leaves_behind_does_not_hold_it,
    json_output_is_cut_and_says_so,
}

/// What is kept of one execution's output.
const CAP: u64 = 10 << 20;

fn endless_output_is_ended_by_the_clock_and_its_log_is_capped(glass: &Glass) {
    let mut run = glass.belljar(&["run", "--keep", "--timeout", "2s", "--", "yes"]);
    let ended = Ended::wait(run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    ended.code(124).says("killed (timeout)");
    let dir = glass.json(&["inspect"])["dir"].as_str().unwrap().to_owned();
    let logs: Vec<_> = fs::read_dir(format!("{dir}/log")).unwrap().flatten().collect();
    let sizes: Vec<_> = logs.iter().map(|log| log.metadata().unwrap().len()).collect();
    assert!(sizes.len() == 1 && (CAP..CAP + 200).contains(&sizes[0]), "{sizes:?}");
    assert!(glass.run(&["logs"]).ok().ends_with("output truncated here; 10 MB are kept]\n"));
}

fn a_hundred_megabytes_in_one_line_pass_through_whole(glass: &Glass) {
    const COUNT: usize = 100_000_000;
    let script = format!("head -c {COUNT} /dev/zero | tr '\\0' x; read wait; exit 0");
    let mut run = glass.belljar(&["run", "--", "sh", "-c", &script]);
    let mut child = run.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut buffer = vec![0; 1 << 16];
    let mut left = COUNT;
    while left > 0 {
        let count = out.read(&mut buffer).unwrap();
        assert!(count > 0 && count <= left, "{left} bytes before the end: {count}");
        assert!(buffer[..count].iter().all(|byte| *byte == b'x'));
        left -= count;
    }
    let peak = peak_memory(child.id()).unwrap();
    assert!(peak < 100 << 20, "belljar needed {peak} bytes to carry {COUNT}");
    drop(child.stdin.take());
    assert_eq!(out.read(&mut buffer).unwrap(), 0, "there was more");
    assert!(child.wait().unwrap().success());
}

fn a_reader_that_leaves_ends_the_command(glass: &Glass) {
    let mut run = glass.belljar(&["run", "--", "yes"]);
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let head = Command::new("head").arg("-n1").stdin(child.stdout.take().unwrap()).output().unwrap();
    assert_eq!(head.stdout, b"y\n");
    // As a shell reports a writer whose reader left.
    Ended::wait(child).code(128 + 13);
}

fn both_streams_stay_apart(glass: &Glass) {
    let ended = glass.sh(&[], "echo out; echo err >&2").code(0);
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("out\n", "err\n"));
    let ended = glass.json(&["run", "--", "sh", "-c", "echo out; echo err >&2; exit 0"]);
    assert_eq!((&ended["stdout"], &ended["stderr"]), (&json!("out\n"), &json!("err\n")));
}

fn output_of_what_a_command_leaves_behind_does_not_hold_it(glass: &Glass) {
    assert_eq!(glass.sh(&[], "sleep 1000 & echo started").ok(), "started\n");
}

fn json_output_is_cut_and_says_so(glass: &Glass) {
    let ended = glass.json(&["run", "--", "sh", "-c", "head -c 12000000 /dev/zero | tr '\\0' x"]);
    assert_eq!(ended["truncated"], true);
    assert_eq!(ended["stdout"].as_str().unwrap().len() as u64, CAP);
}
