//! Files kept without their secrets.

use belljar_ports::store::{Artifact, Batch, IdempotencyRow, NewArtifact, Pending};
use serde_json::Value;

use super::{Result, Service, ServiceError};

impl Service {
    /// Keeps an answer under its idempotency key, without its secrets.
    pub fn keep_answer(&self, row: IdempotencyRow) -> Pending {
        self.0.recorder.append(Batch { idempotency: vec![row], ..Batch::default() })
    }

    /// Keeps a value as JSON, without its secrets.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn keep_clean(&self, about: &NewArtifact, mut value: Value) -> Result<Artifact> {
        self.0.recorder.redactor().value(&mut value);
        let json = serde_json::to_vec(&value).map_err(|error| ServiceError::Invalid(error.to_string()))?;
        Ok(self.store().put_artifact(about, &mut json.as_slice())?)
    }
}
