//! The answer for people: what, where, both ends, why it matters, how to mend it.

use std::{collections::BTreeMap, fmt::Write as _};

use belljar_quality::{
    Confidence, Delta, Excess, FileScore, Finding, Gate, Grade, Points, Rule, Scorecard, Severity, Skip,
};

use super::git::Sides;
use crate::output::{many, plain};

/// How many findings of a rule, and how many files, are shown unless all are asked for.
const FEW: usize = 5;
const RED: &str = "\x1b[31m";
const YELLOW: &str = "\x1b[33m";
const GREEN: &str = "\x1b[32m";
const BOLD: &str = "\x1b[1m";
const FAINT: &str = "\x1b[2m";

/// How a page is printed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page {
    pub(super) colour: bool,
    /// Everything, and not only the first of each.
    pub(super) all: bool,
}

impl Page {
    /// The code as it is.
    pub(super) fn card(self, card: &Scorecard, unknown: &BTreeMap<String, usize>, gate: &Gate) -> String {
        let mut page = String::new();
        if card.files.is_empty() {
            page.push_str("nothing to judge: no Python, JavaScript, TypeScript, Rust, Go or Java here\n");
            self.left_out(&mut page, &card.skipped, unknown);
            return page;
        }
        self.summary(&mut page, card);
        self.findings(&mut page, &card.findings);
        self.files(&mut page, &card.files, gate);
        self.complexity(&mut page, "hard to follow (complexity, in no score)", &card.complexity);
        self.suppressions(&mut page, "suppressed", &card.suppressions);
        self.left_out(&mut page, &card.skipped, unknown);
        page
    }

    /// What a change did.
    pub(super) fn delta(self, delta: &Delta, sides: &Sides) -> String {
        let mut page = String::new();
        let (base, head) = (plain(&sides.names.0), plain(&sides.names.1));
        let files = many(delta.candidate.files.len().max(delta.base.files.len()), "file");
        let verdict = match delta.change {
            change if change > 0.05 => self.paint(RED, "worse"),
            change if change < -0.05 => self.paint(GREEN, "better"),
            _ => "as it was".to_owned(),
        };
        let quality = self.paint(BOLD, &format!("{:.1}", delta.quality));
        say(
            &mut page,
            &format!(
                "quality {quality} of 100 (50 is no change): {verdict} by {:.1} points",
                delta.change.abs()
            ),
        );
        let fate = format!("{} new, {} gone, {} kept", delta.new.len(), delta.fixed.len(), delta.kept);
        say(&mut page, &self.paint(FAINT, &format!("{base} → {head} · {files} changed · {fate}")));
        if !delta.new.is_empty() {
            say(&mut page, &format!("\n{}", self.paint(BOLD, "New")));
            self.findings(&mut page, &delta.new);
        }
        self.gone(&mut page, "Gone", &delta.fixed);
        self.gone(
            &mut page,
            "Hidden, not gone: the value got a name that its own function uses once",
            &delta.neutral,
        );
        self.complexity(&mut page, "now hard to follow (complexity, counts half)", &delta.new_complexity);
        self.complexity(&mut page, "no longer hard to follow", &delta.fixed_complexity);
        self.suppressions(&mut page, "suppressions added", &delta.new_suppressions);
        self.left_out(&mut page, &delta.excluded, &BTreeMap::new());
        page
    }

    fn summary(self, page: &mut String, card: &Scorecard) {
        let score = card.score_of_all();
        let grade = Grade::of(score);
        let firm: Vec<&Finding> =
            card.findings.iter().filter(|finding| finding.confidence == Confidence::Firm).collect();
        let hints = card.findings.len() - firm.len();
        let letter = self.paint(tone(grade), &format!("{score:.1} {}", grade.letter()));
        let size = format!("{}, {}", many(card.files.len(), "file"), many(card.lines(), "line"));
        say(page, &format!("score {} · {} points of debt in {size}", self.paint(BOLD, &letter), card.debt()));
        let parts: Vec<String> = [Severity::Critical, Severity::High, Severity::Medium, Severity::Low]
            .into_iter()
            .map(|severity| {
                (severity, firm.iter().filter(|finding| finding.weight.severity() == severity).count())
            })
            .filter(|(_, number)| *number > 0)
            .map(|(severity, number)| format!("{number} {}", severity.word()))
            .collect();
        let detail = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        let aside = if hints > 0 && !self.all {
            format!(", and {} that --all shows", many(hints, "hint"))
        } else {
            String::new()
        };
        say(page, &self.paint(FAINT, &format!("{}{detail}{aside}", many(firm.len(), "finding"))));
    }

    /// By rule, the heaviest first: what is said about a rule is said once.
    fn findings(self, page: &mut String, findings: &[Finding]) {
        let mut rules: BTreeMap<Rule, Vec<&Finding>> = BTreeMap::new();
        for finding in findings.iter().filter(|finding| self.all || finding.confidence == Confidence::Firm) {
            rules.entry(finding.rule).or_default().push(finding);
        }
        let mut rules: Vec<(Rule, Vec<&Finding>)> = rules.into_iter().collect();
        rules.sort_by_key(|(rule, found)| (std::cmp::Reverse(sum(found)), *rule));
        for (rule, mut found) in rules {
            found.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
            let name = self.paint(BOLD, rule.name());
            let head =
                format!("{} · connascence of {} ({})", sum(&found), rule.kind().word(), rule.kind().code());
            say(page, &format!("\n{name}: {}  {}", rule.title(), self.paint(FAINT, &head)));
            say(page, &format!("  why   {}", rule.why()));
            say(page, &format!("  mend  {}", rule.mend()));
            let shown = if self.all { found.len() } else { FEW };
            for finding in found.iter().take(shown) {
                self.finding(page, finding);
            }
            if found.len() > shown {
                say(
                    page,
                    &self.paint(FAINT, &format!("  … and {} more; --all shows them", found.len() - shown)),
                );
            }
        }
    }

    fn finding(self, page: &mut String, finding: &Finding) {
        let severity = finding.weight.severity();
        let tone = match severity {
            Severity::Low => FAINT,
            Severity::Medium => YELLOW,
            Severity::High | Severity::Critical => RED,
        };
        let hint = if finding.confidence == Confidence::Provisional { ", a hint" } else { "" };
        let weight = self.paint(tone, &format!("{} {}{hint}", severity.word(), finding.weight));
        let place = format!("{}:{}", plain(finding.file()), finding.line());
        say(page, &format!("\n  {}  {weight}", self.paint(BOLD, &place)));
        say(page, &format!("    {}", plain(&finding.message)));
        if finding.elements.len() < 2 {
            return;
        }
        let places: Vec<String> = finding
            .elements
            .iter()
            .map(|element| format!("{}:{}", plain(&element.file), element.line))
            .collect();
        let width = places.iter().take(FEW).map(|place| place.chars().count()).max().unwrap_or(0);
        let shown = if self.all { places.len() } else { FEW };
        for (place, element) in places.iter().zip(&finding.elements).take(shown) {
            let symbol = if element.symbol.is_empty() {
                String::new()
            } else {
                format!(" ({})", plain(&element.symbol))
            };
            say(page, &self.paint(FAINT, &format!("    {place:width$}  {}{symbol}", element.role)));
        }
        if places.len() > shown {
            say(page, &self.paint(FAINT, &format!("    … and {} more places", places.len() - shown)));
        }
    }

    fn gone(self, page: &mut String, title: &str, findings: &[Finding]) {
        if findings.is_empty() {
            return;
        }
        say(page, &format!("\n{}", self.paint(BOLD, title)));
        let shown = if self.all { findings.len() } else { 2 * FEW };
        for finding in findings.iter().take(shown) {
            let place = format!("{}:{}", plain(finding.file()), finding.line());
            say(
                page,
                &format!(
                    "  {place}  {} {}  {}",
                    finding.rule.name(),
                    finding.weight,
                    plain(&finding.message)
                ),
            );
        }
        if findings.len() > shown {
            say(page, &self.paint(FAINT, &format!("  … and {} more", findings.len() - shown)));
        }
    }

    fn files(self, page: &mut String, files: &[FileScore], gate: &Gate) {
        let mut worst: Vec<&FileScore> = files.iter().filter(|file| file.findings > 0).collect();
        worst.sort_by(|a, b| a.score.total_cmp(&b.score).then_with(|| a.path.cmp(&b.path)));
        if worst.is_empty() {
            return;
        }
        say(page, &format!("\n{}", self.paint(BOLD, "files, the hardest to change first")));
        let shown = if self.all { worst.len() } else { 2 * FEW };
        for file in worst.iter().take(shown) {
            let grade = file.grade();
            let score = self.paint(tone(grade), &format!("{:5.1} {}", file.score, grade.letter()));
            let threshold = gate.threshold(&file.path);
            let below = if file.score < threshold {
                format!("  below its threshold of {threshold:.0}")
            } else {
                String::new()
            };
            let size = format!(
                "{} points, {} in {}",
                file.debt,
                many(file.findings, "finding"),
                many(file.lines, "line")
            );
            say(page, &format!("  {score}  {}  {}{below}", plain(&file.path), self.paint(FAINT, &size)));
        }
        if worst.len() > shown {
            say(page, &self.paint(FAINT, &format!("  … and {} more", worst.len() - shown)));
        }
        let broken: Vec<String> =
            files.iter().filter(|file| file.is_broken).map(|file| plain(&file.path)).collect();
        if !broken.is_empty() {
            let some = broken.iter().take(FEW).cloned().collect::<Vec<_>>().join(", ");
            say(page, &format!("\nparts of {} files do not parse and were left out: {some}", broken.len()));
        }
    }

    fn complexity(self, page: &mut String, title: &str, excesses: &[Excess]) {
        if excesses.is_empty() {
            return;
        }
        let mut worst: Vec<&Excess> = excesses.iter().collect();
        worst.sort_by_key(|excess| std::cmp::Reverse(excess.weight));
        say(page, &format!("\n{}", self.paint(BOLD, title)));
        let shown = if self.all { worst.len() } else { FEW };
        for excess in worst.iter().take(shown) {
            let what = match excess.measure.name() {
                "cyclomatic" => "ways through it",
                "nesting" => "blocks deep",
                "length" => "lines",
                _ => "methods",
            };
            let place = format!("{}:{}", plain(&excess.file), excess.line);
            say(
                page,
                &format!(
                    "  {place}  {}  {} {what}, {} are enough",
                    plain(&excess.symbol),
                    excess.value,
                    excess.limit
                ),
            );
        }
        if worst.len() > shown {
            say(page, &self.paint(FAINT, &format!("  … and {} more", worst.len() - shown)));
        }
    }

    fn suppressions(self, page: &mut String, title: &str, all: &[belljar_quality::Suppression]) {
        if all.is_empty() {
            return;
        }
        say(page, &format!("\n{}", self.paint(BOLD, title)));
        for one in all {
            let effect = match &one.reason {
                Some(reason) => format!("{} findings: {}", one.matched, plain(reason)),
                None => "no reason given, so it does nothing; write `belljar: allow RULE: reason`".to_owned(),
            };
            say(
                page,
                &format!("  {}:{}  {}  {effect}", plain(&one.file), one.line, plain(&one.rules.join(", "))),
            );
        }
    }

    fn left_out(self, page: &mut String, skipped: &[(String, Skip)], unknown: &BTreeMap<String, usize>) {
        let mut reasons: BTreeMap<Skip, usize> = BTreeMap::new();
        for (_, skip) in skipped {
            *reasons.entry(*skip).or_default() += 1;
        }
        let mut parts: Vec<String> =
            reasons.iter().map(|(skip, number)| format!("{number} {skip}")).collect();
        let others: usize = unknown.values().sum();
        if others > 0 {
            let mut kinds: Vec<(&String, &usize)> = unknown.iter().collect();
            kinds.sort_by_key(|(name, number)| (std::cmp::Reverse(**number), (*name).clone()));
            let named: Vec<String> =
                kinds.iter().take(FEW).map(|(name, number)| format!("{} {number}", plain(name))).collect();
            parts.push(format!("{others} in other languages ({})", named.join(", ")));
        }
        if !parts.is_empty() {
            say(page, &self.paint(FAINT, &format!("\nnot looked at: {}", parts.join(", "))));
        }
    }

    fn paint(self, tone: &str, text: &str) -> String {
        if self.colour { format!("{tone}{text}\x1b[0m") } else { text.to_owned() }
    }
}

fn tone(grade: Grade) -> &'static str {
    match grade {
        Grade::A | Grade::B => GREEN,
        Grade::C | Grade::D => YELLOW,
        Grade::F => RED,
    }
}

fn sum(findings: &[&Finding]) -> Points {
    findings.iter().map(|finding| finding.weight).sum()
}

/// How many of something.
fn say(page: &mut String, line: &str) {
    // Writing to a string does not fail.
    let _written = writeln!(page, "{line}");
}
