//! Requests that are made again because nobody heard the answer: whoever carried them out may have been killed in between.
//!
//! Owns: finding what was made the first time. It has the identity the claim allots, but for sandboxes from the pool, of
//! which the ledger says for whom they were taken. Refuses: to guess: what cannot be found was not made.

use std::time::Duration;

use belljar_domain::{EventKind, ExecutionId, NewEvent, Principal, RunId, SandboxId, Timestamp};
use belljar_ports::store::{EventFilter, PAGE_LIMIT};
use serde_json::json;
use uuid::Uuid;

use super::{
    CreateSandbox, ExecutionView, Finished, NewRun, Result, Run, SandboxView, Service, ServiceError,
};

/// Where the ledger says for which claim a sandbox was taken.
const FIELD: &str = "claim";
/// How long a thread waits at a time for the end of a command.
const PATIENCE: Duration = Duration::from_secs(3600);

/// A request that is to be carried out once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The identity of what it makes.
    pub identity: Uuid,
    /// When it was made first.
    pub since: Timestamp,
    /// Whether it was made before, and never answered.
    pub is_again: bool,
}

/// Says in a sandbox's announcement whose claim it was taken for.
pub(super) fn sign(told: &mut NewEvent, wanted: SandboxId) {
    if told.payload.is_null() {
        told.payload = json!({});
    }
    if let Some(fields) = told.payload.as_object_mut() {
        fields.insert(FIELD.to_owned(), json!(wanted));
    }
}

impl Claim {
    const fn sandbox(&self) -> SandboxId {
        SandboxId::from_uuid(self.identity)
    }

    /// The identity of the command it starts.
    #[must_use]
    pub const fn execution(&self) -> ExecutionId {
        ExecutionId::from_uuid(self.identity)
    }
}

impl Service {
    /// As [`Service::create`]; answers with the sandbox that was made before for the same claim, if it lives.
    ///
    /// # Errors
    /// As there.
    pub fn create_once(
        &self,
        who: &Principal,
        mut order: CreateSandbox,
        claim: Claim,
    ) -> Result<SandboxView> {
        order.id = Some(claim.sandbox());
        if claim.is_again {
            match self.made_for(who, claim)? {
                Some(view) if view.state.is_live() => return Ok(view),
                // Its identity is taken.
                Some(_) => order.id = None,
                None => {}
            }
        }
        self.create(who, order)
    }

    fn made_for(&self, who: &Principal, claim: Claim) -> Result<Option<SandboxView>> {
        let id = match self.sandbox(who, claim.sandbox()) {
            Ok(view) => return Ok(Some(view)),
            Err(ServiceError::NoSandbox(_)) => self.taken_for(who, claim)?,
            Err(error) => return Err(error),
        };
        id.map(|id| self.sandbox(who, id)).transpose()
    }

    fn taken_for(&self, who: &Principal, claim: Claim) -> Result<Option<SandboxId>> {
        let filter = EventFilter {
            project: Some(who.project.clone()),
            kinds: vec![EventKind::SandboxCreated.as_str().to_owned()],
            from: Some(claim.since),
            ..EventFilter::default()
        };
        let (wanted, mut after) = (json!(claim.sandbox()), 0);
        loop {
            let events = self.store().events(&filter, after, PAGE_LIMIT)?;
            if let Some(event) = events.iter().find(|event| event.what.payload.get(FIELD) == Some(&wanted)) {
                return Ok(event.what.sandbox);
            }
            match events.last() {
                Some(last) if events.len() >= PAGE_LIMIT => after = last.seq,
                _ => return Ok(None),
            }
        }
    }

    /// The command with an identity, where the request that names it was made before.
    ///
    /// # Errors
    /// When that cannot be found out.
    pub fn begun_before(
        &self,
        who: &Principal,
        id: ExecutionId,
        claim: Claim,
    ) -> Result<Option<ExecutionView>> {
        if !claim.is_again {
            return Ok(None);
        }
        match self.execution(who, id) {
            Ok(view) => Ok(Some(view)),
            Err(ServiceError::NoExecution(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Waits for the end of a command that was started before, and answers as whoever started it would have been answered,
    /// but for secrets: what it wrote is read from the log.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn finished(&self, who: &Principal, id: ExecutionId) -> Result<Finished> {
        loop {
            let execution = self.wait(who, id, PATIENCE)?;
            if execution.report.is_some() {
                let (stdout, stderr) = self.written(who, id)?;
                return Ok(Finished { execution, stdout, stderr });
            }
        }
    }

    /// As [`Service::start_run`]; answers with the run that was begun before for the same claim.
    ///
    /// # Errors
    /// As there.
    pub fn start_run_once(&self, who: &Principal, order: NewRun, claim: Claim) -> Result<Run> {
        let id = RunId::from_uuid(claim.identity);
        if claim.is_again {
            match self.run_of(who, id) {
                Err(ServiceError::NotFound(_)) => {}
                known => return known,
            }
        }
        self.start_run(who, NewRun { id: Some(id), ..order })
    }
}
