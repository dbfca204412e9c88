//! The columns of an event in the one order in which they are bound, hashed and read back.
//!
//! Owns: the canonical encoding. Every value carries its type and its length, so that no two different rows encode
//! alike. Changing the order or the encoding breaks every ledger there is; a new column is a new encoding version.

use belljar_domain::{EventId, EventStatus, NewEvent, Risk, Verdict};
use belljar_ports::StoreError;
use sha2::{Digest as _, Sha256};

/// How many columns are hashed.
pub(crate) const COUNT: usize = 25;
/// Their names, in order.
pub(crate) const NAMES: [&str; COUNT] = [
    "id",
    "time",
    "project",
    "kind",
    "class",
    "agent_id",
    "agent_name",
    "agent_role",
    "session",
    "sandbox",
    "execution",
    "run",
    "operation",
    "tool",
    "target",
    "target_type",
    "decision",
    "reason",
    "risk",
    "status",
    "error",
    "cost_micros",
    "tokens",
    "duration_ms",
    "payload",
];
const VERSION: &[u8] = b"belljar event 1";

/// One value as the database has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Column<'a> {
    Null,
    Int(i64),
    Text(&'a [u8]),
    Blob(&'a [u8]),
    /// No event has one; it is here so that a forged row can be hashed like any other.
    Real(f64),
}

/// Hashes one row's columns, without its place in the ledger.
pub(crate) fn digest<'a>(columns: impl IntoIterator<Item = Column<'a>>) -> [u8; 32] {
    let mut hasher = Sha256::new_with_prefix(VERSION);
    for column in columns {
        match column {
            Column::Null => hasher.update([0]),
            Column::Int(value) => feed(&mut hasher, 1, &value.to_le_bytes()),
            Column::Text(bytes) => feed(&mut hasher, 2, bytes),
            Column::Blob(bytes) => feed(&mut hasher, 3, bytes),
            Column::Real(value) => feed(&mut hasher, 4, &value.to_le_bytes()),
        }
    }
    hasher.finalize().into()
}

fn feed(hasher: &mut Sha256, tag: u8, bytes: &[u8]) {
    let mut head = [tag; 9];
    head[1..].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
    hasher.update(head);
    hasher.update(bytes);
}

/// An event with everything done to it that needs neither the ledger's end nor its thread.
#[derive(Debug, Clone)]
pub(crate) struct PreparedEvent {
    pub(crate) id: EventId,
    event: NewEvent,
    id_bytes: [u8; 16],
    sandbox: Option<String>,
    execution: Option<String>,
    run: Option<String>,
    payload: Option<String>,
    pub(crate) digest: [u8; 32],
}

impl PreparedEvent {
    /// Checks, renders and hashes an event.
    pub(crate) fn new(event: NewEvent) -> Result<Self, StoreError> {
        let payload = (!event.payload.is_null()).then(|| event.payload.to_string());
        event.check(payload.as_ref().map_or(0, String::len))?;
        let mut prepared = Self {
            id: event.id,
            id_bytes: *event.id.as_uuid().as_bytes(),
            sandbox: event.sandbox.map(|id| id.to_string()),
            execution: event.execution.map(|id| id.to_string()),
            run: event.run.map(|id| id.to_string()),
            payload,
            event,
            digest: [0; 32],
        };
        prepared.digest = digest(prepared.columns());
        Ok(prepared)
    }

    /// Bytes it takes in the queue, roughly.
    pub(crate) fn weight(&self) -> usize {
        let texts = self.columns().into_iter().map(|column| match column {
            Column::Text(bytes) | Column::Blob(bytes) => bytes.len(),
            Column::Null | Column::Int(_) | Column::Real(_) => 0,
        });
        size_of::<Self>() + texts.sum::<usize>()
    }

    /// The values, in the order of [`NAMES`].
    pub(crate) fn columns(&self) -> [Column<'_>; COUNT] {
        let event = &self.event;
        [
            Column::Blob(&self.id_bytes),
            Column::Int(event.time.as_micros()),
            Column::Text(event.project.as_str().as_bytes()),
            Column::Text(event.kind.as_str().as_bytes()),
            Column::Text(event.kind.retention().as_str().as_bytes()),
            text(event.actor.id.as_deref()),
            text(event.actor.name.as_deref()),
            text(event.actor.role.as_deref()),
            text(event.session.as_deref()),
            text(self.sandbox.as_deref()),
            text(self.execution.as_deref()),
            text(self.run.as_deref()),
            text(event.operation.as_deref()),
            text(event.tool.as_deref()),
            text(event.target.as_deref()),
            text(event.target_type.as_deref()),
            text(event.decision.map(Verdict::as_str)),
            text(event.reason.as_deref()),
            text(event.risk.map(Risk::as_str)),
            text(event.status.map(EventStatus::as_str)),
            text(event.error.as_deref()),
            int(event.cost_micros),
            int(event.tokens),
            int(event.duration_ms),
            text(self.payload.as_deref()),
        ]
    }
}

fn text(value: Option<&str>) -> Column<'_> {
    value.map_or(Column::Null, |value| Column::Text(value.as_bytes()))
}

fn int(value: Option<u64>) -> Column<'static> {
    value.map_or(Column::Null, |value| Column::Int(i64::try_from(value).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use belljar_domain::{EventKind, ProjectId, Timestamp};

    use super::*;

    #[test]
    fn values_that_could_be_confused_hash_differently() {
        let rows: [&[Column<'_>]; 7] = [
            &[Column::Text(b"ab"), Column::Text(b"c")],
            &[Column::Text(b"a"), Column::Text(b"bc")],
            &[Column::Text(b"abc")],
            &[Column::Blob(b"ab"), Column::Text(b"c")],
            &[Column::Null, Column::Text(b"abc")],
            &[Column::Text(b""), Column::Text(b"abc")],
            &[Column::Int(0), Column::Text(b"abc")],
        ];
        let digests: std::collections::BTreeSet<_> =
            rows.iter().map(|row| digest(row.iter().copied())).collect();
        assert_eq!(digests.len(), rows.len());
    }

    #[test]
    fn the_encoding_has_not_changed() {
        let id = EventId::from_uuid(uuid::Uuid::from_u128(7));
        let event = NewEvent::new(id, Timestamp::from_micros(1), ProjectId::default(), EventKind::Killswitch);
        let hex = belljar_domain::Digest(PreparedEvent::new(event).unwrap().digest).to_string();
        assert_eq!(hex, "7cd8d8891e8ba299372ab71d047ba0585e78a2aec828c20984d31da2f3f94862");
    }
}
