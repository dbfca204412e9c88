//! The guardian's reading of scripts beside bash's own.

mod commands;
mod compare;
mod dice;
mod holes;
mod maker;
mod sandbox;
mod shrink;
mod slyness;
mod statements;
mod words;

use std::collections::BTreeMap;
use std::path::Path;

use compare::Outcome;

/// How many of a run came out which way.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// All bash did was named.
    pub(crate) named: usize,
    /// It was said that not everything can be known, for these reasons.
    pub(crate) unknown: BTreeMap<String, usize>,
    /// Bash took too long, or a `cd` failed and nobody asked.
    pub(crate) passed: usize,
    /// Seeds and scripts with what nobody named.
    pub(crate) missed: Vec<(u64, String, Vec<String>)>,
}

impl Tally {
    pub(crate) fn unknown(&self) -> usize {
        self.unknown.values().sum()
    }

    /// Of a hundred scripts, how many were wholly known.
    pub(crate) fn share_known(&self) -> usize {
        self.named * 100 / (self.named + self.unknown() + self.missed.len()).max(1)
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.named += other.named;
        self.passed += other.passed;
        self.missed.extend(other.missed);
        for (construct, count) in other.unknown {
            *self.unknown.entry(construct).or_default() += count;
        }
    }
}

/// Tries the scripts of these seeds.
pub(crate) fn run(seeds: std::ops::Range<u64>, place: &Path) -> Tally {
    let scripts: Vec<String> = seeds.clone().map(maker::script).collect();
    let deeds = sandbox::run(&scripts, place);
    let mut tally = Tally::default();
    for ((seed, script), deeds) in seeds.zip(scripts).zip(&deeds) {
        match compare::compare(&script, deeds) {
            Outcome::Named => tally.named += 1,
            Outcome::Unknown(construct) => *tally.unknown.entry(construct).or_default() += 1,
            Outcome::Missed(what) => tally.missed.push((seed, script, what)),
            Outcome::Passed => tally.passed += 1,
        }
    }
    tally
}

/// A script that shows something, made as short as it can be.
pub(crate) fn shortened(script: &str, missed: &[String], place: &Path) -> String {
    let (script, what) = shrink::shrink(script, place);
    if what.is_empty() {
        return format!("{}, only beside others\n{script}", missed.join("; "));
    }
    format!("{}\n{script}", what.join("; "))
}

/// What bash does when it runs each of these scripts, and what the guardian says of it.
pub(crate) fn told(scripts: &[String], place: &Path) -> Vec<String> {
    let deeds = sandbox::run(scripts, place);
    scripts.iter().zip(&deeds).map(|(script, deeds)| compare::told(script, deeds)).collect()
}
