//! Whatever bash does with a script is named by the guardian, or it says that it cannot know.
//!
//! `cargo run -p belljar-guardian --example differential -- --seconds 600` tries scripts nobody has tried for ten minutes.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test that runs bash and fails on what it cannot run"
)]

#[path = "differential/mod.rs"]
mod harness;

/// Scripts that are tried each time.
const SCRIPTS: u64 = 400;
/// Scripts that share a sandbox.
const BATCH: usize = 200;

#[test]
fn what_bash_does_is_named_or_unknown() {
    let place = std::env::temp_dir().join(format!("belljar-differential-{}", std::process::id()));
    let mut tally = harness::Tally::default();
    for begin in (0..SCRIPTS).step_by(BATCH) {
        tally.add(harness::run(begin..begin + u64::try_from(BATCH).unwrap(), &place));
    }
    let shown: Vec<String> = tally
        .missed
        .iter()
        .take(3)
        .map(|(seed, script, _)| format!("seed {seed}: {}", harness::shortened(script, &place)))
        .collect();
    assert!(shown.is_empty(), "{} missed:\n{}", tally.missed.len(), shown.join("\n"));
    // Saying that nothing can be known is easy.
    assert!(
        tally.share_known() >= 70,
        "only {} of a hundred are known: {:#?}",
        tally.share_known(),
        tally.unknown
    );
    assert!(tally.passed < 30, "{} scripts were passed over", tally.passed);
}
