//! Budgets: how much may be spent by whom in which time, and what happens on the way there.
//!
//! Owns: the words, whole-number amounts, and whose spending counts against which budget. Refuses: floats and clocks.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{AgentName, ProjectId, Role, RunId, Timestamp, word::words};

words! {
    /// Whose spending a budget is about.
    BudgetScope, "scope" {
        /// One agent's.
        Agent = "agent",
        /// Of all agents of a role together.
        Role = "role",
        /// One conversation's.
        Session = "session",
        /// One run's, all its attempts together.
        Run = "run",
        /// A whole project's.
        Project = "project",
        /// Of everybody in every project together.
        Global = "global",
    }
}

words! {
    /// Over which time spending is summed up.
    BudgetPeriod, "period" {
        /// One call.
        Operation = "operation",
        /// One conversation.
        Session = "session",
        /// A day, from midnight to midnight in UTC.
        Day = "day",
        /// As long as what it is about exists.
        Total = "total",
    }
}

words! {
    /// What happens as a budget is used up, the mildest first.
    BudgetStep, "step" {
        /// It is written into the ledger, and so told to whoever listens.
        Notify = "notify",
        /// Its sandboxes are frozen and its calls refused until a person decides.
        Pause = "pause",
        /// Its sandboxes are ended.
        Terminate = "terminate",
    }
}

/// A day in UTC, as the number of days since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Day(pub i64);

const MICROS_PER_DAY: i64 = 86_400 * 1_000_000;

impl Day {
    /// The day of a moment.
    #[must_use]
    pub const fn of(time: Timestamp) -> Self {
        Self(time.as_micros().div_euclid(MICROS_PER_DAY))
    }

    /// When it ends and the next begins.
    #[must_use]
    pub const fn end(self) -> Timestamp {
        Timestamp::from_micros(self.0.saturating_add(1).saturating_mul(MICROS_PER_DAY))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begin = Timestamp::from_micros(self.0.saturating_mul(MICROS_PER_DAY)).to_string();
        f.write_str(begin.get(..10).unwrap_or(&begin))
    }
}

/// Tokens, and money in millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Amount {
    /// Tokens of every kind.
    pub tokens: u64,
    /// Millionths of a dollar.
    pub micros: u64,
}

impl Amount {
    /// The sum; never wraps.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            micros: self.micros.saturating_add(other.micros),
        }
    }

    /// The difference; never below zero.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            micros: self.micros.saturating_sub(other.micros),
        }
    }
}

/// The most that may be spent; what is absent is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limit {
    /// Tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micros: Option<u64>,
}

impl Limit {
    /// Says whether this much fits beside what is used already.
    #[must_use]
    pub fn has_room(self, used: Amount, wanted: Amount) -> bool {
        let after = used.plus(wanted);
        self.tokens.is_none_or(|limit| after.tokens <= limit)
            && self.micros.is_none_or(|limit| after.micros <= limit)
    }

    /// How much of it is used, in percent, rounded down; of tokens and money the one that is nearer its end. A limit of
    /// nothing is always used up.
    #[must_use]
    pub fn percent(self, used: Amount) -> u64 {
        let of = |used: u64, limit: Option<u64>| {
            limit.map_or(0, |limit| {
                let percent = u128::from(used).saturating_mul(100).checked_div(u128::from(limit));
                percent.map_or(100, |percent| u64::try_from(percent).unwrap_or(u64::MAX))
            })
        };
        of(used.tokens, self.tokens).max(of(used.micros, self.micros))
    }
}

/// From which percentage of a limit on what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steps {
    /// Told to whoever listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notify: Option<u8>,
    /// Frozen until a person decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<u8>,
    /// Ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminate: Option<u8>,
}

impl Default for Steps {
    fn default() -> Self {
        Self { notify: Some(80), pause: Some(100), terminate: None }
    }
}

impl Steps {
    /// The strictest step reached.
    #[must_use]
    pub fn reached(self, percent: u64) -> Option<BudgetStep> {
        let is_at = |step: Option<u8>| step.is_some_and(|step| percent >= u64::from(step));
        let steps = [
            (BudgetStep::Terminate, self.terminate),
            (BudgetStep::Pause, self.pause),
            (BudgetStep::Notify, self.notify),
        ];
        steps.into_iter().find(|(_, at)| is_at(*at)).map(|(step, _)| step)
    }
}

/// Whose spending it is, as far as known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Account {
    /// The project.
    pub project: ProjectId,
    /// The agent.
    #[serde(default)]
    pub agent: Option<AgentName>,
    /// Its role.
    #[serde(default)]
    pub role: Option<Role>,
    /// The conversation.
    #[serde(default)]
    pub session: Option<String>,
    /// The run.
    #[serde(default)]
    pub run: Option<RunId>,
}

/// A budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Whose it is.
    pub project: ProjectId,
    /// Whose spending it is about.
    pub scope: BudgetScope,
    /// Which one of them; each on its own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Over which time.
    pub period: BudgetPeriod,
    /// How much.
    #[serde(flatten)]
    pub limit: Limit,
    /// What happens on the way there.
    #[serde(default)]
    pub steps: Steps,
    /// Who set it.
    pub by: String,
    /// When.
    pub changed: Timestamp,
}

impl Budget {
    /// What it is called: `agent:coder:day`; `session:*:total` is one for each session.
    #[must_use]
    pub fn id(&self) -> String {
        budget_id(self.scope, self.subject.as_deref(), self.period)
    }

    /// Says whether it is about an account's spending, and then of whom.
    #[must_use]
    pub fn covers(&self, account: &Account) -> Option<String> {
        if self.project != account.project && self.scope != BudgetScope::Global {
            return None;
        }
        let whose = match self.scope {
            BudgetScope::Agent => account.agent.as_ref().map(ToString::to_string),
            BudgetScope::Role => account.role.map(|role| role.to_string()),
            BudgetScope::Session => account.session.clone(),
            BudgetScope::Run => account.run.map(|run| run.to_string()),
            BudgetScope::Project => Some(account.project.to_string()),
            BudgetScope::Global => Some(EVERYBODY.to_owned()),
        }?;
        (self.subject.is_none() || self.subject.as_ref() == Some(&whose)).then_some(whose)
    }

    /// The sum an account's spending is added to for this budget, and whose it is; none when it is not about that account.
    /// Budgets of the same scope, subject and period have the same sum.
    #[must_use]
    pub fn sum(&self, account: &Account, today: Day) -> Option<(SumKey, String)> {
        let whose = self.covers(account)?;
        let span = match self.period {
            BudgetPeriod::Operation => "operation".to_owned(),
            BudgetPeriod::Session => format!("session {}", account.session.as_deref()?),
            BudgetPeriod::Day => today.to_string(),
            BudgetPeriod::Total => "total".to_owned(),
        };
        let project = match self.scope {
            BudgetScope::Global => "*",
            _ => account.project.as_str(),
        };
        Some((SumKey(format!("{project}/{}:{whose}@{span}", self.scope)), whose))
    }
}

/// What a sum of spending is found by: whose, and of which time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SumKey(pub String);

/// Whose spending counts against a budget of everybody's.
const EVERYBODY: &str = "all";

/// What a budget of this kind is called.
#[must_use]
pub fn budget_id(scope: BudgetScope, subject: Option<&str>, period: BudgetPeriod) -> String {
    format!("{scope}:{}:{period}", subject.unwrap_or("*"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(scope: BudgetScope, subject: Option<&str>) -> Budget {
        Budget {
            project: ProjectId::default(),
            scope,
            subject: subject.map(str::to_owned),
            period: BudgetPeriod::Day,
            limit: Limit { tokens: Some(1000), micros: Some(2_000_000) },
            steps: Steps::default(),
            by: "admin".to_owned(),
            changed: Timestamp::default(),
        }
    }

    #[test]
    fn a_limit_is_reached_by_whatever_comes_first_and_never_passed() {
        let limit = budget(BudgetScope::Agent, None).limit;
        let used = Amount { tokens: 500, micros: 1_900_000 };
        assert!(limit.has_room(used, Amount { tokens: 500, micros: 100_000 }));
        assert!(!limit.has_room(used, Amount { tokens: 501, micros: 0 }));
        assert!(!limit.has_room(used, Amount { tokens: 0, micros: 100_001 }));
        assert!(!limit.has_room(Amount { tokens: u64::MAX, micros: 0 }, Amount { tokens: 1, micros: 0 }));
        assert_eq!(limit.percent(used), 95);
        assert_eq!(Limit { tokens: Some(0), micros: None }.percent(Amount::default()), 100);
        assert_eq!(Limit::default().percent(Amount { tokens: u64::MAX, micros: u64::MAX }), 0);
    }

    #[test]
    fn the_strictest_step_that_is_reached_counts() {
        let steps = Steps { notify: Some(20), pause: Some(50), terminate: Some(100) };
        let reached = |percent| steps.reached(percent);
        assert_eq!(
            [19, 20, 50, 99].map(reached),
            [None, Some(BudgetStep::Notify), Some(BudgetStep::Pause), Some(BudgetStep::Pause)]
        );
        assert_eq!(reached(100), Some(BudgetStep::Terminate));
        assert_eq!(Steps::default().reached(100), Some(BudgetStep::Pause));
    }

    #[test]
    fn days_turn_at_midnight_in_utc() {
        let before: Timestamp = "2026-11-16T23:59:59.999999Z".parse().unwrap();
        let after: Timestamp = "2026-11-17T00:00:00Z".parse().unwrap();
        assert_eq!(Day::of(before).to_string(), "2026-11-16");
        assert_eq!(Day::of(after).0, Day::of(before).0 + 1);
        assert_eq!(Day::of(before).end(), after);
    }

    #[test]
    fn a_sum_is_of_one_subject_and_one_time() {
        let account = Account {
            agent: Some("coder".parse().unwrap()),
            session: Some("s1".to_owned()),
            ..Account::default()
        };
        let key = |scope, period| {
            let budget = Budget { period, ..budget(scope, None) };
            budget.sum(&account, Day(0)).map(|(key, _)| key.0)
        };
        let day = key(BudgetScope::Agent, BudgetPeriod::Day);
        assert_eq!(day.as_deref(), Some("default/agent:coder@1970-01-01"));
        let session = key(BudgetScope::Agent, BudgetPeriod::Session);
        assert_eq!(session.as_deref(), Some("default/agent:coder@session s1"));
        let all = key(BudgetScope::Global, BudgetPeriod::Total);
        assert_eq!(all.as_deref(), Some("*/global:all@total"));
        assert_eq!(key(BudgetScope::Run, BudgetPeriod::Total), None);
    }

    #[test]
    fn a_budget_is_about_its_own_or_about_each() {
        let account = Account { agent: Some("coder".parse().unwrap()), ..Account::default() };
        let whose = |scope, subject| budget(scope, subject).covers(&account);
        assert_eq!(whose(BudgetScope::Agent, Some("coder")).as_deref(), Some("coder"));
        assert_eq!(whose(BudgetScope::Agent, None).as_deref(), Some("coder"));
        assert_eq!(whose(BudgetScope::Agent, Some("other")), None);
        assert_eq!(whose(BudgetScope::Role, None), None);
        assert_eq!(whose(BudgetScope::Project, None).as_deref(), Some("default"));
        let elsewhere = Account { project: "other".parse().unwrap(), ..account.clone() };
        assert_eq!(budget(BudgetScope::Project, None).covers(&elsewhere), None);
    }
}
