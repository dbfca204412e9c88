//! The policy in force, and what it says of a call before it is made.
//!
//! Owns: which policy counts now. Refuses: files; whoever reads them hands over only what was checked, and so the last
//! good one stays.

use std::sync::{Arc, PoisonError, RwLock};

use belljar_domain::Ruling;
use belljar_guardian::policy::{Call, Mode, Policy};

use super::Service;

/// The policy in force.
#[derive(Debug, Default)]
pub(super) struct InForce(RwLock<Arc<Policy>>);

impl Service {
    /// Puts a policy into force; it was checked before.
    pub fn set_policy(&self, policy: Policy) {
        *self.0.policy.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.0.policy.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What the policy says of a call, and whether that holds anybody up: a policy that observes only says it.
    #[must_use]
    pub fn judge(&self, call: &Call<'_>) -> Option<(Ruling, bool)> {
        let policy = self.policy();
        policy.judge(call).map(|ruling| (ruling, policy.mode != Mode::Observe))
    }
}
