//! What a probe found, in memory and as one line of JSON.

use serde::{Deserialize, Serialize};

/// A probe's finding.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Verdict {
    /// Whether the promise held.
    pub contained: bool,
    /// What was tried and what the kernel said.
    pub detail: String,
}

impl Verdict {
    /// The promise held.
    pub fn contained(detail: impl Into<String>) -> Self {
        Self { contained: true, detail: detail.into() }
    }

    /// The promise was broken.
    pub fn escaped(detail: impl Into<String>) -> Self {
        Self { contained: false, detail: detail.into() }
    }

    /// The probe could not tell. What is not known to be contained is not.
    pub fn unknown(detail: impl Into<String>) -> Self {
        Self::escaped(format!("cannot tell: {}", detail.into()))
    }

    /// Judges several attempts at once: broken if any came through.
    #[must_use]
    pub fn of(attempts: Vec<Attempt>) -> Self {
        let (through, stopped): (Vec<_>, Vec<_>) = attempts.into_iter().partition(|attempt| attempt.through);
        let contained = through.is_empty();
        let all = if contained { stopped } else { through };
        let more = all.len().saturating_sub(SHOWN);
        let mut detail =
            all.into_iter().take(SHOWN).map(|attempt| attempt.text).collect::<Vec<_>>().join("; ");
        if more > 0 {
            detail.push_str(&format!("; and {more} more"));
        }
        if detail.is_empty() {
            detail.push_str("nothing there to try");
        }
        Self { contained, detail }
    }
}

/// How many attempts a detail spells out.
const SHOWN: usize = 8;

/// One thing a probe tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    through: bool,
    text: String,
}

impl Attempt {
    /// It worked.
    pub fn through(text: impl Into<String>) -> Self {
        Self { through: true, text: text.into() }
    }

    /// It was refused, or there was nothing to reach.
    pub fn stopped(text: impl Into<String>) -> Self {
        Self { through: false, text: text.into() }
    }

    /// Judges a result: any success is through, any error is stopped.
    pub fn judge<T, E: std::fmt::Display>(what: &str, result: Result<T, E>) -> Self {
        match result {
            Ok(_) => Self::through(format!("{what}: worked")),
            Err(error) => Self::stopped(format!("{what}: {error}")),
        }
    }

    /// What was tried and what came of it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it worked.
    #[must_use]
    pub fn is_through(&self) -> bool {
        self.through
    }
}

/// A finding with its name, as printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Report {
    /// The probe's name.
    pub probe: String,
    /// What a sandbox promises, in words.
    pub promise: String,
    /// Whether the promise held.
    pub contained: bool,
    /// What was tried and what the kernel said.
    pub detail: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_out_is_enough_to_break_a_promise() {
        let verdict = Verdict::of(vec![Attempt::stopped("door: EPERM"), Attempt::through("window: worked")]);
        assert_eq!(verdict, Verdict::escaped("window: worked"));
    }

    #[test]
    fn long_details_are_cut_with_a_count() {
        let verdict = Verdict::of((0..10).map(|n| Attempt::stopped(format!("{n}"))).collect());
        assert_eq!(verdict, Verdict::contained("0; 1; 2; 3; 4; 5; 6; 7; and 2 more"));
    }
}
