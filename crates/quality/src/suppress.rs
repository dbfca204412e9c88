//! Suppressions: a comment `belljar: allow RULE: reason` takes findings off its own line and the next one.
//!
//! Without a reason it does nothing, and is listed as such: whoever reads a report sees what was left out, and why.

use crate::{
    file::File,
    finding::Finding,
    tree::{Id, Kind},
};

/// A comment that takes findings out of the count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppression {
    /// Its file.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// The rules or kinds it names, as written.
    pub rules: Vec<String>,
    /// Why. Without one it has no effect.
    pub reason: Option<String>,
    /// How many findings it took out.
    pub matched: usize,
    /// The last line it is about.
    until: u32,
}

const MARK: &str = "belljar: allow ";

pub(crate) fn all(file: &File<'_>) -> Vec<Suppression> {
    file.tree.all(Kind::Comment).iter().filter_map(|id| read(file, *id)).collect()
}

fn read(file: &File<'_>, id: Id) -> Option<Suppression> {
    let tree = &file.tree;
    let (_, said) = tree.text(id).split_once(MARK)?;
    let said = said.trim_end_matches("*/").trim();
    let (rules, reason) =
        said.split_once(':').map_or((said, None), |(rules, reason)| (rules, Some(reason.trim())));
    let rules =
        rules.split([',', ' ']).map(str::trim).filter(|rule| !rule.is_empty()).map(str::to_owned).collect();
    Some(Suppression {
        file: file.path.to_owned(),
        line: tree.line(id),
        rules,
        reason: reason.filter(|reason| reason.chars().count() >= 3).map(str::to_owned),
        matched: 0,
        until: tree.last_line(id) + 1,
    })
}

impl Suppression {
    /// Whether it takes a finding out: one of the finding's places is at its side.
    pub(crate) fn covers(&self, finding: &Finding) -> bool {
        let names = self.rules.iter().any(|rule| {
            rule == finding.rule.name()
                || rule.eq_ignore_ascii_case(finding.rule.kind().code())
                || rule == "all"
        });
        let is_here = finding
            .elements
            .iter()
            .any(|element| element.file == self.file && (self.line..=self.until).contains(&element.line));
        self.reason.is_some() && names && is_here
    }
}
