//! The policy in force, and what it says of a call before it is made.
//!
//! Owns: which policy counts now. Refuses: files; whoever reads them hands over only what was checked, and so the last
//! good one stays.

use std::sync::{Arc, PoisonError, RwLock};

use belljar_capture::{HookEvent, HookKind};
use belljar_domain::Ruling;
use belljar_guardian::policy::{Call, Mode, Policy, Scene, Walls};
use serde_json::Value;

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
}

/// What a policy says of the call a hook comes before, and whether that holds it up: one that observes only says it.
/// Behind which walls it is made, whoever hears the hook knows.
#[must_use]
pub fn judge(
    policy: &Policy,
    hook: &HookEvent,
    home: Option<&str>,
    walls: Option<Walls>,
) -> Option<(Ruling, bool)> {
    let is_before = matches!(hook.kind, HookKind::ToolBefore | HookKind::Permission);
    let tool = hook.tool_name.as_deref().filter(|_| is_before)?;
    let input = hook.tool_input.as_ref().unwrap_or(&Value::Null);
    let cwd = hook.cwd.as_deref();
    let scene = Scene { walls, ..Scene::on_host(cwd, home, None) };
    let ruling = policy.judge(&Call { tool, input, cwd, home }, &scene)?;
    Some((ruling, policy.mode != Mode::Observe))
}
