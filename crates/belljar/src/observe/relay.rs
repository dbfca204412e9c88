//! From inside a sandbox to the server: every word with the sandbox's pass, and into the spool while there is no server.
//!
//! Owns: which words are passed on at all, and how much one sandbox may say. A server may come, go and come back
//! meanwhile; whoever speaks inside never notices. Refuses: everything but telling; whoever listens here runs with its
//! user's rights, and none of them is for the sandbox.

use std::{
    io::{self, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::net::UnixStream,
    path::PathBuf,
    process,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant, SystemTime},
};

use belljar_capture::{
    Agent, Answer as Spoken, Draft, ENVELOPE_VERSION, Envelope, HookEvent, Payload, reply,
};
use belljar_domain::{ApprovalId, EventId, Ruling, Timestamp};
use belljar_engine::service::{Grounds, judge};
use belljar_guardian::policy::{Reach, Walls};
use rustix::event::{PollFd, PollFlags, poll};
use serde_json::json;
use uuid::Uuid;

use super::request::{Answer, Request};
use crate::{
    hook::{Server, ask},
    policy,
    replay::{self, OTLP},
    spool::{Spool, Tag},
};

/// How many speak at one time; more wait.
const SPEAKERS: usize = 64;
/// How long a server may take. Who waits inside gives up sooner, and is heard all the same.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long one is kept for what was said before.
const CATCHING_UP: Duration = Duration::from_millis(150);
/// How long is waited for what is still being said when the command has ended.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// The most one sandbox may have waiting in the spool, which is for everybody.
const MOST_SPOOLED: usize = 5_000;
const MOST_BYTES: u64 = 64 << 20;

/// What was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Heard {
    /// By a server.
    pub(crate) told: usize,
    /// By nobody yet.
    pub(crate) spooled: usize,
    /// By nobody, ever.
    pub(crate) lost: usize,
}

/// The thread that listens.
#[derive(Debug)]
pub(super) struct Relay {
    shared: Arc<Shared>,
    wake: UnixStream,
    thread: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    home: PathBuf,
    server: Server,
    pass: String,
    speaking: Mutex<usize>,
    fewer: Condvar,
    told: AtomicUsize,
    spooled: AtomicUsize,
    bytes: AtomicU64,
    lost: AtomicUsize,
    last_kept: Mutex<i64>,
}

impl Relay {
    pub(super) fn begin(listener: TcpListener, home: PathBuf, pass: String) -> io::Result<Self> {
        let server = Server::for_sandbox(&home, Some(pass.clone()));
        let shared = Arc::new(Shared {
            home,
            server,
            pass,
            speaking: Mutex::default(),
            fewer: Condvar::new(),
            told: AtomicUsize::new(0),
            spooled: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
            lost: AtomicUsize::new(0),
            last_kept: Mutex::default(),
        });
        listener.set_nonblocking(true)?;
        let (wake, woken) = UnixStream::pair()?;
        let all = Arc::clone(&shared);
        let listen = move || listen(&listener, &woken, &all);
        let thread = thread::Builder::new().name("observe".to_owned()).spawn(listen)?;
        Ok(Self { shared, wake, thread })
    }

    pub(super) fn end(self) -> Heard {
        let Self { shared, mut wake, thread } = self;
        // It ends by this, or by the end of what this is written to.
        let _gone = wake.write_all(b".");
        let _ended = thread.join();
        let until = Instant::now() + LAST_WORDS;
        let mut speaking = shared.speaking();
        while *speaking > 0 && Instant::now() < until {
            let left = until.saturating_duration_since(Instant::now());
            speaking = shared.fewer.wait_timeout(speaking, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(speaking);
        let count = |number: &AtomicUsize| number.load(Ordering::Relaxed);
        Heard { told: count(&shared.told), spooled: count(&shared.spooled), lost: count(&shared.lost) }
    }
}

/// Takes calls until it is woken, and then those that came before.
fn listen(listener: &TcpListener, woken: &UnixStream, shared: &Arc<Shared>) {
    loop {
        let mut fds = [PollFd::new(listener, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        if poll(&mut fds, None).is_err() {
            continue;
        }
        let over = fds.last().is_some_and(|fd| !fd.revents().is_empty());
        match listener.accept() {
            Ok((stream, _)) => shared.attend(stream),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && !over => {}
            Err(_) if over => return,
            // Out of descriptors, most likely; those who speak give theirs back.
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
}

impl Shared {
    fn speaking(&self) -> MutexGuard<'_, usize> {
        self.speaking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attend(self: &Arc<Self>, stream: TcpStream) {
        let mut speaking = self.speaking();
        while *speaking >= SPEAKERS {
            speaking = self.fewer.wait(speaking).unwrap_or_else(PoisonError::into_inner);
        }
        *speaking += 1;
        drop(speaking);
        let shared = Arc::clone(self);
        let hear = move || {
            // Whoever hangs up in the middle of a sentence has said nothing.
            let _hung_up = shared.hear(&stream);
            *shared.speaking() -= 1;
            shared.fewer.notify_all();
        };
        if thread::Builder::new().name("observe".to_owned()).spawn(hear).is_err() {
            *self.speaking() -= 1;
        }
    }

    fn hear(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        let request = match Request::read(stream) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                return Answer::json(413, "{}").write(stream);
            }
            read => read?,
        };
        self.answer(&request).write(stream)
    }

    fn answer(&self, request: &Request) -> Answer {
        if request.bearer.as_deref() != Some(&self.pass) {
            return Answer::json(401, r#"{"detail":"show the pass in BELLJAR_TOKEN"}"#);
        }
        let Some(word) = Word::of(request) else { return Answer::json(404, "{}") };
        if matches!(word, Word::Wait) {
            return self.wait(request);
        }
        if !self.is_next(&word, &request.body) {
            return self.keep(&word, request);
        }
        let target = request.target.as_str();
        let answer = ask(&self.server, target, &request.content, &request.body, Instant::now() + PATIENCE);
        match answer {
            Ok((status @ 200..=299, body)) => {
                self.told.fetch_add(1, Ordering::Relaxed);
                Answer { status, body }
            }
            Ok((status @ 400..=499, body)) if !matches!(status, 401 | 408 | 429) => Answer { status, body },
            Ok(_) | Err(_) => self.keep(&word, request),
        }
    }

    /// Tells first what was said first, where something waits. Whoever asks before a call is answered all the same.
    fn is_next(&self, word: &Word<'_>, body: &[u8]) -> bool {
        if self.spooled.load(Ordering::Relaxed) == 0 || matches!(word, Word::Export(_)) {
            return true;
        }
        let until = Instant::now() + CATCHING_UP;
        let caught_up = replay::catch_up(&self.home, &self.server, Tag::of(&self.pass), until);
        caught_up.unwrap_or(true) || word.asks(body)
    }

    /// Passes on a question of whoever waits for a person. No server is no answer; it is asked again.
    fn wait(&self, request: &Request) -> Answer {
        let until = Instant::now() + PATIENCE;
        match ask(&self.server, &request.target, &request.content, &request.body, until) {
            Ok((status, body)) => Answer { status, body },
            Err(_) => Answer::json(503, "{}"),
        }
    }

    /// Nobody takes it now, so it waits for the next server. Whoever said it goes on.
    fn keep(&self, word: &Word<'_>, request: &Request) -> Answer {
        let Some(line) = word.line(&request.body) else { return Answer::json(503, "{}") };
        let ruled = self.ruling(&line);
        let line = match &ruled {
            Some((ruling, _)) => Envelope::with_ruling(&line, ruling),
            None => line,
        };
        // The sandbox cannot put in a pass of its own: then it is no envelope.
        let line = Envelope::with_pass(&line, &self.pass);
        if Envelope::parse(&line).is_err() {
            return Answer::json(400, r#"{"detail":"this is no envelope"}"#);
        }
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        let room = self.spooled.load(Ordering::Relaxed) < MOST_SPOOLED
            && self.bytes.fetch_add(length, Ordering::Relaxed).saturating_add(length) <= MOST_BYTES;
        let kept = room && {
            // No two may be of the same moment: the spool tells them apart by it.
            let mut last = self.last_kept.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Timestamp::from(SystemTime::now()).as_micros().max(*last + 1);
            *last = now;
            let tag = Tag::of(&self.pass);
            Spool::of(&self.home).put(Timestamp::from_micros(now), process::id(), tag, &line).is_ok()
        };
        let counter = if kept { &self.spooled } else { &self.lost };
        counter.fetch_add(1, Ordering::Relaxed);
        match ruled.filter(|(_, holds)| *holds) {
            Some((ruling, _)) => Answer::json(200, &word.refused(ruling, &request.body)),
            None => Answer::json(200, word.taken()),
        }
    }

    /// A server that is gone does not take its rules along.
    fn ruling(&self, line: &[u8]) -> Option<(Ruling, bool)> {
        let mut envelope = Envelope::parse(line).ok()?;
        let env = std::mem::take(&mut envelope.env);
        let hook = envelope.into_hook().ok()?;
        let grounds = Grounds { home: None, workspace: hook.workspace(|name| env.get(name).cloned()) };
        // How far its network reaches is not asked here, so nothing is taken for held in by it.
        let walls = Walls { network: Reach::Anywhere };
        judge(&policy::in_force(&self.home), &hook, &grounds, Some(walls))
    }
}

/// What may be said.
enum Word<'r> {
    Hook,
    Payload,
    Export(&'r str),
    /// What only a server can take.
    Event,
    /// A question for what a person says.
    Wait,
}

impl<'r> Word<'r> {
    fn of(request: &'r Request) -> Option<Self> {
        let path = request.target.split('?').next().unwrap_or_default();
        if request.method != "POST" || !request.target.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let is_name =
            |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        match path {
            "/hooks/claude-code" => Some(Self::Payload),
            "/events" | "/api/v1/events/ingest" => Some(Self::Event),
            "/v1/logs" | "/v1/metrics" | "/v1/traces" => path.strip_prefix("/v1/").map(Self::Export),
            _ => match path.strip_prefix("/api/v1/approvals/").and_then(|rest| rest.split_once('/')) {
                Some((id, "wait" | "delivered")) => id.parse::<ApprovalId>().ok().map(|_| Self::Wait),
                Some(_) => None,
                None => path.strip_prefix("/api/v1/hooks/").filter(|name| is_name(name)).map(|_| Self::Hook),
            },
        }
    }

    /// The envelope it waits in.
    fn line(&self, body: &[u8]) -> Option<Vec<u8>> {
        let wrap = |agent: &Agent, event: Option<&str>| {
            let draft = Draft {
                version: ENVELOPE_VERSION,
                id: EventId::from_uuid(Uuid::now_v7()),
                agent,
                event,
                sent_at: Timestamp::from(SystemTime::now()),
                pid: process::id(),
                env: std::collections::BTreeMap::new(),
                ruled: None,
            };
            draft.line(&Payload::look(body))
        };
        match self {
            Self::Hook => Some(body.to_vec()),
            Self::Payload => {
                let payload = Payload::look(body);
                let event = payload.peek().and_then(|peek| peek.event());
                Some(wrap(&Agent::ClaudeCode, event))
            }
            Self::Export(signal) => Some(wrap(&Agent::from(OTLP), Some(signal))),
            Self::Event | Self::Wait => None,
        }
    }

    /// Whether somebody waits for the answer, or it is for a server alone.
    fn asks(&self, body: &[u8]) -> bool {
        let hook = match self {
            Self::Hook => Envelope::parse(body).ok().and_then(|envelope| envelope.into_hook().ok()),
            Self::Payload => HookEvent::read(Some(Agent::ClaudeCode), None, body).ok(),
            Self::Export(_) => None,
            Self::Event | Self::Wait => return true,
        };
        hook.is_none_or(|hook| hook.kind.is_guard())
    }

    /// What is answered in a server's place to whoever is held up.
    fn refused(&self, ruling: Ruling, body: &[u8]) -> String {
        let answer = Spoken::new(ruling.verdict, ruling.reason);
        match self {
            Self::Hook => json!({ "verdict": answer }).to_string(),
            Self::Payload => HookEvent::read(Some(Agent::ClaudeCode), None, body)
                .map_or_else(|_| String::new(), |hook| reply(&hook, Some(&answer)).stdout),
            Self::Export(_) | Self::Event | Self::Wait => self.taken().to_owned(),
        }
    }

    /// What is answered in a server's place.
    const fn taken(&self) -> &'static str {
        match self {
            Self::Hook => r#"{"verdict":null}"#,
            // Anything else would be taken for a hook's output.
            Self::Payload => "",
            Self::Export(_) | Self::Event | Self::Wait => "{}",
        }
    }
}
