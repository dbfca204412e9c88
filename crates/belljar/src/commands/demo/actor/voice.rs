//! How an agent is heard: its hooks through `belljar hook`, in the words of the program it stands for, and telemetry of
//! what its model used.
//!
//! Owns: each vendor's names for the same moments. Refuses: a way of its own; what is said goes by the command that is
//! installed for real agents, and by the address their exporters are given.

use std::{
    env,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    meter::Used,
    tools::{Tool, Worked},
    with,
};
use crate::{
    commands::demo::cast::Vendor,
    hook::{Server, ask},
};

/// How long a hook waits for a person, in seconds.
const WAITS: &str = "1500";
/// How long telemetry may take.
const EXPORT: Duration = Duration::from_secs(5);

/// The voice of one agent.
#[derive(Debug, Clone)]
pub(super) struct Voice {
    vendor: Vendor,
    session: String,
    cwd: PathBuf,
    turn: String,
    /// Who it is, where it works for another: name and kind.
    helper: Option<(String, String)>,
}

/// What the guard says.
#[derive(Debug, PartialEq)]
pub(super) enum Heard {
    /// Yes, perhaps with something else in the place of what was wanted.
    Allowed(Option<Value>),
    /// No, and why.
    Denied(String),
}

impl Voice {
    pub(super) fn new(vendor: Vendor, session: String, cwd: &Path) -> Self {
        Self { vendor, session, cwd: cwd.to_owned(), turn: String::new(), helper: None }
    }

    pub(super) fn of_helper(&self, name: &str, kind: &str) -> Self {
        Self { helper: Some((name.to_owned(), kind.to_owned())), ..self.clone() }
    }

    pub(super) fn session_began(&self, model: &str) {
        let event = if self.vendor == Vendor::Cursor { "sessionStart" } else { "SessionStart" };
        self.tell(event, json!({ "source": "startup", "model": model }));
    }

    pub(super) fn session_ended(&self) {
        match self.vendor {
            // Codex has no word for it.
            Vendor::Codex => {}
            Vendor::Cursor => self.tell("sessionEnd", json!({ "reason": "completed" })),
            Vendor::ClaudeCode | Vendor::Gemini => self.tell("SessionEnd", json!({ "reason": "exit" })),
        }
    }

    pub(super) fn prompted(&mut self, prompt: &str) {
        self.turn = Uuid::now_v7().to_string();
        let event = match self.vendor {
            Vendor::ClaudeCode | Vendor::Codex => "UserPromptSubmit",
            Vendor::Gemini => "BeforeAgent",
            Vendor::Cursor => "beforeSubmitPrompt",
        };
        self.tell(event, json!({ "prompt": prompt }));
    }

    pub(super) fn says(&self, text: &str) {
        match self.vendor {
            Vendor::ClaudeCode => {
                let message = Uuid::now_v7().to_string();
                let shown = json!({ "message_id": message, "index": 0, "final": true, "delta": text });
                self.tell("MessageDisplay", shown);
            }
            Vendor::Cursor => self.tell("afterAgentResponse", json!({ "text": text })),
            // These are heard at the end of the turn.
            Vendor::Codex | Vendor::Gemini => {}
        }
    }

    pub(super) fn turn_ended(&self, last: &str) {
        match self.vendor {
            Vendor::ClaudeCode | Vendor::Codex => {
                self.tell("Stop", json!({ "last_assistant_message": last }));
            }
            Vendor::Gemini => self.tell("AfterAgent", json!({ "prompt_response": last })),
            Vendor::Cursor => self.tell("stop", json!({ "status": "completed", "text": last })),
        }
    }

    pub(super) fn helper_began(&self) {
        self.tell("SubagentStart", json!({}));
    }

    pub(super) fn helper_ended(&self, last: &str) {
        self.tell("SubagentStop", json!({ "last_assistant_message": last }));
    }

    pub(super) fn compacted(&self) {
        self.tell("PreCompact", json!({ "trigger": "auto" }));
        self.tell("PostCompact", json!({ "trigger": "auto" }));
    }

    /// The vendor's name for a tool, and what it is given there.
    pub(super) fn named(&self, tool: &Tool) -> (&'static str, Value) {
        let path = |file: &str| self.cwd.join(file);
        match (tool, self.vendor) {
            (Tool::Run(line), vendor) => {
                let name = match vendor {
                    Vendor::ClaudeCode | Vendor::Codex => "Bash",
                    Vendor::Gemini => "run_shell_command",
                    Vendor::Cursor => "Shell",
                };
                (name, json!({ "command": line }))
            }
            (Tool::Read(file), Vendor::Gemini) => ("read_file", json!({ "absolute_path": path(file) })),
            (Tool::Read(file), _) => ("Read", json!({ "file_path": path(file) })),
            (Tool::Search { pattern, path }, Vendor::Gemini) => {
                ("search_file_content", json!({ "pattern": pattern, "path": path }))
            }
            (Tool::Search { pattern, path }, _) => ("Grep", json!({ "pattern": pattern, "path": path })),
            (Tool::Write { file, text }, Vendor::Gemini) => {
                ("write_file", json!({ "file_path": path(file), "content": text }))
            }
            (Tool::Write { file, text }, _) => ("Write", json!({ "file_path": path(file), "content": text })),
            (Tool::Edit { file, old, new }, vendor) => {
                let name = if vendor == Vendor::Gemini { "replace" } else { "Edit" };
                (name, json!({ "file_path": path(file), "old_string": old, "new_string": new }))
            }
        }
    }

    /// Asks the guard; a person may be asked as well.
    pub(super) fn before(&self, id: &str, tool: &str, input: &Value) -> Heard {
        let event = match self.vendor {
            Vendor::ClaudeCode | Vendor::Codex => "PreToolUse",
            Vendor::Gemini => "BeforeTool",
            Vendor::Cursor => "preToolUse",
        };
        let said = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": id });
        match self.hook(event, said) {
            Some(output) => heard(&output),
            // Whoever cannot be asked did not say no: an agent's hook that cannot be run lets it go on.
            None => Heard::Allowed(None),
        }
    }

    pub(super) fn after(&self, id: &str, tool: &str, input: &Value, done: &Worked) {
        let call = json!({
            "tool_name": tool, "tool_input": input, "tool_use_id": id, "duration_ms": millis(done.took),
        });
        let response = &done.response;
        let (event, result) = match (self.vendor, &done.failed) {
            (Vendor::ClaudeCode, None) => ("PostToolUse", json!({ "tool_response": response })),
            (Vendor::ClaudeCode, Some((error, _))) => ("PostToolUseFailure", json!({ "error": error })),
            (Vendor::Codex, failed) => {
                let code = failed.as_ref().map_or(0, |(_, code)| *code);
                let told = with(response.clone(), json!({ "metadata": { "exit_code": code } }));
                let error = failed.as_ref().map(|(error, _)| error);
                ("PostToolUse", json!({ "tool_response": told, "error": error }))
            }
            (Vendor::Gemini, None) => ("AfterTool", json!({ "tool_response": { "llmContent": response } })),
            (Vendor::Gemini, Some((error, _))) => {
                ("AfterTool", json!({ "tool_response": { "error": { "message": error } } }))
            }
            (Vendor::Cursor, None) => ("postToolUse", json!({ "tool_output": response })),
            (Vendor::Cursor, Some((error, _))) => ("postToolUseFailure", json!({ "error_message": error })),
        };
        self.tell(event, with(call, result));
    }

    /// What a request used, as the vendor's telemetry tells it.
    pub(super) fn paid(&self, used: &Used, took: Duration) {
        let count = |number: u64| json!({ "intValue": number.to_string() });
        let text = |text: &str| json!({ "stringValue": text });
        if self.vendor == Vendor::ClaudeCode {
            let mut said = vec![
                ("event.name", text("api_request")),
                ("model", text(&used.model)),
                ("request_id", text(&used.request_id)),
                ("input_tokens", count(used.input)),
                ("output_tokens", count(used.output)),
                ("cache_read_tokens", count(used.cache_read)),
                ("cache_creation_tokens", count(used.cache_write)),
                ("duration_ms", count(millis(took))),
            ];
            self.log_record(&mut said);
            return;
        }
        let whole = used.input + used.cache_read + used.cache_write;
        let end = nanos();
        let start = end.saturating_sub(took.as_nanos());
        let attributes = attributes(&[
            ("gen_ai.operation.name", text("chat")),
            ("gen_ai.conversation.id", text(&self.session)),
            ("gen_ai.response.model", text(&used.model)),
            ("gen_ai.response.id", text(&used.request_id)),
            ("gen_ai.usage.input_tokens", count(whole)),
            ("gen_ai.usage.output_tokens", count(used.output)),
            ("gen_ai.usage.cache_read.input_tokens", count(used.cache_read)),
            ("gen_ai.usage.cache_creation.input_tokens", count(used.cache_write)),
        ]);
        let id = Uuid::now_v7().simple().to_string();
        let span = json!({
            "traceId": id, "spanId": id.get(16..), "name": format!("chat {}", used.model),
            "startTimeUnixNano": start.to_string(), "endTimeUnixNano": end.to_string(), "attributes": attributes,
        });
        let scope = json!({ "scope": { "name": self.vendor.as_str() }, "spans": [span] });
        export("traces", &json!({ "resourceSpans": [{ "scopeSpans": [scope] }] }));
    }

    /// How a call went, with the request that asked for it, as Claude Code's telemetry tells it.
    pub(super) fn measured(&self, id: &str, tool: &str, request: &str, done: &Worked) {
        if self.vendor != Vendor::ClaudeCode {
            return;
        }
        let text = |text: &str| json!({ "stringValue": text });
        let count = |number: u64| json!({ "intValue": number.to_string() });
        let mut said = vec![
            ("event.name", text("tool_result")),
            ("tool_name", text(tool)),
            ("tool_use_id", text(id)),
            ("request_id", text(request)),
            ("success", text(if done.failed.is_none() { "true" } else { "false" })),
            ("duration_ms", count(millis(done.took))),
            ("tool_result_size_bytes", count(u64::try_from(done.size()).unwrap_or(u64::MAX))),
        ];
        self.log_record(&mut said);
    }

    fn log_record(&self, said: &mut Vec<(&str, Value)>) {
        let text = |text: &str| json!({ "stringValue": text });
        said.extend([("session.id", text(&self.session)), ("prompt.id", text(&self.turn))]);
        if let Some((name, kind)) = &self.helper {
            said.extend([("agent_id", text(name)), ("agent.name", text(kind))]);
        }
        let record = json!({ "timeUnixNano": nanos().to_string(), "attributes": attributes(said) });
        let scope =
            json!({ "scope": { "name": "com.anthropic.claude_code.events" }, "logRecords": [record] });
        export("logs", &json!({ "resourceLogs": [{ "scopeLogs": [scope] }] }));
    }

    fn tell(&self, event: &str, said: Value) {
        let _observers_say_nothing = self.hook(event, said);
    }

    /// Runs the hook as the vendor's program would.
    fn hook(&self, event: &str, said: Value) -> Option<Output> {
        let payload = self.payload(event, said).to_string();
        let words = ["hook", "--agent", self.vendor.as_str(), "--event", event, "--wait", WAITS];
        let mut child = Command::new(env::current_exe().ok()?)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        // A hook that reads nothing answers all the same.
        let _unread = child.stdin.take()?.write_all(payload.as_bytes());
        child.wait_with_output().ok()
    }

    fn payload(&self, event: &str, said: Value) -> Value {
        let own = match self.vendor {
            Vendor::ClaudeCode => json!({ "session_id": self.session, "prompt_id": self.turn }),
            Vendor::Codex => json!({ "session_id": self.session, "turn_id": self.turn }),
            Vendor::Gemini => json!({ "session_id": self.session }),
            Vendor::Cursor => json!({ "conversation_id": self.session, "generation_id": self.turn }),
        };
        let helper = match &self.helper {
            Some((name, kind)) => json!({ "agent_id": name, "agent_type": kind }),
            None => json!({}),
        };
        let common = json!({ "hook_event_name": event, "cwd": self.cwd });
        [own, helper, said].into_iter().fold(common, with)
    }
}

/// What a hook's output means, in any vendor's form.
fn heard(output: &Output) -> Heard {
    if output.status.code() == Some(2) {
        return Heard::Denied(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let own = said.get("hookSpecificOutput").unwrap_or(&said);
    let field = |names: &[&str]| names.iter().find_map(|name| own.get(*name));
    let word = field(&["permissionDecision", "decision", "permission"]).and_then(Value::as_str);
    match word {
        // Nobody sits before this agent: a question is a no.
        Some("deny" | "block" | "ask" | "defer") => {
            let why = field(&["permissionDecisionReason", "reason", "agent_message"]).and_then(Value::as_str);
            Heard::Denied(why.unwrap_or("denied").to_owned())
        }
        _ => Heard::Allowed(field(&["updatedInput", "updated_input", "tool_input"]).cloned()),
    }
}

fn attributes(pairs: &[(&str, Value)]) -> Value {
    pairs.iter().map(|(key, value)| json!({ "key": key, "value": value })).collect()
}

/// Sends telemetry where exporters are told to; one that does not arrive is missed by nobody here.
fn export(signal: &str, body: &Value) {
    let home = env::var_os("BELLJAR_HOME").map(PathBuf::from);
    let server = Server::by_environment(home.as_deref());
    let content = "Content-Type: application/json\r\n";
    let _missed =
        ask(&server, &format!("/v1/{signal}"), content, body.to_string().as_bytes(), Instant::now() + EXPORT);
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

fn nanos() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    fn output(code: i32, out: &Value, err: &str) -> Output {
        let status = std::process::ExitStatus::from_raw(code << 8);
        Output { status, stdout: out.to_string().into_bytes(), stderr: err.as_bytes().to_vec() }
    }

    #[test]
    fn a_no_is_understood_in_every_form() {
        let no = |said: Value| heard(&output(0, &said, ""));
        let denied = Heard::Denied("why".to_owned());
        let claude = json!({"permissionDecision": "deny", "permissionDecisionReason": "why"});
        assert_eq!(no(json!({ "hookSpecificOutput": claude })), denied);
        assert_eq!(no(json!({"decision": "deny", "reason": "why"})), denied);
        assert_eq!(no(json!({"permission": "deny", "agent_message": "why"})), denied);
        assert_eq!(heard(&output(2, &json!({}), "why\n")), denied);
        assert_eq!(no(json!({})), Heard::Allowed(None));
        let changed = json!({"permissionDecision": "allow", "updatedInput": {"command": "ls"}});
        let expected = Heard::Allowed(Some(json!({"command": "ls"})));
        assert_eq!(no(json!({ "hookSpecificOutput": changed })), expected);
    }
}
