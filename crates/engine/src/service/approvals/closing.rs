//! The end of an approval: delivered, expired, or given up; and who waits for it until then.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use belljar_domain::{ApprovalId, ApprovalState, EventKind, EventStatus, Principal};
use belljar_ports::{
    StoreError,
    store::{ApprovalChange, ApprovalFilter, ApprovalRow, Batch},
};
use serde_json::Value;
use tokio::sync::watch;

use super::{
    ApprovalView, Outcome,
    desk::Seat,
    record::{Manner, Record, Shown},
};
use crate::service::{Result, Service, ServiceError, gate::Identity, gate::Proof, now};

/// How long whoever is held up may be away: to call again, or to find the next server.
const GRACE: Duration = Duration::from_secs(15);
/// How long an answered call keeps its seat.
const LINGERS: Duration = Duration::from_secs(900);
const PAGE: usize = 500;

/// Somebody who waits for an answer; they are gone when this is.
#[derive(Debug)]
pub struct Sitting {
    service: Service,
    id: ApprovalId,
}

impl Drop for Sitting {
    fn drop(&mut self) {
        if let Some(seat) = self.service.0.desk.seats().get_mut(&self.id) {
            seat.waiters = seat.waiters.saturating_sub(1);
            seat.left = Instant::now();
        }
    }
}

/// Somebody who watches what is asked; they are gone when this is.
#[derive(Debug)]
pub struct Watching(Service);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.0.desk.watchers().fetch_sub(1, Ordering::Relaxed);
    }
}

impl Service {
    /// Counts somebody who watches what is asked, for as long as they do.
    #[must_use]
    pub fn watch_approvals(&self) -> Watching {
        self.0.desk.watchers().fetch_add(1, Ordering::Relaxed);
        Watching(self.clone())
    }

    /// Changes whenever an approval took a step.
    #[must_use]
    pub fn approval_news(&self) -> watch::Receiver<u64> {
        self.0.desk.news()
    }

    /// Takes a seat for whoever asked. What they wait for is theirs, or they are an admin.
    ///
    /// # Errors
    /// When there is no such approval of theirs.
    pub fn sit(&self, who: &Identity, id: ApprovalId) -> Result<Sitting> {
        let row = self.theirs(who, id)?;
        let mut seats = self.0.desk.seats();
        seats.entry(id).or_insert_with(|| Seat::new(row, None)).waiters += 1;
        Ok(Sitting { service: self.clone(), id })
    }

    /// What became of a call; none while it waits.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn approval_outcome(&self, id: ApprovalId) -> Result<Option<Outcome>> {
        let seated = self.0.desk.seats().get(&id).map(|seat| seat.row.clone());
        let row = match seated {
            Some(row) => row,
            None => self.store().approval(id)?.ok_or_else(|| none(id))?,
        };
        Ok(self.outcome(&row))
    }

    /// Writes down that whoever asked has the answer.
    ///
    /// # Errors
    /// When there is no such approval of theirs, or no answer yet.
    pub fn acknowledge(&self, who: &Identity, id: ApprovalId) -> Result<ApprovalView> {
        let row = self.theirs(who, id)?;
        if row.state == ApprovalState::Pending {
            return Err(ServiceError::Conflict(format!("{id} has no answer yet")));
        }
        let row = if row.delivered.is_some() { row } else { self.delivered(&row)? };
        ApprovalView::of(row).ok_or_else(|| none(id))
    }

    /// The approval somebody asked for: an admin's are all, a sandbox's its own.
    fn theirs(&self, who: &Identity, id: ApprovalId) -> Result<ApprovalRow> {
        let row = self.store().approval(id)?.ok_or_else(|| none(id))?;
        let asked = Record::of(&row).map(|record| record.proof);
        let is_theirs = match &who.proof {
            Proof::Key => who.principal.sees(&row.project),
            proof @ (Proof::Pass(_) | Proof::Signature(_)) => asked == Some(Shown::from(proof)),
        };
        if is_theirs { Ok(row) } else { Err(none(id)) }
    }

    /// Takes the last step. Of two who take an answer, one gets it.
    pub(in crate::service) fn delivered(&self, row: &ApprovalRow) -> Result<ApprovalRow> {
        let record = Record::of(row).ok_or_else(|| none(row.id))?;
        let next = ApprovalRow { delivered: Some(now()), ..row.clone() };
        let mut event = self.about(&next, &record, EventKind::ApprovalDelivered);
        event.status = Some(EventStatus::Success);
        self.step(row.state, &next, event, None)?;
        Ok(next)
    }

    /// Closes an approval nobody answered.
    pub(super) fn close_unanswered(
        &self,
        row: &ApprovalRow,
        state: ApprovalState,
        note: &str,
    ) -> Result<ApprovalRow> {
        let mut record = Record::of(row).ok_or_else(|| none(row.id))?;
        record.note = Some(note.to_owned());
        let next = ApprovalRow { state, answered: Some(now()), record: record.json(), ..row.clone() };
        let kind = if state == ApprovalState::Expired {
            EventKind::ApprovalExpired
        } else {
            EventKind::ApprovalCancelled
        };
        let mut event = self.about(&next, &record, kind);
        event.status = Some(EventStatus::Timeout);
        event.decision = self.outcome(&next).map(|outcome| outcome.verdict);
        event.risk = Some(record.risk);
        event.reason = Some(note.to_owned());
        self.step(ApprovalState::Pending, &next, event, None)?;
        Ok(next)
    }

    /// Takes a step together with its event, if nobody was quicker.
    pub(super) fn step(
        &self,
        from: ApprovalState,
        row: &ApprovalRow,
        event: belljar_domain::NewEvent,
        edited: Option<Value>,
    ) -> std::result::Result<(), StoreError> {
        let approvals = vec![ApprovalChange { from: Some(from), row: row.clone() }];
        self.0.recorder.commit(Batch { approvals, events: vec![event], ..Batch::default() })?;
        self.0.desk.stepped(row, edited);
        Ok(())
    }

    /// Finds what an earlier service left open. Who waits for it has a moment to come back.
    pub(in crate::service) fn reopen_approvals(&self) -> Result<()> {
        let filter = ApprovalFilter { states: vec![ApprovalState::Pending], ..ApprovalFilter::default() };
        let mut below = None;
        loop {
            let rows = self.store().approvals(&filter, below, PAGE)?;
            let Some(last) = rows.last() else { return Ok(()) };
            below = Some(last.id);
            let mut seats = self.0.desk.seats();
            rows.into_iter().for_each(|row| drop(seats.insert(row.id, Seat::new(row, None))));
        }
    }

    /// Ends what nobody answered in time or waits for any more.
    pub(in crate::service) fn tidy_approvals(&self) {
        let now = now();
        let mut over: Vec<(ApprovalRow, ApprovalState, &str)> = Vec::new();
        self.0.desk.seats().retain(|_, seat| {
            if seat.row.state != ApprovalState::Pending {
                return seat.waiters > 0 || seat.left.elapsed() < LINGERS;
            }
            let is_held = Record::of(&seat.row).is_some_and(|record| record.manner == Manner::Held);
            if seat.row.expires <= now {
                over.push((seat.row.clone(), ApprovalState::Expired, "nobody answered in time"));
            } else if is_held && seat.waiters == 0 && seat.left.elapsed() > GRACE {
                over.push((seat.row.clone(), ApprovalState::Cancelled, "whoever asked waits no more"));
            }
            true
        });
        for (row, state, note) in over {
            // Somebody answered it just now; or the store is gone, and the next look tries again.
            let _later = self.close_unanswered(&row, state, note);
        }
    }

    /// Whether a call that is held up is waited for.
    pub(super) fn is_awaited(&self, row: &ApprovalRow, record: &Record) -> bool {
        let seats = self.0.desk.seats();
        let is_there = |seat: &Seat| seat.waiters > 0 || seat.left.elapsed() <= GRACE;
        record.manner != Manner::Held || seats.get(&row.id).is_some_and(is_there)
    }

    /// Says no to everything an agent waits for.
    pub(in crate::service) fn give_up_approvals(&self, wanted: impl Fn(&ApprovalRow) -> bool, note: &str) {
        let open: Vec<ApprovalRow> = {
            let seats = self.0.desk.seats();
            let open = seats.values().map(|seat| &seat.row).filter(|row| row.state == ApprovalState::Pending);
            open.filter(|row| wanted(row)).cloned().collect()
        };
        for row in open {
            let Some(mut record) = Record::of(&row) else { continue };
            record.otherwise = super::record::Otherwise::Deny;
            let row = ApprovalRow { record: record.json(), ..row };
            let _answered_meanwhile = self.close_unanswered(&row, ApprovalState::Cancelled, note);
        }
    }

    /// Shows one approval.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn approval(&self, who: &Principal, id: ApprovalId) -> Result<ApprovalView> {
        let row = self.store().approval(id)?.filter(|row| who.sees(&row.project)).ok_or_else(|| none(id))?;
        ApprovalView::of(row).ok_or_else(|| none(id))
    }

    /// Lists approvals, newest first, from just below one of them.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn approvals(
        &self,
        who: &Principal,
        mut filter: ApprovalFilter,
        below: Option<ApprovalId>,
        limit: usize,
    ) -> Result<Vec<ApprovalView>> {
        filter.project = who.scope().or(filter.project);
        let rows = self.store().approvals(&filter, below, limit)?;
        Ok(rows.into_iter().filter_map(ApprovalView::of).collect())
    }

    /// How many calls wait for a person.
    #[must_use]
    pub fn waiting_approvals(&self) -> usize {
        self.0.desk.waiting()
    }
}

pub(super) fn none(id: ApprovalId) -> ServiceError {
    ServiceError::NotFound(format!("approval {id}"))
}
