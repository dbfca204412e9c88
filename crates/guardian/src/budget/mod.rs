//! Budgets: what a call is likely to cost, how a limit is written, and what is said to whoever reached one.
//!
//! Owns: arithmetic in whole numbers and the words. Refuses: to remember; what was spent comes in as data.

use std::fmt::Write as _;

use belljar_domain::{
    Amount, Budget, BudgetPeriod, BudgetStep, Day, Limit, Risk, Ruling, Timestamp, Usd, Verdict,
};

use crate::policy::Call;

/// What a token costs when nothing better is known: 3 dollars a million.
const MICROS_PER_TOKEN: u64 = 3;
/// Tokens a call is likely to lead to: what its tool gives back, and what the model says to that.
const ESTIMATES: [(&str, u64); 5] =
    [("Task", 5_000), ("Edit", 1_000), ("Write", 500), ("Bash", 500), ("Read", 100)];
const OTHERWISE: u64 = 500;
/// Bytes of a token, roughly.
const BYTES: u64 = 4;

/// What a call is likely to cost: its tool's share, and what it was given, which the model wrote and will read again.
#[must_use]
pub fn estimate(call: &Call<'_>) -> Amount {
    let tool = if matches!(call.tool, "Agent" | "spawn_agent" | "task") { "Task" } else { call.tool };
    let known = ESTIMATES.iter().find(|(name, _)| *name == tool || call.is_of(name));
    let given = u64::try_from(call.input.to_string().len()).unwrap_or(u64::MAX) / BYTES;
    let tokens = known.map_or(OTHERWISE, |(_, tokens)| *tokens).saturating_add(given);
    Amount { tokens, micros: tokens.saturating_mul(MICROS_PER_TOKEN) }
}

/// How far one budget is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gauge<'a> {
    /// Which.
    pub budget: &'a Budget,
    /// Whose spending.
    pub subject: &'a str,
    /// What was spent, as reported or estimated.
    pub spent: Amount,
    /// What calls under way have set aside.
    pub reserved: Amount,
}

impl Gauge<'_> {
    /// Spent and set aside.
    #[must_use]
    pub const fn used(&self) -> Amount {
        self.spent.plus(self.reserved)
    }

    /// How far it is used, in percent.
    #[must_use]
    pub fn percent(&self) -> u64 {
        self.budget.limit.percent(self.used())
    }

    /// The strictest step reached. What is merely set aside ends nobody.
    #[must_use]
    pub fn step(&self) -> Option<BudgetStep> {
        self.budget.steps.reached(self.budget.limit.percent(self.spent))
    }

    /// What is said to whoever it does not let through.
    #[must_use]
    pub fn refusal(&self, now: Timestamp) -> Ruling {
        let mut reason = format!("the budget {} is used up: {}", self.name(), self.so_far());
        if self.budget.period == BudgetPeriod::Day {
            // Writing to a text does not fail.
            let _written = write!(reason, "; it begins anew at {}", minute(Day::of(now).end()));
        }
        reason.push_str(
            "; stop here and say what is left to do: a person can raise it with `belljar budget set`",
        );
        Ruling {
            verdict: Verdict::Deny,
            risk: Risk::Medium,
            rule: format!("budget.{}", self.budget.id()),
            reason,
        }
    }

    /// Its name, and whose it is where it is one for each.
    #[must_use]
    pub fn name(&self) -> String {
        match self.budget.subject {
            Some(_) => self.budget.id(),
            None => format!("{} ({})", self.budget.id(), self.subject),
        }
    }

    /// What of it is used, for people.
    #[must_use]
    pub fn so_far(&self) -> String {
        let Limit { tokens, micros } = self.budget.limit;
        let used = self.used();
        let money =
            micros.map(|limit| format!("{} of {}", Usd::from_micros(used.micros), Usd::from_micros(limit)));
        let tokens = tokens.map(|limit| format!("{} of {limit} tokens", used.tokens));
        [money, tokens].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Seconds until it begins anew; a budget that never does says an hour, by when a person may have answered.
    #[must_use]
    pub fn retry_after(&self, now: Timestamp) -> u64 {
        match self.budget.period {
            BudgetPeriod::Operation | BudgetPeriod::Session | BudgetPeriod::Total => 3_600,
            BudgetPeriod::Day => {
                let left = Day::of(now).end().as_micros().saturating_sub(now.as_micros());
                u64::try_from(left / 1_000_000).unwrap_or(0).saturating_add(1)
            }
        }
    }
}

fn minute(time: Timestamp) -> String {
    let text = time.to_string();
    format!("{} UTC", text.get(..16).unwrap_or(&text).replace('T', " "))
}

/// Dollars as people write them (`25`, `$0.50`, `12.5`), in millionths; `None` for anything else.
#[must_use]
pub fn dollars(text: &str) -> Option<u64> {
    let text = text.trim();
    let text = text.strip_prefix('$').unwrap_or(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_plain = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_plain(whole) || !is_plain(fraction) || fraction.len() > 6 {
        return None;
    }
    let six: String = fraction.chars().chain("000000".chars()).take(6).collect();
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(six.parse().ok()?)
}

/// A number of tokens as people write it: `200000`, `200k`, `1.5M`; `None` for anything else.
#[must_use]
pub fn tokens(text: &str) -> Option<u64> {
    let text = text.trim().replace('_', "");
    let (number, unit) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (text.get(..at)?, 1_000),
        (at, 'm' | 'M') => (text.get(..at)?, 1_000_000),
        _ => (text.as_str(), 1),
    };
    let micros = dollars(number)?.checked_mul(unit)?;
    (micros % 1_000_000 == 0).then_some(micros / 1_000_000)
}

#[cfg(test)]
mod tests {
    use belljar_domain::{BudgetScope, ProjectId, Steps};
    use serde_json::json;

    use super::*;

    fn budget(period: BudgetPeriod) -> Budget {
        Budget {
            project: ProjectId::default(),
            scope: BudgetScope::Agent,
            subject: Some("coder".to_owned()),
            period,
            limit: Limit { tokens: None, micros: Some(10_000_000) },
            steps: Steps::default(),
            by: "admin".to_owned(),
            changed: Timestamp::default(),
        }
    }

    #[test]
    fn money_and_tokens_are_whole_numbers() {
        for (text, micros) in [("25", 25_000_000), ("$0.5", 500_000), ("12.345678", 12_345_678), ("0", 0)] {
            assert_eq!(dollars(text), Some(micros), "{text}");
        }
        for text in ["", "-1", "1e3", "1.", ".5", "1.2345678", "99999999999999999999", "ten"] {
            assert_eq!(dollars(text), None, "{text}");
        }
        for (text, count) in
            [("200000", 200_000), ("200k", 200_000), ("1.5M", 1_500_000), ("200_000", 200_000)]
        {
            assert_eq!(tokens(text), Some(count), "{text}");
        }
        assert_eq!((tokens("1.5"), tokens("k"), tokens("")), (None, None, None));
    }

    #[test]
    fn what_is_used_up_is_said_with_what_to_do() {
        let budget = budget(BudgetPeriod::Day);
        let now: Timestamp = "2026-11-16T23:00:00Z".parse().unwrap();
        let gauge = Gauge {
            budget: &budget,
            subject: "coder",
            spent: Amount { tokens: 5, micros: 9_000_000 },
            reserved: Amount { tokens: 0, micros: 1_000_000 },
        };
        let ruling = gauge.refusal(now);
        assert_eq!(ruling.verdict, Verdict::Deny);
        for said in ["agent:coder:day", "$10.00 of $10.00", "2026-11-17 00:00 UTC", "belljar budget set"] {
            assert!(ruling.reason.contains(said), "{}", ruling.reason);
        }
        assert_eq!((gauge.percent(), gauge.step()), (100, Some(BudgetStep::Notify)));
        assert_eq!(gauge.retry_after(now), 3_601);
    }

    #[test]
    fn larger_calls_are_estimated_higher() {
        let of = |tool: &str, input: serde_json::Value| {
            estimate(&Call { tool, input: &input, cwd: None, home: None })
        };
        let bash = of("Bash", json!({"command": "ls"}));
        assert!(bash.tokens >= 500 && bash.micros == bash.tokens * 3);
        assert!(of("Bash", json!({"command": "x".repeat(40_000)})).tokens > 10_000);
        assert!(of("Agent", json!({})).tokens >= 5_000);
        assert!(of("read_file", json!({})).tokens < bash.tokens);
    }
}
