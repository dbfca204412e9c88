//! Agents at work, made up but the same every time: hooks, telemetry and transcripts of sessions that run side by side.

use belljar_domain::{
    Actor, EventId, EventKind, EventStatus, NewEvent, ProjectId, SandboxId, Timestamp, Verdict,
};
use serde_json::{Value, json};
use uuid::Uuid;

const TOOLS: [&str; 8] = ["Bash", "Read", "Edit", "Grep", "Write", "Glob", "WebFetch", "Agent"];
const COMMANDS: [&str; 6] =
    ["cargo test --workspace", "git status", "ls -la src", "make", "rg TODO", "npm run build"];

/// Makes events, one after another.
#[derive(Debug)]
pub(crate) struct Agents {
    state: u64,
    made: u64,
    sessions: u64,
    start: i64,
    waiting: Vec<NewEvent>,
}

impl Agents {
    /// So many sessions at once, from a moment on.
    pub(crate) fn new(sessions: u64, start: Timestamp) -> Self {
        Self { state: 7, made: 0, sessions, start: start.as_micros(), waiting: Vec::new() }
    }

    fn next(&mut self, below: u64) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % below.max(1)
    }

    /// The name of a session; every two thousand events each gives way to another.
    pub(crate) fn session(&self, number: u64, made: u64) -> String {
        let life = made / (self.sessions * 2_000);
        format!("{:08x}-57ab-4c1d-9e2f-{:012x}", number * 7919, life * self.sessions + number)
    }

    fn event(&mut self, kind: &str, session: &str, payload: Value) -> NewEvent {
        self.made += 1;
        let micros = self.start + i64::try_from(self.made * 50_000).unwrap_or(0);
        let id = EventId::from_uuid(Uuid::from_u128((u128::from(self.made) << 64) | 0x8000_0000_0000_0001));
        let mut event =
            NewEvent::new(id, Timestamp::from_micros(micros), ProjectId::default(), EventKind::from(kind));
        event.session = Some(session.to_owned());
        event.actor =
            Actor { id: Some(session.to_owned()), name: Some("claude-code".to_owned()), role: None };
        event.payload = payload;
        event
    }

    /// A round of work: a request to a model, and the calls it asks for.
    fn round(&mut self) {
        let number = self.next(self.sessions);
        let session = self.session(number, self.made);
        let sandbox = SandboxId::from_uuid(Uuid::from_u128(u128::from(number) + 1));
        let request = format!("req_{:016x}", self.made);
        let prompt = format!("{:08x}-aaaa-4bbb-8ccc-{:012x}", number, self.made / (self.sessions * 200));
        let agent =
            (self.next(5) == 0).then(|| format!("a{:07x}{:04x}", number, self.made / (self.sessions * 400)));
        let mut out = Vec::new();
        if self.next(12) == 0 {
            let prompt = json!({"source": "hook", "vendor": "claude-code", "prompt": "please look at the failing test and fix it", "cwd": "/home/dev/project", "prompt_id": prompt});
            out.push(self.event("prompt.submitted", &session, prompt));
        }
        let usage = json!({"input": 1200 + self.next(4000), "output": 40 + self.next(900), "cache_read": self.next(60_000), "cache_write_5m": self.next(3000), "cache_write_1h": 0});
        let mut called = self.event("model.called", &session, json!({
            "source": "otlp", "vendor": "claude-code", "scope": "com.anthropic.claude_code.events", "request_id": request,
            "model": if self.state & 4096 == 0 { "claude-opus-5-5" } else { "claude-haiku-5-5" }, "usage": usage,
            "agent_id": agent, "prompt_id": prompt, "query_source": "repl_main_thread",
            "resource": {"service.name": "claude-code", "service.version": "2.1.325", "os.type": "linux", "host.arch": "amd64"},
            "attributes": {"user.id": "9135df6727bf5da998c745c8cbb0092016c731e4f1279238f1d1781b8289a9d1", "terminal.type": "xterm-256color"},
        }));
        called.cost_micros = Some(1000 + self.next(40_000));
        called.duration_ms = Some(400 + self.next(9000));
        called.status = Some(EventStatus::Success);
        out.push(called);
        for _ in 0..1 + self.next(3) {
            self.call(&mut out, (&session, sandbox), agent.as_deref(), (&request, &prompt));
        }
        if self.next(10) == 0 {
            out.push(self.event(
                "turn.ended",
                &session,
                json!({"source": "hook", "vendor": "claude-code", "message": "Done: the test passes now."}),
            ));
        }
        out.reverse();
        self.waiting = out;
    }

    fn call(
        &mut self,
        out: &mut Vec<NewEvent>,
        (session, sandbox): (&str, SandboxId),
        agent: Option<&str>,
        (request, prompt): (&str, &str),
    ) {
        let at = |list: &[&'static str], place: u64| {
            usize::try_from(place).ok().and_then(|place| list.get(place)).copied().unwrap_or_default()
        };
        let tool = at(&TOOLS, self.next(8).min(self.next(8)));
        let command = at(&COMMANDS, self.next(6));
        let name = format!("toolu_{:020x}", self.made);
        let said = json!({
            "source": "hook", "vendor": "claude-code", "hook": "PreToolUse", "tool_use_id": name, "prompt_id": prompt,
            "agent_id": agent, "agent_type": agent.map(|_| "Explore"), "tool_input": {"command": command, "description": "Run it"},
            "cwd": "/home/dev/project", "transcript_path": format!("/home/dev/.claude/projects/-home-dev-project/{session}.jsonl"),
            "permission_mode": "default",
        });
        let fails = self.next(12) == 0;
        let took = 5 + self.next(200) * self.next(60);
        let mut before = self.event("tool.requested", session, said.clone());
        before.tool = Some(tool.to_owned());
        before.target = Some(command.to_owned());
        before.sandbox = Some(sandbox);
        let mut after = before.clone();
        let told = self.event(if fails { "tool.failed" } else { "tool.finished" }, session, said);
        (after.id, after.time, after.kind, after.payload) = (told.id, told.time, told.kind, told.payload);
        after.operation = Some("tool_use".to_owned());
        after.status = Some(if fails { EventStatus::Failure } else { EventStatus::Success });
        after.error = fails
            .then(|| format!("Exit code {}\nerror: could not compile `thing` in {} lines", took % 4, took));
        after.duration_ms = Some(took);
        if let Value::Object(fields) = &mut after.payload {
            fields.insert(
                "tool_response".to_owned(),
                json!({"stdout": "test result: ok. 117 passed; 0 failed\n".repeat(6), "stderr": ""}),
            );
        }
        let telemetry = json!({"source": "otlp", "vendor": "claude-code", "tool_use_id": name, "request_id": request, "prompt_id": prompt, "output_bytes": 240, "attributes": {"tool_source": "builtin"}});
        let mut reported = self.event("tool.reported", session, telemetry.clone());
        (reported.tool, reported.status, reported.duration_ms) =
            (Some(tool.to_owned()), after.status, Some(took + 3));
        let mut decided = self.event("tool.decided", session, telemetry);
        decided.tool = Some(tool.to_owned());
        decided.decision = Some(if self.next(60) == 0 { Verdict::Deny } else { Verdict::Allow });
        decided.reason = Some("config".to_owned());
        out.extend([before, after, decided, reported]);
    }
}

impl Iterator for Agents {
    type Item = NewEvent;

    fn next(&mut self) -> Option<NewEvent> {
        while self.waiting.is_empty() {
            self.round();
        }
        self.waiting.pop()
    }
}
