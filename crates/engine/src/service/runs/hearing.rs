//! Agents in attempts are heard: what they are at, and what it costs.
//!
//! Owns: when listening begins and when it ends. Refuses: to know how it is done; whoever puts the service together says.

use std::{collections::BTreeMap, fmt};

use belljar_capture::Pass;
use belljar_domain::{ExecutionId, SandboxSpec};
use belljar_ports::Sandbox;

use super::{
    super::{Result, SandboxView, Service, ServiceError},
    live::LiveRun,
    record::Run,
};

/// How long after a run began its agents' words are still taken for theirs: some wait for the next server.
const GOOD_FOR: std::time::Duration = std::time::Duration::from_hours(30 * 24);

/// Who hears what agents in sandboxes tell.
pub trait Listener: fmt::Debug + Send + Sync {
    /// Puts into a sandbox that is about to be made what its agents need to be heard.
    ///
    /// # Errors
    /// Why it cannot be done.
    fn equip(&self, spec: &mut SandboxSpec) -> std::result::Result<(), String>;
    /// Begins to listen in a sandbox; what is heard there is taken for what the pass says.
    ///
    /// # Errors
    /// Why it cannot be done.
    fn listen(&self, sandbox: &dyn Sandbox, pass: &Pass) -> std::result::Result<Box<dyn Ear>, String>;
}

/// One who listens in a sandbox. Nobody hears anything there once it is dropped.
pub trait Ear: fmt::Debug + Send {
    /// The variables of a command that is to be heard.
    fn env(&self, spec: &SandboxSpec) -> BTreeMap<String, String>;
    /// Hears what is still being said, then listens no more.
    fn end(self: Box<Self>);
}

impl Service {
    /// Begins to listen to an attempt; the answer is what its command needs to be heard.
    pub(super) fn lend_an_ear(
        &self,
        run: &LiveRun,
        view: &Run,
        (fork, execution): (u32, ExecutionId),
        made: &SandboxView,
    ) -> Result<BTreeMap<String, String>> {
        let Some(listener) = self.0.settings.listener.as_ref().filter(|_| view.observed) else {
            return Ok(BTreeMap::new());
        };
        let pass = Pass {
            sandbox: made.id,
            execution: Some(execution),
            agent: made.spec.agent.clone(),
            project: view.project.clone(),
            run: Some(view.id),
            until: view.created.plus(GOOD_FOR),
        };
        let live = self.live(&run.who(), made.id)?;
        let ear = listener.listen(&*live.sandbox, &pass).map_err(|why| unheard(&why))?;
        let env = ear.env(&made.spec);
        run.hear(fork, ear);
        Ok(env)
    }
}

/// An agent nobody hears could spend without anybody knowing.
pub(in crate::service) fn unheard(why: &str) -> ServiceError {
    ServiceError::Unsupported(format!(
        "its agent cannot be heard: {why}; `--no-observe` goes without, and without knowing what it costs"
    ))
}
