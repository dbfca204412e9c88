//! What Cursor reads: a permission, whether to go on, or what to say next, each for its own events.

use belljar_domain::Verdict;
use serde_json::{Value, json};

use super::{Answer, Reply, put};
use crate::hook::HookEvent;

pub(super) fn reply(event: &HookEvent, answer: &Answer) -> Option<Reply> {
    let reason = answer.reason();
    let denied = answer.verdict == Verdict::Deny;
    let said = match event.name.as_str() {
        "preToolUse"
        | "beforeShellExecution"
        | "beforeMCPExecution"
        | "beforeReadFile"
        | "beforeTabFileRead"
        | "subagentStart" => match answer.verdict {
            Verdict::Allow if event.name == "preToolUse" => {
                let mut said = json!({"permission": "allow"});
                put(&mut said, "updated_input", answer.updated_input.as_ref());
                said
            }
            Verdict::Allow => match &answer.updated_input {
                Some(input) => return Some(Answer::rewritten(input)),
                None => json!({"permission": "allow"}),
            },
            Verdict::Ask | Verdict::Deny => json!({
                "permission": answer.verdict, "user_message": reason, "agent_message": reason,
            }),
        },
        "beforeSubmitPrompt" if denied => json!({"continue": false, "user_message": reason}),
        "stop" | "subagentStop" if denied && rounds(event) == 0 => json!({"followup_message": reason}),
        _ => return None,
    };
    Some(Reply::json(&said))
}

/// How often the turn was sent on already.
fn rounds(event: &HookEvent) -> u64 {
    event.rest.get("loop_count").and_then(Value::as_u64).unwrap_or(0)
}
