//! Who makes sandboxes, and finds the ones made before.

use std::{fmt::Debug, path::Path};

use belljar_domain::{Capability, Isolation, SandboxId, SandboxSpec, SnapshotId};

use crate::{JournalRecord, Order, Sandbox, SandboxError, SandboxInfo, SnapshotInfo, TemplateInfo};

/// What becomes of a sandbox whose maker goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// It and every trace of it vanish, unless it is stopped in an orderly way first.
    WithMaker,
    /// It lives on until someone ends it or its clocks do.
    Alive,
}

/// Makes sandboxes and finds the ones made before.
pub trait SandboxProvider: Debug + Send + Sync {
    /// Its name, as in `--provider`.
    fn name(&self) -> &'static str;
    /// What stands between its sandboxes and the host.
    fn isolation(&self) -> Isolation;
    /// What it can do on this host; the conformance suite holds it to this, both ways.
    fn capabilities(&self) -> Vec<Capability>;
    /// Finds out whether what every sandbox needs of the host is there now. Tries it, so it takes some milliseconds.
    ///
    /// # Errors
    /// When something is missing; the error names it.
    fn check(&self) -> Result<(), SandboxError>;
    /// What a sandbox will be once it is made, but for its state; promises nothing.
    fn outline(&self, id: SandboxId, spec: &SandboxSpec) -> SandboxInfo;
    /// Builds and starts a sandbox.
    ///
    /// # Errors
    /// When it cannot be built, or a limit asked for cannot be enforced.
    fn create(&self, id: SandboxId, spec: &SandboxSpec, keep: Keep)
    -> Result<Box<dyn Sandbox>, SandboxError>;
    /// Finds one made before, by any process.
    ///
    /// # Errors
    /// [`SandboxError::Unknown`] when there is none.
    fn find(&self, id: SandboxId) -> Result<Box<dyn Sandbox>, SandboxError>;
    /// Lists what there is, oldest first, so that it can be shown, adopted or reaped.
    ///
    /// # Errors
    /// When the records cannot be read.
    fn list(&self) -> Result<Vec<SandboxInfo>, SandboxError>;
    /// Returns what the sandbox was asked to be that a snapshot was taken of.
    ///
    /// # Errors
    /// When there is no such snapshot.
    fn snapshot_spec(&self, id: SnapshotId) -> Result<SandboxSpec, SandboxError>;
    /// Removes a snapshot. Sandboxes that started from it must be over.
    ///
    /// # Errors
    /// When there is none, or it is in use.
    fn remove_snapshot(&self, id: SnapshotId) -> Result<(), SandboxError>;
    /// Lists snapshots, oldest first.
    ///
    /// # Errors
    /// When the records cannot be read.
    fn snapshots(&self) -> Result<Vec<SnapshotInfo>, SandboxError>;
    /// Lists roots to start from that have a name, by name. One that knows of none has none.
    ///
    /// # Errors
    /// When they cannot be read.
    fn templates(&self) -> Result<Vec<TemplateInfo>, SandboxError> {
        Ok(Vec::new())
    }
    /// Gives a directory, an archive or an image of this host a name to start sandboxes from.
    ///
    /// # Errors
    /// When it is none of these, or this provider keeps no templates.
    fn import_template(&self, _name: &str, _source: &Path) -> Result<TemplateInfo, SandboxError> {
        Err(no_templates())
    }
    /// Takes a template's name away. Sandboxes that started from it must be over.
    ///
    /// # Errors
    /// When there is none, or it is in use.
    fn remove_template(&self, _name: &str) -> Result<(), SandboxError> {
        Err(no_templates())
    }
    /// Removes what crashed makers left: half-built sandboxes, dead ones nobody can use. Returns how many.
    ///
    /// # Errors
    /// When the records cannot be read.
    fn sweep(&self) -> Result<usize, SandboxError>;
    /// Makes something ready that the next sandbox like this one needs, until there is enough for so many; what is more
    /// than that is let go. A hint: it changes nothing but how long making takes. The answer is whether something was made.
    ///
    /// # Errors
    /// When it cannot be made.
    fn prepare(&self, spec: &SandboxSpec, count: usize) -> Result<bool, SandboxError>;
    /// Reads what is there of a journal: its whole records, and how many bytes they take.
    ///
    /// # Errors
    /// When it is none.
    fn read_journal(&self, bytes: &[u8]) -> Result<(Vec<JournalRecord>, usize), SandboxError>;
    /// Writes an order as a recorded execution reads it: in one piece of at most 4096 bytes.
    fn write_order(&self, order: &Order) -> Vec<u8>;
}

fn no_templates() -> SandboxError {
    SandboxError::Unsupported {
        what: "this provider keeps no templates".to_owned(),
        hint: "name what it knows when a sandbox is made".to_owned(),
    }
}
