//! Making, showing and ending sandboxes.

use std::{collections::BTreeMap, sync::Arc, thread};

use belljar_domain::{
    EventKind, EventStatus, KillCause, Principal, SandboxId, SandboxSpec, SandboxState, Span, TemplateRef,
    Usage,
};
use belljar_ports::{
    Changes, Keep, Sandbox, SandboxError, SandboxInfo,
    store::{Batch, History, Pending, SandboxFilter, SandboxRow, UsagePoint},
};
use serde_json::{Value, json};

use super::{
    CreateSandbox, ListeningPort, Result, SandboxView, Service, ServiceError,
    live::LiveSandbox,
    new_sandbox_id, now,
    quotas::Seat,
    rows::{expiry, from_row, row, view_of},
};

/// Most labels of one sandbox, and the most bytes of one label or of its metadata.
const MAX_LABELS: usize = 64;
const MAX_LABEL: usize = 1024;
const MAX_METADATA: usize = 64 * 1024;

impl Service {
    /// Makes a sandbox and answers when it takes commands.
    ///
    /// # Errors
    /// When it is not allowed, there is no room, or it cannot be made.
    pub fn create(&self, who: &Principal, order: CreateSandbox) -> Result<SandboxView> {
        let spec = self.spec(who, &order)?;
        let seat = Seat { project: who.project.clone(), agent: spec.agent.clone() };
        self.0.gate.enter(&seat)?;
        let made = match self.0.pool.take(&spec) {
            Some(ready) => self.claim(who, ready, &order, &spec),
            None => Ok(None),
        };
        let made = made.and_then(|claimed| match claimed {
            Some(view) => Ok(view),
            None => self.make(who, order, spec),
        });
        self.nudge();
        match &made {
            Ok(_) => self.0.counters.spawned(),
            Err(_) => {
                self.0.gate.leave(&seat);
                self.0.counters.failed();
            }
        }
        made
    }

    fn make(&self, who: &Principal, order: CreateSandbox, spec: SandboxSpec) -> Result<SandboxView> {
        let made = self.0.provider.create(new_sandbox_id(), &spec, Keep::Alive)?;
        let live = self.enrol(who, made, order, spec);
        self.announce(who, &live).wait()?;
        Ok(live.view())
    }

    /// Takes one that is ready. It becomes theirs while that is being written down; `None` if it died as it waited.
    fn claim(
        &self,
        who: &Principal,
        ready: Box<dyn Sandbox>,
        order: &CreateSandbox,
        spec: &SandboxSpec,
    ) -> Result<Option<SandboxView>> {
        let live = self.enrol(who, ready, order.clone(), spec.clone());
        let announced = self.announce(who, &live);
        let taken = live.sandbox.reassign(spec).and_then(|()| live.sandbox.extend(spec.clocks.ttl));
        announced.wait()?;
        let view = live.view();
        if taken.is_ok() {
            return Ok(Some(view));
        }
        self.0.registry.remove(view.id);
        self.closed(&live, view, SandboxState::Failed, None, "belljar").wait()?;
        // A sweep finds what this leaves.
        let _swept = live.sandbox.destroy();
        Ok(None)
    }

    fn announce(&self, who: &Principal, live: &LiveSandbox) -> Pending {
        let view = live.view();
        let mut event = self.sandbox_event(&view.project, &who.name, view.id, EventKind::SandboxCreated);
        event.actor.id.clone_from(&view.spec.agent);
        event.status = Some(EventStatus::Success);
        event.target = Some(view.spec.template.to_string());
        event.target_type = Some("template".to_owned());
        self.0.recorder.append(Batch { sandboxes: vec![row(&view)], events: vec![event], ..Batch::default() })
    }

    fn enrol(
        &self,
        who: &Principal,
        made: Box<dyn Sandbox>,
        order: CreateSandbox,
        spec: SandboxSpec,
    ) -> Arc<LiveSandbox> {
        let info = SandboxInfo { spec, ..made.info() };
        let mut view = view_of(&info, who);
        view.name = order.name.unwrap_or(view.name);
        view.metadata = order.metadata;
        self.0.registry.insert(LiveSandbox::new(made, view))
    }

    fn spec(&self, who: &Principal, order: &CreateSandbox) -> Result<SandboxSpec> {
        let reaches_host = order.workspace.is_some()
            || !order.mounts.is_empty()
            || matches!(order.template, Some(TemplateRef::Path(_)));
        if reaches_host && !who.admin {
            return Err(ServiceError::Denied(
                "only an admin may show a sandbox files of the host; upload them instead".to_owned(),
            ));
        }
        let metadata = serde_json::to_vec(&order.metadata).map_or(0, |json| json.len());
        let long = order.labels.iter().any(|(name, value)| name.len() + value.len() > MAX_LABEL);
        if order.labels.len() > MAX_LABELS || long || metadata > MAX_METADATA {
            return Err(ServiceError::TooLarge(format!(
                "at most {MAX_LABELS} labels of {MAX_LABEL} bytes and {MAX_METADATA} bytes of metadata"
            )));
        }
        let defaults = &self.0.settings.defaults;
        let mut clocks = defaults.clocks;
        clocks.ttl = order.ttl.unwrap_or(clocks.ttl);
        clocks.idle = order.idle.unwrap_or(clocks.idle);
        clocks.exec_timeout = order.exec_timeout.unwrap_or(clocks.exec_timeout);
        let mut env = defaults.env.clone();
        env.extend(order.env.clone());
        Ok(SandboxSpec {
            template: order.template.clone().unwrap_or_else(|| defaults.template.clone()),
            workspace: order.workspace.clone(),
            profile: order.profile.unwrap_or(defaults.profile),
            network: order.network.unwrap_or(defaults.network),
            limits: defaults.limits.patched(&order.limits),
            clocks,
            mounts: order.mounts.clone(),
            env,
            agent: order.agent.clone(),
            labels: order.labels.clone(),
        })
    }

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
        let gone = self.closed(&live, view, SandboxState::Destroyed, Some(KillCause::Killswitch), &who.name);
        self.bury(live);
        gone.wait()?;
        Ok(())
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
        self.0.recorder.append(Batch { sandboxes: vec![row(&view)], ..Batch::default() }).wait()?;
        Ok(())
    }

    /// Removes it for good, while whoever asked goes on. If this is cut short, the next service sees that it lives
    /// although it was ended, and ends it.
    fn bury(&self, live: Arc<LiveSandbox>) {
        let service = self.clone();
        self.0.counters.burying(1);
        let dig = move || {
            // Whatever it leaves, a sweep finds.
            if live.sandbox.destroy().is_err() {
                service.0.counters.failed();
            }
            service.0.gate.leave(&live.seat());
            service.0.counters.burying(-1);
        };
        if let Err(error) = thread::Builder::new().name("burial".to_owned()).spawn(dig) {
            // No thread to be had: the sweeper does it.
            drop(error);
            self.0.counters.burying(-1);
        }
    }

    /// Writes down that a sandbox is over.
    pub(super) fn closed(
        &self,
        live: &LiveSandbox,
        view: SandboxView,
        state: SandboxState,
        cause: Option<KillCause>,
        by: &str,
    ) -> Pending {
        let ended = Some(now());
        let view = live.change(|live| {
            *live = SandboxView { state, ended, cause, last_activity: view.last_activity, ..view };
        });
        let mut event = self.sandbox_event(&view.project, by, view.id, EventKind::SandboxEnded);
        event.actor.id.clone_from(&view.spec.agent);
        event.status =
            Some(if state == SandboxState::Failed { EventStatus::Failure } else { EventStatus::Success });
        event.reason = cause.map(|cause| cause.to_string());
        let lived = view.ended.map_or(0, |end| end.as_micros() - view.created.as_micros());
        event.duration_ms = u64::try_from(lived / 1000).ok();
        self.0.recorder.append(Batch { sandboxes: vec![row(&view)], events: vec![event], ..Batch::default() })
    }

    /// Freezes every process of a sandbox.
    ///
    /// # Errors
    /// When it does not run, or this host cannot.
    pub fn pause(&self, who: &Principal, id: SandboxId) -> Result<SandboxView> {
        let live = self.live(who, id)?;
        live.sandbox.pause()?;
        self.stepped(who, &live, SandboxState::Paused)
    }

    /// Thaws a paused sandbox.
    ///
    /// # Errors
    /// When it is not paused.
    pub fn resume(&self, who: &Principal, id: SandboxId) -> Result<SandboxView> {
        let live = self.live(who, id)?;
        live.sandbox.resume()?;
        self.stepped(who, &live, SandboxState::Running)
    }

    fn stepped(&self, who: &Principal, live: &LiveSandbox, state: SandboxState) -> Result<SandboxView> {
        live.touch();
        let view = live.change(|view| view.state = state);
        let mut event = self.sandbox_event(&view.project, &who.name, view.id, EventKind::SandboxState);
        event.payload = json!({ "by": who.name, "state": state });
        let batch = Batch { sandboxes: vec![row(&view)], events: vec![event], ..Batch::default() };
        self.0.recorder.append(batch).wait()?;
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
        self.0.recorder.append(Batch { sandboxes: vec![row(&view)], ..Batch::default() }).wait()?;
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
        self.0.recorder.append(Batch { sandboxes: vec![row(&view)], ..Batch::default() }).wait()?;
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
        if self.store().sandbox(id)?.is_some() {
            return Ok(None);
        }
        match self.0.provider.find(id) {
            Ok(found) if found.info().state.is_live() => self.adopt_one(found).map(Some),
            Ok(_) | Err(SandboxError::Unknown(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
