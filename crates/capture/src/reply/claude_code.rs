//! What Claude Code reads.
//!
//! An output that names the wrong event is an error there, and text beside the JSON spoils it; so one object or nothing.

use belljar_domain::Verdict;
use serde_json::{Value, json};

use super::{Answer, Reply, put, was_sent_on};
use crate::hook::HookEvent;

pub(super) fn reply(event: &HookEvent, answer: &Answer) -> Option<Reply> {
    let reason = answer.reason();
    let denied = answer.verdict == Verdict::Deny;
    if answer.stop && denied {
        return stopped(&event.name, answer);
    }
    match event.name.as_str() {
        "PreToolUse" => Some(permission_decision(&event.name, answer)),
        "PermissionRequest" => permission_request(answer),
        "UserPromptSubmit" | "UserPromptExpansion" | "PostToolUse" => denied.then(|| block(reason)),
        "Stop" | "SubagentStop" => (denied && !was_sent_on(event)).then(|| block(reason)),
        // For these the exit code is the only way that is documented.
        "PostToolUseFailure" | "PostToolBatch" | "PreCompact" | "PreModelSwitch" | "TaskCreated"
        | "TaskCompleted" | "TeammateIdle" | "Elicitation" | "ElicitationResult" | "ConfigChange" => {
            denied.then(|| Reply::refusal(reason))
        }
        _ => None,
    }
}

/// Before a tool runs: yes skips the question, no is final, and a person can be asked.
fn permission_decision(name: &str, answer: &Answer) -> Reply {
    Reply::json(&json!({ "hookSpecificOutput": decision(name, answer) }))
}

fn decision(name: &str, answer: &Answer) -> Value {
    let verdict = if answer.defer { json!("defer") } else { json!(answer.verdict) };
    let mut output = json!({
        "hookEventName": name,
        "permissionDecision": verdict,
        "permissionDecisionReason": match answer.verdict {
            Verdict::Allow => answer.reason.trim(),
            Verdict::Ask | Verdict::Deny => answer.reason(),
        },
    });
    put(
        &mut output,
        "updatedInput",
        answer.updated_input.as_ref().filter(|_| answer.verdict != Verdict::Deny),
    );
    output
}

/// A no after which the agent does not go on. Where only the exit code counts, it is a no.
fn stopped(name: &str, answer: &Answer) -> Option<Reply> {
    let mut said = json!({"continue": false, "stopReason": answer.reason()});
    match name {
        "PreToolUse" => put(&mut said, "hookSpecificOutput", Some(&decision(name, answer))),
        "PermissionRequest" => {
            let decision = json!({"behavior": "deny", "message": answer.reason(), "interrupt": true});
            let output = json!({"hookEventName": name, "decision": decision});
            put(&mut said, "hookSpecificOutput", Some(&output));
        }
        "UserPromptSubmit" | "UserPromptExpansion" | "PostToolUse" => {
            put(&mut said, "decision", Some(&json!("block")));
            put(&mut said, "reason", Some(&json!(answer.reason())));
        }
        // It is on its way to stop.
        "Stop" | "SubagentStop" => return None,
        _ => return Some(Reply::refusal(answer.reason())),
    }
    Some(Reply::json(&said))
}

/// In the place of a person who would be asked; to let the person answer, nothing is said.
pub(super) fn permission_request(answer: &Answer) -> Option<Reply> {
    let mut decision: Value = match answer.verdict {
        Verdict::Allow => json!({"behavior": "allow"}),
        Verdict::Deny => json!({"behavior": "deny", "message": answer.reason()}),
        Verdict::Ask => return None,
    };
    put(
        &mut decision,
        "updatedInput",
        answer.updated_input.as_ref().filter(|_| answer.verdict == Verdict::Allow),
    );
    let output = json!({"hookEventName": "PermissionRequest", "decision": decision});
    Some(Reply::json(&json!({"hookSpecificOutput": output})))
}

pub(super) fn block(reason: &str) -> Reply {
    Reply::json(&json!({"decision": "block", "reason": reason}))
}
