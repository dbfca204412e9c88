//! The answer for programs.

use std::collections::BTreeMap;

use belljar_quality::{
    Delta, Element, Excess, FileScore, Finding, Gate, Grade, Scorecard, Skip, Suppression,
};
use serde_json::{Value, json};

use super::git::Sides;

pub(super) fn card(card: &Scorecard, unknown: &BTreeMap<String, usize>, gate: &Gate) -> Value {
    let mut value = state(card);
    let files: Vec<Value> = card.files.iter().map(|one| file(one, gate)).collect();
    if let Value::Object(fields) = &mut value {
        fields.insert("files".to_owned(), Value::Array(files));
        fields.insert("unknown_languages".to_owned(), json!(unknown));
    }
    value
}

pub(super) fn delta(delta: &Delta, sides: &Sides) -> Value {
    let gate = Gate::default();
    let mut value = state(&delta.candidate);
    let files: Vec<Value> = delta.candidate.files.iter().map(|one| file(one, &gate)).collect();
    let change = json!({
        "base": sides.names.0,
        "head": sides.names.1,
        "quality": rounded(delta.quality),
        "change": rounded(delta.change),
        "new": delta.new.iter().map(finding).collect::<Vec<_>>(),
        "fixed": delta.fixed.iter().map(finding).collect::<Vec<_>>(),
        "neutral": delta.neutral.iter().map(finding).collect::<Vec<_>>(),
        "kept": delta.kept,
        "blocking": delta.blocking().count(),
        "new_complexity": delta.new_complexity.iter().map(excess).collect::<Vec<_>>(),
        "fixed_complexity": delta.fixed_complexity.iter().map(excess).collect::<Vec<_>>(),
        "new_suppressions": delta.new_suppressions.iter().map(suppression).collect::<Vec<_>>(),
        "excluded": delta.excluded.iter().map(skipped).collect::<Vec<_>>(),
    });
    if let Value::Object(fields) = &mut value {
        fields.insert("files".to_owned(), Value::Array(files));
        fields.insert("delta".to_owned(), change);
    }
    value
}

fn state(card: &Scorecard) -> Value {
    let score = card.score_of_all();
    json!({
        "findings": card.findings.iter().map(finding).collect::<Vec<_>>(),
        "debt": card.debt().value(),
        "score": rounded(score),
        "grade": Grade::of(score).letter(),
        "lines": card.lines(),
        "complexity": card.complexity.iter().map(excess).collect::<Vec<_>>(),
        "suppressions": card.suppressions.iter().map(suppression).collect::<Vec<_>>(),
        "suppressed": card.suppressed.iter().map(finding).collect::<Vec<_>>(),
        "skipped": card.skipped.iter().map(skipped).collect::<Vec<_>>(),
    })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "file": finding.file(),
        "line": finding.line(),
        "kind": finding.rule.kind().code(),
        "rule": finding.rule.name(),
        "confidence": finding.confidence.word(),
        "weight": finding.weight.value(),
        "severity": finding.weight.severity().word(),
        "message": finding.message,
        "why": finding.rule.why(),
        "mend": finding.rule.mend(),
        "fingerprint": format!("{:016x}", finding.fingerprint),
        "elements": finding.elements.iter().map(element).collect::<Vec<_>>(),
    })
}

fn element(element: &Element) -> Value {
    json!({"file": element.file, "line": element.line, "symbol": element.symbol, "role": element.role})
}

fn file(file: &FileScore, gate: &Gate) -> Value {
    let threshold = gate.threshold(&file.path);
    json!({
        "file": file.path,
        "language": file.lang.map(belljar_quality::Lang::name),
        "lines": file.lines,
        "score": rounded(file.score),
        "grade": file.grade().letter(),
        "debt": file.debt.value(),
        "findings": file.findings,
        "threshold": threshold,
        "passes": file.score >= threshold,
        "is_test": file.is_test,
        "is_broken": file.is_broken,
    })
}

fn excess(excess: &Excess) -> Value {
    json!({
        "file": excess.file,
        "line": excess.line,
        "symbol": excess.symbol,
        "measure": excess.measure.name(),
        "value": excess.value,
        "limit": excess.limit,
        "weight": excess.weight.value(),
    })
}

fn suppression(one: &Suppression) -> Value {
    json!({"file": one.file, "line": one.line, "rules": one.rules, "reason": one.reason, "matched": one.matched})
}

fn skipped((path, skip): &(String, Skip)) -> Value {
    json!({"file": path, "why": skip.word()})
}

/// To the thousandth: the rest is noise to whoever reads it.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}
