//! `belljar hook`: the one command every agent runs at every hook.
//!
//! Owns: the way from standard input to the agent's own form of an answer. Refuses: whatever costs time (a runtime, a
//! parser of flags, the configuration, the database), and any exit code but 0 and 2: an agent reads others as trouble.
//! No server, a slow one, a broken one: the payload goes to the spool, and the agent goes on.

mod arguments;
mod post;

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    io::{self, IsTerminal as _, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{self, ExitCode},
    time::{Duration, Instant, SystemTime},
};

use belljar_capture::{
    Agent, Answer, Draft, ENVELOPE_VERSION, HookEvent, MAX_PAYLOAD, Payload, Peek, Reply, reply,
};
use belljar_domain::{EventId, Ruling, Timestamp};
use belljar_engine::service::judge;
use uuid::Uuid;

use self::arguments::Arguments;
pub(crate) use self::post::{Moment, Server, Told, ask, export, post};
use crate::{context, policy, spool::Spool};

/// How long an observer may hold up an agent, and how long one waits that asks.
const OBSERVER: Duration = Duration::from_millis(300);
const GUARD: Duration = Duration::from_secs(5);
/// What is kept of input that is more than a payload can be.
const EXCERPT: usize = 64 << 10;
/// The variables that tell where an agent runs. None of them is a secret.
const VARIABLES: [&str; 17] = [
    "HOME",
    "BELLJAR_SANDBOX",
    "BELLJAR_EXECUTION",
    "BELLJAR_AGENT",
    "BELLJAR_PROJECT",
    "BELLJAR_RUN",
    "BELLJAR_ATTEMPT",
    "TRACEPARENT",
    "AI_AGENT",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_PID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_EFFORT",
    "GEMINI_PROJECT_DIR",
    "GEMINI_SESSION_ID",
    "CURSOR_VERSION",
];
/// The longest value that is passed on.
const MAX_VALUE: usize = 1024;

/// Whether these are the words of a hook: all but a call for help, which `clap` answers.
pub(crate) fn is_meant(mut words: impl Iterator<Item = OsString>) -> bool {
    words.nth(1).is_some_and(|word| word == "hook") && !words.any(|word| word == "--help" || word == "-h")
}

/// Runs the hook with the words after `hook`.
pub(crate) fn run(words: impl Iterator<Item = OsString>) -> ExitCode {
    let started = Instant::now();
    let arguments = Arguments::read(words);
    let Some(said) = arguments.notify.clone().or_else(input) else {
        tell(true, started, "nothing came in: an agent runs this, see `belljar hooks install`");
        return ExitCode::SUCCESS;
    };
    let payload = Payload::look(&said);
    let agent = arguments.agent.clone().unwrap_or_else(|| detect(&payload));
    let event = arguments.event.as_deref().or_else(|| payload.peek().and_then(Peek::event));
    let is_guard = event.is_some_and(|event| Peek::kind(&agent, event).is_guard());
    let patience = if is_guard { arguments.wait.unwrap_or(GUARD) } else { OBSERVER };

    let sent_at = Timestamp::from(SystemTime::now());
    let mut draft = Draft {
        version: ENVELOPE_VERSION,
        id: EventId::from_uuid(Uuid::now_v7()),
        agent: &agent,
        event,
        sent_at,
        pid: process::id(),
        env: variables(),
        ruled: None,
    };
    let line = draft.line(&payload);
    let home = home(&arguments);
    let told = post(&Server::of(home.as_deref()), agent.as_str(), &line, Moment::Now(patience));
    let answer = match told {
        Told::Taken(answer) => {
            tell(arguments.verbose, started, "delivered");
            answer
        }
        Told::Refused(why) => {
            tell(arguments.verbose, started, &format!("refused: {why}"));
            None
        }
        Told::Lost(why) => {
            // A server that is gone does not take its rules along.
            let ruled =
                home.as_deref().filter(|_| is_guard).and_then(|home| ruling(home, &agent, event, &said));
            let answer = ruled
                .as_ref()
                .filter(|ruled| ruled.1)
                .map(|(ruled, _)| Answer { verdict: ruled.verdict, reason: ruled.reason.clone() });
            draft.ruled = ruled.map(|(ruled, _)| ruled);
            let line = if draft.ruled.is_some() { draft.line(&payload) } else { line };
            let kept = home
                .filter(|_| arguments.spool)
                .map(|home| Spool::of(&home).put(sent_at, process::id(), &line));
            let outcome = match kept {
                Some(Ok(())) => format!("spooled: {why}"),
                Some(Err(error)) => format!("lost: {why}; {error}"),
                None => format!("not delivered: {why}"),
            };
            tell(arguments.verbose, started, &outcome);
            answer
        }
    };
    finish(&render(agent, event, &said, answer.as_ref()))
}

/// What the policy says of a call, and whether that holds it up.
fn ruling(home: &Path, agent: &Agent, event: Option<&str>, said: &[u8]) -> Option<(Ruling, bool)> {
    let policy = policy::in_force(home);
    let hook = HookEvent::read(Some(agent.clone()), event, said).ok()?;
    judge(&policy, &hook, env::var("HOME").ok().as_deref(), None)
}

/// The agent's own form of an answer. Only an answer is worth reading the whole payload for.
fn render(agent: Agent, event: Option<&str>, said: &[u8], answer: Option<&Answer>) -> Reply {
    let Some(given) = answer else { return Reply::nothing(&agent) };
    match HookEvent::read(Some(agent), event, said) {
        Ok(hook) => reply(&hook, answer),
        // What could not be read can still be refused.
        Err(_unreadable) if given.verdict == belljar_domain::Verdict::Deny => Reply::refusal(given.reason()),
        Err(_unreadable) => Reply::silence(),
    }
}

fn finish(reply: &Reply) -> ExitCode {
    // An agent that does not listen any more needs no answer.
    let _unheard = io::stdout().write_all(reply.stdout.as_bytes());
    let _unheard = io::stderr().write_all(reply.stderr.as_bytes());
    ExitCode::from(reply.exit)
}

/// All of standard input; an agent whose pipe is closed early takes it for a failure. Nothing from a terminal.
fn input() -> Option<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    if stdin.is_terminal() {
        return None;
    }
    let mut said = Vec::new();
    let limit = u64::try_from(MAX_PAYLOAD).unwrap_or(u64::MAX).saturating_add(1);
    // What was said before a pipe broke was said.
    let _broken = stdin.by_ref().take(limit).read_to_end(&mut said);
    if said.len() > MAX_PAYLOAD {
        let _broken = io::copy(&mut stdin, &mut io::sink());
        said.truncate(EXCERPT);
    }
    Some(said)
}

fn detect(payload: &Payload<'_>) -> Agent {
    let has = |name: &str| env::var_os(name).is_some();
    payload.peek().cloned().unwrap_or_default().agent(has)
}

fn variables() -> BTreeMap<&'static str, String> {
    let short = |value: String| value.chars().take(MAX_VALUE).collect::<String>();
    let set = VARIABLES.into_iter().filter_map(|name| Some((name, short(env::var(name).ok()?))));
    set.filter(|(_, value)| !value.is_empty()).collect()
}

fn home(arguments: &Arguments) -> Option<PathBuf> {
    arguments.home.clone().or_else(|| context::default_home(|name| env::var(name).ok()).ok())
}

fn tell(wanted: bool, started: Instant, what: &str) {
    if wanted {
        let micros = started.elapsed().as_micros();
        let _unheard = writeln!(io::stderr(), "belljar hook: {what} ({micros} us)");
    }
}
