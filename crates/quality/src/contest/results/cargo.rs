//! The lines of `cargo test` and of `cargo nextest run`.

use super::{Format, Outcome, Results, Tally};

/// `test module::name ... ok`, under the last `Running …` or `Doc-tests …` line.
pub(super) fn libtest(text: &str) -> Option<Results> {
    let mut tally = Tally::default();
    let mut program = String::new();
    let mut summed: Option<usize> = None;
    for line in text.lines() {
        let line = line.trim_end();
        let said = line.trim_start();
        if let Some(running) = said.strip_prefix("Running ") {
            program = crate_of(running);
        } else if let Some(name) = said.strip_prefix("Doc-tests ") {
            program = format!("doc {}", name.trim());
        } else if let Some(rest) = line.strip_prefix("test result: ") {
            summed = Some(summed.unwrap_or(0) + counts(rest)?);
        } else if let Some((name, outcome)) = line.strip_prefix("test ").and_then(ended) {
            let id = if program.is_empty() { name.to_owned() } else { format!("{program} {name}") };
            tally.add(&id, outcome);
        }
    }
    // Lines alone could be anybody's; every run sums up.
    tally.counted(Format::Cargo, summed?)
}

/// `unittests src/lib.rs (target/debug/deps/shop-0a1b2c3d4e5f6071)`: the crate and the file, without the hash.
fn crate_of(running: &str) -> String {
    let Some((source, binary)) = running.rsplit_once('(') else { return running.trim().to_owned() };
    let name = binary.trim_end_matches(')').rsplit('/').next().unwrap_or_default();
    let name = name.rsplit_once('-').map_or(name, |(name, _)| name);
    let source = source.trim().trim_start_matches("unittests ");
    format!("{name}({source})")
}

/// `name ... ok`, `name - should panic ... ok`, `name ... ignored, reason`.
fn ended(rest: &str) -> Option<(&str, Outcome)> {
    let (name, said) = rest.rsplit_once(" ... ")?;
    let word = said.split([',', ' ', '<']).next().unwrap_or_default();
    let outcome = match word {
        "ok" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        "ignored" => Outcome::Skipped,
        _ => return None,
    };
    Some((name.trim_end_matches(" - should panic"), outcome))
}

/// `ok. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
fn counts(rest: &str) -> Option<usize> {
    let (_, counts) = rest.split_once(". ")?;
    let mut all = 0;
    for part in counts.split("; ") {
        let mut words = part.split_whitespace();
        let (Some(number), Some(word)) = (words.next(), words.next()) else { continue };
        if matches!(word, "passed" | "failed" | "ignored") {
            all += number.parse::<usize>().ok()?;
        }
    }
    Some(all)
}

/// `PASS [   0.004s] (1/3) shop::cart tests::adds`.
pub(super) fn nextest(text: &str) -> Option<Results> {
    let mut tally = Tally::default();
    let mut summed = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("Summary [") {
            summed = rest.split_once("] ").and_then(|(_, counts)| nextest_sum(counts));
            // After the summary failures are listed once more.
            break;
        }
        if let Some((id, outcome)) = nextest_line(line) {
            tally.add(&id, outcome);
        }
    }
    // Those it skips are counted apart and not named.
    tally.counted(Format::Nextest, summed?)
}

fn nextest_line(line: &str) -> Option<(String, Outcome)> {
    let (word, rest) = line.split_once(" [")?;
    let outcome = match word.split_whitespace().next()? {
        "PASS" | "LEAK" | "FLAKY" => Outcome::Passed,
        "FAIL" | "SIGABRT" | "SIGSEGV" | "SIGKILL" | "TIMEOUT" | "ABORT" | "XFAIL" | "LEAK-FAIL" => {
            Outcome::Failed
        }
        "SKIP" => Outcome::Skipped,
        _ => return None,
    };
    let (_, name) = rest.split_once(']')?;
    let name = name.trim();
    // `(12/40)` is which one of how many.
    let name = match name.strip_prefix('(').and_then(|counted| counted.split_once(')')) {
        Some((_, name)) => name.trim(),
        None => name,
    };
    Some((name.to_owned(), outcome))
}

/// `3 tests run: 2 passed, 1 failed, 0 skipped`; `3/5 tests run: …` when it stopped early.
fn nextest_sum(counts: &str) -> Option<usize> {
    let number = counts.split_whitespace().next()?;
    number.split('/').next()?.parse().ok()
}
