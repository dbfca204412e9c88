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
        "PreToolUse" => denied.then(|| {
            Reply::json(&json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }}))
        }),
        "PermissionRequest" => permission_request(answer),
        "UserPromptSubmit" | "PostToolUse" => denied.then(|| block(reason)),
        "Stop" | "SubagentStop" => (denied && !was_sent_on(event)).then(|| block(reason)),
        _ => None,
    }
}
