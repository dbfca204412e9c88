//! The suite for sandbox providers.
//!
//! Owns: what a provider must do. Refuses: to skip; what a provider does not declare it must refuse.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
};

use belljar_domain::{
    Capability, ChangeKind, ExecSpec, ExitReport, HostPath, KillCause, NetworkMode, Outcome, SandboxId,
    SandboxSpec, SandboxState, SnapshotId, Span, TemplateRef,
};

use super::{Verdict, expect};
use crate::{Keep, Sandbox, SandboxError, SandboxProvider, Streams};

/// A provider with what a check needs around it.
pub struct Bench<'a> {
    /// The provider under test.
    pub provider: &'a dyn SandboxProvider,
    /// A host directory the provider may show, holding the file `kept` with the text `old`.
    pub workspace: &'a Path,
    /// Makes a new identity.
    pub sandbox_id: fn() -> SandboxId,
    /// Makes a new identity.
    pub snapshot_id: fn() -> SnapshotId,
}

impl std::fmt::Debug for Bench<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").field("provider", &self.provider.name()).finish_non_exhaustive()
    }
}

type Check = fn(&Bench<'_>) -> Verdict;

/// Every check by name.
pub const CHECKS: [(&str, Check); 13] = [
    ("a_sandbox_runs_commands_and_reports_how_they_ended", runs_commands),
    ("streams_environment_and_directory_reach_the_command", carries_streams),
    ("a_program_that_does_not_exist_is_told_apart", tells_missing_programs),
    ("a_timeout_kills_and_is_named", times_out),
    ("a_kill_ends_what_the_command_started", kills),
    ("the_workspace_changes_inside_only", keeps_the_workspace),
    ("pausing_works_or_is_refused", pauses),
    ("snapshots_work_or_are_refused", snapshots),
    ("network_modes_work_or_are_refused", networks),
    ("a_command_reaches_who_listens_outside", listens),
    ("users_work_or_are_refused", users),
    ("an_ended_sandbox_refuses_commands_and_stops_twice", ends),
    ("a_destroyed_sandbox_is_unknown", forgets),
];

fn make(bench: &Bench<'_>) -> Result<Box<dyn Sandbox>, String> {
    let workspace = HostPath::new(bench.workspace).map_err(|e| e.to_string())?;
    let spec = SandboxSpec { workspace: Some(workspace), ..SandboxSpec::default() };
    bench.provider.create((bench.sandbox_id)(), &spec, Keep::WithMaker).map_err(chain)
}

fn spec(argv: &[&str]) -> ExecSpec {
    ExecSpec {
        argv: argv.iter().map(|&word| word.to_owned()).collect(),
        cwd: None,
        env: BTreeMap::new(),
        user: None,
        terminal: None,
        timeout: Some(Span::seconds(60)),
    }
}

/// Runs a command with some input; the answer is its report and what it printed.
fn run(sandbox: &dyn Sandbox, spec: &ExecSpec, input: &str) -> Result<(ExitReport, String), String> {
    let io = |e: io::Error| e.to_string();
    let ((stdin, mut feed), (mut printed, stdout)) = (io::pipe().map_err(io)?, io::pipe().map_err(io)?);
    let stderr = File::create("/dev/null").map_err(io)?;
    let streams = Streams { stdin: stdin.into(), stdout: stdout.into(), stderr: stderr.into() };
    let execution = sandbox.exec(spec, streams).map_err(chain)?;
    feed.write_all(input.as_bytes()).map_err(io)?;
    drop(feed);
    let mut text = String::new();
    printed.read_to_string(&mut text).map_err(io)?;
    Ok((execution.wait().map_err(chain)?, text))
}

#[expect(clippy::needless_pass_by_value, reason = "it is the last to see the error, in `map_err`")]
fn chain(error: SandboxError) -> String {
    super::chain(&error)
}

fn declares(bench: &Bench<'_>, capability: Capability) -> bool {
    bench.provider.capabilities().contains(&capability)
}

fn runs_commands(bench: &Bench<'_>) -> Verdict {
    let sandbox = make(bench)?;
    expect("state", &sandbox.info().state, &SandboxState::Running)?;
    for (argv, outcome) in [
        (["sh", "-c", "exit 0"], Outcome::Code(0)),
        (["sh", "-c", "exit 7"], Outcome::Code(7)),
        (["sh", "-c", "kill -15 $$"], Outcome::Signal(15)),
    ] {
        let (report, _) = run(&*sandbox, &spec(&argv), "")?;
        expect("outcome", &report.outcome, &outcome)?;
        expect("cause", &report.cause, &None)?;
    }
    sandbox.usage().map(drop).map_err(chain)?;
    sandbox.destroy().map_err(chain)
}

fn carries_streams(bench: &Bench<'_>) -> Verdict {
    let sandbox = make(bench)?;
    let mut asked = spec(&["sh", "-c", "cat; echo $GREETING; pwd"]);
    asked.env.insert("GREETING".to_owned(), "hello there".to_owned());
    let (_, text) = run(&*sandbox, &asked, "in\n")?;
    expect("output", &text, &format!("in\nhello there\n{}\n", bench.workspace.display()))?;
    sandbox.destroy().map_err(chain)
}

fn tells_missing_programs(bench: &Bench<'_>) -> Verdict {
    let sandbox = make(bench)?;
    let null = || File::open("/dev/null").map_err(|e| e.to_string());
    let streams = Streams { stdin: null()?.into(), stdout: null()?.into(), stderr: null()?.into() };
    match sandbox.exec(&spec(&["no-such-program"]), streams) {
        Err(SandboxError::Command { exit_code: 127, .. }) => sandbox.destroy().map_err(chain),
        Err(other) => Err(format!("wanted a missing command, found: {}", chain(other))),
        Ok(_) => Err("a program that does not exist was started".to_owned()),
    }
}

fn times_out(bench: &Bench<'_>) -> Verdict {
    let sandbox = make(bench)?;
    let endless =
        ExecSpec { timeout: Some(Span::millis(200)), ..spec(&["sh", "-c", "echo begun; sleep 600"]) };
    let (report, text) = run(&*sandbox, &endless, "")?;
    expect("cause", &report.cause, &Some(KillCause::Timeout))?;
    expect("output before", &text, &"begun\n".to_owned())?;
    sandbox.destroy().map_err(chain)
}

fn kills(bench: &Bench<'_>) -> Verdict {
    let sandbox = make(bench)?;
    let (mut printed, stdout) = io::pipe().map_err(|e| e.to_string())?;
    let null = || File::options().read(true).write(true).open("/dev/null").map_err(|e| e.to_string());
    let streams = Streams { stdin: null()?.into(), stdout: stdout.into(), stderr: null()?.into() };
    let started = spec(&["sh", "-c", "setsid sh -c 'trap \"\" TERM; echo up; sleep 600' & wait"]);
    let execution = sandbox.exec(&started, streams).map_err(chain)?;
    let mut up = [0_u8; 3];
    printed.read_exact(&mut up).map_err(|e| e.to_string())?;
    execution.kill().map_err(chain)?;
    // The pipe ends only when every process that holds it is gone.
    io::copy(&mut printed, &mut io::sink()).map_err(|e| e.to_string())?;
    let report = execution.wait().map_err(chain)?;
    expect("outcome", &report.outcome, &Outcome::Signal(9))?;
    sandbox.destroy().map_err(chain)
}

fn keeps_the_workspace(bench: &Bench<'_>) -> Verdict {
    let sandbox = make(bench)?;
    expect("untouched", &sandbox.is_untouched().map_err(chain)?, &true)?;
    run(&*sandbox, &spec(&["sh", "-c", "echo new > made; echo more >> kept"]), "")?;
    let outside = std::fs::read_to_string(bench.workspace.join("kept")).map_err(|e| e.to_string())?;
    expect("the host's file", &outside, &"old".to_owned())?;
    expect("the host has the new file", &bench.workspace.join("made").exists(), &false)?;
    if declares(bench, Capability::Changes) {
        let found = sandbox.changes().map_err(chain)?;
        let kinds: Vec<_> =
            found.changes.iter().map(|c| (c.path.display().to_string(), c.kind.clone())).collect();
        let wanted = vec![("kept".to_owned(), ChangeKind::Modified), ("made".to_owned(), ChangeKind::Added)];
        expect("changes", &kinds, &wanted)?;
    }
    sandbox.destroy().map_err(chain)
}

fn pauses(bench: &Bench<'_>) -> Verdict {
    let sandbox = make(bench)?;
    let paused = sandbox.pause();
    if declares(bench, Capability::Pause) {
        paused.map_err(chain)?;
        expect("state", &sandbox.info().state, &SandboxState::Paused)?;
        sandbox.resume().map_err(chain)?;
        run(&*sandbox, &spec(&["true"]), "")?;
    } else if !matches!(paused, Err(SandboxError::Unsupported { .. })) {
        return Err("pausing was not declared and not refused".to_owned());
    }
    sandbox.destroy().map_err(chain)
}

fn snapshots(bench: &Bench<'_>) -> Verdict {
    let sandbox = make(bench)?;
    run(&*sandbox, &spec(&["sh", "-c", "echo frozen > made; echo mine > ~/own"]), "")?;
    let id = (bench.snapshot_id)();
    let taken = sandbox.snapshot(id, None);
    if !declares(bench, Capability::Snapshot) {
        return match taken {
            Err(SandboxError::Unsupported { .. }) => sandbox.destroy().map_err(chain),
            _ => Err("snapshots were not declared and not refused".to_owned()),
        };
    }
    taken.map_err(chain)?;
    sandbox.destroy().map_err(chain)?;
    let asked = bench.provider.snapshot_spec(id).map_err(chain)?;
    let asked = SandboxSpec { template: TemplateRef::Snapshot(id), ..asked };
    let copy = bench.provider.create((bench.sandbox_id)(), &asked, Keep::WithMaker).map_err(chain)?;
    let (_, text) = run(&*copy, &spec(&["sh", "-c", "cat made ~/own kept"]), "")?;
    expect("what was frozen", &text, &"frozen\nmine\nold".to_owned())?;
    if declares(bench, Capability::Changes) {
        // What the snapshot had counts as changed too, unless the copy took it back.
        run(&*copy, &spec(&["sh", "-c", "rm made; echo fresh > other"]), "")?;
        let found = copy.changes().map_err(chain)?;
        let paths: Vec<_> = found.changes.iter().map(|change| change.path.display().to_string()).collect();
        expect("changes of the copy", &paths, &vec!["other".to_owned()])?;
    }
    copy.destroy().map_err(chain)?;
    bench.provider.remove_snapshot(id).map_err(chain)
}

fn networks(bench: &Bench<'_>) -> Verdict {
    for (network, capability) in [
        (NetworkMode::None, Capability::NetworkNone),
        (NetworkMode::Allowlist, Capability::NetworkAllowlist),
        (NetworkMode::Open, Capability::NetworkOpen),
    ] {
        let made = bench.provider.create(
            (bench.sandbox_id)(),
            &SandboxSpec { network, ..SandboxSpec::default() },
            Keep::WithMaker,
        );
        match (declares(bench, capability), made) {
            (true, Ok(sandbox)) => sandbox.destroy().map_err(chain)?,
            (true, Err(error)) => return Err(format!("{network} was declared: {}", chain(error))),
            (false, Err(SandboxError::Unsupported { .. })) => {}
            (false, _) => return Err(format!("{network} was not declared and not refused")),
        }
    }
    Ok(())
}

fn listens(bench: &Bench<'_>) -> Verdict {
    let sandbox = make(bench)?;
    let listener = TcpListener::from(sandbox.listen().map_err(chain)?);
    let port = listener.local_addr().map_err(|e| e.to_string())?.port();
    // The shell of every template has no network; its kernel tells what listens.
    let heard = sandbox.listening().map_err(chain)?;
    if !heard.iter().any(|address| address.port() == port && address.ip().is_loopback()) {
        return Err(format!("port {port} is not among {heard:?}"));
    }
    let caller = TcpStream::from(sandbox.dial(port).map_err(chain)?);
    let (accepted, _) = listener.accept().map_err(|e| e.to_string())?;
    let pair = (caller.local_addr(), accepted.peer_addr());
    match pair {
        (Ok(inside), Ok(outside)) if inside == outside => sandbox.destroy().map_err(chain),
        other => Err(format!("somebody else called: {other:?}")),
    }
}

fn users(bench: &Bench<'_>) -> Verdict {
    let sandbox = make(bench)?;
    let other = ExecSpec { user: Some("4321:4321".to_owned()), ..spec(&["id", "-u"]) };
    let ran = run(&*sandbox, &other, "");
    match (declares(bench, Capability::Users), ran) {
        (true, Ok((_, text))) => expect("user", &text, &"4321\n".to_owned())?,
        (true, Err(error)) => return Err(error),
        (false, Err(_)) => {}
        (false, Ok(_)) => return Err("other users were not declared and not refused".to_owned()),
    }
    sandbox.destroy().map_err(chain)
}

fn ends(bench: &Bench<'_>) -> Verdict {
    let sandbox = make(bench)?;
    sandbox.stop(Some(KillCause::Killswitch)).map_err(chain)?;
    sandbox.stop(None).map_err(chain)?;
    let info = sandbox.info();
    expect("state", &(info.state, info.cause), &(SandboxState::Stopped, Some(KillCause::Killswitch)))?;
    if run(&*sandbox, &spec(&["true"]), "").is_ok() {
        return Err("an ended sandbox ran a command".to_owned());
    }
    sandbox.destroy().map_err(chain)
}

fn forgets(bench: &Bench<'_>) -> Verdict {
    let sandbox = make(bench)?;
    let id = sandbox.info().id;
    bench.provider.find(id).map_err(chain)?;
    sandbox.destroy().map_err(chain)?;
    sandbox.destroy().map_err(chain)?;
    match bench.provider.find(id) {
        Err(SandboxError::Unknown(_)) => Ok(()),
        Err(other) => Err(chain(other)),
        Ok(_) => Err("a destroyed sandbox is still known".to_owned()),
    }
}
