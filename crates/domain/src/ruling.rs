//! The answer to a call, and how bad the call could turn out.

use serde::{Deserialize, Serialize};

use crate::word::words;

words! {
    /// The answer to a call; the strictest finding wins.
    Verdict, "verdict" {
        /// It may run.
        Allow = "allow",
        /// A person decides.
        Ask = "ask",
        /// It never runs.
        Deny = "deny",
    }
}

words! {
    /// How bad a call could turn out.
    Risk, "risk" {
        /// Harmless, or easily undone.
        Low = "low",
        /// Changes something of its owner's.
        Medium = "medium",
        /// Hard to undo.
        High = "high",
        /// Beyond repair.
        Critical = "critical",
    }
}

/// A verdict with its risk and its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// Yes, no, or let a person say.
    pub verdict: Verdict,
    /// How bad the call could turn out.
    pub risk: Risk,
    /// The rule that says so.
    pub rule: String,
    /// Why, in words for the model and the user.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_is_the_greatest() {
        assert_eq!([Verdict::Ask, Verdict::Deny, Verdict::Allow].iter().max(), Some(&Verdict::Deny));
        assert!(Risk::Low < Risk::Medium && Risk::High < Risk::Critical);
    }

    #[test]
    fn words_survive_their_text_and_others_are_named() {
        for verdict in Verdict::ALL {
            assert_eq!(verdict.as_str().parse(), Ok(*verdict));
        }
        let error = "maybe".parse::<Verdict>().unwrap_err().to_string();
        assert_eq!(error, "`maybe` is not a verdict; it is one of allow ask deny");
    }
}
