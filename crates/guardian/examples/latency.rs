//! Says how long judgements take: every call of the corpus, each command again behind a file of 4 KB that is written, and
//! some behind a hundred others.
//! `cargo run --release -p belljar-guardian --example latency`.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measurement needs a clock and the files beside it; the crate itself has neither"
)]

use std::{fs, hint::black_box, path::Path, time::Instant};

use belljar_guardian::policy::{Call, Policy, Scene};
use serde_json::{Value, json};

/// How long the commands are made.
const LONG: usize = 4096;
/// How often each call is judged; the shortest time counts, so that a neighbour's load does not.
const ROUNDS: usize = 5;

fn main() {
    let calls = corpus();
    let long = calls.iter().filter_map(|(tool, input)| padded(tool, input, written));
    let dense = calls.iter().step_by(20).filter_map(|(tool, input)| padded(tool, input, worked));
    let mut times = measured(&calls);
    times.extend(measured(&long.collect::<Vec<_>>()));
    said("calls", times);
    said("scripts of a hundred commands", measured(&dense.collect::<Vec<_>>()));
}

fn said(what: &str, mut times: Vec<f64>) {
    times.sort_unstable_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 1000).copied().unwrap_or_default();
    println!("{} {what}: p50 {:.1} us, p99 {:.1} us, p99.9 {:.1} us", times.len(), at(500), at(990), at(999));
}

/// Every call of the corpus.
fn corpus() -> Vec<(String, Value)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut calls = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            for line in fs::read_to_string(path).unwrap().lines() {
                let mut case: Value = serde_json::from_str(line).unwrap();
                let tool = case.get("tool").and_then(Value::as_str).unwrap_or_default().to_owned();
                calls.push((tool, case.get_mut("input").map(Value::take).unwrap_or_default()));
            }
        }
    }
    calls
}

/// The same command behind as much as makes it long.
fn padded(tool: &str, input: &Value, before: fn(usize) -> String) -> Option<(String, Value)> {
    let command =
        input.get("command").and_then(Value::as_str).filter(|command| command.len() < LONG - 100)?;
    let script = before(LONG - 100 - command.len()) + command;
    Some((tool.to_owned(), json!({ "command": script })))
}

/// A file that is written, as agents do in long commands.
fn written(length: usize) -> String {
    let line = "Some \"text\" with $HOME, `code` and rm -rf / in it; nothing of that runs.\n";
    format!("cat > docs/notes.md <<'EOF'\n{}EOF\n", line.repeat(length / line.len()))
}

/// Ordinary commands, one after the other.
fn worked(length: usize) -> String {
    let lines = "x=\"$HOME/a\"; echo \"building $x\" | tee -a log.txt\ncargo build 2>&1 | tail -n 20\ngit status --short\nls -la src && wc -l src/main.rs\n";
    lines.repeat(length / lines.len())
}

/// Microseconds for each call.
fn measured(calls: &[(String, Value)]) -> Vec<f64> {
    let scene = Scene::on_host(Some("/home/dev/project"), Some("/home/dev"), None);
    let policy = Policy::default();
    let judged = |(tool, input): &(String, Value)| {
        let call = Call { tool, input, cwd: Some("/home/dev/project"), home: Some("/home/dev") };
        let times = (0..ROUNDS).map(|_| {
            let begun = Instant::now();
            black_box(policy.judge(black_box(&call), &scene));
            begun.elapsed().as_secs_f64() * 1e6
        });
        times.fold(f64::INFINITY, f64::min)
    };
    calls.iter().map(judged).collect()
}
