//! Making sandboxes, or taking one that was made ahead. Written down while it is made, wherever that can hardly fail.

use std::{sync::Arc, time::Duration};

use belljar_domain::{
    EventKind, EventStatus, NetworkMode, Principal, SandboxSpec, SandboxState, Span, TemplateRef,
};
use belljar_ports::{Keep, Sandbox, SandboxInfo, store::Batch};

use super::{
    CreateSandbox, Passage, Result, SandboxView, Service, ServiceError, claims,
    live::LiveSandbox,
    new_sandbox_id, now,
    pool::Ready,
    quotas::Seat,
    rows::{row, view_of},
    runs::unheard,
    stages::{CreateStage, Stopwatch},
};

/// Most labels of one sandbox, and the most bytes of one label or of its metadata.
const MAX_LABELS: usize = 64;
const MAX_LABEL: usize = 1024;
const MAX_METADATA: usize = 64 * 1024;
/// How long what can wait lets a new sandbox's first command go ahead.
const BREATH: Duration = Duration::from_millis(20);

impl Service {
    /// Makes a sandbox and answers when it takes commands.
    ///
    /// # Errors
    /// When it is not allowed, there is no room, or it cannot be made.
    pub fn create(&self, who: &Principal, order: CreateSandbox) -> Result<SandboxView> {
        let mut watch = self.0.stages.start();
        let spec = self.spec(who, &order)?;
        let passage = self.pass_creation(who, &spec)?;
        watch.lap(CreateStage::Judge);
        let seat = Seat { project: who.project.clone(), agent: spec.agent.clone() };
        self.0.places.enter(&seat)?;
        watch.lap(CreateStage::Queue);
        let made = match self.0.pool.take(&spec) {
            Some(ready) => self.claim(who, ready, &order, &spec, &passage, &mut watch),
            None => Ok(None),
        };
        let made = made.and_then(|claimed| match claimed {
            Some(view) => Ok(view),
            None => {
                let made = self.make(who, order, spec, &passage, &mut watch);
                self.nudge();
                made
            }
        });
        match &made {
            Ok(_) => self.0.counters.spawned(),
            Err(_) => {
                self.0.places.leave(&seat);
                self.0.counters.failed();
            }
        }
        made
    }

    fn make(
        &self,
        who: &Principal,
        order: CreateSandbox,
        spec: SandboxSpec,
        passage: &Passage,
        watch: &mut Stopwatch<'_>,
    ) -> Result<SandboxView> {
        let id = order.id.unwrap_or_else(new_sandbox_id);
        if !is_ordinary(&spec) {
            let made = self.0.provider.create(id, &spec, Keep::Alive)?;
            let info = SandboxInfo { spec, ..made.info() };
            let live = self.enrol(made, called(&info, who, order));
            watch.lap(CreateStage::Build);
            self.0.recorder.commit(self.announcement(who, &live.view(), passage))?;
            watch.lap(CreateStage::Record);
            return Ok(live.view());
        }
        // It is written down while it is made. Whoever hears of it before it is there waits for it.
        let info = SandboxInfo { state: SandboxState::Running, ..self.0.provider.outline(id, &spec) };
        let view = called(&info, who, order);
        self.0.registry.making(id);
        let announced = self.0.recorder.append(self.announcement(who, &view, passage));
        let made = self.0.provider.create(id, &spec, Keep::Alive);
        let enrolled = made.map(|made| self.enrol(made, view.clone()));
        self.0.registry.made(id);
        watch.lap(CreateStage::Build);
        let announced = announced.wait();
        watch.lap(CreateStage::Record);
        match enrolled {
            Ok(live) => {
                if announced.is_err() {
                    self.0.registry.remove(id);
                    self.0.crew.later(move || drop(live.sandbox.destroy()));
                }
                Ok(announced.map(|_| view)?)
            }
            Err(error) => {
                let reason = error.to_string();
                self.0
                    .recorder
                    .commit(self.over(view, SandboxState::Failed, None, "belljar", Some(reason)).1)?;
                Err(error.into())
            }
        }
    }

    /// Takes one that is ready. It becomes theirs while that is being written down; `None` if it died as it waited.
    fn claim(
        &self,
        who: &Principal,
        Ready { id, sandbox, .. }: Ready,
        order: &CreateSandbox,
        spec: &SandboxSpec,
        passage: &Passage,
        watch: &mut Stopwatch<'_>,
    ) -> Result<Option<SandboxView>> {
        // Its life begins now, however long it waited.
        let state = if sandbox.stands_by() { SandboxState::Running } else { sandbox.info().state };
        let info = SandboxInfo { state, ..self.0.provider.outline(id, spec) };
        if info.state != SandboxState::Running {
            // A sweep finds what this leaves.
            self.0.crew.later(move || drop(sandbox.destroy()));
            return Ok(None);
        }
        let live = self.enrol(sandbox, called(&info, who, order.clone()));
        let view = live.view();
        watch.lap(CreateStage::Claim);
        let mut announcement = self.announcement(who, &view, passage);
        if let (Some(wanted), Some(told)) = (order.id, announcement.events.first_mut()) {
            claims::sign(told, wanted);
        }
        self.0.recorder.commit(announcement)?;
        watch.lap(CreateStage::Record);
        if view.spec.env != self.0.settings.defaults.env {
            // Nobody else has these values, so they are written down before anybody relies on them.
            self.hand_over(&*live.sandbox, &view);
            self.nudge();
            return Ok(Some(view));
        }
        let service = self.clone();
        // Of what the provider keeps for itself, nothing is needed now; after a crash, adoption does the same.
        self.0.crew.after(BREATH, move || {
            service.hand_over(&*live.sandbox, &live.view());
            service.nudge();
        });
        Ok(Some(view))
    }

    /// Tells the provider what a sandbox that was made for nobody has become by now, and starts its clock.
    pub(super) fn hand_over(&self, sandbox: &dyn Sandbox, view: &SandboxView) {
        let told = sandbox.reassign(&view.spec).and_then(|()| sandbox.extend(left(view)));
        // One that ended since is noticed as any other.
        if told.is_err() && sandbox.info().state.is_live() {
            self.0.counters.failed();
        }
    }

    /// What is written down of a new sandbox.
    fn announcement(&self, who: &Principal, view: &SandboxView, passage: &Passage) -> Batch {
        let mut event = self.sandbox_event(&view.project, &who.name, view.id, EventKind::SandboxCreated);
        event.actor.id.clone_from(&view.spec.agent);
        event.status = Some(EventStatus::Success);
        event.target = Some(view.spec.template.to_string());
        event.target_type = Some("template".to_owned());
        passage.write(&mut event);
        Batch { sandboxes: vec![row(view)], events: vec![event], is_new: true, ..Batch::default() }
    }

    fn enrol(&self, made: Box<dyn Sandbox>, view: SandboxView) -> Arc<LiveSandbox> {
        self.0.registry.insert(LiveSandbox::new(made, view))
    }

    pub(super) fn spec(&self, who: &Principal, order: &CreateSandbox) -> Result<SandboxSpec> {
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
        let mut spec = SandboxSpec {
            template: order.template.clone().unwrap_or_else(|| defaults.template.clone()),
            workspace: order.workspace.clone(),
            profile: order.profile.unwrap_or(defaults.profile),
            network: order.network.unwrap_or(defaults.network),
            limits: defaults.limits.patched(&order.limits),
            clocks,
            mounts: order.mounts.clone(),
            etc: defaults.etc.clone(),
            env,
            agent: order.agent.clone(),
            labels: order.labels.clone(),
        };
        // Programs of another system's template may not be able to run ours.
        let hears = order.observed && spec.template == TemplateRef::Host;
        if let Some(listener) = self.0.settings.listener.as_ref().filter(|_| hears) {
            listener.equip(&mut spec).map_err(|why| unheard(&why))?;
        }
        Ok(spec)
    }
}

/// How long a sandbox has yet to live; no time means for ever.
fn left(view: &SandboxView) -> Span {
    let left = view.expires.map(|end| (end.as_micros() - now().as_micros()) / 1000);
    left.map_or(Span::millis(0), |left| Span::millis(u64::try_from(left).unwrap_or(0).max(1)))
}

/// A sandbox as it is shown, by the name it was given.
fn called(info: &SandboxInfo, who: &Principal, order: CreateSandbox) -> SandboxView {
    let view = view_of(info, who);
    SandboxView { name: order.name.unwrap_or(view.name), metadata: order.metadata, ..view }
}

/// Says whether a sandbox needs nothing that might not be there, so that making it hardly ever fails.
fn is_ordinary(spec: &SandboxSpec) -> bool {
    spec.template == TemplateRef::Host
        && spec.workspace.is_none()
        && spec.mounts.is_empty()
        && spec.network == NetworkMode::None
}
