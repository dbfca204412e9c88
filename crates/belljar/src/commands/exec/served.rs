//! Following a command that the server runs: its output to the user's streams, the user's input and signals to it.
//!
//! Three threads, each waiting for one thing: the server, standard input, signals. The last two end with the process.

use std::{
    fs::File,
    io::{self, IsTerminal, Read, Write},
    os::fd::OwnedFd,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};
use belljar_domain::{ExecSpec, ExecutionId, ExitReport, Outcome, SandboxId, Span, Terminal};
use belljar_engine::supervise::{CapturedOutput, Input, Signals};
use serde_json::{Value, json};

use super::super::follow::{self, Done, View};
use crate::{
    client::{Client, Exit, Running, Said, Speech},
    terminal::{self, RawMode},
};

const SIGPIPE: u8 = 13;
const SIGWINCH: u8 = 28;
/// Bytes of input sent at once: what a pipe holds, so that little of it waits at the server.
const CHUNK: usize = 64 * 1024;
/// The longest time and the largest window the API takes.
const LONGEST: Duration = Duration::from_secs(7 * 86_400);
const WIDEST: u16 = 1000;
/// How long to wait for a command that does not read.
const BREATH: Duration = Duration::from_millis(50);

/// Runs a command to its end.
pub(in crate::commands) fn follow(
    server: &Client,
    id: SandboxId,
    (execution, spec): (Option<ExecutionId>, ExecSpec),
    view: View,
) -> Result<Done> {
    let input = match (view, follow::input(view)?) {
        (View::Terminal, _) => {
            Some(rustix::stdio::stdin().try_clone_to_owned().context("share the terminal")?)
        }
        (View::Streams | View::Json, Input::From(source)) => Some(source),
        (View::Streams | View::Json, Input::Empty) => None,
    };
    let mut speech = server.exec(id, order(execution, spec, view, input.is_some()))?;
    // A signal until here ends belljar, and with it the command.
    let signals = terminal::signals().context("listen for signals")?;
    let at_terminal = view == View::Terminal && io::stdin().is_terminal();
    let raw = at_terminal.then(RawMode::enter).transpose().context("take over the terminal")?;
    if let Some(source) = input {
        let command = speech.command();
        beside("input", move || bring(&command, source, view))?;
    }
    let command = speech.command();
    beside("signals", move || pass_on(&command, signals))?;
    let done = listen(&mut speech, view);
    drop(raw);
    done.context("the command may go on in its sandbox; `belljar logs` shows what it writes")
}

fn order(execution: Option<ExecutionId>, spec: ExecSpec, view: View, reads: bool) -> Value {
    let timeout = spec.timeout.map(|span| Duration::from_millis(span.as_millis()).min(LONGEST));
    let window = (view == View::Terminal).then(window);
    json!({
        "execution_id": execution,
        "command": spec.argv,
        "cwd": spec.cwd.map(|path| path.to_string()),
        "env": spec.env,
        "user": spec.user,
        "timeout_seconds": timeout.map(|time| time.as_secs_f64()),
        "stdin_open": reads,
        "terminal": window.map(|size| json!({ "rows": size.rows, "cols": size.cols })),
    })
}

/// The window's size; one nobody can see has the size terminals had when they were made of glass.
fn window() -> Terminal {
    let seen = terminal::window().filter(|size| size.rows > 0 && size.cols > 0);
    seen.map_or(Terminal { rows: 24, cols: 80 }, |size| Terminal {
        rows: size.rows.min(WIDEST),
        cols: size.cols.min(WIDEST),
    })
}

fn beside(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop).context("start a thread")
}

/// Brings input until it ends, or the command does.
fn bring(command: &Running, source: OwnedFd, view: View) {
    let mut source = File::from(source);
    let mut buffer = vec![0; CHUNK];
    loop {
        match source.read(&mut buffer) {
            Ok(count @ 1..) => {
                let mut left = buffer.get(..count).unwrap_or_default();
                while !left.is_empty() {
                    // The command is over, or reads no more.
                    let Ok(taken) = command.feed(left) else { return };
                    left = left.get(taken..).unwrap_or_default();
                    if !left.is_empty() {
                        thread::sleep(BREATH);
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A terminal stays open when nobody types any more; a pipe ends.
            Ok(_) | Err(_) if view == View::Terminal => return,
            Ok(_) | Err(_) => {
                let _over = command.close_input();
                return;
            }
        }
    }
}

/// Passes signals on for as long as the command runs.
fn pass_on(command: &Running, mut signals: Signals) {
    let mut bytes = [0_u8; 64];
    loop {
        match signals.wake.read(&mut bytes) {
            Ok(1..) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(_) | Err(_) => return,
        }
        for number in (signals.pending)() {
            // It may have ended meanwhile, or have no terminal.
            let _over = if number == SIGWINCH { command.resize(window()) } else { command.signal(number) };
        }
    }
}

/// Carries what the command says to the user until its end.
fn listen(speech: &mut Speech, view: View) -> Result<Done> {
    let (mut stdout, mut stderr) = (CapturedOutput::default(), CapturedOutput::default());
    let mut reader_left = false;
    loop {
        match speech.next()? {
            Said::Output { is_error, bytes } if view == View::Json => {
                if is_error {
                    stderr.append(&bytes);
                } else {
                    stdout.append(&bytes);
                }
            }
            Said::Output { is_error: true, bytes } => {
                // Complaints nobody hears change nothing.
                let _unheard = io::stderr().lock().write_all(&bytes);
            }
            Said::Output { is_error: false, bytes } if !reader_left => {
                let mut out = io::stdout().lock();
                if out.write_all(&bytes).and_then(|()| out.flush()).is_err() {
                    // What a pipe would have told it.
                    reader_left = true;
                    let _over = speech.command().signal(SIGPIPE);
                }
            }
            Said::Output { .. } => {}
            Said::Exit(exit) => {
                stdout.truncated |= exit.truncated && !reader_left;
                return Ok(Done { report: report(*exit), stdout, stderr });
            }
        }
    }
}

fn report(exit: Exit) -> ExitReport {
    let code = exit.exit_code.unwrap_or(belljar_domain::EXIT_BELLJAR_FAILED);
    ExitReport {
        outcome: exit.signal.map_or(Outcome::Code(code), Outcome::Signal),
        cause: exit.cause,
        reached: exit.reached,
        duration: Span::millis(exit.duration_ms.unwrap_or(0)),
        usage: exit.usage.unwrap_or_default(),
    }
}
