//! Budgets of `belljar.toml`: limits for everybody, besides those people set with `belljar budget`.

use anyhow::{Result, bail};
use belljar_domain::{Budget, BudgetPeriod, BudgetScope, Limit, ProjectId, Steps, Timestamp};

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Spending {
    limits: Vec<(BudgetScope, BudgetPeriod, Limit)>,
    steps: Steps,
}

impl Spending {
    /// Limits money, in dollars as people write them.
    pub(crate) fn limit_cost(&mut self, scope: BudgetScope, period: BudgetPeriod, text: &str) -> Result<()> {
        let Some(micros) = belljar_guardian::budget::dollars(text) else {
            bail!("`{text}` is no amount of dollars; write 25 or 0.50");
        };
        self.limits.push((scope, period, Limit { tokens: None, micros: Some(micros) }));
        Ok(())
    }

    /// Limits tokens.
    pub(crate) fn limit_tokens(
        &mut self,
        scope: BudgetScope,
        period: BudgetPeriod,
        text: &str,
    ) -> Result<()> {
        let Some(tokens) = belljar_guardian::budget::tokens(text) else {
            bail!("`{text}` is no number of tokens; write 200000, 200k or 1.5M");
        };
        self.limits.push((scope, period, Limit { tokens: Some(tokens), micros: None }));
        Ok(())
    }

    /// Says from which percentages on what happens: told, paused, ended.
    pub(crate) fn set_steps(&mut self, words: &[String]) -> Result<()> {
        let percentages: Vec<u8> = words.iter().map(|word| word.parse()).collect::<Result<_, _>>()?;
        self.steps = match percentages.as_slice() {
            [notify, pause, terminate] if percentages.is_sorted() && *notify > 0 => {
                Steps { notify: Some(*notify), pause: Some(*pause), terminate: Some(*terminate) }
            }
            _ => bail!("three percentages are wanted, to tell, to pause and to end, such as [20, 50, 100]"),
        };
        Ok(())
    }

    /// All of it, as budgets.
    pub(crate) fn budgets(&self) -> Vec<Budget> {
        let budget = |(scope, period, limit): &(BudgetScope, BudgetPeriod, Limit)| Budget {
            project: ProjectId::default(),
            scope: *scope,
            subject: None,
            period: *period,
            limit: *limit,
            steps: self.steps,
            by: "belljar.toml".to_owned(),
            changed: Timestamp::default(),
        };
        self.limits.iter().map(budget).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_people_write_them() {
        let mut spending = Spending::default();
        spending.limit_cost(BudgetScope::Global, BudgetPeriod::Day, "50").unwrap();
        spending.limit_tokens(BudgetScope::Session, BudgetPeriod::Total, "200k").unwrap();
        spending.set_steps(&["20", "50", "100"].map(str::to_owned)).unwrap();
        let [day, session] = &spending.budgets()[..] else { panic!("two budgets") };
        assert_eq!((day.id().as_str(), day.limit.micros), ("global:*:day", Some(50_000_000)));
        assert_eq!((session.id().as_str(), session.limit.tokens), ("session:*:total", Some(200_000)));
        assert_eq!(day.steps.reached(50), Some(belljar_domain::BudgetStep::Pause));
        assert!(spending.limit_cost(BudgetScope::Global, BudgetPeriod::Day, "much").is_err());
        assert!(spending.set_steps(&["50", "20", "100"].map(str::to_owned)).is_err());
    }
}
