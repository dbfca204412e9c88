//! Standard input is carried to the command, all of it and as it comes.

use std::{io::Write, process::Stdio, thread};

use crate::support::{Ended, Glass, Started, promises};

promises! { [root, user]:
    megabytes_of_input_arrive_whole,
    input_arrives_as_it_is_written,
    input_that_nobody_reads_holds_nobody,
    no_input_is_end_of_file,
    what_goes_on_writing_keeps_nobody_waiting,
}

fn what_goes_on_writing_keeps_nobody_waiting(glass: &Glass) {
    let out = glass.sh(&["--timeout", "60s"], "(while :; do echo tick; sleep 0.05; done) & echo done").ok();
    assert!(out.contains("done\n"), "{out}");
}

fn megabytes_of_input_arrive_whole(glass: &Glass) {
    carries_whole(glass, 8_000_000, &["run", "--", "sh", "-c", "cat | sha256sum"]);
}

/// Feeds this many bytes to a command that prints their sum.
pub(crate) fn carries_whole(glass: &Glass, count: u32, summing: &[&str]) {
    let bytes: Vec<u8> = (0..count).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
    let expected = glass.lent().join("bytes");
    std::fs::write(&expected, &bytes).unwrap();
    let mut sum = glass.command("sha256sum".as_ref());
    let sum = Ended::of(sum.arg(&expected)).ok();
    let mut run = glass.belljar(summing);
    let mut child = run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = thread::spawn(move || input.write_all(&bytes).unwrap());
    let carried = Ended::wait(child).ok();
    writer.join().unwrap();
    assert_eq!(carried.split(' ').next(), sum.split(' ').next());
}

fn input_arrives_as_it_is_written(glass: &Glass) {
    let script = "echo ready; while read a; do echo \"got $a\"; done; echo end";
    let mut run = Started::of(glass.belljar(&["run", "--", "sh", "-c", script]).stdin(Stdio::piped()));
    for word in ["one", "two"] {
        run.write(&format!("{word}\n"));
        assert_eq!(run.line(), format!("got {word}\n"));
    }
    assert_eq!(run.wait().ok(), "end\n");
}

fn input_that_nobody_reads_holds_nobody(glass: &Glass) {
    let endless = std::process::Command::new("yes").stdout(Stdio::piped()).spawn().unwrap();
    let mut endless = endless;
    let mut run = glass.belljar(&["run", "--", "sh", "-c", "seq 100000 | tail -n1"]);
    assert_eq!(Ended::of(run.stdin(endless.stdout.take().unwrap())).ok(), "100000\n");
    drop(run);
    endless.wait().unwrap();
}

fn no_input_is_end_of_file(glass: &Glass) {
    assert_eq!(glass.sh(&[], "cat; echo end").ok(), "end\n");
    let mut run = glass.belljar(&["run", "--", "cat"]);
    let mut child = run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdin.take());
    assert_eq!(Ended::wait(child).ok(), "");
}
