//! After a crash or an upgrade: what lives is taken over, what was ended is ended, what vanished is written down.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use belljar_domain::{EventKind, KillCause, Principal, SandboxId, SandboxState};
use belljar_ports::{
    Sandbox,
    store::{Batch, LogStream, Pending, SandboxFilter},
};
use serde_json::json;

use super::{
    ExecutionView, Result, SandboxView, Service,
    journal::{self, Journal},
    live::{LiveExecution, LiveSandbox},
    now, orphans, pool,
    rows::{from_row, row, view_of},
    scribe::Scribe,
    surplus::Surplus,
    tracker::Tracker,
};

const STATES: [SandboxState; 4] =
    [SandboxState::Creating, SandboxState::Running, SandboxState::Paused, SandboxState::Stopping];
const PAGE: usize = 500;

impl Service {
    /// Puts together what the provider has, what the store remembers, and the journals.
    pub(super) fn adopt(&self) -> Result<()> {
        self.0.provider.sweep()?;
        let (mut alive, mut doomed, mut told) = (HashSet::new(), Vec::new(), Vec::new());
        for info in self.0.provider.list()? {
            if !info.state.is_live() {
                continue;
            }
            // One whose maker was killed may vanish while it is looked at.
            let Ok(sandbox) = self.0.provider.find(info.id) else { continue };
            match self.store().sandbox(info.id)? {
                // It was ended, and the removal was cut short.
                Some(known) if known.state == SandboxState::Destroyed => doomed.push(sandbox),
                None if pool::is_pooled(&info.spec) => doomed.push(sandbox),
                Some(known) => {
                    let mut view = SandboxView { state: info.state, ..from_row(&known) };
                    // The store has fingerprints of its environment; the values are the provider's to keep.
                    view.spec.env.clone_from(&info.spec.env);
                    alive.insert(info.id);
                    if pool::is_pooled(&info.spec) {
                        self.hand_over(&*sandbox, &view);
                    }
                    told.push(self.take_over(sandbox, view).1);
                }
                None => {
                    alive.insert(info.id);
                    told.push(self.adopt_unknown(sandbox).1);
                }
            }
        }
        // Whoever looks for a sandbox by its labels asks the store, so it has them all before anybody looks.
        for written in told {
            written.wait()?;
        }
        // Before the sandboxes go: what ran in them is told as that of any other that is ended.
        self.adopt_executions();
        doomed.iter().for_each(|sandbox| self.reap(&**sandbox));
        self.compare_snapshots(Duration::ZERO)?;
        self.write_off(&alive)
    }

    /// Removes what nobody wants any more. What cannot be removed keeps no service from starting.
    fn reap(&self, sandbox: &dyn Sandbox) {
        match sandbox.destroy() {
            Ok(()) => self.0.counters.reaped(),
            Err(_) => self.0.counters.failed(),
        }
    }

    /// Takes a sandbox over that nothing but its provider knows of.
    pub(super) fn adopt_one(&self, sandbox: Box<dyn Sandbox>) -> Arc<LiveSandbox> {
        self.adopt_unknown(sandbox).0
    }

    fn adopt_unknown(&self, sandbox: Box<dyn Sandbox>) -> (Arc<LiveSandbox>, Pending) {
        let view = view_of(&sandbox.info(), &Principal::admin("belljar"));
        self.take_over(sandbox, view)
    }

    fn take_over(&self, sandbox: Box<dyn Sandbox>, view: SandboxView) -> (Arc<LiveSandbox>, Pending) {
        let mut event = self.sandbox_event(&view.project, "belljar", view.id, EventKind::ServerAdopted);
        event.payload = json!({ "state": view.state });
        let batch = Batch { sandboxes: vec![row(&view)], events: vec![event], ..Batch::default() };
        let live = self.0.registry.insert(LiveSandbox::new(sandbox, view));
        self.0.places.seat(&live.seat());
        self.0.counters.adopted();
        (live, self.0.recorder.append(batch))
    }

    fn adopt_executions(&self) {
        for id in journal::all(&self.0.runtime_dir) {
            let Ok((mut head, mark, journal)) = Journal::reopen(&self.0.runtime_dir, id) else {
                // Whoever began it was killed before the command started.
                journal::discard(&self.0.runtime_dir, id);
                continue;
            };
            let known = self.store().execution(id).ok().flatten();
            if known.as_ref().is_some_and(|row| row.ended.is_some()) {
                journal.remove();
                continue;
            }
            let Some(sandbox) = self.sandbox_of(&head.view) else {
                self.close_journal(head, mark, journal, known.is_some());
                continue;
            };
            let beginning = known.is_none().then(|| orphans::beginning(&head.view));
            head.view.written = [(LogStream::Stdout, &mark.stdout), (LogStream::Stderr, &mark.stderr)]
                .map(|(stream, placed)| (stream, placed.written))
                .into();
            let redactor = self.0.recorder.redactor();
            let stdout = Scribe::new(LogStream::Stdout, redactor, mark.stdout);
            let stderr = Scribe::new(LogStream::Stderr, redactor, mark.stderr);
            let live = LiveExecution::new(sandbox, head.view.clone());
            let live = self.0.registry.begin(match head.whole {
                None => live,
                Some(cap) => {
                    let surplus = Surplus::new(cap, stdout.counts() + stderr.counts());
                    live.whole(if head.is_attached { surplus.awaited() } else { surplus })
                }
            });
            // The server before may have been killed before it told the command that there is room.
            self.make_room(&live);
            let tracker = Tracker {
                service: self.clone(),
                live,
                head,
                journal,
                bell: None,
                beginning,
                held: Vec::new(),
                beyond: Vec::new(),
                has_more: false,
                marks: VecDeque::new(),
                stdout,
                stderr,
            };
            // Without a thread it is tried again by the next service; its journal stays.
            let _later = self.track(tracker);
        }
    }

    /// The sandbox of an execution, alive or just ended; its journal may tell of its end.
    fn sandbox_of(&self, view: &ExecutionView) -> Option<Arc<LiveSandbox>> {
        if let Some(live) = self.0.registry.sandbox(view.sandbox) {
            return Some(live);
        }
        let sandbox = self.0.provider.find(view.sandbox).ok()?;
        let known = self.store().sandbox(view.sandbox).ok().flatten();
        let shown = known
            .map_or_else(|| view_of(&sandbox.info(), &Principal::admin("belljar")), |row| from_row(&row));
        Some(Arc::new(LiveSandbox::new(sandbox, shown)))
    }

    /// Writes down the end of sandboxes and executions that are no longer there.
    fn write_off(&self, alive: &HashSet<SandboxId>) -> Result<()> {
        let filter = SandboxFilter { states: STATES.to_vec(), ..SandboxFilter::default() };
        let mut below = None;
        loop {
            let rows = self.store().sandboxes(&filter, below, PAGE)?;
            let Some(last) = rows.last() else { return Ok(()) };
            below = Some(last.id);
            for known in rows.iter().filter(|row| !alive.contains(&row.id)) {
                let found = self.0.provider.find(known.id).ok().map(|sandbox| sandbox.info());
                let state = found.as_ref().map_or(SandboxState::Destroyed, |info| info.state);
                let cause = found.as_ref().and_then(|info| info.cause).or(Some(KillCause::Killswitch));
                let view = SandboxView { state, cause, ended: Some(now()), ..from_row(known) };
                let mut event =
                    self.sandbox_event(&view.project, "belljar", view.id, EventKind::SandboxEnded);
                event.reason = Some("it ended while no server was there".to_owned());
                self.0.counters.reaped();
                let batch = Batch { sandboxes: vec![row(&view)], events: vec![event], ..Batch::default() };
                self.0.recorder.commit(batch)?;
                self.close_executions(known.id)?;
            }
        }
    }
}
