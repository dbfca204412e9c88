//! The second stage: what the policy says.
//!
//! Owns: what it means that no rule speaks: on the host the agent's own rules decide, in a sandbox its walls do.

use belljar_guardian::policy::{Call, Policy};

use super::{Finding, Place, Request};

/// What a policy says of a request.
pub(super) fn stage(policy: &Policy, request: &Request) -> Finding {
    let (act, place) = (&request.act, &request.place);
    let call = Call { tool: &act.tool, input: &act.input, cwd: place.cwd(), home: place.home() };
    match (policy.judge(&call), place) {
        (Some(ruling), _) => ruling.into(),
        (None, Place::Host { .. }) => Finding::allow("no rule speaks of it; the agent's own rules decide"),
        (None, Place::Sandbox { isolation, .. }) => {
            let walls = isolation.map_or_else(|| "isolation".to_owned(), |level| level.to_string());
            Finding::allow(format!(
                "no rule speaks of it, and it is contained: the sandbox's {walls} carry it"
            ))
        }
    }
}
