//! What Gemini reads: a decision and a reason. A person cannot be asked through a hook there.

use belljar_domain::Verdict;
use serde_json::json;

use super::{Answer, Reply, was_sent_on};
use crate::hook::HookEvent;

pub(super) fn reply(event: &HookEvent, answer: &Answer) -> Option<Reply> {
    if answer.verdict != Verdict::Deny {
        return None;
    }
    let hears = match event.name.as_str() {
        "BeforeTool" | "AfterTool" | "BeforeAgent" | "BeforeModel" => true,
        "AfterAgent" => !was_sent_on(event),
        _ => false,
    };
    hears.then(|| Reply::json(&json!({"decision": "deny", "reason": answer.reason()})))
}
