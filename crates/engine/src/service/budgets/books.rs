//! The books: what was spent by whom, and what calls under way have set aside. In memory, one at a time.
//!
//! Owns: that what is set aside counts until it is paid or given back, so that ten at once cannot spend what is there for
//! one. Refuses: disks and clocks; whoever keeps the books writes down what [`Page`] says has changed.

use std::collections::{BTreeMap, BTreeSet};

use belljar_domain::{
    Account, Amount, Budget, BudgetPeriod, BudgetStep, Day, ProjectId, SandboxId, SumKey, Timestamp,
};
use serde::{Deserialize, Serialize};

/// What was spent by one, in one stretch of time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Sum {
    /// All of it.
    pub(super) spent: Amount,
    /// Of that, what is only an estimate so far.
    #[serde(default)]
    pub(super) estimated: Amount,
    /// Calls that were refused.
    #[serde(default)]
    pub(super) blocked: u64,
    /// When it last changed.
    pub(super) updated: Timestamp,
    /// The steps that were told, by budget.
    #[serde(default)]
    pub(super) told: BTreeMap<String, BudgetStep>,
}

/// What a call under way has set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reservation {
    pub(super) payer: Payer,
    pub(super) amount: Amount,
    /// When it is given back by itself.
    pub(super) until: Timestamp,
}

/// Who pays, and where they work.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Payer {
    pub(super) account: Account,
    #[serde(default)]
    pub(super) sandbox: Option<SandboxId>,
}

/// What is known of one conversation's cost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Conversation {
    pub(super) payer: Payer,
    /// What it really cost, as far as that was told.
    pub(super) real: Amount,
    /// What was put to sums for calls whose real cost is not known yet.
    pub(super) estimated: Amount,
    pub(super) updated: Timestamp,
}

/// What a call came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// As somebody told it.
    Told,
    /// As it was reckoned before.
    Estimated,
}

/// How a sum changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) budget: Budget,
    pub(super) key: SumKey,
    pub(super) subject: String,
    pub(super) before: Amount,
    pub(super) after: Amount,
}

/// How far one budget is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) budget: Budget,
    pub(super) key: SumKey,
    pub(super) subject: String,
    pub(super) spent: Amount,
    pub(super) reserved: Amount,
    pub(super) estimated: Amount,
    pub(super) blocked: u64,
}

/// What changed, to be written down.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) sums: BTreeSet<SumKey>,
    pub(super) reservations: BTreeSet<String>,
    pub(super) conversations: BTreeSet<(ProjectId, String)>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) sums: BTreeMap<SumKey, Sum>,
    pub(super) reservations: BTreeMap<String, Reservation>,
    pub(super) conversations: BTreeMap<(ProjectId, String), Conversation>,
}

impl Books {
    /// How far each budget is used that is about an account.
    pub(super) fn levels(&self, budgets: &[Budget], account: &Account, now: Timestamp) -> Vec<Level> {
        let today = Day::of(now);
        let level = |budget: &Budget| {
            let (key, subject) = budget.sum(account, today)?;
            let sum = self.sums.get(&key).cloned().unwrap_or_default();
            let held = self.reservations.values().filter(|held| held.until > now);
            let same = held
                .filter(|held| budget.sum(&held.payer.account, today).is_some_and(|(other, _)| other == key));
            let reserved = same.fold(Amount::default(), |all, held| all.plus(held.amount));
            let is_sum = budget.period != BudgetPeriod::Operation;
            let (spent, reserved) = if is_sum { (sum.spent, reserved) } else { Default::default() };
            let (estimated, blocked) = (sum.estimated, sum.blocked);
            Some(Level { budget: budget.clone(), key, subject, spent, reserved, estimated, blocked })
        };
        budgets.iter().filter_map(level).collect()
    }

    /// Sets an amount aside, or says which budget has no room for it. Nothing at all fits while something is left.
    pub(super) fn reserve(
        &mut self,
        budgets: &[Budget],
        name: &str,
        reservation: Reservation,
        now: Timestamp,
    ) -> Result<Page, Box<Level>> {
        // Asked again, it is the same call.
        let known = self.reservations.remove(name);
        let checked = self.check(budgets, &reservation.payer.account, reservation.amount, now);
        if let Err(full) = checked {
            self.reservations.extend(known.map(|known| (name.to_owned(), known)));
            return Err(full);
        }
        let mut page = Page::default();
        page.reservations.insert(name.to_owned());
        self.reservations.insert(name.to_owned(), reservation);
        Ok(page)
    }

    /// Says which budget has no room for an amount.
    pub(super) fn check(
        &self,
        budgets: &[Budget],
        account: &Account,
        amount: Amount,
        now: Timestamp,
    ) -> Result<(), Box<Level>> {
        let is_full = |level: &Level| {
            let used = level.spent.plus(level.reserved);
            let is_sum = level.budget.period != BudgetPeriod::Operation;
            !level.budget.limit.has_room(used, amount) || (is_sum && level.budget.limit.percent(used) >= 100)
        };
        match self.levels(budgets, account, now).into_iter().find(is_full) {
            Some(level) => Err(Box::new(level)),
            None => Ok(()),
        }
    }

    /// Counts a call that was refused.
    pub(super) fn block(&mut self, level: &Level, now: Timestamp) -> Page {
        let sum = self.sums.entry(level.key.clone()).or_default();
        (sum.blocked, sum.updated) = (sum.blocked.saturating_add(1), now);
        Page { sums: [level.key.clone()].into(), ..Page::default() }
    }

    /// Gives back what was set aside.
    pub(super) fn release(&mut self, name: &str) -> Option<(Reservation, Page)> {
        let given = self.reservations.remove(name)?;
        Some((given, Page { reservations: [name.to_owned()].into(), ..Page::default() }))
    }

    /// Gives back whatever was set aside for too long.
    pub(super) fn release_late(&mut self, now: Timestamp) -> Page {
        let late = self.reservations.iter().filter(|(_, held)| held.until <= now);
        let late: BTreeSet<String> = late.map(|(name, _)| name.clone()).collect();
        self.reservations.retain(|name, _| !late.contains(name));
        Page { reservations: late, ..Page::default() }
    }

    /// Puts what was spent to every sum it counts for.
    pub(super) fn spend(
        &mut self,
        budgets: &[Budget],
        payer: &Payer,
        amount: Amount,
        basis: Basis,
        now: Timestamp,
    ) -> (Vec<Entry>, Page) {
        let mut page = Page::default();
        if let (Basis::Estimated, Some(session)) = (basis, &payer.account.session) {
            let name = (payer.account.project.clone(), session.clone());
            let kept = self.conversations.entry(name.clone()).or_default();
            kept.payer = payer.clone();
            (kept.estimated, kept.updated) = (kept.estimated.plus(amount), now);
            page.conversations.insert(name);
        }
        let estimated = if basis == Basis::Estimated { amount } else { Amount::default() };
        let entries = self.put(budgets, &payer.account, now, &mut page, |sum| {
            sum.spent = sum.spent.plus(amount);
            sum.estimated = sum.estimated.plus(estimated);
        });
        (entries, page)
    }

    /// Hears what a conversation really cost so far: that takes the place of what was estimated for it.
    pub(super) fn hear(
        &mut self,
        budgets: &[Budget],
        name: &(ProjectId, String),
        payer: &Payer,
        total: Amount,
        now: Timestamp,
    ) -> (Vec<Entry>, Page) {
        let mut page = Page::default();
        let kept = self.conversations.entry(name.clone()).or_default();
        let (more, less) = (total.minus(kept.real), kept.real.minus(total));
        if more == Amount::default() && less == Amount::default() {
            return (Vec::new(), page);
        }
        let estimated = std::mem::take(&mut kept.estimated);
        (kept.real, kept.updated, kept.payer) = (total, now, payer.clone());
        page.conversations.insert(name.clone());
        let entries = self.put(budgets, &payer.account, now, &mut page, |sum| {
            // Of another day's estimate, nothing is here to be taken back.
            let gone = least(estimated, sum.estimated);
            sum.estimated = sum.estimated.minus(gone);
            sum.spent = sum.spent.minus(gone).plus(more).minus(less);
        });
        (entries, page)
    }

    /// Begins a sum anew.
    pub(super) fn reset(&mut self, key: &SumKey) -> (Sum, Page) {
        let before = self.sums.remove(key).unwrap_or_default();
        (before, Page { sums: [key.clone()].into(), ..Page::default() })
    }

    fn put(
        &mut self,
        budgets: &[Budget],
        account: &Account,
        now: Timestamp,
        page: &mut Page,
        change: impl Fn(&mut Sum),
    ) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        let today = Day::of(now);
        for budget in budgets.iter().filter(|budget| budget.period != BudgetPeriod::Operation) {
            let Some((key, subject)) = budget.sum(account, today) else { continue };
            // Several budgets may be about the same sum.
            let known =
                entries.iter().find(|entry| entry.key == key).map(|entry| (entry.before, entry.after));
            let (before, after) = known.unwrap_or_else(|| {
                let sum = self.sums.entry(key.clone()).or_default();
                let before = sum.spent;
                change(sum);
                sum.updated = now;
                page.sums.insert(key.clone());
                (before, sum.spent)
            });
            entries.push(Entry { budget: budget.clone(), key, subject, before, after });
        }
        entries
    }
}

fn least(one: Amount, other: Amount) -> Amount {
    Amount { tokens: one.tokens.min(other.tokens), micros: one.micros.min(other.micros) }
}

#[cfg(test)]
mod tests {
    use std::{sync::Mutex, thread};

    use belljar_domain::{BudgetScope, Limit, Steps};

    use super::*;

    fn budget(scope: BudgetScope, period: BudgetPeriod, tokens: u64) -> Budget {
        Budget {
            project: ProjectId::default(),
            scope,
            subject: None,
            period,
            limit: Limit { tokens: Some(tokens), micros: None },
            steps: Steps::default(),
            by: "admin".to_owned(),
            changed: Timestamp::default(),
        }
    }

    fn payer(session: &str) -> Payer {
        let agent = Some("coder".parse().unwrap());
        let account = Account { agent, session: Some(session.to_owned()), ..Account::default() };
        Payer { account, sandbox: None }
    }

    fn tokens(tokens: u64) -> Amount {
        Amount { tokens, micros: 0 }
    }

    fn held(session: &str, amount: u64, until: i64) -> Reservation {
        Reservation { payer: payer(session), amount: tokens(amount), until: Timestamp::from_micros(until) }
    }

    const NOW: Timestamp = Timestamp::from_micros(1_000);

    #[test]
    fn ten_at_once_cannot_spend_what_is_there_for_three() {
        let budgets = [budget(BudgetScope::Agent, BudgetPeriod::Day, 1_000)];
        let books = Mutex::new(Books::default());
        let let_through: usize = thread::scope(|scope| {
            let each = (0..10).map(|number| {
                let (books, budgets) = (&books, &budgets);
                scope.spawn(move || {
                    let reservation = held(&format!("s{number}"), 300, 2_000);
                    let mut books = books.lock().unwrap();
                    usize::from(books.reserve(budgets, &number.to_string(), reservation, NOW).is_ok())
                })
            });
            each.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(let_through, 3);
        let mut books = books.into_inner().unwrap();
        let level = &books.levels(&budgets, &payer("s").account, NOW)[0];
        assert_eq!((level.spent, level.reserved), (tokens(0), tokens(900)));
        // What is given back, or was held for too long, is there again.
        let name = books.reservations.keys().next().unwrap().clone();
        assert!(books.release(&name).is_some() && books.release(&name).is_none());
        assert!(books.reserve(&budgets, "again", held("s", 300, 2_000), NOW).is_ok());
        let later = Timestamp::from_micros(3_000);
        assert!(books.reserve(&budgets, "late", held("s", 1_000, 9_000), later).is_ok());
        assert_eq!(books.release_late(later).reservations.len(), 3);
    }

    #[test]
    fn what_it_really_cost_takes_the_place_of_what_was_estimated() {
        let budgets = [
            budget(BudgetScope::Agent, BudgetPeriod::Day, 1_000),
            budget(BudgetScope::Agent, BudgetPeriod::Session, 1_000),
            budget(BudgetScope::Agent, BudgetPeriod::Operation, 600),
        ];
        let mut books = Books::default();
        let payer = payer("s1");
        let (entries, page) = books.spend(&budgets, &payer, tokens(500), Basis::Estimated, NOW);
        assert_eq!((entries.len(), page.sums.len(), page.conversations.len()), (2, 2, 1));
        let spent = |books: &Books| {
            books
                .levels(&budgets, &payer.account, NOW)
                .iter()
                .map(|level| level.spent.tokens)
                .collect::<Vec<_>>()
        };
        assert_eq!(spent(&books), [500, 500, 0]);
        let name = (ProjectId::default(), "s1".to_owned());
        books.hear(&budgets, &name, &payer, tokens(800), NOW);
        assert_eq!(spent(&books), [800, 800, 0]);
        assert!(
            books.hear(&budgets, &name, &payer, tokens(800), NOW).0.is_empty(),
            "told twice, counted once"
        );
        books.spend(&budgets, &payer, tokens(100), Basis::Estimated, NOW);
        books.hear(&budgets, &name, &payer, tokens(700), NOW);
        assert_eq!(spent(&books), [700, 700, 0], "and corrected, if that is what is told");
        let full = books.check(&budgets, &payer.account, tokens(601), NOW).unwrap_err();
        assert_eq!(full.budget.id(), "agent:*:day");
        let one = books.check(&budgets[2..], &payer.account, tokens(601), NOW).unwrap_err();
        assert_eq!(one.budget.id(), "agent:*:operation");
        books.spend(&budgets, &payer, tokens(300), Basis::Told, NOW);
        assert!(books.check(&budgets, &payer.account, tokens(0), NOW).is_err(), "used up is used up");
        let (key, _) = budgets[0].sum(&payer.account, Day::of(NOW)).unwrap();
        assert_eq!(books.reset(&key).0.spent, tokens(1_000));
        assert_eq!(spent(&books)[0], 0);
        let tomorrow = Day::of(NOW).end();
        assert_eq!(books.levels(&budgets, &payer.account, tomorrow)[0].spent, tokens(0));
    }
}
