//! One command in a sandbox, and the report of how it ended.

use std::{
    fs,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use belljar_domain::{ExitReport, KillCause, NetworkMode, Outcome, SandboxId, Span, Usage};
use belljar_jail::{
    Connection, Exec, ExecError, Exited, Running, ToKeeper, ask_keeper, cgroup::Gauges, disk, read_small,
};
use belljar_ports::{Execution, RawExit, SandboxError, Streams};

use super::record::Record;

/// Share of the disk, in percent, from which it counts as full.
const FULL: u64 = 99;

#[derive(Debug)]
pub(super) struct ProcessExecution {
    id: SandboxId,
    record: Record,
    running: Running,
    started: Instant,
    before: Usage,
    disk: Option<Arc<OwnedFd>>,
    verdict: Arc<Mutex<Option<KillCause>>>,
    state_dir: PathBuf,
}

impl ProcessExecution {
    pub(super) fn start(
        record: &Record,
        state_dir: PathBuf,
        connection: Connection,
        request: &Exec,
        streams: &Streams,
        disk: Option<Arc<OwnedFd>>,
        verdict: Arc<Mutex<Option<KillCause>>>,
    ) -> Result<Self, SandboxError> {
        let before = record.group.strikes(&Gauges::default());
        let started = Instant::now();
        let passed = [streams.stdin.as_fd(), streams.stdout.as_fd(), streams.stderr.as_fd()];
        let passed = if request.terminal.is_some() { &[][..] } else { &passed };
        let running = connection.exec(request, passed).map_err(|error| explain(record.id, error))?;
        Ok(Self { id: record.id, record: record.clone(), running, started, before, disk, verdict, state_dir })
    }

    fn report(&self, exited: Option<Exited>) -> ExitReport {
        let raw = exited.map(|exited| RawExit {
            outcome: decode(exited.status),
            time_ms: 0,
            timed_out: exited.timed_out,
            max_rss_bytes: exited.max_rss_kib * 1024,
            dropped_out: 0,
            dropped_err: 0,
        });
        let millis = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let inquest = Inquest {
            record: &self.record,
            state_dir: &self.state_dir,
            disk: self.disk.clone(),
            decided: *self.verdict.lock().unwrap_or_else(PoisonError::into_inner),
            gauges: &Gauges::default(),
        };
        inquest.report(raw.as_ref(), &self.before, Span::millis(millis))
    }
}

/// Finds out why a command ended, from what the kernel counted and the keeper wrote.
pub(super) struct Inquest<'a> {
    pub(super) record: &'a Record,
    pub(super) state_dir: &'a Path,
    pub(super) disk: Option<Arc<OwnedFd>>,
    /// Why this process ended the sandbox, if it did.
    pub(super) decided: Option<KillCause>,
    pub(super) gauges: &'a Gauges,
}

impl Inquest<'_> {
    pub(super) fn report(self, exit: Option<&RawExit>, before: &Usage, duration: Span) -> ExitReport {
        let outcome = exit.map_or(Outcome::Signal(9), |exit| exit.outcome);
        let disk = self.disk.clone().or_else(|| self.ask_for_disk(outcome));
        let usage = measure(self.record, disk.as_deref(), self.gauges);
        let grown =
            |now: Option<u64>, before: Option<u64>| now.zip(before).is_some_and(|(now, before)| now > before);
        let oom = grown(usage.oom_kills, before.oom_kills);
        let killed = matches!(outcome, Outcome::Signal(9) | Outcome::Code(137));
        let cause = match self.decided {
            Some(cause) => Some(cause),
            None if exit.is_some_and(|exit| exit.timed_out) => Some(KillCause::Timeout),
            None if oom && killed => Some(KillCause::Oom),
            None if exit.is_none() => self.ended_by(),
            None => None,
        };
        let limit = self.record.spec.limits;
        let disk_full = usage.disk_bytes.is_some_and(|used| used * 100 >= limit.disk.as_bytes() * FULL)
            || usage.inodes.is_some_and(|used| used * 100 >= limit.inodes * FULL);
        let mut reached = Vec::new();
        for (hit, limit) in [
            (oom, KillCause::Oom),
            (grown(usage.forks_refused, before.forks_refused), KillCause::Pids),
            (disk_full, KillCause::Disk),
        ] {
            if hit && cause != Some(limit) {
                reached.push(limit);
            }
        }
        let peak = usage.memory_peak_bytes.or_else(|| exit.map(|exit| exit.max_rss_bytes));
        let usage = Usage { memory_peak_bytes: peak, ..usage };
        ExitReport { outcome, cause, reached, duration, usage }
    }

    /// The private disk, if it may have been why the command failed and this process does not hold it anyway.
    fn ask_for_disk(&self, outcome: Outcome) -> Option<Arc<OwnedFd>> {
        if outcome == Outcome::Code(0) {
            return None;
        }
        ask_keeper(self.state_dir, ToKeeper::Disk).ok()?.1.map(Arc::new)
    }

    /// What the keeper wrote down when the sandbox ended under the command.
    fn ended_by(&self) -> Option<KillCause> {
        // It writes once the last process is gone, which is what brought us here.
        self.record.keeper.ends();
        match fs::read_to_string(self.state_dir.join("ended")).ok().as_deref() {
            Some("ttl") => Some(KillCause::Ttl),
            Some("idle") => Some(KillCause::Idle),
            Some(_) | None => Some(KillCause::Killswitch),
        }
    }
}

impl Execution for ProcessExecution {
    fn terminal(&self) -> Option<BorrowedFd<'_>> {
        self.running.terminal.as_ref().map(AsFd::as_fd)
    }

    fn ended(&self) -> BorrowedFd<'_> {
        self.running.as_fd()
    }

    fn signal(&self, signal: u8) -> Result<(), SandboxError> {
        self.running.signal(signal).map_err(|e| SandboxError::provider("send a signal to the command", e))
    }

    fn kill(&self) -> Result<(), SandboxError> {
        self.running.kill().map_err(|e| SandboxError::provider("kill the command", e))
    }

    fn wait(&self) -> Result<ExitReport, SandboxError> {
        match self.running.wait() {
            Ok(exited) => Ok(self.report(Some(exited))),
            Err(ExecError::Gone) => Ok(self.report(None)),
            Err(error) => Err(explain(self.id, error)),
        }
    }
}

/// Reads every counter of a sandbox.
pub(super) fn measure(record: &Record, disk: Option<&OwnedFd>, gauges: &Gauges) -> Usage {
    let mut usage = record.group.usage(gauges);
    if let Some((bytes, inodes)) = disk.and_then(|disk| disk::usage(disk).ok()) {
        usage.disk_bytes = Some(bytes);
        usage.inodes = Some(inodes);
    }
    let carried = match record.spec.network {
        // Loopback is all there is, and nothing leaves by it.
        NetworkMode::None => Some((0, 0)),
        NetworkMode::Allowlist | NetworkMode::Open => network(record.init.pid),
    };
    if let Some((received, sent)) = carried {
        usage.net_rx_bytes = Some(received);
        usage.net_tx_bytes = Some(sent);
    }
    usage
}

/// Bytes through every interface of a process's network namespace but loopback.
fn network(pid: u32) -> Option<(u64, u64)> {
    let table = read_small(Path::new(&format!("/proc/{pid}/net/dev"))).ok()?;
    let rows = table.lines().filter_map(|line| line.split_once(':')).filter(|(name, _)| name.trim() != "lo");
    Some(rows.fold((0, 0), |(received, sent), (_, numbers)| {
        let numbers: Vec<u64> = numbers.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        (received + numbers.first().unwrap_or(&0), sent + numbers.get(8).unwrap_or(&0))
    }))
}

pub(super) fn decode(status: i32) -> Outcome {
    let signal = u8::try_from(status & 0x7f).unwrap_or(0);
    if signal == 0 {
        Outcome::Code(u8::try_from(status >> 8 & 0xff).unwrap_or(255))
    } else {
        Outcome::Signal(signal)
    }
}

pub(super) fn explain(id: SandboxId, error: ExecError) -> SandboxError {
    const ENOENT: i32 = 2;
    match error {
        ExecError::Start(start) if start.is_command() => SandboxError::Command {
            what: start.to_string(),
            exit_code: if start.errno() == ENOENT { 127 } else { 126 },
            hint: start.remedy().map(|remedy| remedy.to_string()),
        },
        ExecError::Start(start) => {
            let hint = start.remedy().map(|remedy| remedy.to_string());
            SandboxError::Provider { doing: "start the command", hint, source: start.into() }
        }
        ExecError::Gone => SandboxError::Over(id),
        ExecError::Talk(source) => SandboxError::provider("talk to the sandbox", source),
    }
}
