//! The last stage: what a person says.
//!
//! Owns: what is asked of them, and what becomes of a request that nobody is held up for: it is refused with the approval's
//! id, and passes when it is made again after a yes. The yes is used up by that.

use belljar_domain::{ApprovalState, Verdict};
use belljar_guardian::policy::{Rule, described};
use belljar_ports::store::{ApprovalFilter, ApprovalRow};

use super::{Passage, Request, permission};
use crate::service::{Result, Service, ServiceError, approvals, now, rulebook::EffectRuling};

/// How many effects are told.
const MOST: usize = 20;

/// Where a request stands with the people.
enum Stand {
    /// Somebody said yes, and it may be done.
    Yes(ApprovalRow),
    /// Somebody said yes to all like it.
    Granted(ApprovalRow),
    /// Somebody said no, or will yet say something.
    Not(ServiceError),
}

impl Service {
    /// Lets requests be carried out that a person is to be asked about: all of them, or none.
    pub(super) fn settle(&self, asked: &[(Request, Passage)]) -> Result<Vec<Passage>> {
        let mut stands = Vec::with_capacity(asked.len());
        let mut refused = None;
        // Everything is asked at once, so that it can be answered at once.
        for (request, passage) in asked {
            match self.stand(request, passage)? {
                Stand::Not(error) => refused = refused.or(Some(error)),
                stand => stands.push(stand),
            }
        }
        if let Some(error) = refused {
            return Err(error);
        }
        let mut passed = Vec::with_capacity(asked.len());
        for ((_, passage), stand) in asked.iter().zip(stands) {
            let outcome = match stand {
                Stand::Yes(row) => {
                    let outcome = self.approval_outcome(row.id)?;
                    // Of two who make the same request, one has the yes.
                    self.delivered(&row)?;
                    outcome
                }
                Stand::Granted(grant) => Some(approvals::for_session(&grant)),
                Stand::Not(error) => return Err(error),
            };
            let outcome = outcome.ok_or(ServiceError::Closing)?;
            if outcome.verdict != Verdict::Allow {
                return Err(ServiceError::Refused { reason: outcome.reason, rule: None });
            }
            passed.push(approvals::settled(passage, &outcome));
        }
        Ok(passed)
    }

    fn stand(&self, request: &Request, passage: &Passage) -> Result<Stand> {
        let call = self.call_of(request, None);
        let filter = ApprovalFilter {
            project: Some(request.who.principal.project.clone()),
            call: Some(call.clone()),
            ..ApprovalFilter::default()
        };
        let _one_at_a_time = self.asking();
        let known = self.store().approvals(&filter, None, 1)?.pop().filter(|row| row.expires > now());
        match known {
            Some(row) if row.state == ApprovalState::Pending => {
                return Ok(Stand::Not(required(&row, passage)));
            }
            Some(row) if row.state == ApprovalState::Allowed && row.delivered.is_none() => {
                return Ok(Stand::Yes(row));
            }
            Some(row) if row.state == ApprovalState::Denied => {
                let reason =
                    self.approval_outcome(row.id)?.map_or_else(String::new, |outcome| outcome.reason);
                return Ok(Stand::Not(ServiceError::Refused {
                    reason,
                    rule: passage.rule().map(str::to_owned),
                }));
            }
            Some(_) | None => {}
        }
        if let Some(grant) = self.granted(request, passage)? {
            return Ok(Stand::Granted(grant));
        }
        let row = self.open_again(request, passage, call)?;
        Ok(Stand::Not(required(&row, passage)))
    }

    /// What a request would do, in sentences, and what is said of each.
    pub(in crate::service) fn effects(&self, request: &Request) -> (Vec<String>, Vec<EffectRuling>) {
        let (call, scene) = permission::scene(self, request);
        let said = self.policy().explain(&call, &scene);
        let each = said.effects.iter().take(MOST).enumerate();
        each.map(|(place, effect)| (described(effect), EffectRuling::of(said.of_effect(place)))).unzip()
    }

    /// The narrowest rule that would let a request pass.
    pub(in crate::service) fn suggest(&self, request: &Request) -> Option<Rule> {
        let (call, scene) = permission::scene(self, request);
        self.policy().suggest(&call, &scene)
    }
}

fn required(row: &ApprovalRow, passage: &Passage) -> ServiceError {
    ServiceError::ApprovalRequired { id: row.id, reason: passage.reason().to_owned(), expires: row.expires }
}
