//! What happens as a budget is used up: somebody is told, sandboxes are frozen, sandboxes are ended.

use belljar_domain::{BudgetStep, EventKind, NewEvent, Principal, Risk, SandboxId, SandboxState, Verdict};
use belljar_ports::store::Batch;
use serde_json::json;

use super::{
    super::{Service, agents::Hold, live::LiveSandbox, now},
    books::{Entry, Level, Payer},
};

impl Service {
    /// Does what is due after something was spent; each step of a budget is told once.
    pub(super) fn take_steps(&self, payer: &Payer, entries: &[Entry]) {
        let mut strictest: Option<(BudgetStep, &Entry)> = None;
        for entry in entries {
            let Entry { budget, after, .. } = entry;
            let Some(step) = budget.steps.reached(budget.limit.percent(*after)) else { continue };
            if self.is_news(entry, step) {
                let event = self.reached(payer, entry, step);
                drop(self.0.recorder.append(Batch { events: vec![event], ..Batch::default() }));
            }
            if strictest.is_none_or(|(known, _)| step > known) {
                strictest = Some((step, entry));
            }
        }
        match strictest {
            Some((BudgetStep::Pause, entry)) => self.freeze_payer(payer, &entry.budget.id()),
            Some((BudgetStep::Terminate, entry)) => self.end_payer(payer, &entry.budget.id()),
            Some((BudgetStep::Notify, _)) | None => {}
        }
    }

    /// Freezes whoever is refused because there is no room.
    pub(super) fn pause_payer(&self, payer: &Payer, level: &Level) {
        self.freeze_payer(payer, &level.budget.id());
    }

    fn is_news(&self, entry: &Entry, step: BudgetStep) -> bool {
        let mut books = self.0.budgets.books();
        let Some(sum) = books.sums.get_mut(&entry.key) else { return false };
        let id = entry.budget.id();
        if sum.told.get(&id).is_some_and(|told| *told >= step) {
            return false;
        }
        sum.told.insert(id, step);
        let page = super::books::Page { sums: [entry.key.clone()].into(), ..Default::default() };
        let batch = books.batch(&page);
        drop(self.0.recorder.append(batch));
        true
    }

    fn reached(&self, payer: &Payer, entry: &Entry, step: BudgetStep) -> NewEvent {
        let percent = entry.budget.limit.percent(entry.after);
        let mut event = self.of_payer(payer, EventKind::BudgetReached, "budget");
        event.target = Some(entry.budget.id());
        event.target_type = Some("budget".to_owned());
        event.decision = (step != BudgetStep::Notify).then_some(Verdict::Ask);
        event.risk = Some(if step == BudgetStep::Notify { Risk::Low } else { Risk::High });
        event.reason =
            Some(format!("the budget {} ({}) is used to {percent} %", entry.budget.id(), entry.subject));
        event.payload = json!({
            "step": step, "percent": percent, "subject": entry.subject, "spent": entry.after,
            "limit": entry.budget.limit,
        });
        event
    }

    /// The sandboxes somebody who pays works in: the one it is about, and those of its agent.
    fn sandboxes_of_payer(&self, payer: &Payer) -> Vec<std::sync::Arc<LiveSandbox>> {
        let account = &payer.account;
        let agent = account.agent.as_ref().map(belljar_domain::AgentName::as_str);
        let is_theirs = |live: &std::sync::Arc<LiveSandbox>| {
            let view = live.view();
            let is_agents = agent.is_some() && view.spec.agent.as_deref() == agent;
            view.project == account.project && (is_agents || payer.sandbox == Some(view.id))
        };
        self.0.registry.sandboxes().into_iter().filter(is_theirs).collect()
    }

    fn freeze_payer(&self, payer: &Payer, budget: &str) {
        for live in self.sandboxes_of_payer(payer) {
            // One that cannot be frozen is refused its next call all the same.
            let _refused = self.freeze(&live, Hold::Budget(budget.to_owned()), &format!("budget {budget}"));
        }
    }

    fn end_payer(&self, payer: &Payer, budget: &str) {
        let who = Principal {
            project: payer.account.project.clone(),
            ..Principal::admin(&format!("budget {budget}"))
        };
        for live in self.sandboxes_of_payer(payer) {
            let _refused = self.stop(&who, live.view().id);
        }
    }

    /// Lets go on whoever was frozen for a budget that has room again: a new day, a higher limit, a reset.
    pub(in crate::service) fn see_to_budgets(&self) {
        for (id, holds) in self.0.holds.all() {
            let Some(live) = self.0.registry.sandbox(id) else { continue };
            let view = live.view();
            if view.state != SandboxState::Paused {
                continue;
            }
            let payer = self.payer(&view.project, view.spec.agent.as_deref(), None, Some(id));
            let budgets = self.budgets_for(&payer.account);
            for hold in holds {
                let Hold::Budget(name) = &hold else { continue };
                // A conversation's budget is full for that conversation; who goes on with it is refused again.
                let is_full =
                    self.0.budgets.books().levels(&budgets, &payer.account, now()).iter().any(|level| {
                        let used = level.spent.plus(level.reserved);
                        let percent = level.budget.limit.percent(used);
                        let pause = level.budget.steps.pause.map_or(100, u64::from);
                        level.budget.id() == *name && percent >= pause.min(100)
                    });
                let is_of_conversation = name.ends_with(":session") || name.starts_with("session:");
                if !is_full && !is_of_conversation {
                    self.thaw(&live, &hold, "budget");
                }
            }
        }
    }

    /// Lets a sandbox hear what a person answered that was frozen for a budget. Its next call is reckoned as ever.
    pub(in crate::service) fn let_hear(&self, rule: Option<&str>, sandbox: Option<SandboxId>, by: &str) {
        let budget = rule.and_then(|rule| rule.strip_prefix("budget."));
        let live = sandbox.and_then(|id| self.0.registry.sandbox(id));
        if let (Some(budget), Some(live)) = (budget, live) {
            self.thaw(&live, &Hold::Budget(budget.to_owned()), by);
        }
    }

    /// Lets everybody go on who was frozen for a budget, because a person said so.
    pub(super) fn thaw_budget(&self, budget: &str, by: &str) {
        let hold = Hold::Budget(budget.to_owned());
        for (id, holds) in self.0.holds.all() {
            if let Some(live) = self.0.registry.sandbox(id).filter(|_| holds.contains(&hold)) {
                self.thaw(&live, &hold, by);
            }
        }
    }
}
