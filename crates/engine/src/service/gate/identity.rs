//! The first stage: who asks, and whether they may ask at all.
//!
//! Owns: what is concluded from how somebody is known. Refuses: to look at the call itself, and at any name it carries.

use super::{Finding, Identity, Proof, Service};

/// What is known of whoever asks. `Deny` ends the request here; the reason is read by the model and the user.
pub(super) fn stage(_service: &Service, who: &Identity) -> Finding {
    let name = &who.principal.name;
    let agent = who.agent.as_ref().map_or_else(String::new, |agent| format!(", for the agent `{agent}`"));
    Finding::allow(match &who.proof {
        Proof::Key => format!("`{name}`, known by key or socket{agent}"),
        Proof::Pass(sandbox) => format!("{sandbox}, known by its pass{agent}"),
        Proof::Signature(sender) => format!("`{sender}`, known by signature{agent}"),
    })
}
