//! Following one command on the user's own streams or terminal, for `run`, `exec` and `restore`.

use std::{
    fs::{self, File},
    io::{self, IsTerminal, Write},
    os::fd::AsFd,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, Result};
use belljar_domain::{Alert, EXIT_BELLJAR_FAILED, ExecSpec, ExitReport, Limits, SandboxId, Severity, Usage};
use belljar_engine::supervise::{CapturedOutput, Follow, Input, Log, Monitor, Outlet, Pipes};
use belljar_guardian::redact::Stream;
use belljar_ports::Sandbox;
use serde_json::json;

use crate::{
    context::{Context, log_dir, new_execution_id},
    output::print_json,
    secrets,
    terminal::{self, RawMode},
};

/// How the user wants to see a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// On a terminal of its own, carried to the user's.
    Terminal,
    /// As plain streams.
    Streams,
    /// Collected into one JSON object.
    Json,
}

impl View {
    /// A terminal if one is forced or the user sits at one.
    pub(crate) fn choose(context: &Context, force_terminal: bool) -> Self {
        let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        match (context.json, force_terminal || at_terminal) {
            (true, _) => Self::Json,
            (false, true) => Self::Terminal,
            (false, false) => Self::Streams,
        }
    }
}

/// A command that has ended, with what it wrote if that was collected.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) report: ExitReport,
    pub(crate) stdout: CapturedOutput,
    pub(crate) stderr: CapturedOutput,
}

/// What to exit with, and a word if the server kept less than the command wrote: whoever works with its output must not
/// take it for all there was.
pub(crate) fn told_whole(done: &Done, view: View) -> io::Result<u8> {
    let code = done.report.exit_code();
    if !done.stdout.truncated || view != View::Streams {
        return Ok(code);
    }
    writeln!(
        io::stderr(),
        "belljar: part of the output was lost with the server that carried it, so what is above is not all of it\n  \
         hint: run it again; --direct needs no server"
    )?;
    Ok(if code == 0 { EXIT_BELLJAR_FAILED } else { code })
}

/// Runs a command in a sandbox to its end.
pub(crate) fn follow(
    context: &Context,
    sandbox: &dyn Sandbox,
    mut spec: ExecSpec,
    view: View,
) -> Result<Done> {
    let input = input(view)?;
    let (streams, pipes) = Pipes::new(&input).context("make pipes")?;
    if view == View::Terminal {
        spec.terminal = Some(terminal::window().unwrap_or(belljar_domain::Terminal { rows: 24, cols: 80 }));
    }
    let execution = sandbox.exec(&spec, streams)?;
    // The rest is made ready while the command starts. A signal until then ends belljar, and with it the command.
    let signals = terminal::signals().context("listen for signals")?;
    let info = sandbox.info();
    let mut outlet = UserOutlet::new(context, view, info.dir, info.spec.limits);
    let monitor = Monitor::new(info.spec.limits, context.config.thresholds, context.config.kill);
    let follow = Follow {
        sandbox,
        execution: &*execution,
        monitor,
        timeout: spec.timeout.map(|timeout| Duration::from_millis(timeout.as_millis())),
        signals: Some(signals),
        window: terminal::window,
    };
    let followed = if view == View::Terminal {
        let raw =
            io::stdin().is_terminal().then(RawMode::enter).transpose().context("take over the terminal")?;
        let stdin = rustix::stdio::stdin().try_clone_to_owned().context("share the terminal")?;
        let followed = follow.terminal(stdin, &mut outlet);
        drop(raw);
        followed?
    } else {
        follow.pipes(input, pipes, &mut outlet)?
    };
    outlet.finish();
    Ok(Done { report: followed.report, stdout: outlet.stdout, stderr: outlet.stderr })
}

/// What the command reads, unless that is a terminal.
pub(super) fn input(view: View) -> Result<Input> {
    let stdin = rustix::stdio::stdin();
    let is_null = || {
        let (a, b) = (rustix::fs::fstat(stdin).ok()?, rustix::fs::stat("/dev/null").ok()?);
        Some(a.st_rdev == b.st_rdev && a.st_mode == b.st_mode)
    };
    if view == View::Terminal || is_null().unwrap_or(true) {
        return Ok(Input::Empty);
    }
    Ok(Input::From(stdin.as_fd().try_clone_to_owned().context("share standard input")?))
}

/// The user's side: shows, records, remembers.
struct UserOutlet {
    view: View,
    home: PathBuf,
    dir: PathBuf,
    log: Recording<Kept>,
    history: Recording<File>,
    samples: u32,
    limits: Limits,
    stdout: CapturedOutput,
    stderr: CapturedOutput,
}

/// The log, in which secrets are replaced.
struct Kept {
    log: Log,
    stdout: Stream,
    stderr: Stream,
}

impl Kept {
    fn begin(home: &Path, dir: &Path) -> io::Result<Self> {
        let redactor = secrets::redactor(home).map_err(io::Error::other)?;
        fs::create_dir_all(dir)?;
        let log = File::create(dir.join(format!("{}.log", new_execution_id()))).map(Log::new)?;
        Ok(Self { log, stdout: redactor.stream(), stderr: redactor.stream() })
    }
}

/// A file that is begun when there is something to write, and given up when it cannot be written.
enum Recording<T> {
    NotYet,
    Open(T),
    GivenUp,
}

impl<T> Recording<T> {
    fn with(&mut self, start: impl FnOnce() -> io::Result<T>, write: impl FnOnce(&mut T) -> io::Result<()>) {
        if let Self::NotYet = self {
            *self = start().map_or(Self::GivenUp, Self::Open);
        }
        if let Self::Open(file) = self
            && write(file).is_err()
        {
            *self = Self::GivenUp;
        }
    }
}

/// Samples kept of one execution: a quarter of a second apart at first, then ever rarer.
const MAX_SAMPLES: u32 = 100_000;

impl UserOutlet {
    fn new(context: &Context, view: View, dir: PathBuf, limits: Limits) -> Self {
        Self {
            view,
            home: context.home.clone(),
            dir,
            log: Recording::NotYet,
            history: Recording::NotYet,
            samples: 0,
            limits,
            stdout: CapturedOutput::default(),
            stderr: CapturedOutput::default(),
        }
    }

    fn record(&mut self, write: impl FnOnce(&mut Kept) -> io::Result<()>) {
        let (home, dir) = (&self.home, log_dir(&self.dir));
        self.log.with(|| Kept::begin(home, &dir), write);
    }

    /// Writes down what was held back because it might have been the beginning of a secret.
    fn finish(&mut self) {
        if let Recording::Open(kept) = &mut self.log {
            let rest = [kept.stdout.finish().clean, kept.stderr.finish().clean].concat();
            // What cannot be written was shown.
            let _shown = kept.log.append(&rest);
        }
    }
}

impl Outlet for UserOutlet {
    fn stdout(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.record(|kept| kept.log.append(&kept.stdout.push(bytes).clean));
        if self.view == View::Json {
            self.stdout.append(bytes);
            return Ok(());
        }
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    fn stderr(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.record(|kept| kept.log.append(&kept.stderr.push(bytes).clean));
        if self.view == View::Json {
            self.stderr.append(bytes);
            return Ok(());
        }
        io::stderr().lock().write_all(bytes)
    }

    fn sample(&mut self, usage: &Usage, alerts: &[Alert]) {
        self.samples += 1;
        // Every sample of the first minute, then one in sixteen.
        if self.samples < MAX_SAMPLES
            && (self.samples < 240 || self.samples.is_multiple_of(16) || !alerts.is_empty())
        {
            let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
            let line = json!({"at_ms": u64::try_from(at).unwrap_or(0), "usage": usage, "alerts": alerts});
            let path = self.dir.join("usage.jsonl");
            let start = || File::options().append(true).create(true).open(path);
            self.history.with(start, |file| writeln!(file, "{line}"));
        }
        if self.view == View::Streams {
            for alert in
                alerts.iter().filter(|alert| alert.severity == Severity::Critical && !is_throttle(alert))
            {
                let limit = self.limits.memory;
                // The command's own output matters more than this.
                let _unheard = writeln!(
                    io::stderr(),
                    "belljar: {:?} at {}% of its limit{}",
                    alert.trigger,
                    alert.percent,
                    if matches!(alert.trigger, belljar_domain::AlertTrigger::Memory) {
                        format!(" ({limit})")
                    } else {
                        String::new()
                    }
                );
            }
        }
    }
}

/// A busy processor is what a build looks like; it is worth a record, not a word.
const fn is_throttle(alert: &Alert) -> bool {
    matches!(alert.trigger, belljar_domain::AlertTrigger::Cpu)
}

/// Prints an execution as one JSON object.
pub(crate) fn print_done(id: SandboxId, done: &Done, extra: serde_json::Value) -> Result<()> {
    let report = &done.report;
    let signal = match report.outcome {
        belljar_domain::Outcome::Signal(number) => Some(number),
        belljar_domain::Outcome::Code(_) => None,
    };
    let mut object = json!({
        "sandbox": id,
        "exit_code": report.exit_code(),
        "signal": signal,
        "cause": report.cause,
        "limits_reached": report.reached,
        "timed_out": report.cause == Some(belljar_domain::KillCause::Timeout),
        "oom": report.cause == Some(belljar_domain::KillCause::Oom),
        "duration_ms": report.duration.as_millis(),
        "usage": report.usage,
        "stdout": String::from_utf8_lossy(&done.stdout.bytes),
        "stderr": String::from_utf8_lossy(&done.stderr.bytes),
        "truncated": done.stdout.truncated || done.stderr.truncated,
    });
    if let (Some(object), serde_json::Value::Object(extra)) = (object.as_object_mut(), extra) {
        object.extend(extra);
    }
    Ok(print_json(&object)?)
}
