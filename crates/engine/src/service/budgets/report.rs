//! How far budgets are used, what was spent, and beginning anew.

use std::collections::BTreeMap;

use belljar_domain::{Budget, BudgetPeriod, Day, Event, EventKind, Principal, SumKey};
use belljar_ports::store::{Batch, EventFilter};
use serde_json::json;

use super::{
    super::{Result, Service, now},
    BudgetView, Spender,
    limits::{missing, named},
};

/// Which of the past.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpendingFilter {
    /// Of this agent.
    pub agent: Option<String>,
    /// Of this conversation.
    pub session: Option<String>,
    /// Only what was refused.
    pub blocked: bool,
}

impl Service {
    /// How far every budget is used, and those of one spender if one is named.
    ///
    /// # Errors
    /// Never, as it is.
    pub fn budgets(&self, who: &Principal, spender: Option<&Spender>) -> Result<Vec<BudgetView>> {
        if let Some(spender) = spender {
            let payer = self.spender(who, spender);
            let budgets = self.budgets_for(&payer.account);
            let levels = self.0.budgets.books().levels(&budgets, &payer.account, now());
            return Ok(levels.into_iter().map(view).collect());
        }
        let mut all: Vec<BudgetView> = Vec::new();
        for budget in self.budgets_set(who) {
            all.extend(self.used(&budget));
        }
        // What roles are meant to use, of those who have used some of it.
        for entry in self.0.roster.all(who.scope().as_ref()) {
            let spender = Spender { agent: Some(entry.name.clone()), ..Spender::default() };
            let theirs = Principal { project: entry.project.clone(), ..who.clone() };
            let own = self.budgets(&theirs, Some(&spender))?.into_iter();
            let is_new = |view: &BudgetView| !all.iter().any(|known| known.budget == view.budget);
            let new: Vec<BudgetView> = own.filter(is_new).collect();
            all.extend(new);
        }
        Ok(all)
    }

    /// How far one budget is used, by each it is about.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn budget(&self, who: &Principal, id: &str) -> Result<Vec<BudgetView>> {
        let found: Vec<Budget> =
            self.budgets_set(who).into_iter().filter(|budget| budget.id() == id).collect();
        if found.is_empty() {
            Err(missing(id))
        } else {
            Ok(found.iter().flat_map(|budget| self.used(budget)).collect())
        }
    }

    /// Each sum a budget is held against, or the budget alone while nothing was spent.
    fn used(&self, budget: &Budget) -> Vec<BudgetView> {
        let books = self.0.budgets.books();
        let sums = books.sums.iter().filter_map(|(key, sum)| {
            let (subject, span) = of_budget(budget, key)?;
            let account_reserved = books.reservations.values().filter(|held| {
                held.until > now()
                    && budget.sum(&held.payer.account, Day::of(now())).is_some_and(|(other, _)| other == *key)
            });
            let reserved = account_reserved
                .fold(Default::default(), |all: belljar_domain::Amount, held| all.plus(held.amount));
            Some(BudgetView {
                budget: budget.clone(),
                subject: Some(subject),
                span: Some(span),
                spent: sum.spent,
                estimated: sum.estimated,
                reserved,
                blocked: sum.blocked,
            })
        });
        let mut views: Vec<BudgetView> = sums.collect();
        if views.is_empty() {
            views.push(BudgetView {
                budget: budget.clone(),
                subject: budget.subject.clone(),
                span: None,
                spent: Default::default(),
                estimated: Default::default(),
                reserved: Default::default(),
                blocked: 0,
            });
        }
        views
    }

    /// Begins every sum of a budget anew, and lets whoever it had paused go on.
    ///
    /// # Errors
    /// When the name cannot be one.
    pub fn reset_budget(&self, who: &Principal, id: &str) -> Result<Vec<BudgetView>> {
        let (scope, subject, period) = named(id)?;
        let budget = Budget {
            project: who.project.clone(),
            scope,
            subject,
            period,
            limit: Default::default(),
            steps: Default::default(),
            by: String::new(),
            changed: now(),
        };
        let mut books = self.0.budgets.books();
        let keys: Vec<SumKey> =
            books.sums.keys().filter(|key| of_budget(&budget, key).is_some()).cloned().collect();
        let (mut batch, mut before) = (Batch::default(), BTreeMap::new());
        for key in keys {
            let (sum, page) = books.reset(&key);
            before.insert(key.0, sum.spent);
            let written = books.batch(&page);
            batch.removals.extend(written.removals);
        }
        let mut event = self.event(who, EventKind::BudgetChanged);
        event.target = Some(id.to_owned());
        event.target_type = Some("budget".to_owned());
        event.payload = json!({ "by": who.name, "act": "reset", "before": before });
        batch.events.push(event);
        let kept = self.0.recorder.append(batch);
        drop(books);
        kept.wait()?;
        self.thaw_budget(id, &who.name);
        Ok(self.budget(who, id).unwrap_or_default())
    }

    /// What was spent and refused, newest first, before a place in the ledger.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn spending(
        &self,
        who: &Principal,
        filter: &SpendingFilter,
        before: u64,
        limit: usize,
    ) -> Result<Vec<Event>> {
        let spent = [EventKind::BudgetSpent, EventKind::BudgetReached, EventKind::BudgetChanged];
        let mut kinds = vec![EventKind::BudgetBlocked];
        kinds.extend(spent.into_iter().filter(|_| !filter.blocked));
        let kinds = kinds.into_iter().map(String::from).collect();
        let filter = EventFilter {
            project: who.scope(),
            kinds,
            agent: filter.agent.clone(),
            session: filter.session.clone(),
            ..EventFilter::default()
        };
        Ok(self.store().events_before(&filter, before, limit)?)
    }
}

fn view(level: super::books::Level) -> BudgetView {
    let span = level.key.0.rsplit_once('@').map(|(_, span)| span.to_owned());
    BudgetView {
        subject: Some(level.subject),
        span,
        spent: level.spent,
        estimated: level.estimated,
        reserved: level.reserved,
        blocked: level.blocked,
        budget: level.budget,
    }
}

/// The subject and the stretch of time of a sum, if a budget is held against it now.
fn of_budget(budget: &Budget, key: &SumKey) -> Option<(String, String)> {
    let (whose, span) = key.0.rsplit_once('@')?;
    let (project, whose) = whose.split_once('/')?;
    let (scope, subject) = whose.split_once(':')?;
    let is_project = project == "*" || project == budget.project.as_str();
    let is_span = match budget.period {
        BudgetPeriod::Operation => span == "operation",
        BudgetPeriod::Session => span.starts_with("session "),
        BudgetPeriod::Day => span == Day::of(now()).to_string(),
        BudgetPeriod::Total => span == "total",
    };
    let is_subject = budget.subject.as_deref().is_none_or(|wanted| wanted == subject);
    (is_project && scope == budget.scope.as_str() && is_span && is_subject)
        .then(|| (subject.to_owned(), span.to_owned()))
}
