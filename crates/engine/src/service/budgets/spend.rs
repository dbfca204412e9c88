//! Setting aside, paying, giving back.

use std::time::Duration;

use belljar_domain::{
    Amount, EventKind, EventStatus, NewEvent, Principal, ProjectId, SandboxId, Timestamp, Verdict,
};
use belljar_guardian::budget::Gauge;
use belljar_ports::store::Batch;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    super::{Result, Service, ServiceError, now},
    Payment, Reserved, Spender,
    books::{Basis, Entry, Level, Payer, Reservation},
};

/// How long a call may be under way before what it set aside is given back.
const CALL: Duration = Duration::from_secs(15 * 60);
/// The longest a reservation may be asked for, and the most there may be.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
const MOST: usize = 10_000;

/// What a call of an agent would cost, and where it is made.
#[derive(Debug, Clone, Copy)]
pub(in crate::service) struct Bill<'a> {
    pub(in crate::service) project: &'a ProjectId,
    pub(in crate::service) agent: Option<&'a str>,
    pub(in crate::service) session: Option<&'a str>,
    pub(in crate::service) sandbox: Option<SandboxId>,
    /// What its agent calls the call.
    pub(in crate::service) call: Option<&'a str>,
    pub(in crate::service) tool: &'a str,
    pub(in crate::service) amount: Amount,
}

impl Level {
    pub(super) fn gauge(&self) -> Gauge<'_> {
        Gauge { budget: &self.budget, subject: &self.subject, spent: self.spent, reserved: self.reserved }
    }
}

impl Service {
    /// Sets aside what a call would cost. The answer is how many budgets it counts for; or the one that has no room, which
    /// has then been written down, and whoever is to be paused for it is.
    pub(in crate::service) fn afford(&self, bill: &Bill<'_>) -> std::result::Result<usize, Box<Refusal>> {
        let payer = self.payer(bill.project, bill.agent, bill.session, bill.sandbox);
        let budgets = self.budgets_for(&payer.account);
        if budgets.is_empty() {
            return Ok(0);
        }
        let time = now();
        let mut books = self.0.budgets.books();
        let name = reservation_name(bill);
        let kept = match (&name, bill.amount == Amount::default()) {
            (Some(name), false) if books.reservations.len() < MOST => {
                let reservation =
                    Reservation { payer: payer.clone(), amount: bill.amount, until: time.plus(CALL) };
                books.reserve(&budgets, name, reservation, time)
            }
            _ => books.check(&budgets, &payer.account, bill.amount, time).map(|()| Default::default()),
        };
        match kept {
            Ok(page) => {
                let batch = books.batch(&page);
                // Handed over in the order of the books; whoever is answered later waits for what was handed over later.
                drop(self.0.recorder.append(batch));
                Ok(budgets.len())
            }
            Err(level) => {
                let page = books.block(&level, time);
                let batch = books.batch(&page);
                let refusal = Refusal::of(&level, time);
                let event = self.blocked(&payer, bill.tool, &level, &refusal.reason);
                drop(self.0.recorder.append(Batch { events: vec![event], ..batch }));
                drop(books);
                if refusal.pauses {
                    self.pause_payer(&payer, &level);
                }
                Err(Box::new(refusal))
            }
        }
    }

    /// Pays for a call that was made, by what was reckoned for it.
    pub(in crate::service) fn pay(&self, bill: &Bill<'_>) {
        let payer = self.payer(bill.project, bill.agent, bill.session, bill.sandbox);
        let released = reservation_name(bill).and_then(|name| {
            let mut books = self.0.budgets.books();
            let (given, page) = books.release(&name)?;
            let batch = books.batch(&page);
            drop(self.0.recorder.append(batch));
            Some(given.amount)
        });
        let amount = released.unwrap_or(bill.amount);
        self.charge(&payer, amount, Basis::Estimated, bill.tool);
    }

    /// Puts what was spent into the books, writes it down, and sees to what follows.
    pub(super) fn charge(&self, payer: &Payer, amount: Amount, basis: Basis, what: &str) -> Vec<Entry> {
        let budgets = self.budgets_for(&payer.account);
        if budgets.is_empty() || amount == Amount::default() {
            return Vec::new();
        }
        let mut books = self.0.budgets.books();
        let (entries, page) = books.spend(&budgets, payer, amount, basis, now());
        let batch = books.batch(&page);
        let event = self.spent(payer, what, amount, basis, &entries);
        drop(self.0.recorder.append(Batch { events: vec![event], ..batch }));
        drop(books);
        self.take_steps(payer, &entries);
        entries
    }

    /// Says whether there is room for an amount, and sets nothing aside.
    ///
    /// # Errors
    /// [`ServiceError::Budget`] when there is not.
    pub fn check_budget(&self, who: &Principal, spender: &Spender, amount: Amount) -> Result<()> {
        let payer = self.spender(who, spender);
        let budgets = self.budgets_for(&payer.account);
        let checked = self.0.budgets.books().check(&budgets, &payer.account, amount, now());
        checked.map_err(|level| Refusal::of(&level, now()).into())
    }

    /// Sets an amount aside for a while.
    ///
    /// # Errors
    /// [`ServiceError::Budget`] when there is no room; then it is written down.
    pub fn reserve(
        &self,
        who: &Principal,
        spender: &Spender,
        amount: Amount,
        span: Option<Duration>,
    ) -> Result<Reserved> {
        let payer = self.spender(who, spender);
        let budgets = self.budgets_for(&payer.account);
        let (time, name) = (now(), format!("rsv_{}", Uuid::now_v7().simple()));
        let until = time.plus(span.unwrap_or(CALL).min(LONGEST));
        let mut books = self.0.budgets.books();
        if books.reservations.len() >= MOST {
            return Err(ServiceError::Quota(format!(
                "{MOST} reservations are open, as many as there may be"
            )));
        }
        let reservation = Reservation { payer: payer.clone(), amount, until };
        match books.reserve(&budgets, &name, reservation, time) {
            Ok(page) => {
                let batch = books.batch(&page);
                let kept = self.0.recorder.append(batch);
                drop(books);
                kept.wait()?;
                Ok(Reserved { id: name, amount, until })
            }
            Err(level) => {
                let page = books.block(&level, time);
                let batch = books.batch(&page);
                let refusal = Refusal::of(&level, time);
                let event = self.blocked(&payer, "reserve", &level, &refusal.reason);
                // Handed over while the books are held: of two pages about one sum, the newer is the one that stays.
                let kept = self.0.recorder.append(Batch { events: vec![event], ..batch });
                drop(books);
                kept.wait()?;
                if refusal.pauses {
                    self.pause_payer(&payer, &level);
                }
                Err(refusal.into())
            }
        }
    }

    /// Gives back what was set aside.
    ///
    /// # Errors
    /// When nothing is under that name: it was given back, or its time was over.
    pub fn release(&self, who: &Principal, name: &str) -> Result<()> {
        let mut books = self.0.budgets.books();
        let is_theirs = |held: &Reservation| who.sees(&held.payer.account.project);
        if !books.reservations.get(name).is_some_and(is_theirs) {
            return Err(ServiceError::NotFound(format!(
                "reservation `{}`",
                name.chars().take(80).collect::<String>()
            )));
        }
        let Some((_, page)) = books.release(name) else { return Ok(()) };
        let batch = books.batch(&page);
        let kept = self.0.recorder.append(batch);
        drop(books);
        kept.wait()?;
        Ok(())
    }

    /// Pays: what was really spent, whether or not there is room; what was set aside for it is given back.
    ///
    /// # Errors
    /// When the reservation is not there.
    pub fn deduct(
        &self,
        who: &Principal,
        spender: &Spender,
        amount: Amount,
        reservation: Option<&str>,
    ) -> Result<Payment> {
        let mut payer = self.spender(who, spender);
        if let Some(name) = reservation {
            let held = self.0.budgets.books().reservations.get(name).cloned();
            self.release(who, name)?;
            payer = held.map_or(payer, |held| held.payer);
        }
        let entries = self.charge(&payer, amount, Basis::Told, "deduct");
        self.store().flush()?;
        let budgets =
            entries.into_iter().map(|entry| (entry.budget.id(), entry.before, entry.after)).collect();
        Ok(Payment { amount, budgets })
    }

    /// Gives back what was set aside for too long, and forgets what nobody adds to.
    pub(in crate::service) fn tidy_books(&self) {
        let mut books = self.0.budgets.books();
        let late = books.release_late(now());
        let batch = books.batch(&late);
        if batch != Batch::default() {
            drop(self.0.recorder.append(batch));
        }
    }

    pub(in crate::service) fn forget_books(&self) {
        let mut books = self.0.budgets.books();
        let page = books.forget(now());
        let batch = books.batch(&page);
        if batch != Batch::default() {
            drop(self.0.recorder.append(batch));
        }
    }

    pub(super) fn spent(
        &self,
        payer: &Payer,
        what: &str,
        amount: Amount,
        basis: Basis,
        entries: &[Entry],
    ) -> NewEvent {
        let mut event = self.of_payer(payer, EventKind::BudgetSpent, what);
        event.status = Some(EventStatus::Success);
        let each = |entry: &Entry| json!({ "budget": entry.budget.id(), "subject": entry.subject, "before": entry.before, "after": entry.after });
        event.payload = json!({
            "amount": amount, "estimated": basis == Basis::Estimated, "blocked": false,
            "budgets": entries.iter().map(each).collect::<Vec<Value>>(),
        });
        event
    }

    fn blocked(&self, payer: &Payer, what: &str, level: &Level, reason: &str) -> NewEvent {
        let mut event = self.of_payer(payer, EventKind::BudgetBlocked, what);
        event.target = Some(level.budget.id());
        event.target_type = Some("budget".to_owned());
        event.decision = Some(Verdict::Deny);
        event.status = Some(EventStatus::Denied);
        event.reason = Some(reason.to_owned());
        let at = level.spent;
        event.payload = json!({
            "blocked": true,
            "budgets": [{ "budget": level.budget.id(), "subject": level.subject, "before": at, "after": at, "reserved": level.reserved }],
        });
        event
    }

    pub(super) fn of_payer(&self, payer: &Payer, kind: EventKind, what: &str) -> NewEvent {
        let who = Principal { project: payer.account.project.clone(), ..Principal::admin("belljar") };
        let mut event = self.event(&who, kind);
        event.actor.id = payer.account.agent.as_ref().map(ToString::to_string);
        event.actor.role = payer.account.role.map(|role| role.to_string());
        event.session.clone_from(&payer.account.session);
        event.run = payer.account.run;
        event.sandbox = payer.sandbox;
        event.tool = Some(what.to_owned());
        event
    }
}

/// Why something cannot be paid for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::service) struct Refusal {
    /// The budget.
    pub(in crate::service) budget: String,
    /// In words for the model and the user.
    pub(in crate::service) reason: String,
    /// Seconds until it begins anew.
    pub(in crate::service) retry_after: u64,
    /// A person is to say; else it is simply refused.
    pub(in crate::service) pauses: bool,
}

impl Refusal {
    fn of(level: &Level, time: Timestamp) -> Self {
        use belljar_domain::BudgetStep;
        let gauge = level.gauge();
        let steps = level.budget.steps;
        Self {
            budget: level.budget.id(),
            reason: gauge.refusal(time).reason,
            retry_after: gauge.retry_after(time),
            pauses: steps.pause.is_some() && gauge.step() != Some(BudgetStep::Terminate),
        }
    }
}

impl From<Refusal> for ServiceError {
    fn from(refusal: Refusal) -> Self {
        let Refusal { budget, reason, retry_after, .. } = refusal;
        Self::Budget { budget, reason, retry_after }
    }
}

/// What a call's reservation is called; a call without a name of its own has none, and is paid for when it is done.
fn reservation_name(bill: &Bill<'_>) -> Option<String> {
    let call = bill.call.filter(|call| call.len() <= 128)?;
    Some(format!("call/{}/{}/{call}", bill.project, bill.agent.unwrap_or("-")))
}
