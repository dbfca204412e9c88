//! Showing, changing and ending sandboxes.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use belljar_domain::{EventKind, EventStatus, KillCause, Principal, SandboxId, SandboxState, Span, Usage};
use belljar_ports::{
    Changes, SandboxError,
    store::{Batch, History, SandboxFilter, SandboxRow, UsagePoint},
};
use serde_json::{Value, json};

use super::{
    CreateSandbox, ListeningPort, Result, SandboxView, Service, ServiceError,
    agents::Hold,
    live::LiveSandbox,
    now,
    rows::{expiry, from_row, row},
    steering::cause,
};

/// How long the answer has the processors before what was ended is removed.
const BREATH: Duration = Duration::from_millis(2);

impl Service {
    /// Shows a sandbox, alive or not.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn sandbox(&self, who: &Principal, id: SandboxId) -> Result<SandboxView> {
        if let Some(live) = self.find_live(id)? {
            let view = live.view();
            return if who.sees(&view.project) { Ok(view) } else { Err(ServiceError::NoSandbox(id)) };
        }
        let row = self.store().sandbox(id)?.filter(|row| who.sees(&row.project));
        row.map(|row| from_row(&row)).ok_or(ServiceError::NoSandbox(id))
    }

    /// Lists sandboxes, newest first, from just below one of them.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn sandboxes(
        &self,
        who: &Principal,
        mut filter: SandboxFilter,
        below: Option<SandboxId>,
        limit: usize,
    ) -> Result<Vec<SandboxView>> {
        filter.project = who.scope().or(filter.project);
        let rows = self.store().sandboxes(&filter, below, limit)?;
        let current = |row: &SandboxRow| self.0.registry.sandbox(row.id).map(|live| live.view());
        Ok(rows.iter().map(|row| current(row).unwrap_or_else(|| from_row(row))).collect())
    }

    /// Ends a sandbox and removes it. Ending one that is over is fine.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn delete(&self, who: &Principal, id: SandboxId) -> Result<()> {
        let view = self.sandbox(who, id)?;
        let Some(live) = self.0.registry.remove(id) else {
            return self.forget(view);
        };
        let gone = self.close_sandbox(&live, view, SandboxState::Destroyed, cause(&live), &who.name);
        self.bury(live);
        gone
    }

    /// Removes what is left of one that ended by itself.
    fn forget(&self, view: SandboxView) -> Result<()> {
        if view.state == SandboxState::Destroyed {
            return Ok(());
        }
        if let Ok(left) = self.0.provider.find(view.id) {
            left.destroy()?;
        }
        let view = SandboxView { state: SandboxState::Destroyed, ..view };
        self.0.recorder.commit(Batch { sandboxes: vec![row(&view)], ..Batch::default() })?;
        Ok(())
    }

    /// Removes it for good, while whoever asked goes on. If this is cut short, the next service sees that it lives
    /// although it was ended, and ends it.
    pub(super) fn bury(&self, live: Arc<LiveSandbox>) {
        let service = self.clone();
        self.0.crew.after(BREATH, move || {
            // Whatever it leaves, a sweep finds.
            if live.sandbox.destroy().is_err() {
                service.0.counters.failed();
            }
            service.0.places.leave(&live.seat());
        });
    }

    /// Writes down that a sandbox is over, and shows it then: whoever saw its end must not find it running in the store.
    pub(super) fn close_sandbox(
        &self,
        live: &LiveSandbox,
        view: SandboxView,
        state: SandboxState,
        cause: Option<KillCause>,
        by: &str,
    ) -> Result<()> {
        let (view, batch) = self.over(view, state, cause, by, cause.map(|cause| cause.to_string()));
        let kept = self.0.recorder.commit(batch);
        live.change(|live| *live = view);
        Ok(kept.map(drop)?)
    }

    pub(super) fn over(
        &self,
        view: SandboxView,
        state: SandboxState,
        cause: Option<KillCause>,
        by: &str,
        reason: Option<String>,
    ) -> (SandboxView, Batch) {
        let view = SandboxView { state, ended: Some(now()), cause, ..view };
        let mut event = self.sandbox_event(&view.project, by, view.id, EventKind::SandboxEnded);
        event.actor.id.clone_from(&view.spec.agent);
        event.status =
            Some(if state == SandboxState::Failed { EventStatus::Failure } else { EventStatus::Success });
        event.reason = reason;
        let lived = view.ended.map_or(0, |end| end.as_micros() - view.created.as_micros());
        event.duration_ms = u64::try_from(lived / 1000).ok();
        let batch =
            Batch { sandboxes: vec![row(&view)], events: vec![event], is_new: true, ..Batch::default() };
        (view, batch)
    }

    /// Freezes every process of a sandbox.
    ///
    /// # Errors
    /// When it does not run, or this host cannot.
    pub fn pause(&self, who: &Principal, id: SandboxId) -> Result<SandboxView> {
        let live = self.live(who, id)?;
        live.sandbox.pause()?;
        self.stepped(&who.name, &live, SandboxState::Paused)
    }

    /// Thaws a paused sandbox.
    ///
    /// # Errors
    /// When it is not paused, or its agent may not act.
    pub fn resume(&self, who: &Principal, id: SandboxId) -> Result<SandboxView> {
        let live = self.live(who, id)?;
        if self.0.holds.of(id).contains(&Hold::Agent) {
            let agent = live.view().spec.agent.unwrap_or_default();
            return Err(ServiceError::Conflict(format!(
                "sandbox {id} is frozen because its agent may not act; `belljar approve-agent {agent}` lets it go on"
            )));
        }
        live.sandbox.resume()?;
        let view = self.stepped(&who.name, &live, SandboxState::Running);
        self.clear_drafts();
        view
    }

    pub(super) fn stepped(&self, by: &str, live: &LiveSandbox, state: SandboxState) -> Result<SandboxView> {
        live.touch();
        let view = live.change(|view| view.state = state);
        let mut event = self.sandbox_event(&view.project, by, view.id, EventKind::SandboxState);
        event.actor.id.clone_from(&view.spec.agent);
        event.reason = Some(state.to_string());
        event.payload = json!({ "by": by, "state": state });
        let batch = Batch { sandboxes: vec![row(&view)], events: vec![event], ..Batch::default() };
        self.0.recorder.commit(batch)?;
        Ok(view)
    }

    /// Gives a sandbox this long to live from now.
    ///
    /// # Errors
    /// When it does not run.
    pub fn extend(&self, who: &Principal, id: SandboxId, ttl: Span) -> Result<SandboxView> {
        let live = self.live(who, id)?;
        live.sandbox.extend(ttl)?;
        live.touch();
        let view = live.change(|view| {
            view.spec.clocks.ttl = ttl;
            view.expires = expiry(now(), ttl);
        });
        self.0.recorder.commit(Batch { sandboxes: vec![row(&view)], ..Batch::default() })?;
        Ok(view)
    }

    /// Changes labels (`None` removes one) and metadata.
    ///
    /// # Errors
    /// When there is no such sandbox, or it is too much.
    pub fn relabel(
        &self,
        who: &Principal,
        id: SandboxId,
        labels: BTreeMap<String, Option<String>>,
        metadata: Option<Value>,
    ) -> Result<SandboxView> {
        let live = self.live(who, id)?;
        let mut view = live.view();
        for (name, value) in labels {
            match value {
                Some(value) => drop(view.spec.labels.insert(name, value)),
                None => drop(view.spec.labels.remove(&name)),
            }
        }
        view.metadata = metadata.unwrap_or(view.metadata);
        let order = CreateSandbox {
            labels: view.spec.labels.clone(),
            metadata: view.metadata.clone(),
            ..CreateSandbox::default()
        };
        self.spec(who, &order)?;
        live.sandbox.reassign(&view.spec)?;
        let view = live.change(|live| {
            live.spec.labels = view.spec.labels;
            live.metadata = view.metadata;
        });
        self.0.recorder.commit(Batch { sandboxes: vec![row(&view)], ..Batch::default() })?;
        Ok(view)
    }

    /// Measures a sandbox now.
    ///
    /// # Errors
    /// When it does not run.
    pub fn usage(&self, who: &Principal, id: SandboxId) -> Result<Usage> {
        Ok(self.live(who, id)?.sandbox.usage()?)
    }

    /// What a sandbox used, step by step.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn history(&self, who: &Principal, history: &History) -> Result<Vec<UsagePoint>> {
        self.sandbox(who, history.sandbox)?;
        Ok(self.store().history(history)?)
    }

    /// What a sandbox changed in its workspace, also after it ended.
    ///
    /// # Errors
    /// When it has no workspace, or its files are gone.
    pub fn changes(&self, who: &Principal, id: SandboxId) -> Result<Changes> {
        self.sandbox(who, id)?;
        if let Some(live) = self.0.registry.sandbox(id) {
            return Ok(live.sandbox.changes()?);
        }
        Ok(self.0.provider.find(id)?.changes()?)
    }

    /// The ports something in a sandbox listens on.
    ///
    /// # Errors
    /// When it does not run.
    pub fn ports(&self, who: &Principal, id: SandboxId) -> Result<Vec<ListeningPort>> {
        let found = self.live(who, id)?.sandbox.listening()?;
        Ok(found.iter().map(|at| ListeningPort { port: at.port(), address: at.ip().to_string() }).collect())
    }

    /// Connects to a port inside. Traffic counts as activity.
    ///
    /// # Errors
    /// When nothing listens there.
    pub fn dial(&self, who: &Principal, id: SandboxId, port: u16) -> Result<std::net::TcpStream> {
        let live = self.live(who, id)?;
        live.touch();
        Ok(live.sandbox.dial(port)?.into())
    }

    /// A sandbox of theirs that is alive.
    pub(super) fn live(&self, who: &Principal, id: SandboxId) -> Result<Arc<LiveSandbox>> {
        if let Some(live) = self.find_live(id)? {
            return if who.sees(&live.view().project) { Ok(live) } else { Err(ServiceError::NoSandbox(id)) };
        }
        let view = self.sandbox(who, id)?;
        Err(SandboxError::State {
            id,
            state: view.state,
            hint: "make a new one with POST /api/v1/sandboxes, or start from its snapshot",
        }
        .into())
    }

    /// Finds one that is alive, also if another belljar made it since.
    fn find_live(&self, id: SandboxId) -> Result<Option<Arc<LiveSandbox>>> {
        if let Some(live) = self.0.registry.sandbox(id) {
            return Ok(Some(live));
        }
        self.0.registry.await_made(id);
        if let Some(live) = self.0.registry.sandbox(id) {
            return Ok(Some(live));
        }
        if self.store().sandbox(id)?.is_some() {
            return Ok(None);
        }
        match self.0.provider.find(id) {
            Ok(found) if found.info().state.is_live() => Ok(Some(self.adopt_one(found))),
            Ok(_) | Err(SandboxError::Unknown(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
