//! Snapshots: a sandbox's files, as something others can start from.

use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime},
};

use belljar_domain::{EventKind, Principal, SandboxId, SnapshotId, Timestamp};
use belljar_ports::{
    SandboxError,
    store::{Batch, PAGE_LIMIT, Removal, SnapshotRow},
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

    /// Shows a snapshot.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn snapshot_row(&self, who: &Principal, id: SnapshotId) -> Result<SnapshotRow> {
        let known = self.store().snapshot(id)?.filter(|row| who.sees(&row.project));
        known.ok_or_else(|| ServiceError::NotFound(format!("snapshot {id}")))
    }

    /// Puts together what the provider has and what the store remembers: a snapshot that was taken without this service,
    /// or whose taker was killed before it told, becomes known; one that is gone is forgotten.
    pub(super) fn compare_snapshots(&self, settled: Duration) -> Result<()> {
        let known = self.known_snapshots()?;
        let found = self.0.provider.snapshots()?;
        let mut batch = Batch::default();
        let newest = SystemTime::now().checked_sub(settled).unwrap_or(SystemTime::UNIX_EPOCH);
        for info in found.iter().filter(|info| !known.contains(&info.id) && info.created <= newest) {
            batch.snapshots.push(SnapshotRow {
                id: info.id,
                sandbox: info.of,
                project: self.store().sandbox(info.of)?.map(|row| row.project).unwrap_or_default(),
                name: info.name.clone(),
                created: Timestamp::from(info.created),
                bytes: info.bytes,
                record: json!({ "by": "belljar" }),
            });
        }
        let there: BTreeSet<SnapshotId> = found.iter().map(|info| info.id).collect();
        batch.removals.extend(known.difference(&there).map(|id| Removal::Snapshot(*id)));
        if batch.snapshots.is_empty() && batch.removals.is_empty() {
            return Ok(());
        }
        Ok(self.0.recorder.commit(batch).map(drop)?)
    }

    fn known_snapshots(&self) -> Result<BTreeSet<SnapshotId>> {
        let mut known = BTreeSet::new();
        let mut below = None;
        loop {
            let rows = self.store().snapshots(None, below, PAGE_LIMIT)?;
            below = rows.last().map(|row| row.id);
            known.extend(rows.iter().map(|row| row.id));
            if rows.len() < PAGE_LIMIT {
                return Ok(known);
            }
        }
    }

    /// Removes a snapshot. Whoever just ended the last sandbox that stood on it need not know that it is still being
    /// removed: that is waited for, briefly.
    ///
    /// # Errors
    /// When there is none of theirs, or a sandbox still stands on it.
    pub fn delete_snapshot(&self, who: &Principal, id: SnapshotId) -> Result<()> {
        self.snapshot_row(who, id)?;
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
