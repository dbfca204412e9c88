//! The policy in force, and what it says of a call before it is made.
//!
//! Owns: which policy counts now. Refuses: files; whoever reads them hands over only what was checked, and so the last
//! good one stays.

use std::{
    fmt,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use belljar_capture::{HookEvent, HookKind};
use belljar_domain::Ruling;
use belljar_guardian::policy::{Call, Mode, Policy, Rule, Scene, Walls};
use serde_json::Value;

use super::{Grounds, Service, explain_here, gate::Memo};

/// The policy in force.
#[derive(Default)]
pub(super) struct InForce {
    now: RwLock<Arc<Policy>>,
    /// What it said lately.
    pub(super) memo: Memo,
    /// Who writes a rule down for good.
    keeper: OnceLock<Keeper>,
}

type Keeper = Box<dyn Fn(&Rule) -> std::result::Result<(), String> + Send + Sync>;

impl fmt::Debug for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InForce").finish_non_exhaustive()
    }
}

impl Service {
    /// Puts a policy into force; it was checked before.
    pub fn set_policy(&self, policy: Policy) {
        *self.0.policy.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.0.policy.now.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Says who writes rules down for good; the first who is named does.
    pub fn set_rule_keeper(
        &self,
        keeper: impl Fn(&Rule) -> std::result::Result<(), String> + Send + Sync + 'static,
    ) {
        let _first_stays = self.0.policy.keeper.set(Box::new(keeper));
    }

    /// Has a rule written down for good and put into force.
    pub(super) fn keep_rule(&self, rule: &Rule) -> std::result::Result<(), String> {
        match self.0.policy.keeper.get() {
            Some(keep) => keep(rule),
            None => Err("this server keeps no policy".to_owned()),
        }
    }
}

/// What a policy says of the call a hook comes before, and whether that holds it up: one that observes only says it.
/// Behind which walls it is made, whoever hears the hook knows.
#[must_use]
pub fn judge(
    policy: &Policy,
    hook: &HookEvent,
    grounds: &Grounds,
    walls: Option<Walls>,
) -> Option<(Ruling, bool)> {
    let is_before = matches!(hook.kind, HookKind::ToolBefore | HookKind::Permission);
    let tool = hook.tool_name.as_deref().filter(|_| is_before)?;
    let input = hook.tool_input.as_ref().unwrap_or(&Value::Null);
    let (cwd, home) = (hook.cwd.as_deref(), grounds.home.as_deref());
    let scene = Scene { walls, ..Scene::on_host(cwd, home, grounds.workspace.as_deref()) };
    let call = Call { tool, input, cwd, home };
    // What is in a sandbox is not looked at from here.
    let ruling = match scene.walls {
        Some(_) => policy.judge(&call, &scene)?,
        None => explain_here(policy, &call, &scene).ruling?,
    };
    Some((ruling, policy.mode != Mode::Observe))
}
