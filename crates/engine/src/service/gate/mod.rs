//! The one gate: whatever an agent or a client wants to do passes it, in a fixed order.
//!
//! identity → permission → budget → approval. The first stage that denies ends it; where one asks, a person is asked
//! last, when nothing else is in the way. What every stage said is written into the event of what was judged.
//!
//! Owns: the order, and that nothing is done before it was passed. Refuses: to know what a call does (the policy's),
//! who agents are (the registry's) or what they may spend (the budgets').

mod approval;
mod budget;
mod hooks;
mod identity;
mod links;
mod memo;
mod origins;
mod passage;
mod permission;
mod request;
mod sandboxes;

use std::sync::Arc;

use belljar_domain::{EventKind, EventStatus, Verdict};
use belljar_guardian::policy::{Mode, Policy};

pub use hooks::Grounds;
pub(in crate::service) use memo::Memo;
pub(in crate::service) use origins::Origins;
pub use passage::{Finding, Passage, Stage};
pub use request::{Act, Identity, Place, Proof, Request, target_of, tool};

use super::{Result, Service, ServiceError};

/// Seconds after which it is worth asking again whether a budget has room.
const RETRY_AFTER: u64 = 60;
/// Why, where the words that say so would repeat a secret.
const UNSPOKEN: &str = "the rule names what there are secrets in, so its words are not repeated";

impl Service {
    /// What the stages before a person say of a request. Quick, and asks nobody: the answer may be [`Verdict::Ask`].
    #[must_use]
    pub fn weigh(&self, request: &Request) -> Passage {
        let policy = self.policy();
        let known = identity::look(self, policy.mode, request);
        let kill = self.kill_of(request);
        // What a person stopped or killed stays so, whatever the policy only observes.
        let holds = policy.mode != Mode::Observe || kill.is_some() || known.is_stopped;
        let mut passage = Passage::begin(holds);
        if let Some(kill) = kill {
            passage.kill(kill.reason());
            return passage;
        }
        let stages: [(Stage, &dyn Fn() -> Finding); 3] = [
            (Stage::Identity, &|| known.finding.clone()),
            (Stage::Permission, &|| self.permission(&policy, request, &known)),
            (Stage::Budget, &|| budget::stage(self, request, &known)),
        ];
        for (stage, judge) in stages {
            let finding = judge();
            let is_over = finding.verdict == Verdict::Deny;
            passage.add(stage, finding);
            if is_over {
                break;
            }
        }
        passage
    }

    /// What policy and role say of a request.
    fn permission(&self, policy: &Arc<Policy>, request: &Request, known: &identity::Known) -> Finding {
        let find = || self.worded(policy, request, known);
        match permission::acted(self, request) {
            // What a role permits changes with every word of a person.
            Some(acted) if known.approved().is_none() => self.0.policy.memo.recall(policy, acted, find),
            Some(_) | None => find(),
        }
    }

    /// What the policy says of a request, in words that can be kept and shown: they quote what is asked for in part, and
    /// a part of a secret would not be known as one later.
    fn worded(&self, policy: &Policy, request: &Request, known: &identity::Known) -> Finding {
        let finding = permission::stage(self, policy, request, known);
        let mut clean = request.clone();
        self.0.recorder.redactor().value(&mut clean.act.input);
        if clean.act.input == request.act.input {
            return finding;
        }
        let again = permission::stage(self, policy, &clean, known);
        let is_same = (again.verdict, &again.rule) == (finding.verdict, &finding.rule);
        let reason = if is_same { again.reason } else { UNSPOKEN.to_owned() };
        Finding { reason, ..finding }
    }

    /// Lets something be done to a sandbox, or says why not. What was let through goes into the event of what is done;
    /// what was not gets one of its own.
    pub(super) fn pass(&self, request: Request) -> Result<Passage> {
        let mut passed = self.pass_all(vec![request])?;
        passed.pop().ok_or_else(|| ServiceError::Invalid("nothing was asked for".to_owned()))
    }

    /// Lets several things be done that are done together, or none of them.
    pub(super) fn pass_all(&self, requests: Vec<Request>) -> Result<Vec<Passage>> {
        let (mut passed, mut asked) = (Vec::new(), Vec::new());
        for request in requests {
            let passage = self.weigh(&request);
            match passage.verdict() {
                Verdict::Deny if passage.is_refused() => {
                    self.note_refusal(&request, &passage)?;
                    if passage.unpaid().is_some() {
                        return Err(unaffordable(&passage));
                    }
                    let (reason, rule) = (passage.reason().to_owned(), passage.rule().map(str::to_owned));
                    return Err(ServiceError::Refused { reason, rule });
                }
                // Whoever raises the limit lets it pass; an answer to this one would not last until the next.
                Verdict::Ask if passage.is_refused() && passage.unpaid().is_some() => {
                    self.note_refusal(&request, &passage)?;
                    return Err(unaffordable(&passage));
                }
                Verdict::Ask if passage.is_refused() => asked.push((request, passage)),
                Verdict::Allow | Verdict::Ask | Verdict::Deny => passed.push(passage),
            }
        }
        if !asked.is_empty() {
            // What somebody was asked about is worth more than the rest.
            passed.splice(0..0, self.settle(&asked)?);
        }
        Ok(passed)
    }

    /// Writes down that something was not let through.
    fn note_refusal(&self, request: &Request, passage: &Passage) -> Result<()> {
        let mut event = self.event(&request.who.principal, EventKind::GuardianDenied);
        event.actor.id.clone_from(&request.who.agent);
        event.session.clone_from(&request.session);
        event.sandbox = request.place.sandbox();
        event.tool = Some(request.act.tool.clone());
        (event.target, event.target_type) = request.act.target();
        event.status = Some(EventStatus::Denied);
        passage.write(&mut event);
        self.record(event).wait()?;
        Ok(())
    }
}

/// That a budget has no room for it, as it is told.
fn unaffordable(passage: &Passage) -> ServiceError {
    ServiceError::Budget {
        budget: passage.unpaid().unwrap_or_default().to_owned(),
        reason: passage.reason().to_owned(),
        retry_after: RETRY_AFTER,
    }
}
