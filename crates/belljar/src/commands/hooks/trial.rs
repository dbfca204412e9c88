//! `belljar hooks test`: every event of an agent through the real `belljar hook`, with its reply and its time.

use std::{
    io::Write as _,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use belljar_capture::{Agent, HookKind, Peek};
use serde_json::{Value, json};

use super::{install::program, registration::events};
use crate::{
    args::Trial,
    context::Context,
    output::{print_json, print_table, remark},
};

/// The session these events belong to, so that they can be told from real ones.
const SESSION: &str = "belljar-hooks-test";

struct Outcome {
    agent: Agent,
    event: &'static str,
    exit: Option<i32>,
    reply: String,
    /// What became of it, in the hook's own words.
    fate: String,
    took: Duration,
}

pub(super) fn trial(context: &Context, args: &Trial) -> Result<ExitCode> {
    let agents = args.agents().unwrap_or_else(|| vec![Agent::ClaudeCode]);
    let program = program()?;
    let mut outcomes = Vec::new();
    for agent in agents {
        for event in events(&agent) {
            outcomes.push(fire(context, &program, &agent, event)?);
        }
    }
    // Anything else an agent takes for trouble.
    let is_well = outcomes.iter().all(|outcome| matches!(outcome.exit, Some(0 | 2)));
    if context.json {
        let tried: Vec<_> = outcomes
            .iter()
            .map(|o| {
                json!({
                    "agent": o.agent, "event": o.event, "exit": o.exit, "reply": o.reply, "fate": o.fate,
                    "micros": u64::try_from(o.took.as_micros()).unwrap_or(u64::MAX),
                })
            })
            .collect();
        print_json(&json!({"events": tried, "ok": is_well}))?;
    } else {
        let row = |o: &Outcome| {
            let exit = o.exit.map_or_else(|| "killed".to_owned(), |code| code.to_string());
            let took = format!("{:.1} ms", o.took.as_secs_f64() * 1000.0);
            let reply = if o.reply.is_empty() { "none: it goes on" } else { &o.reply };
            vec![o.agent.to_string(), o.event.to_owned(), exit, took, o.fate.clone(), reply.to_owned()]
        };
        let rows: Vec<_> = outcomes.iter().map(row).collect();
        print_table(&["AGENT", "EVENT", "EXIT", "TIME", "SERVER", "REPLY"], &rows)?;
        let slowest = outcomes.iter().map(|outcome| outcome.took).max().unwrap_or_default();
        let ended = if is_well { "" } else { "; some did not end as an agent expects" };
        remark(&format!(
            "{} events, the slowest in {:.1} ms{ended}",
            outcomes.len(),
            slowest.as_secs_f64() * 1000.0
        ));
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn fire(context: &Context, program: &str, agent: &Agent, event: &'static str) -> Result<Outcome> {
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(["hook", "--agent", agent.as_str(), "--verbose", "--no-spool", "--home"])
        .arg(&context.home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("start `belljar hook`")?;
    let mut stdin = child.stdin.take().context("the hook has no standard input")?;
    stdin.write_all(sample(agent, event).to_string().as_bytes()).context("speak to the hook")?;
    drop(stdin);
    let output = child.wait_with_output().context("wait for the hook")?;
    let took = started.elapsed();
    let said = String::from_utf8_lossy(&output.stderr);
    let (fate, reason) = said.split_once('\n').unwrap_or((said.as_ref(), ""));
    let fate =
        fate.trim_start_matches("belljar hook: ").rsplit_once(" (").map_or(fate, |(fate, _)| fate).to_owned();
    let reply = format!("{}{reason}", String::from_utf8_lossy(&output.stdout));
    Ok(Outcome { agent: agent.clone(), event, exit: output.status.code(), reply, fate, took })
}

/// A payload of an agent that wants nothing but `true`.
fn sample(agent: &Agent, event: &str) -> Value {
    let mut payload = json!({"hook_event_name": event, "session_id": SESSION});
    let kind = Peek::kind(agent, event);
    let more = match kind {
        HookKind::ToolBefore | HookKind::ToolAfter | HookKind::ToolFailed | HookKind::Permission => json!({
            "tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": SESSION,
        }),
        HookKind::Prompt => json!({"prompt": "Say nothing."}),
        HookKind::Notification => json!({"message": "This is a test."}),
        _ => json!({}),
    };
    if let (Some(payload), Value::Object(more)) = (payload.as_object_mut(), more) {
        payload.extend(more);
        if *agent == Agent::Cursor {
            payload.insert("conversation_id".to_owned(), json!(SESSION));
        }
    }
    payload
}
