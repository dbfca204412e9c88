//! Suggestions: the narrowest rule that would let a call pass which was denied or asked about.
//!
//! Owns: the rule and its text. Refuses: to put it into force; a person does, or nobody.

use belljar_domain::Verdict;
use serde_json::Value;

use super::{
    Policy, Scene,
    call::Call,
    findings::Fate,
    rule::{Examples, Rule},
};

/// The longest name of a suggested rule.
const LONG: usize = 48;
/// What is run in a sandbox; what is fine there may not be on the host.
const SANDBOX: &str = "SandboxExec";

impl Policy {
    /// The narrowest rule that lets a call pass; none when it passes as it is, or when nothing a rule of the user can
    /// say would let it.
    #[must_use]
    pub fn suggest(&self, call: &Call<'_>, scene: &Scene) -> Option<Rule> {
        let before = self.explain(call, scene);
        let ruling = before.ruling.filter(|ruling| ruling.verdict != Verdict::Allow)?;
        let (pattern, example) = narrowest(call)?;
        let mut despite: Vec<String> = Vec::new();
        for finding in before.findings.iter().filter(|finding| finding.fate == Fate::Counts) {
            let must_be_named = match finding.verdict {
                Verdict::Allow => false,
                Verdict::Ask => !finding.is_relaxable(),
                Verdict::Deny => true,
            };
            if must_be_named && !despite.contains(&finding.rule) {
                despite.push(finding.rule.clone());
            }
        }
        let rule = Rule {
            name: named(&example),
            patterns: vec![pattern],
            effect: Vec::new(),
            verdict: Verdict::Allow,
            perhaps: None,
            risk: Some(ruling.risk),
            reason: None,
            instead: None,
            contained: None,
            despite,
            tags: Vec::new(),
            examples: Examples { matching: vec![example], pass: Vec::new() },
        };
        let with = Self { rules: self.rules.iter().cloned().chain([rule.clone()]).collect(), ..self.clone() };
        let is_enough = with.judge(call, scene).is_none_or(|ruling| ruling.verdict == Verdict::Allow);
        (is_enough && with.check().is_ok()).then_some(rule)
    }
}

/// The pattern that matches this call and as little else as can be said, and what stands in it.
fn narrowest(call: &Call<'_>) -> Option<(String, String)> {
    if let Some(line) = call.command() {
        // A star would stand for anything.
        let tool = if call.tool == SANDBOX { SANDBOX } else { "Bash" };
        return (!line.contains('*')).then(|| (format!("{tool}({})", line.trim()), line.trim().to_owned()));
    }
    if let Some(host) = call.host() {
        let url = call.input.get("url").and_then(Value::as_str).unwrap_or_default();
        return Some((format!("WebFetch(domain:{host})"), url.to_owned()));
    }
    let path = call.paths().first().map(|path| super::resolved(path, call.cwd, call.home))?;
    let tool = ["Read", "Edit", "Grep"].into_iter().find(|tool| call.is_of(tool)).unwrap_or(call.tool);
    Some((format!("{tool}(/{path})"), path))
}

fn named(example: &str) -> String {
    let mut name = String::from("allow");
    for word in example.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if name.len() + word.len() > LONG {
            break;
        }
        name.push('-');
        name.push_str(&word.to_ascii_lowercase());
    }
    name
}

impl Rule {
    /// It as it would stand in guardian.toml.
    #[must_use]
    pub fn text(&self) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let list = |texts: &[String]| texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ");
        let mut lines = vec!["[[rule]]".to_owned(), format!("name = {}", quoted(&self.name))];
        match self.patterns.as_slice() {
            [] => {}
            [one] => lines.push(format!("match = {}", quoted(one))),
            many => lines.push(format!("match = [{}]", list(many))),
        }
        lines.push(format!("verdict = {}", quoted(self.verdict.as_str())));
        if let Some(risk) = self.risk {
            lines.push(format!("risk = {}", quoted(risk.as_str())));
        }
        if !self.despite.is_empty() {
            lines.push(format!("despite = [{}]", list(&self.despite)));
        }
        if !self.examples.matching.is_empty() {
            lines.push(format!("examples = {{ match = [{}] }}", list(&self.examples.matching)));
        }
        lines.join("\n") + "\n"
    }
}
