//! The labelled fixtures: what must be flagged is, what must not be is not, and nothing else is found.
//!
//! A label is a comment at the end of a line: `flag: CoM coded-value`, or `fine: CoM`. A finding is at a line if any of
//! its elements is. Each file is judged alone, those in `together` with the others of their folder. Rust is kept as text,
//! so that nobody takes it for ours.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that cannot be set up must fail")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use belljar_quality::{Lang, Scorecard, Sheet, Source};

#[derive(Debug)]
struct Label {
    file: String,
    line: u32,
    kind: String,
    rule: Option<String>,
    must: bool,
}

fn root() -> PathBuf {
    PathBuf::from("tests/labelled")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// Sets of files that are judged at once.
fn projects() -> Vec<Vec<(String, String)>> {
    let mut projects = Vec::new();
    for folder in entries(&root()) {
        if folder.ends_with("together") {
            for project in entries(&folder) {
                let mut files = Vec::new();
                collect(&project, &project, &mut files);
                projects.push(files);
            }
        } else {
            let language = folder.file_name().unwrap().to_string_lossy().into_owned();
            projects.extend(entries(&folder).into_iter().map(|path| {
                let name = path.file_name().unwrap().to_string_lossy().replace(".rs.txt", ".rs");
                vec![(format!("{language}/{name}"), fs::read_to_string(&path).unwrap())]
            }));
        }
    }
    projects
}

fn collect(base: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    for path in entries(folder) {
        if path.is_dir() {
            collect(base, &path, files);
        } else {
            let name = path.strip_prefix(base).unwrap().to_string_lossy().into_owned();
            files.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

fn labels(file: &str, text: &str) -> Vec<Label> {
    let mut found = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        for (mark, must) in [("flag: ", true), ("fine: ", false)] {
            for (at, _) in text.match_indices(mark) {
                let mut words = text[at + mark.len()..].split_whitespace();
                let kind = words.next().unwrap().to_owned();
                let rule = words.next().map(str::to_owned).filter(|_| must);
                found.push(Label { file: file.to_owned(), line, kind, rule, must });
            }
        }
    }
    found
}

#[test]
fn labels_are_met() {
    let (mut must, mut must_not, mut missed, mut wrong) = (0, 0, Vec::new(), Vec::new());
    let mut languages: BTreeMap<&str, usize> = BTreeMap::new();
    for project in projects() {
        let sources = project.iter().map(|(path, text)| Source { path, text });
        let card = Scorecard::of(sources.map(|source| Sheet::read(&source)).collect());
        assert!(card.skipped.is_empty(), "{:?}", card.skipped);
        assert!(card.files.iter().all(|file| !file.is_broken), "a fixture does not parse: {:?}", card.files);
        let labels: Vec<Label> = project.iter().flat_map(|(path, text)| labels(path, text)).collect();
        for label in &labels {
            *languages.entry(Lang::of(&label.file).unwrap().name()).or_default() += 1;
            let is_there = card.findings.iter().any(|finding| {
                finding.rule.kind().code() == label.kind
                    && label.rule.as_deref().is_none_or(|rule| rule == finding.rule.name())
                    && finding.elements.iter().any(|at| (at.line, &at.file) == (label.line, &label.file))
            });
            match (label.must, is_there) {
                (true, true) => must += 1,
                (false, false) => must_not += 1,
                (true, false) => missed.push(format!("missed {label:?}")),
                (false, true) => wrong.push(format!("not to be flagged {label:?}")),
            }
        }
        for finding in &card.findings {
            let is_labelled = labels.iter().any(|label| {
                label.must
                    && label.kind == finding.rule.kind().code()
                    && finding.elements.iter().any(|at| (at.line, &at.file) == (label.line, &label.file))
            });
            if !is_labelled {
                wrong.push(format!(
                    "{}:{} {} {}",
                    finding.file(),
                    finding.line(),
                    finding.rule.name(),
                    finding.message
                ));
            }
        }
    }
    let all = must + missed.len() + must_not;
    println!("{must} of {} found, {must_not} left alone; {languages:?}", must + missed.len());
    for miss in &missed {
        println!("{miss}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(all >= 200, "{all} labels");
    assert!(must * 100 >= 95 * (must + missed.len()), "{}", missed.join("\n"));
    assert_eq!(languages.len(), 6, "{languages:?}");
    // All of ours are met today; a miss is a step back even where the bar would allow it.
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
