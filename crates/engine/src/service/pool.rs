//! Sandboxes made before anybody asks, for those who want nothing special. What a sandbox costs is paid in advance, not
//! saved: one from here is made like any other.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use belljar_domain::{SandboxSpec, Span};
use belljar_ports::{Keep, Sandbox};

use super::{Service, new_sandbox_id};

/// The label of a sandbox that waits; nobody's own labels begin like this.
const LABEL: &str = "belljar.pool";

/// Sandboxes that wait.
#[derive(Debug, Default)]
pub(super) struct Pool {
    ready: Mutex<Vec<(SandboxSpec, Box<dyn Sandbox>)>>,
}

impl Pool {
    /// Takes one that is as this one is to be, but for what can be changed afterwards.
    pub(super) fn take(&self, spec: &SandboxSpec) -> Option<Box<dyn Sandbox>> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let place = ready.iter().position(|(waits, _)| is_like(waits, spec))?;
        Some(ready.swap_remove(place).1)
    }

    pub(super) fn len(&self) -> usize {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn add(&self, spec: SandboxSpec, sandbox: Box<dyn Sandbox>) {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).push((spec, sandbox));
    }

    pub(super) fn drain(&self) -> Vec<Box<dyn Sandbox>> {
        let ready = std::mem::take(&mut *self.ready.lock().unwrap_or_else(PoisonError::into_inner));
        ready.into_iter().map(|(_, sandbox)| sandbox).collect()
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
        match self.0.provider.create(new_sandbox_id(), &spec, Keep::Alive) {
            Ok(made) => {
                made.stand_by();
                self.0.pool.add(spec, made);
            }
            Err(_) => {
                self.0.counters.failed();
                return false;
            }
        }
        true
    }
}
