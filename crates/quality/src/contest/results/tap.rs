//! The Test Anything Protocol: `ok 1 - name`, `not ok 2 - name`, `ok 3 - name # SKIP`; Node's own runner speaks it.

use super::{Format, Outcome, Results, Tally};

pub(super) fn read(text: &str) -> Option<Results> {
    let start = text.find("TAP version 1")?;
    let text = text.get(start..)?;
    let mut tally = Tally::default();
    let mut path: Vec<(usize, &str)> = Vec::new();
    for line in text.lines() {
        let said = line.trim_start();
        let depth = line.len() - said.len();
        if let Some(name) = said.strip_prefix("# Subtest: ") {
            path.retain(|(at, _)| *at < depth);
            path.push((depth, name));
            continue;
        }
        let Some((name, outcome)) = point(said) else { continue };
        let groups = path.iter().filter(|(at, _)| *at < depth).map(|(_, group)| *group);
        let id = groups.chain([name]).collect::<Vec<_>>().join(" > ");
        tally.add(&id, outcome);
    }
    let has_plan = text.lines().any(|line| line.starts_with("1.."));
    has_plan.then(|| tally.finish(Format::Tap))
}

fn point(line: &str) -> Option<(&str, Outcome)> {
    let (rest, is_ok) = match line.strip_prefix("not ok ") {
        Some(rest) => (rest, false),
        None => (line.strip_prefix("ok ")?, true),
    };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().trim_start_matches("- ");
    let (name, directive) = rest.rsplit_once(" # ").unwrap_or((rest, ""));
    let is_off = directive.starts_with("SKIP") || directive.starts_with("TODO");
    let outcome = match (is_off, is_ok) {
        (true, _) => Outcome::Skipped,
        (_, true) => Outcome::Passed,
        _ => Outcome::Failed,
    };
    Some((if is_off { name } else { rest }, outcome))
}
