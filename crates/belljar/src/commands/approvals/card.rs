//! A call that waits, as a person reads it.

use std::{
    fmt::Write as _,
    time::{Duration, SystemTime},
};

use belljar_domain::{ApprovalState, Timestamp};
use serde_json::Value;

use crate::{
    client::Approval,
    output::{brief, plain},
};

/// Who asks.
pub(super) fn who(approval: &Approval) -> &str {
    approval.agent_id.as_deref().or(approval.vendor.as_deref()).unwrap_or(&approval.asked_by)
}

/// How long there is still to answer.
pub(super) fn left(approval: &Approval) -> String {
    let now = Timestamp::from(SystemTime::now()).as_micros();
    let micros = u64::try_from(approval.expires_at.as_micros() - now).unwrap_or(0);
    brief(Duration::from_micros(micros))
}

/// The part of what a tool is given that matters most, if one does.
pub(super) fn gist(input: &Value) -> Option<String> {
    let known = ["command", "cmd", "file_path", "path", "url", "query", "pattern", "description"];
    match known.iter().find_map(|name| input.get(*name))? {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            Some(words.iter().map(|word| word.as_str().unwrap_or("?")).collect::<Vec<_>>().join(" "))
        }
        _ => None,
    }
}

/// Everything, over several lines.
pub(super) fn whole(approval: &Approval) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        // Writing to a text cannot fail.
        let _written = writeln!(text, "{name:>9}  {}", plain(value));
    };
    line("approval", &approval.id.to_string());
    line("state", &outcome(approval));
    line("who", who(approval));
    for (name, value) in
        [("session", &approval.session_id), ("sandbox", &approval.sandbox_id), ("in", &approval.cwd)]
    {
        value.iter().for_each(|value| line(name, value));
    }
    line("tool", &approval.tool);
    let input = serde_json::to_string_pretty(&approval.input).unwrap_or_default();
    match gist(&approval.input).filter(|gist| !gist.contains('\n')) {
        Some(gist) => line("input", &gist),
        None => input.lines().enumerate().for_each(|(at, row)| line(if at == 0 { "input" } else { "" }, row)),
    }
    for (at, effect) in approval.effects.iter().enumerate() {
        let risk = approval.rulings.get(at).map(|said| format!(" ({} risk)", said.risk));
        line(if at == 0 { "would" } else { "" }, &format!("{effect}{}", risk.unwrap_or_default()));
    }
    line("why", &format!("{} ({} risk)", approval.reason, approval.risk));
    approval.rule.iter().for_each(|rule| line("rule", rule));
    if let Some(said) = &approval.answer {
        said.reason.iter().for_each(|reason| line("said", reason));
        said.input.iter().for_each(|input| line("instead", &input.to_string()));
        said.rule.iter().flat_map(|rule| rule.lines()).for_each(|rule| line("", rule));
    }
    line("asked", &approval.created_at.to_string());
    text
}

/// What became of it, in a line.
pub(super) fn outcome(approval: &Approval) -> String {
    let by = approval.answer.as_ref().map(|said| format!(" by {}", said.by)).unwrap_or_default();
    let scope = match approval.answer.as_ref().map(|said| said.scope.as_str()) {
        Some("session") => " for the session",
        Some("always") => " always",
        _ => "",
    };
    let mut text = match approval.state {
        ApprovalState::Pending => return format!("waits, {} left", left(approval)),
        ApprovalState::Allowed | ApprovalState::Denied => {
            let heard = if approval.delivered_at.is_some() { "delivered" } else { "not delivered yet" };
            format!("{}{scope}{by}, {heard}", approval.state)
        }
        ApprovalState::Expired | ApprovalState::Cancelled => {
            format!("{}: {}", approval.state, approval.note.as_deref().unwrap_or("nobody answered"))
        }
    };
    let rule = approval.answer.as_ref().and_then(|said| said.rule.as_ref());
    if let Some(rule) = rule.filter(|_| approval.warning.is_none()) {
        let _written = write!(text, "; put into guardian.toml:\n{rule}");
    }
    approval.warning.iter().for_each(|warning| {
        let _written = write!(text, "; {warning}");
    });
    text.trim_end().to_owned()
}
