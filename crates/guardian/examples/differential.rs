//! Tries generated scripts in bash and in the guardian: `differential [--seconds N] [--seed S]`. Prints how each miss can be shown in
//! the shortest way, what was said to be unknown, and fails if anything was missed. `differential --show FILE…` tells of scripts
//! what bash does and what the guardian says.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a chore that runs bash and stops on what it cannot run"
)]

#[path = "../tests/differential/mod.rs"]
mod harness;

use std::time::{Duration, Instant};

/// Scripts that share a sandbox.
const BATCH: u64 = 400;

/// Misses of a sandbox that are made short.
const SHOWN: usize = 8;

fn main() {
    let (mut seconds, mut seed) = (60, 1_000_000);
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        if flag == "--show" {
            let scripts: Vec<String> = arguments.map(|file| std::fs::read_to_string(file).unwrap()).collect();
            let place = std::env::temp_dir().join(format!("belljar-differential-{}", std::process::id()));
            for (script, told) in scripts.iter().zip(harness::told(&scripts, &place)) {
                println!("{script}\n{told}\n");
            }
            return;
        }
        let number = arguments.next().and_then(|text| text.parse().ok());
        match (flag.as_str(), number) {
            ("--seconds", Some(number)) => seconds = number,
            ("--seed", Some(number)) => seed = number,
            _ => panic!("usage: differential [--seconds N] [--seed S] | --show FILE..."),
        }
    }
    let place = std::env::temp_dir().join(format!("belljar-differential-{}", std::process::id()));
    let begun = Instant::now();
    let mut tally = harness::Tally::default();
    while begun.elapsed() < Duration::from_secs(seconds) {
        let found = harness::run(seed..seed + BATCH, &place);
        seed += BATCH;
        for (seed, script, what) in found.missed.iter().take(SHOWN) {
            println!("seed {seed}: {}\n", harness::shortened(script, what, &place));
        }
        tally.add(found);
    }
    let mut reasons: Vec<(&String, &usize)> = tally.unknown.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (construct, count) in reasons.into_iter().take(25) {
        println!("{count:6} unknown: {construct}");
    }
    println!(
        "{} named, {} unknown, {} missed, {} passed over, up to seed {seed}: {} % known",
        tally.named,
        tally.unknown(),
        tally.missed.len(),
        tally.passed,
        tally.share_known()
    );
    assert!(tally.missed.is_empty(), "bash did what nobody named");
}
