//! What whoever asked is told.

use belljar_domain::{ApprovalState, Risk, Verdict};
use belljar_ports::store::ApprovalRow;
use serde_json::Value;

use super::{
    desk::Seat,
    record::{Otherwise, Record},
};
use crate::service::{Service, gate::Finding};

/// What became of a call that waited.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Yes, no, or let the agent ask its own person.
    pub verdict: Verdict,
    /// Why, in words for the model and the user.
    pub reason: String,
    /// What is to be done instead.
    pub edited: Option<Value>,
}

impl Outcome {
    pub(in crate::service) fn finding(&self) -> Finding {
        match self.verdict {
            Verdict::Allow => Finding::allow(self.reason.clone()),
            Verdict::Ask => Finding::ask(Risk::Low, self.reason.clone()),
            Verdict::Deny => Finding::deny(Risk::Low, self.reason.clone()),
        }
    }
}

impl Service {
    /// What follows from where an approval stands; none while it waits.
    pub(super) fn outcome(&self, row: &ApprovalRow) -> Option<Outcome> {
        let record = Record::of(row)?;
        let answer = record.answer.as_ref();
        let by = answer.map_or("a person", |said| said.by.as_str());
        let said = answer.and_then(|said| said.reason.clone());
        let no = |reason: String| Outcome { verdict: Verdict::Deny, reason, edited: None };
        let unsaid = |reason: String| match record.otherwise {
            Otherwise::Agent => Outcome { verdict: Verdict::Ask, reason, edited: None },
            Otherwise::Deny => no(reason),
        };
        Some(match row.state {
            ApprovalState::Pending => return None,
            ApprovalState::Allowed => match self.edited(row, &record) {
                Ok(edited) => {
                    let changed = if edited.is_some() { ", and changed it" } else { "" };
                    let why = said.map(|said| format!(": {said}")).unwrap_or_default();
                    Outcome {
                        verdict: Verdict::Allow,
                        reason: format!("allowed by {by}{changed}{why}"),
                        edited,
                    }
                }
                Err(lost) => no(lost),
            },
            ApprovalState::Denied => no(match said {
                Some(said) => format!("denied by {by}: {said}"),
                None => format!("denied by {by}; do not try it another way, ask the user"),
            }),
            ApprovalState::Expired => unsaid(format!("{}; nobody answered in time", record.reason)),
            ApprovalState::Cancelled => {
                let note = record.note.as_deref().unwrap_or("it was cancelled");
                unsaid(format!("{}; {note}", record.reason))
            }
        })
    }

    /// What a person wants done instead. It may have had secrets, which are not kept: lost, it is not done at all.
    fn edited(&self, row: &ApprovalRow, record: &Record) -> Result<Option<Value>, String> {
        let Some((said, print)) = record.answer.as_ref().and_then(|said| Some((said, said.print.as_ref()?)))
        else {
            return Ok(None);
        };
        let seat = self.0.desk.seats().get(&row.id).and_then(|seat: &Seat| seat.edited.clone());
        let kept = said.input.clone().filter(|kept| self.0.desk.print_of(kept) == *print);
        match seat.or(kept) {
            Some(edited) => Ok(Some(edited)),
            None => {
                Err("a person changed this call, and the change was lost with the server; ask again"
                    .to_owned())
            }
        }
    }
}
