//! `belljar hook`: the one command every agent runs at every hook.
//!
//! Owns: the way from standard input to the agent's own form of an answer. Refuses: whatever costs time (a runtime, a
//! parser of flags, the configuration, the database), and any exit code but 0 and 2: an agent reads others as trouble.
//! No server, a slow one, a broken one: the payload goes to the spool, and the agent goes on.

mod alone;
mod arguments;
mod person;
mod post;

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    io::{self, IsTerminal as _, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{self, ExitCode},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use belljar_capture::{
    Agent, Answer, Draft, ENVELOPE_VERSION, HookEvent, HookKind, MAX_PAYLOAD, Payload, Peek, Reply, can_ask,
    reply,
};
use belljar_domain::{EventId, Timestamp, Verdict};
use rustix::fs::{Access, access};
use signal_hook::{consts::SIGTERM, flag::register_conditional_default};
use uuid::Uuid;

pub(crate) use self::post::{Moment, Server, Told, ask, export, post};
use self::{alone::Alone, arguments::Arguments};
use crate::{
    context, replay,
    spool::{Spool, SpoolError, Tag},
};

/// How long an observer may hold up an agent, and how long one waits that asks.
const OBSERVER: Duration = Duration::from_millis(300);
const GUARD: Duration = Duration::from_secs(5);
/// How long to wait for the next server.
const BREATH: Duration = Duration::from_millis(50);
/// What is kept of input that is more than a payload can be.
const EXCERPT: usize = 64 << 10;
/// The longest word that is left out at the end of it.
const LONGEST_WORD: usize = 4096;
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
    // An agent that ends sends this to hooks it did not wait for: what they are about to tell is told, within their bounds.
    // Only whoever waits for a person lets go. Where it cannot be registered, the hook ends as any program does.
    let may_end = Arc::new(AtomicBool::new(false));
    let _unheld = register_conditional_default(SIGTERM, Arc::clone(&may_end));
    let arguments = Arguments::read(words);
    let Some(said) = arguments.notify.clone().or_else(input) else {
        tell(true, started, "nothing came in: an agent runs this, see `belljar hooks install`");
        return ExitCode::SUCCESS;
    };
    let payload = Payload::look(&said);
    let agent = arguments.agent.clone().unwrap_or_else(|| detect(&payload));
    let glimpsed = payload.peek().is_none().then(|| alone::event_in(&said)).flatten();
    let event = arguments.event.as_deref().or_else(|| payload.peek().and_then(Peek::event));
    let event = event.or(glimpsed.as_deref());
    let kind = event.map(|event| Peek::kind(&agent, event));
    let is_guard = kind.as_ref().is_some_and(HookKind::is_guard);
    let patience = if is_guard { arguments.wait.unwrap_or(GUARD).min(GUARD) } else { OBSERVER };
    let is_call = matches!(kind, Some(HookKind::ToolBefore | HookKind::Permission));
    let person = arguments.wait.filter(|_| is_call);
    may_end.store(is_call, Ordering::Relaxed);

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
    let (home, url) = seat(&arguments);
    let server = Server::of(home.as_deref(), url.as_deref());
    let session = payload.peek().and_then(Peek::session).unwrap_or_default();
    let (tag, until) = (Tag::of(session), Instant::now() + patience);
    let hand_over = || {
        let patience = until.saturating_duration_since(Instant::now());
        post(&server, agent.as_str(), &line, Moment::Now { patience, person })
    };
    // What this conversation said before is told first. Whoever asks hears an answer, also when that takes too long.
    let kept = home.as_deref().filter(|_| arguments.spool);
    let mut told = if is_next(kept, &server, tag, patience) || is_guard {
        hand_over()
    } else {
        Told::Lost("what was said before this still waits".to_owned())
    };
    if matches!(told, Told::Broken(_)) && person.is_some() {
        // A person may be asked already: the next server knows, and records it once.
        while matches!(told, Told::Broken(_) | Told::Lost(_)) && started.elapsed() < GUARD {
            thread::sleep(BREATH);
            told = hand_over();
        }
    }
    // A server that is gone, or says what nobody understands, does not take its rules along.
    let alone =
        || if is_guard { Alone::rule(home.as_deref(), &agent, event, &said) } else { Alone::default() };
    let answer = match told {
        Told::Taken(heard) if heard.is_garbled => {
            tell(arguments.verbose, started, "delivered, and the answer is none");
            alone().answer
        }
        Told::Taken(heard) => {
            tell(arguments.verbose, started, "delivered");
            let answered =
                heard.approval.zip(person).and_then(|(waits, most)| person::wait(&server, &waits, most));
            let unreadable = || alone::unreadable(home.as_deref(), &agent, event, &said);
            answered.or(heard.verdict).or_else(|| is_call.then(unreadable).flatten())
        }
        Told::Refused(why) => {
            tell(arguments.verbose, started, &format!("refused: {why}"));
            alone().answer
        }
        Told::Lost(why) | Told::Broken(why) => {
            let Alone { ruling, answer } = alone();
            draft.ruled = ruling;
            let line = if draft.ruled.is_some() { draft.line(&payload) } else { line };
            let kept = kept.map(|home| Spool::of(home).put(sent_at, process::id(), tag, &line));
            tell(arguments.verbose, started, &outcome(kept, &why));
            answer
        }
    };
    finish(&render(agent, event, &said, answer.as_ref()))
}

/// Whether everything this conversation said before was told.
fn is_next(kept: Option<&Path>, server: &Server, tag: Tag, patience: Duration) -> bool {
    let until = Instant::now() + patience / 2;
    kept.is_none_or(|home| replay::catch_up(home, server, tag, until).unwrap_or(true))
}

/// What became of what no server took.
fn outcome(kept: Option<Result<(), SpoolError>>, why: &str) -> String {
    match kept {
        Some(Ok(())) => format!("spooled: {why}"),
        Some(Err(error)) => format!("lost: {why}; {error}"),
        None => format!("not delivered: {why}"),
    }
}

/// The agent's own form of an answer. Only an answer is worth reading the whole payload for.
fn render(agent: Agent, event: Option<&str>, said: &[u8], answer: Option<&Answer>) -> Reply {
    let Some(given) = answer else { return Reply::nothing(&agent) };
    match HookEvent::read(Some(agent), event, said) {
        // Where the agent cannot ask, a question nobody answered is a no.
        Ok(hook) if given.verdict == Verdict::Ask && hook.kind == HookKind::ToolBefore && !can_ask(&hook) => {
            let reason =
                format!("{}; a person would have to allow this, and nobody was asked", given.reason());
            reply(&hook, Some(&Answer::new(Verdict::Deny, reason)))
        }
        Ok(hook) => reply(&hook, answer),
        // What could not be read can still be refused.
        Err(_unreadable) if given.verdict == Verdict::Deny => Reply::refusal(given.reason()),
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
        // The last word may be half a secret.
        let whole = said.iter().rposition(|byte| byte.is_ascii_whitespace() || *byte == b'"');
        said.truncate(whole.filter(|end| said.len() - end <= LONGEST_WORD).unwrap_or(said.len()));
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

/// The home, and the server where that is another's. A home that was pinned when the hook was installed counts, whatever the
/// agent's environment says; one of another user's counts in so far that nothing else in the environment does. One that is
/// not there at all is of another machine: a sandbox's hooks go by the environment it was given.
fn seat(arguments: &Arguments) -> (Option<PathBuf>, Option<String>) {
    let own = |name: &str| env::var(name).ok().filter(|_| name != "BELLJAR_HOME");
    let by_environment = || context::default_home(|name| env::var(name).ok()).ok();
    let pinned = arguments.url.clone();
    match &arguments.home {
        Some(home) if access(home, Access::EXEC_OK).is_ok() => (Some(home.clone()), pinned),
        Some(home) if home.exists() => (context::default_home(own).ok(), pinned),
        Some(home) => match post::set("BELLJAR_URL") {
            Some(url) => (by_environment(), Some(url)),
            None => (Some(home.clone()), pinned),
        },
        None => (by_environment(), pinned.or_else(|| post::set("BELLJAR_URL"))),
    }
}

fn tell(wanted: bool, started: Instant, what: &str) {
    if wanted {
        let micros = started.elapsed().as_micros();
        let _unheard = writeln!(io::stderr(), "belljar hook: {what} ({micros} us)");
    }
}
