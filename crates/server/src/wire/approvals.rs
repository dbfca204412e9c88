//! Approvals as the API shows them.

use belljar_api as api;
use belljar_domain::{ApprovalScope, ApprovalState};
use belljar_engine::service::{Answered, ApprovalView, EffectRuling, Outcome, Said};

pub(crate) const fn state(asked: api::ApprovalState) -> ApprovalState {
    match asked {
        api::ApprovalState::Pending => ApprovalState::Pending,
        api::ApprovalState::Allowed => ApprovalState::Allowed,
        api::ApprovalState::Denied => ApprovalState::Denied,
        api::ApprovalState::Expired => ApprovalState::Expired,
        api::ApprovalState::Cancelled => ApprovalState::Cancelled,
    }
}

pub(crate) const fn scope(asked: api::ApprovalScope) -> ApprovalScope {
    match asked {
        api::ApprovalScope::Once => ApprovalScope::Once,
        api::ApprovalScope::Session => ApprovalScope::Session,
        api::ApprovalScope::Always => ApprovalScope::Always,
    }
}

pub(crate) fn shown(view: ApprovalView) -> api::Approval {
    let state = match view.state {
        ApprovalState::Pending => api::ApprovalState::Pending,
        ApprovalState::Allowed => api::ApprovalState::Allowed,
        ApprovalState::Denied => api::ApprovalState::Denied,
        ApprovalState::Expired => api::ApprovalState::Expired,
        ApprovalState::Cancelled => api::ApprovalState::Cancelled,
    };
    api::Approval {
        id: view.id.to_string(),
        project_id: view.project.to_string(),
        state,
        asked_by: view.asked_by,
        agent_id: view.agent,
        vendor: view.vendor,
        session_id: view.session,
        sandbox_id: view.sandbox.map(|id| id.to_string()),
        tool: view.tool,
        input: view.input,
        tool_use_id: view.tool_use_id,
        cwd: view.cwd,
        effects: view.effects,
        rulings: view.rulings.into_iter().map(ruling).collect(),
        risk: view.risk.to_string(),
        rule: view.rule,
        reason: view.reason,
        created_at: view.created.to_string(),
        expires_at: view.expires.to_string(),
        answered_at: view.answered.map(|time| time.to_string()),
        answer: view.answer.map(said),
        delivered_at: view.delivered.map(|time| time.to_string()),
        note: view.note,
        warning: None,
    }
}

fn ruling(of: EffectRuling) -> api::EffectRuling {
    let EffectRuling { risk, verdict, rule, reason, relieved_by } = of;
    api::EffectRuling { risk: risk.to_string(), verdict: verdict.to_string(), rule, reason, relieved_by }
}

fn said(said: Said) -> api::ApprovalAnswer {
    let scope = match said.scope {
        ApprovalScope::Once => api::ApprovalScope::Once,
        ApprovalScope::Session => api::ApprovalScope::Session,
        ApprovalScope::Always => api::ApprovalScope::Always,
    };
    let Said { by, how, reason, input, rule, .. } = said;
    api::ApprovalAnswer { by, how, scope, reason, input, rule }
}

pub(crate) fn answered(answered: Answered) -> api::Approval {
    api::Approval { warning: answered.warning, ..shown(answered.approval) }
}

/// What whoever waited is told.
pub(crate) fn told(outcome: Outcome) -> api::HookVerdict {
    api::HookVerdict {
        decision: outcome.verdict.to_string(),
        reason: outcome.reason,
        updated_input: outcome.edited,
        stop: false,
        defer: false,
    }
}
