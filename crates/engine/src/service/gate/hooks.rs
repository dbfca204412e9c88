//! An agent's hook before a tool, as a request at the gate.
//!
//! Refuses: what a hook says of who and where it is. Whoever shows no pass is taken to be on the host, where rules are
//! stricter.

use belljar_capture::{HookEvent, HookKind};
use serde_json::Value;

use super::{Act, Identity, Place, Proof, Request};

/// What is known of where a hook's call is made, beside what the hook says itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grounds {
    /// What `~` is.
    pub home: Option<String>,
    /// What the session is about.
    pub workspace: Option<String>,
}

impl Request {
    /// What a hook asks for; none if it comes before no tool.
    #[must_use]
    pub fn of_hook(hook: &HookEvent, who: Identity, grounds: Grounds) -> Option<Self> {
        matches!(hook.kind, HookKind::ToolBefore | HookKind::Permission)
            .then(|| Self::of(hook, who, grounds))?
    }

    /// The call a hook tells the outcome of; none if it tells of none.
    #[must_use]
    pub fn of_outcome(hook: &HookEvent, who: Identity) -> Option<Self> {
        matches!(hook.kind, HookKind::ToolAfter | HookKind::ToolFailed)
            .then(|| Self::of(hook, who, Grounds::default()))?
    }

    fn of(hook: &HookEvent, who: Identity, grounds: Grounds) -> Option<Self> {
        let Grounds { home, workspace } = grounds;
        let tool = hook.tool_name.clone()?;
        let cwd = hook.cwd.clone();
        let who = who.of_agent();
        let place = match &who.proof {
            Proof::Pass(id) => Place::Sandbox { id: Some(*id), isolation: None, cwd },
            Proof::Key | Proof::Signature(_) => Place::Host { cwd, home, workspace },
        };
        let input = hook.tool_input.clone().unwrap_or(Value::Null);
        let claimed =
            [&hook.session_id, &hook.agent_id, &hook.agent_type].into_iter().flatten().cloned().collect();
        let (session, call) = (hook.session_id.clone(), hook.tool_use_id.clone());
        Some(Self { who, act: Act { tool, input }, place, session, claimed, call })
    }
}
