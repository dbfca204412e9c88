//! Makes a script that shows something as short as it can be: whatever can be left out is, lines first, then words, then characters.

use std::path::Path;

use super::compare::{Outcome, compare};
use super::sandbox;

/// The shortest script found that still does what nobody named, and what that is.
pub(crate) fn shrink(script: &str, place: &Path) -> (String, Vec<String>) {
    let mut best = script.to_owned();
    let mut shows = Vec::new();
    for cut in [lines as fn(&str) -> Vec<&str>, words, characters] {
        let mut size = cut(&best).len().div_ceil(2);
        while size > 0 {
            let pieces = cut(&best);
            let candidates: Vec<String> = (0..pieces.len())
                .step_by(size)
                .map(|from| without(&pieces, from, size))
                .filter(|candidate| !candidate.trim().is_empty() && *candidate != best)
                .collect();
            match shortest(&candidates, place) {
                Some((script, missed)) => (best, shows) = (script, missed),
                None => size /= 2,
            }
        }
    }
    (best, shows)
}

fn lines(script: &str) -> Vec<&str> {
    script.split_inclusive('\n').collect()
}

fn words(script: &str) -> Vec<&str> {
    script.split_inclusive([' ', ';', '\n']).collect()
}

fn characters(script: &str) -> Vec<&str> {
    script.split_inclusive(|_| true).collect()
}

fn without(pieces: &[&str], from: usize, count: usize) -> String {
    let kept = pieces.iter().enumerate().filter(|(at, _)| *at < from || *at >= from + count);
    kept.map(|(_, piece)| *piece).collect()
}

/// The shortest of these that shows something.
fn shortest(scripts: &[String], place: &Path) -> Option<(String, Vec<String>)> {
    if scripts.is_empty() {
        return None;
    }
    let all = sandbox::run(scripts, place);
    let shows = scripts.iter().zip(&all).filter_map(|(script, deeds)| match compare(script, deeds) {
        Outcome::Missed(what) => Some((script.clone(), what)),
        Outcome::Named | Outcome::Unknown(_) | Outcome::Passed => None,
    });
    shows.min_by_key(|(script, _)| script.len())
}
