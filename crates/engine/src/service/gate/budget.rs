//! The third stage: whether it can be paid for.
//!
//! Owns: what is concluded from what was spent. `Ask` pauses until a person says something, `Deny` ends it. What is let
//! through has set its estimate aside.

use belljar_domain::{Amount, Risk, Verdict};
use belljar_guardian::{budget::estimate, policy::Call};

use super::{Finding, Request, Service, identity::Known, tool};
use crate::service::budgets::Bill;

/// What the budgets of whoever asks say of one more call.
pub(super) fn stage(service: &Service, request: &Request, known: &Known) -> Finding {
    match service.afford(&bill(request, known)) {
        Ok(0) => Finding::allow("no budget is set"),
        Ok(1) => Finding::allow("one budget has room for it"),
        Ok(count) => Finding::allow(format!("{count} budgets have room for it")),
        Err(refusal) => Finding {
            verdict: if refusal.pauses { Verdict::Ask } else { Verdict::Deny },
            risk: Risk::Medium,
            rule: Some(format!("budget.{}", refusal.budget)),
            reason: refusal.reason,
        },
    }
}

fn bill<'a>(request: &'a Request, known: &'a Known) -> Bill<'a> {
    Bill {
        project: &known.project,
        agent: request.who.agent.as_deref(),
        session: request.session.as_deref(),
        sandbox: request.place.sandbox(),
        call: request.call.as_deref(),
        tool: &request.act.tool,
        amount: amount(request),
    }
}

/// What an act is likely to cost. What is done to a sandbox asks no model.
fn amount(request: &Request) -> Amount {
    let act = &request.act;
    let free = [tool::EXEC, tool::READ, tool::WRITE, tool::CREATE, tool::MOUNT, tool::NETWORK];
    if free.contains(&act.tool.as_str()) {
        return Amount::default();
    }
    estimate(&Call { tool: &act.tool, input: &act.input, cwd: None, home: None })
}

impl Service {
    /// Pays for a call that was made, as far as it is known what it cost.
    pub fn pay_for(&self, request: &Request) {
        let known = super::identity::look(self, belljar_guardian::policy::Mode::Observe, request);
        self.pay(&bill(request, &known));
    }
}
