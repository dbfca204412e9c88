//! Frozen states from which sandboxes can start.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A snapshot to be taken.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SnapshotRequest {
    /// Its name for people.
    #[schema(min_length = 1, max_length = 128)]
    pub name: Option<String>,
}

/// A snapshot.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Snapshot {
    /// Its identity; as a template it starts sandboxes.
    #[schema(pattern = "^snp_[0-9a-f]{32}$")]
    pub id: String,
    /// What it was taken of.
    pub sandbox_id: String,
    /// Whose it is.
    pub project_id: String,
    /// Its name for people.
    pub name: Option<String>,
    /// When it was taken.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Bytes on disk.
    pub bytes: u64,
}
