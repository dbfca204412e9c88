//! What Gemini reads: a decision and a reason. A person cannot be asked through a hook there.

use std::collections::BTreeSet;

use belljar_domain::Verdict;
use serde_json::{Value, json};

use super::{Answer, Reply, was_sent_on};
use crate::hook::HookEvent;

pub(super) fn reply(event: &HookEvent, answer: &Answer) -> Option<Reply> {
    if answer.verdict != Verdict::Deny {
        let input = answer.updated_input.as_ref().filter(|_| event.name == "BeforeTool")?;
        // There it is merged into what the tool was given, so nothing can be taken out.
        let fields =
            |value: Option<&Value>| value.and_then(Value::as_object).map(|f| f.keys().cloned().collect());
        let (old, new): (Option<BTreeSet<String>>, Option<BTreeSet<String>>) =
            (fields(event.tool_input.as_ref()), fields(Some(input)));
        let is_whole = old.is_none_or(|old| new.is_some_and(|new| old.is_subset(&new)));
        let merged = || Reply::json(&json!({"hookSpecificOutput": {"tool_input": input}}));
        return Some(if is_whole { merged() } else { Answer::rewritten(input) });
    }
    let hears = match event.name.as_str() {
        "BeforeTool" | "AfterTool" | "BeforeAgent" | "BeforeModel" => true,
        "AfterAgent" => !was_sent_on(event),
        _ => false,
    };
    hears.then(|| Reply::json(&json!({"decision": "deny", "reason": answer.reason()})))
}
