//! Answering: a person's word is taken once, and reaches as far as they say.
//!
//! Owns: who may answer, the race between two who do, a changed input (judged again before it counts), and the rule of a
//! yes for always. Refuses: an answer nobody waits for.

use belljar_domain::{ApprovalId, ApprovalScope, ApprovalState, EventKind, EventStatus, Principal, Verdict};
use belljar_guardian::policy::Rule;
use belljar_ports::{StoreError, store::ApprovalRow};
use serde_json::{Value, json};

use super::{
    ApprovalView, Said,
    asking::until,
    closing::none,
    record::{Manner, Record},
};
use crate::service::{Result, Service, ServiceError, gate::Request, gate::tool, now};

/// The longest reason.
const LONGEST: usize = 4096;

/// What a person says.
#[derive(Debug, Clone, PartialEq)]
pub struct Answering {
    /// Yes or no.
    pub word: Word,
    /// Why, for the agent and the ledger.
    pub reason: Option<String>,
    /// By which way it came: `api`, `link`.
    pub how: &'static str,
}

/// Yes, as far as it reaches, or no.
#[derive(Debug, Clone, PartialEq)]
pub enum Word {
    /// Yes.
    Allow {
        /// How far it reaches.
        scope: ApprovalScope,
        /// What is to be done instead, whole.
        input: Option<Value>,
    },
    /// No.
    Deny,
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The approval as it stands.
    pub approval: ApprovalView,
    /// What did not go as wished.
    pub warning: Option<String>,
}

impl Service {
    /// Takes a person's answer.
    ///
    /// # Errors
    /// When it is not theirs to answer, was answered already, nobody waits for it, or the changed input is denied.
    pub fn answer(&self, who: &Principal, id: ApprovalId, said: Answering) -> Result<Answered> {
        if !who.admin {
            return Err(ServiceError::Denied(
                "only a person with the admin key or the socket answers".to_owned(),
            ));
        }
        if said.reason.as_ref().is_some_and(|reason| reason.len() > LONGEST) {
            return Err(ServiceError::TooLarge(format!("a reason has at most {LONGEST} bytes")));
        }
        let row = self.store().approval(id)?.ok_or_else(|| none(id))?;
        let record = Record::of(&row).ok_or_else(|| none(id))?;
        self.is_open(&row, &record)?;
        let reason = said.reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        let mut answer = Said {
            by: who.name.clone(),
            how: said.how.to_owned(),
            scope: ApprovalScope::Once,
            reason,
            input: None,
            print: None,
            rule: None,
        };
        let (state, edited, rule) = match said.word {
            Word::Deny => (ApprovalState::Denied, None, None),
            Word::Allow { scope, input } => {
                let request = self.meant(&row, &record, input.as_ref())?;
                self.judge_again(&request)?;
                answer.scope = scope;
                answer.print = input.as_ref().map(|input| self.0.desk.print_of(input));
                answer.input.clone_from(&input);
                let rule = (scope == ApprovalScope::Always).then(|| self.rule_for(&request)).transpose()?;
                answer.rule = rule.as_ref().map(Rule::text);
                (ApprovalState::Allowed, input, rule)
            }
        };
        let row = self.take(&row, &record, &answer, state, edited)?;
        self.let_hear(record.rule.as_deref(), row.sandbox, &answer.by);
        let warning = rule.and_then(|rule| {
            let kept = self.keep_rule(&rule);
            kept.err().map(|why| format!("the rule was not written, so it counts for this call alone: {why}"))
        });
        let approval = ApprovalView::of(row).ok_or_else(|| none(id))?;
        Ok(Answered { approval, warning })
    }

    /// An approval that can be answered: one that waits, in time, for somebody.
    fn is_open(&self, row: &ApprovalRow, record: &Record) -> Result<()> {
        if row.state != ApprovalState::Pending {
            return Err(over(row, record));
        }
        let (state, note) = if row.expires <= now() {
            (ApprovalState::Expired, "nobody answered in time")
        } else if !self.is_awaited(row, record) {
            (ApprovalState::Cancelled, "whoever asked waits no more")
        } else {
            return Ok(());
        };
        // Whichever way it ended, it is over.
        let _ended_meanwhile = self.close_unanswered(row, state, note);
        Err(ServiceError::Conflict(format!("{} is {state}: {note}", row.id)))
    }

    /// The request as it was made, or as a person wants it made.
    fn meant(&self, row: &ApprovalRow, record: &Record, input: Option<&Value>) -> Result<Request> {
        let seated = self.0.desk.seats().get(&row.id).and_then(|seat| seat.request.clone());
        let mut request = seated.unwrap_or_else(|| record.request(row));
        if let Some(input) = input {
            let can_change = record.manner != Manner::Again || record.tool == tool::EXEC;
            if !can_change {
                let what = format!(
                    "what {} is given cannot be changed here; deny it, and say what to do",
                    record.tool
                );
                return Err(ServiceError::Invalid(what));
            }
            if !input.is_object() {
                return Err(ServiceError::Invalid("the changed input is not a JSON object".to_owned()));
            }
            request.act.input = input.clone();
        }
        Ok(request)
    }

    /// What a person wants done passes the gate as well: they can say yes to what is asked, not to what is denied.
    fn judge_again(&self, request: &Request) -> Result<()> {
        let passage = self.weigh(request);
        if passage.holds && passage.verdict() == Verdict::Deny {
            return Err(ServiceError::Refused {
                reason: passage.reason().to_owned(),
                rule: passage.rule().map(str::to_owned),
            });
        }
        Ok(())
    }

    /// The narrowest rule that lets calls like this one pass.
    fn rule_for(&self, request: &Request) -> Result<Rule> {
        let rule = self.suggest(request);
        let none =
            "no narrow rule would let this pass; allow it once or for the session, or write a rule yourself";
        rule.ok_or_else(|| ServiceError::Unsupported(none.to_owned()))
    }

    /// Takes the answer, unless somebody was quicker.
    fn take(
        &self,
        row: &ApprovalRow,
        record: &Record,
        answer: &Said,
        state: ApprovalState,
        edited: Option<Value>,
    ) -> Result<ApprovalRow> {
        let expires = match record.manner {
            // Who makes the request again has time to.
            Manner::Again | Manner::Deferred => until(row, self.policy().approval.wait()),
            Manner::Held => row.expires,
        };
        let is_yes = state == ApprovalState::Allowed;
        let record = Record { answer: Some(answer.clone()), ..record.clone() };
        let next =
            ApprovalRow { state, expires, answered: Some(now()), record: record.json(), ..row.clone() };
        let mut event = self.about(&next, &record, EventKind::ApprovalAnswered);
        event.decision = Some(if is_yes { Verdict::Allow } else { Verdict::Deny });
        event.status = Some(if is_yes { EventStatus::Success } else { EventStatus::Denied });
        event.risk = Some(record.risk);
        event.reason.clone_from(&answer.reason);
        if let Value::Object(payload) = &mut event.payload {
            payload.insert("by".to_owned(), json!(answer.by));
            payload.insert("how".to_owned(), json!(answer.how));
            payload.insert("scope".to_owned(), json!(answer.scope));
            payload.insert("input".to_owned(), json!(answer.input));
            payload.insert("rule".to_owned(), json!(answer.rule));
        }
        match self.step(ApprovalState::Pending, &next, event, edited) {
            Ok(()) => Ok(next),
            Err(StoreError::Stale(id)) => {
                let now = self.store().approval(id)?.ok_or_else(|| none(id))?;
                let record = Record::of(&now).ok_or_else(|| none(id))?;
                Err(over(&now, &record))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// It was answered or closed already: by whom, when, and how.
fn over(row: &ApprovalRow, record: &Record) -> ServiceError {
    let when = row.answered.map_or_else(String::new, |time| format!(" at {time}"));
    let what = match (&record.answer, &record.note) {
        (Some(said), _) => format!("{} is {} already, by {}{when}", row.id, row.state, said.by),
        (None, Some(note)) => format!("{} is {}{when}: {note}", row.id, row.state),
        (None, None) => format!("{} is {}{when}", row.id, row.state),
    };
    ServiceError::Conflict(what)
}
