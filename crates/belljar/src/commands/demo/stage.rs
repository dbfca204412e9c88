//! Where the agents of the demonstration act: each in a sandbox of its own, one as its user's program.
//!
//! Owns: who is on, and that everybody is gone at the end. Refuses: a way around the API: sandboxes and commands are asked
//! of the server, as any client would.

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead as _, BufReader, Read},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Context as _, Result};
use belljar_ports::SandboxProvider;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{
    cast::{Part, Place},
    contest, tally,
};
use crate::{
    args::Demo,
    client::{Client, Said},
    context::Context,
    observe::{Observer, PROGRAM},
    output::{plain, remark},
};

/// What an agent needs, and how long it may live if nobody is left to end it.
const MEMORY: u64 = 256 << 20;
const DISK: u64 = 256 << 20;
const LIVES: u64 = 3600;
/// How long an agent is gone before it begins anew, and how much later each comes on, at the speed of people.
const RESTS: f64 = 20.0;
const APART: f64 = 2.5;
/// When the task for several at once is given, and how often to look how far it is.
const CONTEST: f64 = 4.0;
const CONTEST_LOOK: f64 = 1.0;
/// The variable by which the project's slow programs know how long a second of the play takes.
const TICK: &str = "TICK";
/// How often to look whether a program of the host has ended.
const LOOK: Duration = Duration::from_millis(50);

/// Everybody who plays.
pub(super) struct Stage {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

pub(super) struct Shared {
    context: Context,
    provider: Arc<dyn SandboxProvider>,
    project: PathBuf,
    dir: PathBuf,
    speed: f64,
    once: bool,
    /// Whether there is more than the agents somebody asked for.
    whole: bool,
    over: AtomicBool,
    /// What wakes those who rest.
    bell: (Mutex<()>, Condvar),
}

impl Stage {
    pub(super) fn new(
        context: &Context,
        provider: &Arc<dyn SandboxProvider>,
        dir: &Path,
        args: &Demo,
    ) -> Result<Self> {
        let shared = Shared {
            context: context.clone(),
            provider: Arc::clone(provider),
            project: dir.join("tally").canonicalize().context("find the project")?,
            dir: dir.to_owned(),
            speed: args.speed,
            once: args.once,
            whole: args.only.is_empty(),
            over: AtomicBool::new(false),
            bell: (Mutex::default(), Condvar::new()),
        };
        Ok(Self { shared: Arc::new(shared), threads: Vec::new() })
    }

    /// Has everybody begin; the answer comes when all have played, which without `--once` is never.
    pub(super) fn begin(&mut self, parts: Vec<Part>) -> oneshot::Receiver<()> {
        let (done, all) = oneshot::channel();
        // Whoever is last drops it.
        let done = Arc::new(done);
        let shared = Arc::clone(&self.shared);
        let opening = thread::spawn({
            let parts = parts.clone();
            move || {
                if let Err(error) = shared.register(&parts) {
                    shared.complain("the registry", &error);
                }
            }
        });
        self.threads.push(opening);
        if self.shared.whole {
            let (shared, done) = (Arc::clone(&self.shared), Arc::clone(&done));
            self.threads.push(thread::spawn(move || {
                shared.rest(CONTEST);
                if let Err(error) = shared.contest() {
                    shared.complain("the run", &error);
                }
                drop(done);
            }));
        }
        for (place, part) in parts.into_iter().enumerate() {
            let (shared, done) = (Arc::clone(&self.shared), Arc::clone(&done));
            self.threads.push(thread::spawn(move || {
                let late = f64::from(u32::try_from(place).unwrap_or_default()) * APART;
                shared.rest(late);
                shared.play(&part);
                drop(done);
            }));
        }
        all
    }

    /// Ends everybody and everything; the answer is what happened.
    pub(super) fn end(self) -> Result<Value> {
        let Self { shared, threads } = self;
        shared.over.store(true, Ordering::SeqCst);
        shared.bell.1.notify_all();
        let told = shared.client().and_then(|server| tally(&server));
        shared.clear()?;
        for thread in threads {
            // Who broke off has nothing more to end.
            let _broken = thread.join();
        }
        // What was begun while the rest was ended.
        shared.clear()?;
        told
    }
}

impl Shared {
    fn client(&self) -> Result<Client> {
        Client::at_home(&self.context.home).context("reach the server of the demonstration")
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Enters the agents as a person would, and gives them something to spend.
    fn register(&self, parts: &[Part]) -> Result<()> {
        let server = self.client()?;
        for part in parts {
            let everywhere = json!({ "read_scopes": ["**"], "write_scopes": ["**"] });
            let task = part.turns.first().map(|turn| &turn.prompt);
            let about = json!({ "role": part.role, "description": task, "rbac": everywhere });
            server.order("PUT", &["agents", &part.name], Some(&about))?;
            let leave = json!({ "role": part.role, "reason": "plays in the demonstration" });
            // A role narrows what an agent may do; those that only look around get one.
            if matches!(part.role.as_str(), "developer" | "backend") {
                server.order("POST", &["agents", &part.name, "approve"], Some(&leave))?;
            }
        }
        server.order("PUT", &["budgets", "agent:*:day"], Some(&json!({ "cost_usd": 40.0 })))?;
        let steps = json!({ "cost_usd": 25.0, "steps": { "notify": 20, "pause": null, "terminate": null } });
        server.order("PUT", &["budgets", "agent:larch:day"], Some(&steps))?;
        Ok(())
    }

    /// The project, where every attempt and every agent gets its own view of it.
    pub(super) fn project(&self) -> &Path {
        &self.project
    }

    /// So many seconds of the play, in seconds of the clock.
    pub(super) fn shortened(&self, seconds: f64) -> f64 {
        seconds / self.speed
    }

    /// One task for several at once, until it is decided or the play is over.
    fn contest(&self) -> Result<()> {
        if self.is_over() {
            return Ok(());
        }
        let server = self.client()?;
        let run = contest::begin(&server, self)?;
        while !self.is_over() && !contest::is_over(&server, &run)? {
            self.rest(CONTEST_LOOK * self.speed);
        }
        if !contest::is_over(&server, &run)? {
            server.order("DELETE", &["runs", &run], None)?;
        }
        while !contest::is_over(&server, &run)? {
            thread::sleep(LOOK);
        }
        Ok(())
    }

    fn play(&self, part: &Part) {
        while !self.is_over() {
            let played = match part.place {
                Place::Sandbox => self.in_sandbox(part),
                Place::Host => self.on_host(part),
            };
            match played {
                Err(error) if !self.is_over() => {
                    self.complain(&part.name, &error);
                    return;
                }
                _ if self.once => return,
                _ => self.rest(RESTS),
            }
        }
    }

    /// One performance in a sandbox of its own, heard through its one door.
    fn in_sandbox(&self, part: &Part) -> Result<()> {
        let server = self.client()?;
        let made = server.create(&self.order(part)?)?;
        let sandbox = self.provider.find(made.id)?;
        let observer = Observer::begin(&self.context, &*sandbox)?;
        let mut env = observer.env(&sandbox.info().spec);
        env.insert(TICK.to_owned(), self.shortened(1.0).to_string());
        let mut heard = Lines::default();
        let played = (|| {
            let speed = self.speed.to_string();
            let words = [PROGRAM, "demo-agent", &part.name, "--speed", &speed];
            let mut speech = server.exec(made.id, json!({ "command": words, "env": env }))?;
            loop {
                match speech.next()? {
                    Said::Output { bytes, .. } => heard.take(&bytes).iter().for_each(|line| self.note(line)),
                    Said::Exit(_) => return Ok(()),
                }
            }
        })();
        observer.end();
        if !self.is_over() && !self.once {
            self.rest(RESTS);
        }
        if !self.is_over() && !self.once {
            server.delete(made.id)?;
        }
        played
    }

    fn order(&self, part: &Part) -> Result<Value> {
        let program = env::current_exe().context("find this program")?;
        let task = part.turns.first().map(|turn| turn.prompt.as_str()).unwrap_or_default();
        Ok(json!({
            "name": part.name, "agent": part.name, "workspace": self.project, "profile": "strict",
            "limits": { "memory_bytes": MEMORY, "disk_bytes": DISK, "cpus": 1.0 },
            "ttl_seconds": LIVES, "idle_seconds": LIVES, "exec_timeout_seconds": LIVES,
            "mounts": [{ "host": program, "sandbox": PROGRAM, "mode": "ro" }],
            "labels": { "task": brief(task), "vendor": part.vendor.as_str() },
        }))
    }

    /// One performance as a program of the host, with a home of its own: what it is refused must not be there to lose.
    fn on_host(&self, part: &Part) -> Result<()> {
        let home = self.dir.join("user");
        std::fs::create_dir_all(home.join(".cache")).context("make a home for an agent")?;
        let ours = [
            ("HOME", home.as_path()),
            ("BELLJAR_HOME", self.context.home.as_path()),
            ("BELLJAR_AGENT", Path::new(&part.name)),
        ];
        let env: BTreeMap<&str, &Path> = ours.into();
        let mut child = Command::new(env::current_exe().context("find this program")?)
            .args(["demo-agent", &part.name, "--speed", &self.speed.to_string()])
            .envs(&env)
            .env(TICK, self.shortened(1.0).to_string())
            .env_remove("BELLJAR_URL")
            .current_dir(&self.project)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("start an agent")?;
        let out = child.stdout.take();
        thread::scope(|scope| {
            scope.spawn(|| self.note_all(out));
            loop {
                match child.try_wait() {
                    Ok(None) if !self.is_over() => thread::sleep(LOOK),
                    Ok(None) => {
                        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                        // It may just have ended by itself.
                        let _ended = group.map(|group| kill_process_group(group, Signal::KILL));
                        return child.wait().map(drop);
                    }
                    ended => return ended.map(drop),
                }
            }
        })
        .context("wait for an agent")
    }

    fn note_all(&self, out: Option<impl Read>) {
        let lines = out.into_iter().flat_map(|out| BufReader::new(out).lines().map_while(Result::ok));
        lines.for_each(|line| self.note(&line));
    }

    /// Tells whoever sits at the terminal what is worth it; the rest is on the page.
    fn note(&self, line: &str) {
        if let Some((name, said)) = line.split_once(": ! ").filter(|_| !self.context.json) {
            remark(&format!("{} {}", plain(name), plain(said)));
        }
    }

    fn complain(&self, who: &str, error: &anyhow::Error) {
        if !self.is_over() {
            remark(&format!("{who} does not play: {error:#}"));
        }
    }

    /// Waits so many seconds of the play, or until it is over.
    fn rest(&self, seconds: f64) {
        let (lock, bell) = &self.bell;
        let guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
        let span = Duration::from_secs_f64(self.shortened(seconds).clamp(0.0, 600.0));
        let _woken = bell.wait_timeout_while(guard, span, |()| !self.is_over());
    }

    /// Ends every sandbox there is.
    fn clear(&self) -> Result<()> {
        let server = self.client()?;
        for sandbox in server.sandboxes(false)? {
            server.delete(sandbox.id)?;
        }
        Ok(())
    }
}

/// Output, line by line.
#[derive(Default)]
struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    /// The lines that are whole now.
    fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
        let rest = self.rest.split_off(end + 1);
        let whole = std::mem::replace(&mut self.rest, rest);
        String::from_utf8_lossy(&whole).lines().map(str::to_owned).collect()
    }
}

/// A task as a label can hold it.
fn brief(task: &str) -> String {
    let sentence = task.split_inclusive([' ', '\n']).scan(false, |over, word| {
        let is_over = std::mem::replace(over, word.trim_end().ends_with(['.', ':', '?']));
        (!is_over).then_some(word)
    });
    let sentence: String = sentence.collect();
    sentence.trim_end().trim_end_matches(['.', ':']).chars().take(60).collect()
}
