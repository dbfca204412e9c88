//! Snapshots: a sandbox's files, as something others can start from.

use std::time::Duration;

use belljar_domain::{EventKind, Principal, SandboxId, SnapshotId, Timestamp};
use belljar_ports::{
    SandboxError,
    store::{Batch, Removal, SnapshotRow},
};
use serde_json::json;
use uuid::Uuid;

use super::{Result, Service, ServiceError};

/// How long the removal of sandboxes is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

impl Service {
    /// Freezes a sandbox's files as something others can start from.
    ///
    /// # Errors
    /// When it cannot be taken.
    pub fn snapshot(&self, who: &Principal, id: SandboxId, name: Option<&str>) -> Result<SnapshotRow> {
        let live = self.live(who, id)?;
        live.touch();
        let taken = live.sandbox.snapshot(SnapshotId::from_uuid(Uuid::now_v7()), name)?;
        let row = SnapshotRow {
            id: taken.id,
            sandbox: id,
            project: live.view().project,
            name: taken.name.clone(),
            created: Timestamp::from(taken.created),
            bytes: taken.bytes,
            record: json!({ "by": who.name }),
        };
        let mut event = self.sandbox_event(&row.project, &who.name, id, EventKind::SnapshotCreated);
        event.target = Some(row.id.to_string());
        event.target_type = Some("snapshot".to_owned());
        let batch = Batch { snapshots: vec![row.clone()], events: vec![event], ..Batch::default() };
        self.0.recorder.commit(batch)?;
        Ok(row)
    }

    /// Snapshots, newest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn snapshots(
        &self,
        who: &Principal,
        below: Option<SnapshotId>,
        limit: usize,
    ) -> Result<Vec<SnapshotRow>> {
        Ok(self.store().snapshots(who.scope().as_ref(), below, limit)?)
    }

    /// Removes a snapshot. Whoever just ended the last sandbox that stood on it need not know that it is still being
    /// removed: that is waited for, briefly.
    ///
    /// # Errors
    /// When there is none of theirs, or a sandbox still stands on it.
    pub fn delete_snapshot(&self, who: &Principal, id: SnapshotId) -> Result<()> {
        let known = self.store().snapshot(id)?.filter(|row| who.sees(&row.project));
        known.ok_or_else(|| ServiceError::NotFound(format!("snapshot {id}")))?;
        let mut removed = self.0.provider.remove_snapshot(id);
        if matches!(removed, Err(SandboxError::InUse { .. })) {
            self.0.crew.settle(PATIENCE);
            removed = self.0.provider.remove_snapshot(id);
        }
        if let Err(SandboxError::InUse { what, by }) = removed {
            let by = by.into_iter().map(|user| self.name_of(who, user)).collect();
            return Err(SandboxError::InUse { what, by }.into());
        }
        removed?;
        let batch = Batch { removals: vec![Removal::Snapshot(id)], ..Batch::default() };
        self.0.recorder.commit(batch)?;
        Ok(())
    }

    /// What they may know of somebody who stands in their way.
    fn name_of(&self, who: &Principal, user: String) -> String {
        let hidden = user.parse().is_ok_and(|id: SandboxId| self.sandbox(who, id).is_err());
        if hidden { "a sandbox of another project".to_owned() } else { user }
    }
}
