//! Looks at the rules every few seconds, writes down what changed, and has it told. One thread.

use std::{
    sync::atomic::Ordering,
    thread::{self, JoinHandle},
    time::Instant,
};

use belljar_domain::{EventId, EventKind, NewEvent};
use belljar_ports::store::Batch;
use serde_json::json;
use uuid::Uuid;

use super::{
    super::{Service, now},
    facts::Memory,
    rules,
    state::{Change, States},
    targets::Targets,
};

/// Starts the thread.
pub(in super::super) fn begin(service: &Service) -> Option<JoinHandle<()>> {
    let own = service.clone();
    thread::Builder::new().name("alerts".to_owned()).spawn(move || own.watch_rules()).ok()
}

impl Service {
    fn watch_rules(&self) {
        let settings = &self.0.settings.alerts;
        let mut memory = Memory::new(*self.published().borrow());
        let (mut states, mut targets) = (States::default(), Targets::new(settings));
        while !self.0.closing.load(Ordering::Relaxed) {
            // What cannot be read now is read with the next look.
            if let Ok(facts) = memory.look(self, settings.window) {
                let readings = rules::readings(&facts, settings);
                let changes = states.take(&readings, (Instant::now(), now()), settings.hold);
                if !changes.is_empty() {
                    let events = changes.iter().map(event).collect();
                    drop(self.0.recorder.append(Batch { events, ..Batch::default() }));
                }
                targets.tell(&changes, &states.raised());
            }
            thread::park_timeout(settings.interval);
        }
    }
}

fn event(change: &Change) -> NewEvent {
    let (kind, alert) = match change {
        Change::Raised(alert) => (EventKind::AlertRaised, alert),
        Change::Resolved(alert) => (EventKind::AlertResolved, alert),
    };
    let (rule, sandbox) = alert.subject;
    let mut event = NewEvent::new(EventId::from_uuid(Uuid::now_v7()), now(), alert.project.clone(), kind);
    event.sandbox = sandbox;
    event.target = Some(rule.name().to_owned());
    event.target_type = Some("alert".to_owned());
    event.reason = Some(rule.summary(alert.value, alert.threshold));
    event.payload =
        json!({ "severity": rule.severity(), "value": alert.value, "threshold": alert.threshold });
    event
}
