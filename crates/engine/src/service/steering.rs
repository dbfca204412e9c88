//! What is changed about a sandbox that is alive: its end with its files kept, its environment.

use std::collections::BTreeMap;

use belljar_domain::{KillCause, Principal, SandboxId};
use belljar_ports::store::Batch;

use super::{Result, SandboxView, Service, ServiceError, live::LiveSandbox, rows::row};

/// Why a sandbox is over that somebody ends: it was killed if anything ran in it.
pub(super) fn cause(live: &LiveSandbox) -> Option<KillCause> {
    (live.running() > 0).then_some(KillCause::Killswitch)
}

/// Most bytes of an environment that is kept with a sandbox.
const MAX_ENVIRONMENT: usize = 256 * 1024;

impl Service {
    /// Ends a sandbox's processes and keeps what it changed. Stopping one that is over is fine.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn stop(&self, who: &Principal, id: SandboxId) -> Result<SandboxView> {
        let view = self.sandbox(who, id)?;
        let Some(live) = self.0.registry.remove(id) else { return Ok(view) };
        let cause = cause(&live);
        if let Err(error) = live.sandbox.stop(cause) {
            self.0.registry.put_back(live);
            return Err(error.into());
        }
        let state = live.sandbox.info().state;
        self.close_sandbox(&live, view, state, cause, &who.name)?;
        self.0.places.leave(&live.seat());
        Ok(live.view())
    }

    /// Sets variables for every later command of a sandbox; `None` removes one that was set so.
    ///
    /// # Errors
    /// When it is not alive, or it is too much.
    pub fn set_env(
        &self,
        who: &Principal,
        id: SandboxId,
        changes: BTreeMap<String, Option<String>>,
    ) -> Result<SandboxView> {
        let live = self.live(who, id)?;
        let mut env = live.view().spec.env;
        for (name, value) in changes {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(ServiceError::Invalid(format!("`{name}` cannot name a variable")));
            }
            match value {
                Some(value) => drop(env.insert(name, value)),
                None => drop(env.remove(&name)),
            }
        }
        if env.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > MAX_ENVIRONMENT {
            return Err(ServiceError::TooLarge(format!(
                "an environment has at most {MAX_ENVIRONMENT} bytes; put the rest into a file"
            )));
        }
        live.touch();
        // The store has fingerprints only, so the provider remembers the values.
        live.sandbox.keep_env(&env)?;
        let view = live.change(|view| view.spec.env = env);
        self.0.recorder.commit(Batch { sandboxes: vec![row(&view)], ..Batch::default() })?;
        Ok(view)
    }
}
