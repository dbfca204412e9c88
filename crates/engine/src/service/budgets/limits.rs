//! Which budgets there are: set by people, written in the configuration, and what each role is meant to use.
//!
//! Owns: which of them are about an account; all that are must have room, so the lowest counts. A role's own limits count
//! for agents in that role unless a person set one for the agent or the role and the same stretch of time.

use std::collections::BTreeMap;

use belljar_domain::{
    Account, Budget, BudgetPeriod, BudgetScope, EventKind, Limit, Principal, ProjectId, Role, Steps,
    Timestamp,
};
use belljar_guardian::roles;
use belljar_ports::{
    Store,
    store::{Batch, Document, PAGE_LIMIT, Removal, StoreError},
};
use serde_json::json;

use super::{
    super::{Result, Service, ServiceError, now},
    BudgetOrder, BudgetView,
};

/// What documents of budgets are one of.
const COLLECTION: &str = "budget";
/// The most budgets there may be, and the most letters of a subject.
const MOST: usize = 10_000;
const LONGEST: usize = 128;

/// Budgets people set, by project and name.
#[derive(Debug, Default)]
pub(super) struct Limits(BTreeMap<(ProjectId, String), Budget>);

impl Limits {
    pub(super) fn load(store: &dyn Store) -> std::result::Result<Self, StoreError> {
        let mut all = BTreeMap::new();
        let mut after = String::new();
        loop {
            let page = store.documents(COLLECTION, None, &after, PAGE_LIMIT)?;
            let Some(last) = page.last() else { return Ok(Self(all)) };
            after.clone_from(&last.id);
            let read = page.into_iter().filter_map(|kept| serde_json::from_value(kept.record).ok());
            all.extend(read.map(|budget: Budget| ((budget.project.clone(), budget.id()), budget)));
        }
    }
}

/// What a role is meant to use, as budgets of one agent.
fn of_role(project: &ProjectId, agent: &str, role: Role) -> [Budget; 2] {
    let policy = roles::policy(role);
    let budget = |period, limit| Budget {
        project: project.clone(),
        scope: BudgetScope::Agent,
        subject: Some(agent.to_owned()),
        period,
        limit,
        steps: Steps::default(),
        by: format!("role {role}"),
        changed: Timestamp::default(),
    };
    [
        budget(BudgetPeriod::Session, Limit { tokens: Some(policy.tokens_per_session), micros: None }),
        budget(BudgetPeriod::Day, Limit { tokens: None, micros: Some(policy.micros_per_day) }),
    ]
}

impl Service {
    /// Every budget that is about an account.
    pub(super) fn budgets_for(&self, account: &Account) -> Vec<Budget> {
        let limits = self.0.budgets.limits();
        let set = limits.0.values().chain(&self.0.settings.budgets);
        let mut all: Vec<Budget> = set.filter(|budget| budget.covers(account).is_some()).cloned().collect();
        drop(limits);
        let entry = account.agent.as_ref().and_then(|agent| self.approved(&account.project, agent));
        if let Some(entry) = entry {
            let theirs = of_role(&account.project, entry.name.as_str(), entry.role);
            let is_said = |own: &Budget| {
                let is_about = |said: &Budget| matches!(said.scope, BudgetScope::Agent | BudgetScope::Role);
                all.iter().any(|said| is_about(said) && said.period == own.period)
            };
            let left: Vec<Budget> = theirs.into_iter().filter(|own| !is_said(own)).collect();
            all.extend(left);
        }
        all
    }

    /// Every budget somebody wrote down, in a project or in all.
    pub(in crate::service) fn budgets_set(&self, who: &Principal) -> Vec<Budget> {
        let limits = self.0.budgets.limits();
        let set = limits.0.values().chain(&self.0.settings.budgets);
        set.filter(|budget| who.sees(&budget.project)).cloned().collect()
    }

    /// Sets a budget by its name: `agent:coder:day`, `session:*:total`, `global:*:day`. Whoever it had paused goes on, if
    /// there is room now.
    ///
    /// # Errors
    /// When there is no such kind of budget, or no limit is said.
    pub fn set_budget(&self, who: &Principal, id: &str, order: BudgetOrder) -> Result<Vec<BudgetView>> {
        let (scope, subject, period) = named(id)?;
        if order.limit == Limit::default() {
            return Err(ServiceError::Invalid("say how much: tokens, money or both".to_owned()));
        }
        if order.steps.is_some_and(|steps| !is_ordered(steps)) {
            return Err(ServiceError::Invalid(
                "steps are percentages, `notify` before `pause` before `terminate`".to_owned(),
            ));
        }
        if scope == BudgetScope::Global && !who.admin {
            return Err(ServiceError::Denied("only an admin may limit everybody".to_owned()));
        }
        let mut limits = self.0.budgets.limits();
        let key = (who.project.clone(), id.to_owned());
        if !limits.0.contains_key(&key) && limits.0.len() >= MOST {
            return Err(ServiceError::Quota(format!("there is room for {MOST} budgets")));
        }
        let known = limits.0.get(&key);
        let steps = order.steps.or_else(|| known.map(|known| known.steps)).unwrap_or_default();
        let budget = Budget {
            project: who.project.clone(),
            scope,
            subject,
            period,
            limit: order.limit,
            steps,
            by: who.name.clone(),
            changed: now(),
        };
        let before = known.map(|known| json!(known.limit));
        let mut event = self.event(who, EventKind::BudgetChanged);
        event.target = Some(id.to_owned());
        event.target_type = Some("budget".to_owned());
        event.payload =
            json!({ "by": who.name, "act": "set", "before": before, "after": budget.limit, "steps": steps });
        let documents = vec![document(&budget)];
        self.0.recorder.commit(Batch { documents, events: vec![event], ..Batch::default() })?;
        limits.0.insert(key, budget);
        drop(limits);
        self.see_to_budgets();
        self.budget(who, id)
    }

    /// Removes a budget somebody set. What the configuration or a role says stays.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn remove_budget(&self, who: &Principal, id: &str) -> Result<()> {
        let mut limits = self.0.budgets.limits();
        let key = (who.project.clone(), id.to_owned());
        let budget = limits.0.get(&key).cloned().ok_or_else(|| missing(id))?;
        let mut event = self.event(who, EventKind::BudgetChanged);
        event.target = Some(id.to_owned());
        event.target_type = Some("budget".to_owned());
        event.payload = json!({ "by": who.name, "act": "removed", "before": budget.limit });
        let removals = vec![Removal::Document(COLLECTION.to_owned(), document_id(&budget))];
        self.0.recorder.commit(Batch { removals, events: vec![event], ..Batch::default() })?;
        limits.0.remove(&key);
        drop(limits);
        self.see_to_budgets();
        Ok(())
    }
}

/// Takes a budget's name apart.
pub(super) fn named(id: &str) -> Result<(BudgetScope, Option<String>, BudgetPeriod)> {
    let wrong = |why: &str| {
        let shown: String = id.chars().take(80).collect();
        ServiceError::Invalid(format!(
            "`{shown}` names no budget: {why}; write SCOPE:SUBJECT:PERIOD, such as agent:coder:day, with * for each"
        ))
    };
    let (scope, rest) = id.split_once(':').ok_or_else(|| wrong("it has one part"))?;
    let (subject, period) = rest.rsplit_once(':').ok_or_else(|| wrong("it has two parts"))?;
    let scope: BudgetScope =
        scope.parse().map_err(|error: belljar_domain::WordError| wrong(&error.to_string()))?;
    let period: BudgetPeriod =
        period.parse().map_err(|error: belljar_domain::WordError| wrong(&error.to_string()))?;
    if subject.is_empty() || subject.len() > LONGEST || subject.chars().any(char::is_control) {
        return Err(wrong("its subject is nobody"));
    }
    Ok((scope, (subject != "*").then(|| subject.to_owned()), period))
}

pub(super) fn missing(id: &str) -> ServiceError {
    ServiceError::NotFound(format!("budget `{}`", id.chars().take(80).collect::<String>()))
}

fn is_ordered(steps: Steps) -> bool {
    let set: Vec<u8> = [steps.notify, steps.pause, steps.terminate].into_iter().flatten().collect();
    set.is_sorted() && set.first().is_none_or(|first| *first > 0)
}

fn document_id(budget: &Budget) -> String {
    format!("{}/{}", budget.project, budget.id())
}

fn document(budget: &Budget) -> Document {
    Document {
        collection: COLLECTION.to_owned(),
        id: document_id(budget),
        project: budget.project.clone(),
        updated: budget.changed,
        record: serde_json::to_value(budget).unwrap_or_default(),
    }
}
