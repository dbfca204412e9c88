//! `belljar guardian suggest`: the narrowest rules for what was denied or asked about, as a diff. Nothing is written.

use std::{
    fs,
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use belljar_domain::{Event, Verdict};
use belljar_guardian::policy::{Call, Rule, Scene};
use belljar_ports::{Store as _, store::EventFilter};
use serde_json::{Value, json};

use super::in_force;
use crate::{
    args::Suggest,
    context::Context,
    output::{print_json, remark},
    policy,
    sandboxes::read_store,
};

pub(super) fn suggest(context: &Context, args: &Suggest) -> Result<ExitCode> {
    let store = read_store(&context.home)?.with_context(|| {
        format!("`{}` has no ledger yet; `belljar serve` begins one", context.home.display())
    })?;
    let mut events: Vec<Event> = Vec::new();
    for decision in [Verdict::Deny, Verdict::Ask] {
        let filter = EventFilter {
            decision: Some(decision),
            from: args.since,
            agent: args.agent.clone(),
            ..EventFilter::default()
        };
        events.extend(store.events_before(&filter, u64::MAX, args.limit.into()).context("read the ledger")?);
    }
    events.sort_by_key(|event| event.seq);
    let policy = in_force(context);
    let mut rules: Vec<(Rule, usize)> = Vec::new();
    for event in &events {
        let Some((tool, input)) = call_of(event) else { continue };
        let cwd = event.what.payload.get("cwd").and_then(Value::as_str);
        let home = context.env.get("HOME").map(String::as_str);
        let call = Call { tool, input: &input, cwd, home };
        let Some(rule) = policy.suggest(&call, &Scene::on_host(cwd, home, None)) else { continue };
        match rules.iter_mut().find(|(known, _)| known.patterns == rule.patterns) {
            Some((_, count)) => *count += 1,
            None => rules.push((rule, 1)),
        }
    }
    // What people met most often comes first.
    rules.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let path = policy::written(&context.home);
    let before = fs::read_to_string(&path).unwrap_or_default();
    let added: Vec<String> = rules.iter().map(|(rule, _)| rule.text()).collect();
    let diff = diff(&path.display().to_string(), &before, &added.join("\n"));
    if context.json {
        let items: Vec<Value> = rules
            .iter()
            .map(|(rule, count)| json!({ "rule": rule, "times": count, "text": rule.text() }))
            .collect();
        print_json(&json!({ "looked_at": events.len(), "suggestions": items, "diff": diff }))?;
    } else if rules.is_empty() {
        remark(&format!(
            "{} denied or asked calls were looked at; no narrow rule would let one pass",
            events.len()
        ));
    } else {
        io::stdout().write_all(diff.as_bytes())?;
        remark("nothing was written; look at each rule before you put it into guardian.toml");
    }
    Ok(ExitCode::SUCCESS)
}

/// The call an event tells of, as far as the ledger keeps it.
fn call_of(event: &Event) -> Option<(&str, Value)> {
    let tool = event.what.tool.as_deref()?;
    if let Some(input) = event.what.payload.get("tool_input").filter(|input| input.is_object()) {
        return Some((tool, input.clone()));
    }
    let target = event.what.target.as_deref()?;
    let input = match event.what.target_type.as_deref()? {
        "command" => json!({ "command": target }),
        "file" => json!({ "file_path": target }),
        "url" => json!({ "url": target }),
        _ => return None,
    };
    Some((tool, input))
}

/// What would be put behind a file's end, as `diff -u` says it.
fn diff(path: &str, before: &str, added: &str) -> String {
    if added.is_empty() {
        return String::new();
    }
    let (kept, new) = (before.lines().count(), added.lines().count() + usize::from(!before.is_empty()));
    let mut text = format!("--- {path}\n+++ {path}\n@@ -{kept},0 +{},{new} @@\n", kept + 1);
    if !before.is_empty() {
        text.push_str("+\n");
    }
    for line in added.lines() {
        text.push('+');
        text.push_str(line);
        text.push('\n');
    }
    text
}
