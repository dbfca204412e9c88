//! Snapshots: a sandbox's files, as something others can start from.

use belljar_domain::{EventKind, Principal, SandboxId, SnapshotId, Timestamp};
use belljar_ports::store::{Batch, Removal, SnapshotRow};
use serde_json::json;
use uuid::Uuid;

use super::{Result, Service, ServiceError};

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
        self.0.recorder.append(batch).wait()?;
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

    /// Removes a snapshot.
    ///
    /// # Errors
    /// When there is none of theirs, or a sandbox still stands on it.
    pub fn delete_snapshot(&self, who: &Principal, id: SnapshotId) -> Result<()> {
        let known = self.store().snapshot(id)?.filter(|row| who.sees(&row.project));
        known.ok_or_else(|| ServiceError::NotFound(format!("snapshot {id}")))?;
        self.0.provider.remove_snapshot(id)?;
        let batch = Batch { removals: vec![Removal::Snapshot(id)], ..Batch::default() };
        self.0.recorder.append(batch).wait()?;
        Ok(())
    }
}
