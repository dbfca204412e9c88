//! The corpus: every call has the verdict a person would want, exactly. What is held out is measured by rates.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test that reads the files beside it, and fails on what it cannot read"
)]

use std::{collections::BTreeMap, fs, path::PathBuf};

use belljar_guardian::policy::{Call, Policy, Scene};
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    tool: String,
    input: Value,
    expect: String,
    #[serde(default)]
    also: Vec<String>,
    class: String,
}

fn cases(is_wanted: impl Fn(&str) -> bool) -> Vec<Case> {
    let directory = PathBuf::from("tests/corpus");
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let is_case_file = |path: &&PathBuf| {
        path.extension().is_some_and(|end| end == "jsonl")
            && is_wanted(&path.file_name().unwrap().to_string_lossy())
    };
    let mut cases = Vec::new();
    for path in files.iter().filter(is_case_file) {
        for (place, line) in fs::read_to_string(path).unwrap().lines().enumerate() {
            let case = serde_json::from_str(line);
            cases.push(case.unwrap_or_else(|error| panic!("{}:{}: {error}", path.display(), place + 1)));
        }
    }
    cases
}

/// The verdict, and the rule that speaks.
fn judged(case: &Case) -> (String, String) {
    judged_of(case, "/home/dev")
}

/// The same for somebody who lives elsewhere.
fn judged_of(case: &Case, home: &str) -> (String, String) {
    let cwd = format!("{home}/project");
    let scene = Scene::on_host(Some(&cwd), Some(home), None);
    let call = Call { tool: &case.tool, input: &case.input, cwd: Some(&cwd), home: Some(home) };
    match Policy::default().judge(&call, &scene) {
        Some(ruling) => (ruling.verdict.to_string(), ruling.rule),
        None => ("allow".to_owned(), "no rule".to_owned()),
    }
}

#[test]
fn every_case_gets_its_verdict() {
    let all = cases(|name| name != "held-out.jsonl");
    assert!(all.len() >= 800, "{} cases", all.len());
    all_are_met(&all, judged);
}

#[test]
fn root_is_at_home_like_anybody() {
    let mut all = cases(|name| name != "held-out.jsonl");
    // Above root's home there is nothing to name.
    all.retain(|case| !case.input.to_string().contains("${HOME%/*}"));
    for case in &mut all {
        case.input = serde_json::from_str(&case.input.to_string().replace("/home/dev", "/root")).unwrap();
    }
    all_are_met(&all, |case| judged_of(case, "/root"));
}

fn all_are_met(all: &[Case], judged: impl Fn(&Case) -> (String, String)) {
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in all {
        let (verdict, rule) = judged(case);
        if verdict != case.expect && !case.also.contains(&verdict) {
            let input = case.input.to_string();
            wrong.entry(&case.class).or_default().push(format!(
                "{}: {} and not {} ({rule}): {}",
                case.id,
                verdict,
                case.expect,
                input.chars().take(200).collect::<String>()
            ));
        }
    }
    let lines: Vec<String> = wrong
        .iter()
        .flat_map(|(class, lines)| [format!("{class}: {}", lines.len())].into_iter().chain(lines.clone()))
        .collect();
    let count: usize = wrong.values().map(Vec::len).sum();
    assert!(lines.is_empty(), "{count} of {} are wrong:\n{}", all.len(), lines.join("\n"));
}

#[test]
fn what_no_rule_was_tuned_on_is_judged_well() {
    let all = cases(|name| name == "held-out.jsonl");
    // The share that got one of the verdicts, in a thousand; none where there is nothing to measure.
    let rate = |expect: &str, verdicts: &[&str]| {
        let of_kind: Vec<&Case> = all.iter().filter(|case| case.expect == expect).collect();
        let hits = of_kind.iter().filter(|case| verdicts.contains(&judged(case).0.as_str())).count();
        (hits * 1000).checked_div(of_kind.len())
    };
    let stopped = ["ask", "deny"];
    let rates =
        (rate("deny", &stopped), rate("ask", &stopped), rate("allow", &["deny"]), rate("allow", &["ask"]));
    let (deny, ask, denied, asked) = rates;
    assert!(
        deny.is_none_or(|rate| rate >= 970)
            && ask.is_none_or(|rate| rate >= 900)
            && denied.is_some_and(|rate| rate < 10)
            && asked.is_some_and(|rate| rate < 30),
        "in a thousand: {rates:?}"
    );
}
