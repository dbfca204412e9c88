//! The answer as SARIF 2.1.0, which code scanning reads.

use belljar_quality::{Confidence, Element, Finding, Rule, Severity};
use serde_json::{Value, json};

pub(super) fn log(findings: &[Finding], suppressed: &[Finding]) -> Value {
    let open = findings.iter().map(result);
    let closed = suppressed.iter().map(|finding| {
        let mut value = result(finding);
        if let Value::Object(fields) = &mut value {
            fields.insert("suppressions".to_owned(), json!([{"kind": "inSource"}]));
        }
        value
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "belljar",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": Rule::ALL.iter().map(|rule| descriptor(*rule)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {"ROOT": {"description": {"text": "What belljar was asked to judge."}}},
            "results": open.chain(closed).collect::<Vec<_>>(),
        }],
    })
}

fn descriptor(rule: Rule) -> Value {
    json!({
        "id": rule.name(),
        "shortDescription": {"text": sentence(rule.title())},
        "fullDescription": {"text": sentence(rule.why())},
        "help": {"text": sentence(rule.mend())},
        "properties": {"kind": rule.kind().code(), "tags": ["connascence", rule.kind().word()]},
    })
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

fn result(finding: &Finding) -> Value {
    let related: Vec<Value> =
        (1..).zip(finding.elements.iter().skip(1)).map(|(id, element)| related(id, element)).collect();
    json!({
        "ruleId": finding.rule.name(),
        "ruleIndex": finding.rule as usize,
        "level": level(finding),
        "message": {"text": sentence(&finding.message)},
        "locations": finding.elements.first().map(|element| json!({"physicalLocation": place(element)})).into_iter().collect::<Vec<_>>(),
        "relatedLocations": related,
        "partialFingerprints": {"belljarFingerprint/v1": format!("{:016x}", finding.fingerprint)},
        "properties": {"confidence": finding.confidence.word(), "weight": finding.weight.value()},
    })
}

fn level(finding: &Finding) -> &'static str {
    match (finding.confidence, finding.weight.severity()) {
        (Confidence::Provisional, _) | (_, Severity::Low) => "note",
        (Confidence::Firm, Severity::Medium) => "warning",
        (Confidence::Firm, Severity::High | Severity::Critical) => "error",
    }
}

fn related(id: u32, element: &Element) -> Value {
    json!({"id": id, "physicalLocation": place(element), "message": {"text": sentence(&element.role)}})
}

fn place(element: &Element) -> Value {
    json!({
        "artifactLocation": {"uri": uri(&element.file), "uriBaseId": "ROOT"},
        "region": {"startLine": element.line},
    })
}

/// A path as a relative reference: what has a meaning in one is written as its bytes.
fn uri(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(byte));
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}
