//! A finding: elements that must change together, how sure that is, and what it weighs.

use std::fmt;

use crate::{catalogue::Rule, fingerprint::Hash};

/// How much can be seen in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Confidence {
    /// A hint: weighs little, and blocks nothing.
    Provisional,
    /// A named idiom with its ends in sight.
    Firm,
}

impl Confidence {
    /// As reports say it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Provisional => "provisional",
            Self::Firm => "firm",
        }
    }
}

/// Points, counted in thousandths so that sums are exact in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Points(pub u64);

impl Points {
    /// In points.
    #[must_use]
    pub fn value(self) -> f64 {
        // Far below 2^52 thousandths, so nothing is lost.
        u32::try_from(self.0).map_or(f64::from(u32::MAX), f64::from) / 1000.0
    }

    /// How bad that is, for people.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self.0 {
            ..2000 => Severity::Low,
            2000..5000 => Severity::Medium,
            5000..10_000 => Severity::High,
            _ => Severity::Critical,
        }
    }
}

impl std::iter::Sum for Points {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        Self(all.map(|points| points.0).sum())
    }
}

impl fmt::Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1}", self.value())
    }
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Below 2 points.
    Low,
    /// Below 5.
    Medium,
    /// Below 10.
    High,
    /// From 10 on.
    Critical,
}

impl Severity {
    /// As reports say it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// One of the places bound together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Element {
    /// Its file.
    pub file: String,
    /// Its line, from one.
    pub line: u32,
    /// The function or type it is in; empty at the top of a file.
    pub symbol: String,
    /// What it is to the others.
    pub role: String,
}

/// Something that binds places together.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Which rule found it.
    pub rule: Rule,
    /// How sure it is.
    pub confidence: Confidence,
    /// What it weighs.
    pub weight: Points,
    /// What was found, in a sentence.
    pub message: String,
    /// The places; the first is where it is reported.
    pub elements: Vec<Element>,
    /// The same wherever it moves and however it is laid out.
    pub fingerprint: u64,
    /// The same under other names, too.
    pub(crate) shape: u64,
    /// The value it is about, where it is about one.
    pub(crate) literal: Option<String>,
}

impl Finding {
    /// The file it is reported in.
    #[must_use]
    pub fn file(&self) -> &str {
        self.elements.first().map_or("", |element| element.file.as_str())
    }

    /// The line it is reported at.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.elements.first().map_or(1, |element| element.line)
    }
}

/// A finding in the making.
#[derive(Debug)]
pub(crate) struct Draft {
    rule: Rule,
    /// In thousandths.
    sure: u64,
    message: String,
    elements: Vec<Element>,
    /// What it is about, without names and layout.
    essence: String,
    literal: Option<String>,
    degree: Degree,
    /// Another end is out of sight: it is not all in one function, whatever is shown of it.
    is_open: bool,
}

/// How many places are bound together.
#[derive(Debug, Clone, Copy)]
enum Degree {
    Counted,
    /// In thousandths, by a scale of the rule's own.
    Scaled(u64),
}

impl Draft {
    pub(crate) fn new(rule: Rule, message: String) -> Self {
        Self {
            rule,
            sure: 1000,
            message,
            elements: Vec::new(),
            essence: String::new(),
            literal: None,
            degree: Degree::Counted,
            is_open: false,
        }
    }

    /// How sure the rule is, in thousandths. 400 and less is a hint.
    pub(crate) fn sure(mut self, sure: u64) -> Self {
        self.sure = sure;
        self
    }

    pub(crate) fn hint(self) -> Self {
        self.sure(400)
    }

    pub(crate) fn scaled(mut self, degree: u64) -> Self {
        self.degree = Degree::Scaled(degree);
        self
    }

    pub(crate) fn open_ended(mut self) -> Self {
        self.is_open = true;
        self
    }

    /// What tells it from another finding of the same rule in the same place, whatever it is named.
    pub(crate) fn about(mut self, essence: impl Into<String>) -> Self {
        self.essence = essence.into();
        self
    }

    pub(crate) fn literal(mut self, literal: impl Into<String>) -> Self {
        self.literal = Some(literal.into());
        self
    }

    pub(crate) fn element(mut self, element: Element) -> Self {
        self.elements.push(element);
        self
    }

    pub(crate) fn elements(self, all: impl IntoIterator<Item = Element>) -> Self {
        all.into_iter().fold(self, Self::element)
    }

    pub(crate) fn finish(self) -> Finding {
        let degree = match self.degree {
            Degree::Counted => degree_factor(self.elements.len()),
            Degree::Scaled(factor) => factor,
        };
        let nearest = if self.is_open { 1000 } else { 500 };
        let distance = locality(&self.elements).max(nearest);
        let weight = self.rule.kind().base() * distance * degree / 1_000_000 * self.sure / 1000;
        let mut shape = Hash::new();
        shape.text(self.rule.name()).text(&self.essence);
        let mut named = shape;
        let mut symbols: Vec<(&str, &str)> =
            self.elements.iter().map(|element| (element.symbol.as_str(), element.role.as_str())).collect();
        symbols.sort_unstable();
        for (symbol, _) in symbols {
            named.text(symbol);
        }
        Finding {
            rule: self.rule,
            confidence: if self.sure <= 400 { Confidence::Provisional } else { Confidence::Firm },
            weight: Points(weight),
            message: self.message,
            elements: self.elements,
            fingerprint: named.value(),
            shape: shape.value(),
            literal: self.literal,
        }
    }
}

/// `1 + min(2, log2(n / 2))`, in thousandths. One place has its other end out of sight.
fn degree_factor(places: usize) -> u64 {
    let places = u32::try_from(places.clamp(2, 8)).unwrap_or(8);
    let factor = 1.0 + (f64::from(places) / 2.0).log2().min(2.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1,000 and 3,000")]
    let thousandths = (factor * 1000.0).round() as u64;
    thousandths
}

/// How far apart the places are, in thousandths.
fn locality(elements: &[Element]) -> u64 {
    let Some((first, rest)) = elements.split_first() else { return 1000 };
    if rest.is_empty() {
        return 1000;
    }
    let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned()).unwrap_or_default();
    if rest.iter().any(|other| folder(&other.file) != folder(&first.file)) {
        2000
    } else if rest.iter().any(|other| other.file != first.file) {
        1500
    } else if rest.iter().any(|other| other.symbol != first.symbol) || first.symbol.is_empty() {
        1000
    } else {
        500
    }
}
