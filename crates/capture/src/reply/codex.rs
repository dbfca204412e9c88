//! What Codex reads: Claude Code's words, but a bare yes, a question, or a key too many is an error, and the tool runs.

use belljar_domain::Verdict;
use serde_json::json;

use super::{
    Answer, Reply,
    claude_code::{block, permission_request},
    was_sent_on,
};
use crate::hook::HookEvent;

pub(super) fn reply(event: &HookEvent, answer: &Answer) -> Option<Reply> {
    let reason = answer.reason();
    let denied = answer.verdict == Verdict::Deny;
    match event.name.as_str() {
        "PreToolUse" => match (&answer.updated_input, answer.verdict) {
            // A yes counts only together with what is to be done instead.
            (Some(input), Verdict::Allow) => Some(Reply::json(&json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": input,
            }}))),
            (_, Verdict::Deny) => Some(Reply::json(&json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }}))),
            (_, Verdict::Allow | Verdict::Ask) => None,
        },
        "PermissionRequest" => match &answer.updated_input {
            Some(input) if !denied => Some(Answer::rewritten(input)),
            _ => permission_request(answer),
        },
        "UserPromptSubmit" | "PostToolUse" => denied.then(|| block(reason)),
        "Stop" | "SubagentStop" => (denied && !was_sent_on(event)).then(|| block(reason)),
        _ => None,
    }
}
