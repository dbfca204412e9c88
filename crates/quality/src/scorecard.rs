//! The scorecard of one state of code: all findings, a score and a grade for every file.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    classify::Skip,
    complexity::Excess,
    facts::Facts,
    finding::{Draft, Finding, Points},
    lang::Lang,
    project,
    sheet::Sheet,
    suppress::Suppression,
};

/// What is known about a set of files.
#[derive(Debug, Default)]
pub struct Scorecard {
    /// By file and line.
    pub findings: Vec<Finding>,
    /// Findings a suppression took out.
    pub suppressed: Vec<Finding>,
    /// Functions and types that are over a limit.
    pub complexity: Vec<Excess>,
    /// Every file that was read, by path.
    pub files: Vec<FileScore>,
    /// Every file that was left out, and why.
    pub skipped: Vec<(String, Skip)>,
    /// Every suppression, whether it has an effect or not.
    pub suppressions: Vec<Suppression>,
    /// Functions' own names for literals they use once.
    pub(crate) local_constants: Vec<(String, String)>,
    /// What the bodies of functions say, whatever their layout.
    pub(crate) codes: BTreeSet<u64>,
}

/// One file's score.
#[derive(Debug, Clone)]
pub struct FileScore {
    /// Its path.
    pub path: String,
    /// Its language.
    pub lang: Option<Lang>,
    /// Lines that say something.
    pub lines: usize,
    /// Whether it holds tests.
    pub is_test: bool,
    /// Whether parts of it do not parse; they were left out.
    pub is_broken: bool,
    /// The points of its findings.
    pub debt: Points,
    /// How many findings there are.
    pub findings: usize,
    /// From 0 to 100.
    pub score: f64,
}

impl FileScore {
    /// Its score as a letter.
    #[must_use]
    pub fn grade(&self) -> Grade {
        Grade::of(self.score)
    }
}

/// A score as a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Grade {
    /// From 90.
    A,
    /// From 80.
    B,
    /// From 70.
    C,
    /// From 60.
    D,
    /// Below.
    F,
}

impl Grade {
    /// The letter of a score.
    #[must_use]
    pub fn of(score: f64) -> Self {
        match score {
            score if score >= 90.0 => Self::A,
            score if score >= 80.0 => Self::B,
            score if score >= 70.0 => Self::C,
            score if score >= 60.0 => Self::D,
            _ => Self::F,
        }
    }

    /// The letter.
    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
            Self::F => "F",
        }
    }
}

/// Points per hundred lines as a score: never 0, never past 100, and ten points per hundred lines are 70.
#[must_use]
pub fn score(debt: Points, lines: usize) -> f64 {
    let lines = u32::try_from(lines.max(50)).unwrap_or(u32::MAX);
    let density = 100.0 * debt.value() / f64::from(lines);
    100.0 / (1.0 + density / 23.3)
}

impl Scorecard {
    /// Puts files together. Their order does not matter.
    #[must_use]
    pub fn of(mut sheets: Vec<Sheet>) -> Self {
        sheets.sort_by(|a, b| a.path.cmp(&b.path));
        let facts: Vec<&Facts> = sheets.iter().map(|sheet| &sheet.facts).collect();
        let joint: Vec<Finding> = project::find(&facts).into_iter().map(Draft::finish).collect();
        let mut card = Self::default();
        for sheet in &mut sheets {
            card.findings.append(&mut sheet.findings);
            card.complexity.append(&mut sheet.excesses);
            card.suppressions.append(&mut sheet.suppressions);
            let named = sheet
                .facts
                .local_constants
                .iter()
                .map(|constant| (constant.symbol.clone(), constant.literal.clone()));
            card.local_constants.extend(named);
            card.codes.extend(sheet.facts.bodies.iter().map(|body| body.renamed));
        }
        card.findings.extend(joint);
        card.sort();
        card.suppress();
        card.score(&sheets);
        card
    }

    fn sort(&mut self) {
        self.findings.sort_by(|a, b| {
            (a.file(), a.line(), a.rule, &a.elements, &a.message).cmp(&(
                b.file(),
                b.line(),
                b.rule,
                &b.elements,
                &b.message,
            ))
        });
        self.complexity.sort_by(|a, b| (&a.file, a.line, a.measure).cmp(&(&b.file, b.line, b.measure)));
    }

    fn suppress(&mut self) {
        let mut by_file: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, suppression) in self.suppressions.iter().enumerate() {
            by_file.entry(suppression.file.clone()).or_default().push(at);
        }
        let findings = std::mem::take(&mut self.findings);
        for finding in findings {
            let near =
                finding.elements.iter().filter_map(|element| by_file.get(&element.file)).flatten().copied();
            let found = near
                .into_iter()
                .find(|at| self.suppressions.get(*at).is_some_and(|one| one.covers(&finding)));
            match found.and_then(|at| self.suppressions.get_mut(at)) {
                Some(suppression) => {
                    suppression.matched += 1;
                    self.suppressed.push(finding);
                }
                None => self.findings.push(finding),
            }
        }
    }

    fn score(&mut self, sheets: &[Sheet]) {
        let mut debts: BTreeMap<&str, (Points, usize)> = BTreeMap::new();
        for finding in &self.findings {
            // Whoever is bound together carries it together; which file comes first says nothing.
            let files: BTreeSet<&str> =
                finding.elements.iter().map(|element| element.file.as_str()).collect();
            let shares = u64::try_from(files.len().max(1)).unwrap_or(u64::MAX);
            for file in files {
                let rest = if file == finding.file() { finding.weight.0 % shares } else { 0 };
                let (debt, count) = debts.entry(file).or_default();
                *debt = Points(debt.0 + finding.weight.0 / shares + rest);
                *count += 1;
            }
        }
        for sheet in sheets {
            if let Some(skip) = sheet.skip {
                self.skipped.push((sheet.path.clone(), skip));
                continue;
            }
            let (debt, findings) = debts.get(sheet.path.as_str()).copied().unwrap_or_default();
            self.files.push(FileScore {
                path: sheet.path.clone(),
                lang: sheet.lang,
                lines: sheet.lines,
                is_test: sheet.is_test,
                is_broken: sheet.broken,
                debt,
                findings,
                score: score(debt, sheet.lines),
            });
        }
    }

    /// The points of all findings.
    #[must_use]
    pub fn debt(&self) -> Points {
        self.findings.iter().map(|finding| finding.weight).sum()
    }

    /// Lines of all files that were read.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.files.iter().map(|file| file.lines).sum()
    }

    /// The score of all files together.
    #[must_use]
    pub fn score_of_all(&self) -> f64 {
        score(self.debt(), self.lines())
    }
}
