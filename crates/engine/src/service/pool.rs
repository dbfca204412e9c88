//! Sandboxes made before anybody asks, for those who want nothing special. What a sandbox costs is paid in advance, not
//! saved: one from here is made like any other.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use belljar_domain::{SandboxId, SandboxSpec, Span};
use belljar_ports::{Keep, Sandbox};

use super::{Service, new_sandbox_id};

/// The label of a sandbox that waits; nobody's own labels begin like this.
const LABEL: &str = "belljar.pool";

/// Sandboxes that wait.
#[derive(Debug, Default)]
pub(super) struct Pool {
    waiting: Mutex<Vec<Ready>>,
}

/// One that waits.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) id: SandboxId,
    pub(super) sandbox: Box<dyn Sandbox>,
    spec: SandboxSpec,
}

impl Pool {
    fn waiting(&self) -> MutexGuard<'_, Vec<Ready>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one that is as this one is to be, but for what can be changed afterwards.
    pub(super) fn take(&self, spec: &SandboxSpec) -> Option<Ready> {
        let mut waiting = self.waiting();
        let place = waiting.iter().position(|ready| is_like(&ready.spec, spec))?;
        Some(waiting.swap_remove(place))
    }

    pub(super) fn len(&self) -> usize {
        self.waiting().len()
    }

    pub(super) fn drain(&self) -> Vec<Ready> {
        std::mem::take(&mut *self.waiting())
    }
}

/// Says whether a sandbox is one that waits.
pub(super) fn is_pooled(spec: &SandboxSpec) -> bool {
    spec.labels.contains_key(LABEL)
}

/// Says whether one that waits becomes the other by a change of name only.
fn is_like(waits: &SandboxSpec, wanted: &SandboxSpec) -> bool {
    waits.template == wanted.template
        && waits.workspace == wanted.workspace
        && waits.profile == wanted.profile
        && waits.network == wanted.network
        && waits.limits == wanted.limits
        && waits.mounts == wanted.mounts
        && waits.clocks.idle == wanted.clocks.idle
}

impl Service {
    /// Makes one more for the pool, if there is to be one.
    pub(super) fn fill_pool(&self) -> bool {
        if self.0.pool.len() >= self.0.settings.pool {
            return false;
        }
        let mut spec = SandboxSpec { workspace: None, ..self.0.settings.defaults.clone() };
        spec.labels = BTreeMap::from([(LABEL.to_owned(), "ready".to_owned())]);
        // Its time begins when somebody takes it.
        spec.clocks.ttl = Span::millis(0);
        let id = new_sandbox_id();
        match self.0.provider.create(id, &spec, Keep::Alive) {
            Ok(sandbox) => {
                sandbox.stand_by();
                self.0.pool.waiting().push(Ready { id, sandbox, spec });
            }
            Err(_) => {
                self.0.counters.failed();
                return false;
            }
        }
        true
    }
}
