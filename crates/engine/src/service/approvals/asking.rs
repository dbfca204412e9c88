//! Asking: a call becomes a row, once, however often it comes.
//!
//! Owns: what tells one call from another, and whether anybody needs to be asked at all.

use std::{
    sync::{MutexGuard, PoisonError},
    time::Duration,
};

use belljar_domain::{ApprovalId, ApprovalState, EventKind, NewEvent, Timestamp, Verdict};
use belljar_guardian::policy::{Unanswered, Unwatched};
use belljar_ports::store::{ApprovalChange, ApprovalFilter, ApprovalRow, Batch};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    ApprovalView,
    desk::Seat,
    outcome::Outcome,
    record::{Manner, Otherwise, Record, Spot},
};
use crate::service::{
    Result, Service, ServiceError,
    gate::{Passage, Request, Stage},
    now,
};

/// The most calls that wait at one time.
const MOST: usize = 1000;
/// How many approvals of a session are looked through for a call without a name.
const LATEST: usize = 50;
/// How long a call that was answered may come once more, under another name.
const ECHO: Duration = Duration::from_secs(600);
/// The longest text of an input that is kept.
const LONGEST: usize = 16 << 10;
/// How long a question that was put off is kept.
const DEFERRED: Duration = Duration::from_secs(24 * 3600);

/// Who is held up until somebody answers, and what else they could do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// How long it can wait.
    pub patience: Duration,
    /// Whether a person sits before it, as far as it says.
    pub attended: bool,
    /// Whether it can ask that person itself.
    pub can_ask: bool,
    /// Whether it can put the question off.
    pub can_defer: bool,
    /// The program it is.
    pub vendor: String,
    /// Its own name for the call.
    pub tool_use_id: Option<String>,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// It is answered already: by a person before, or by nobody being there.
    Settled(Passage),
    /// A person is asked; whoever asks waits for as long as it says, and then does what it says.
    Waits {
        /// Where to wait.
        approval: Box<ApprovalView>,
        /// For how long.
        patience: Duration,
        /// What follows when nobody can be heard by then.
        otherwise: Verdict,
        /// Whether it is then put off.
        defers: bool,
    },
}

impl Service {
    /// Has a person asked about a call whose maker is held up until they answer.
    ///
    /// # Errors
    /// When it cannot be kept, or too many wait already.
    pub fn ask_person(&self, request: &Request, passage: &Passage, asker: &Asker) -> Result<Asked> {
        let policy = self.policy().approval;
        let patience = asker.patience.min(policy.wait());
        let otherwise = if asker.can_ask && policy.unanswered == Unanswered::Agent {
            Otherwise::Agent
        } else {
            Otherwise::Deny
        };
        let defers = policy.unanswered == Unanswered::Defer && asker.can_defer && !asker.attended;
        let waits = |row: &ApprovalRow| -> Result<Asked> {
            let unreadable = || ServiceError::NotFound(format!("approval {}", row.id));
            Ok(Asked::Waits {
                approval: Box::new(ApprovalView::of(row.clone()).ok_or_else(unreadable)?),
                patience,
                otherwise: if otherwise == Otherwise::Agent { Verdict::Ask } else { Verdict::Deny },
                defers,
            })
        };
        let call = self.call_of(request, asker.tool_use_id.as_deref());
        let _one_at_a_time = self.asking();
        if let Some(row) = self.asked_before(request, asker, &call)? {
            if row.state == ApprovalState::Pending {
                self.sit_again(&row, request);
                return waits(&row);
            }
            if let Some(outcome) = self.outcome(&row) {
                return Ok(Asked::Settled(self.told_again(&row, request, passage, outcome)));
            }
        }
        if let Some(grant) = self.granted(request, passage)? {
            return Ok(Asked::Settled(settled(passage, &for_session(&grant))));
        }
        let hands_on = policy.unwatched == Unwatched::Agent && !self.0.desk.is_watched();
        if (asker.attended && asker.can_ask && hands_on) || patience.is_zero() {
            let verdict = if asker.can_ask { Verdict::Ask } else { Verdict::Deny };
            let reason = passage.reason().to_owned();
            return Ok(Asked::Settled(settled(passage, &Outcome { verdict, reason, edited: None })));
        }
        let (manner, lasts) = if defers { (Manner::Deferred, DEFERRED) } else { (Manner::Held, patience) };
        let mut record = self.record_of(request, passage, manner, otherwise);
        record.vendor = Some(asker.vendor.clone());
        record.tool_use_id.clone_from(&asker.tool_use_id);
        waits(&self.open_row(request, call, &record, lasts)?)
    }

    /// Asks a person about a request that is made again after their answer.
    pub(in crate::service) fn open_again(
        &self,
        request: &Request,
        passage: &Passage,
        call: String,
    ) -> Result<ApprovalRow> {
        let record = self.record_of(request, passage, Manner::Again, Otherwise::Deny);
        self.open_row(request, call, &record, self.policy().approval.wait())
    }

    /// Held while it is found out whether a call was asked about before.
    pub(in crate::service) fn asking(&self) -> MutexGuard<'_, ()> {
        self.0.desk.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What tells a call from others: what it is, and its own name, where it has one. The name alone is the agent's to give,
    /// and would let anything through once it was answered.
    pub(in crate::service) fn call_of(&self, request: &Request, name: Option<&str>) -> String {
        let who = format!("{:?} {:?}", request.who.proof, request.who.principal.name);
        let sandbox = request.place.sandbox().map(|id| id.to_string()).unwrap_or_default();
        let session = request.session.as_deref().unwrap_or_default();
        let input = self.0.desk.print_of(&request.act.input);
        let name = name.map_or_else(String::new, |name| format!("name {name}"));
        let parts = [who.as_str(), &sandbox, session, &request.act.tool, &input, &name].map(str::as_bytes);
        self.0.desk.print(&parts)
    }

    /// The row of a call that came before: as it is, as a person changed it, or as the same call of the same session a
    /// moment ago.
    fn asked_before(&self, request: &Request, asker: &Asker, call: &str) -> Result<Option<ApprovalRow>> {
        let project = Some(request.who.principal.project.clone());
        let by_call = ApprovalFilter {
            project: project.clone(),
            call: Some(call.to_owned()),
            ..ApprovalFilter::default()
        };
        let found = self.store().approvals(&by_call, None, 1)?.pop();
        if found.is_some() || request.session.is_none() {
            return Ok(found.filter(|row| row.state != ApprovalState::Cancelled));
        }
        let of_session =
            ApprovalFilter { project, session: request.session.clone(), ..ApprovalFilter::default() };
        let print = self.0.desk.print_of(&request.act.input);
        let earliest = now().minus(ECHO);
        let is_same = |row: &ApprovalRow| {
            let Some(record) = Record::of(row) else { return false };
            let edited = record.answer.as_ref().and_then(|said| said.print.as_ref());
            let is_its_own = match &asker.tool_use_id {
                Some(name) => record.tool_use_id.as_ref() == Some(name),
                None => row.created > earliest,
            };
            is_its_own
                && row.state != ApprovalState::Cancelled
                && record.tool == request.act.tool
                && (record.print == print || edited == Some(&print))
                && row.sandbox == request.place.sandbox()
        };
        let rows = self.store().approvals(&of_session, None, LATEST)?;
        Ok(rows.into_iter().find(is_same))
    }

    /// The answer for a call that comes once more. Who comes with what a person made of it needs no telling.
    fn told_again(
        &self,
        row: &ApprovalRow,
        request: &Request,
        passage: &Passage,
        outcome: Outcome,
    ) -> Passage {
        let is_edited = outcome.edited.as_ref() == Some(&request.act.input);
        let outcome = Outcome { edited: outcome.edited.filter(|_| !is_edited), ..outcome };
        // Who hears it twice was told; only the first time is written down.
        let _told_before = self.delivered(row);
        settled(passage, &outcome)
    }

    /// Everything there is to know about a call that a person is to judge.
    fn record_of(
        &self,
        request: &Request,
        passage: &Passage,
        manner: Manner,
        otherwise: Otherwise,
    ) -> Record {
        let (effects, rulings) = self.effects(request);
        Record {
            who: request.who.principal.clone(),
            proof: (&request.who.proof).into(),
            tool: request.act.tool.clone(),
            input: shortened(request.act.input.clone()),
            print: self.0.desk.print_of(&request.act.input),
            place: Spot::from(&request.place),
            vendor: None,
            tool_use_id: None,
            manner,
            otherwise,
            risk: passage.risk(),
            rule: passage.rule().map(str::to_owned),
            reason: passage.reason().to_owned(),
            effects,
            rulings,
            gate: passage.json(),
            answer: None,
            note: None,
        }
    }

    /// Writes down that a person is asked, and tells everybody who watches.
    fn open_row(
        &self,
        request: &Request,
        call: String,
        record: &Record,
        lasts: Duration,
    ) -> Result<ApprovalRow> {
        if self.0.desk.waiting() >= MOST {
            return Err(ServiceError::Quota(format!("{MOST} calls wait for a person already")));
        }
        let created = now();
        let row = ApprovalRow {
            id: ApprovalId::from_uuid(Uuid::now_v7()),
            project: request.who.principal.project.clone(),
            state: ApprovalState::Pending,
            call,
            agent: request.who.agent.clone(),
            session: request.session.clone(),
            sandbox: request.place.sandbox(),
            created,
            expires: created.plus(lasts),
            answered: None,
            delivered: None,
            record: record.json(),
        };
        let mut event = self.about(&row, record, EventKind::ApprovalRequested);
        event.decision = Some(Verdict::Ask);
        event.risk = Some(record.risk);
        event.reason = Some(record.reason.clone());
        if let Value::Object(payload) = &mut event.payload {
            payload.insert("input".to_owned(), record.input.clone());
            payload.insert("effects".to_owned(), json!(record.effects));
            payload.insert("rule".to_owned(), json!(record.rule));
            payload.insert("expires_at".to_owned(), json!(row.expires.to_string()));
        }
        // It has its seat before anybody hears of it and answers.
        self.0.desk.seats().insert(row.id, Seat::new(row.clone(), Some(request.clone())));
        let approvals = vec![ApprovalChange { from: None, row: row.clone() }];
        let kept = self.0.recorder.commit(Batch { approvals, events: vec![event], ..Batch::default() });
        if let Err(error) = kept {
            self.0.desk.seats().remove(&row.id);
            return Err(error.into());
        }
        Ok(row)
    }

    /// Who comes back after a restart brings what was really asked along.
    fn sit_again(&self, row: &ApprovalRow, request: &Request) {
        let mut seats = self.0.desk.seats();
        let seat = seats.entry(row.id).or_insert_with(|| Seat::new(row.clone(), None));
        seat.request.get_or_insert_with(|| request.clone());
    }

    /// An event about an approval.
    pub(super) fn about(&self, row: &ApprovalRow, record: &Record, kind: EventKind) -> NewEvent {
        let mut event = self.event(&record.who, kind);
        event.project.clone_from(&row.project);
        event.actor.id.clone_from(&row.agent);
        event.session.clone_from(&row.session);
        event.sandbox = row.sandbox;
        event.tool = Some(record.tool.clone());
        (event.target, event.target_type) = crate::service::target_of(&record.input);
        event.payload =
            json!({ "approval": row.id, "tool_use_id": record.tool_use_id, "vendor": record.vendor });
        event
    }
}

/// A passage with what a person said, or would have.
pub(in crate::service) fn settled(passage: &Passage, outcome: &Outcome) -> Passage {
    let mut passage = passage.clone();
    passage.add(Stage::Approval, outcome.finding());
    passage.edited.clone_from(&outcome.edited);
    passage
}

/// What is told where a yes of before covers a call.
pub(in crate::service) fn for_session(grant: &ApprovalRow) -> Outcome {
    let by = Record::of(grant).and_then(|record| record.answer).map_or_else(String::new, |said| said.by);
    let reason = format!("allowed by {by} for this session ({})", grant.id);
    Outcome { verdict: Verdict::Allow, reason, edited: None }
}

/// Cuts every long text and says how long it was.
fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > LONGEST => {
            let kept = text.floor_char_boundary(LONGEST);
            Value::String(format!("{}… ({} bytes)", &text[..kept], text.len()))
        }
        Value::Array(items) => Value::Array(items.into_iter().map(shortened).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, shortened(value))).collect())
        }
        other => other,
    }
}

/// When an answer to a request that is to be made again means nothing any more.
pub(super) fn until(row: &ApprovalRow, lasts: Duration) -> Timestamp {
    row.expires.max(now().plus(lasts))
}
