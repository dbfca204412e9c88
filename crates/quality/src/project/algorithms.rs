//! Halves of one format in different files; tests that repeat the algorithm they test.

use std::collections::{BTreeMap, HashMap};

use super::role;
use crate::{
    catalogue::Rule,
    facts::{Body, Codec, Facts},
    finding::Draft,
};

pub(super) fn find(all: &[&Facts]) -> Vec<Draft> {
    let mut found = codecs(all);
    found.extend(tests(all));
    found
}

fn codecs(all: &[&Facts]) -> Vec<Draft> {
    // By pair and literal: the first half and the second half.
    let mut halves: BTreeMap<(usize, &str), [Vec<&Codec>; 2]> = BTreeMap::new();
    for codec in all.iter().flat_map(|facts| &facts.codecs) {
        for literal in &codec.literals {
            let both = halves.entry((codec.pair, literal)).or_default();
            if let Some(half) = both.get_mut(usize::from(codec.is_second)) {
                half.push(codec);
            }
        }
    }
    let mut found = Vec::new();
    let mut seen: Vec<(&str, u32, &str, u32)> = Vec::new();
    for ((_, literal), [first, second]) in &halves {
        let pair = first
            .iter()
            .find_map(|one| second.iter().find(|two| two.at.file != one.at.file).map(|two| (*one, *two)));
        // A literal in many functions is no secret of two.
        let Some((one, two)) = pair.filter(|_| first.len() + second.len() <= 6) else { continue };
        let ends = (one.at.file.as_str(), one.at.line, two.at.file.as_str(), two.at.line);
        if seen.contains(&ends) {
            continue;
        }
        seen.push(ends);
        let message = format!("`{}` and `{}` must both use \"{literal}\"", one.name, two.name);
        found.push(
            Draft::new(Rule::PairedCodec, message)
                .hint()
                .about(format!("codec {literal}"))
                .element(role(&one.at, "one half"))
                .element(role(&two.at, "the other half")),
        );
    }
    found
}

fn tests(all: &[&Facts]) -> Vec<Draft> {
    let expectations: Vec<_> = all.iter().flat_map(|facts| &facts.expectations).collect();
    if expectations.is_empty() {
        return Vec::new();
    }
    let mut by_name: HashMap<&str, Vec<&Body>> = HashMap::new();
    for body in all.iter().flat_map(|facts| &facts.bodies) {
        by_name.entry(body.name.as_str()).or_default().push(body);
    }
    let mut found = Vec::new();
    for expected in expectations {
        // What the project defines itself may be what is tested.
        if by_name.contains_key(expected.by.as_str()) {
            continue;
        }
        let tested = expected.calls.iter().filter_map(|name| by_name.get(name.as_str())).flatten();
        let Some(tested) = tested.into_iter().find(|body| body.callees.contains(&expected.by_hash)) else {
            continue;
        };
        let message =
            format!("the expected value is computed with `{}`, as `{}` does it", expected.by, tested.name);
        found.push(
            Draft::new(Rule::TestReimplements, message)
                .hint()
                .about("test")
                .element(role(&expected.at, "computed again here"))
                .element(role(&tested.at, "the code under test")),
        );
    }
    found
}
