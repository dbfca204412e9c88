//! Files kept beside the ledger: outputs, diffs, transcripts.

use serde::Serialize;
use utoipa::ToSchema;

/// A file that is kept.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Artifact {
    /// The SHA-256 of its content, by which it is downloaded.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub digest: String,
    /// How long it is.
    pub bytes: u64,
    /// Its name for people.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Whose it is.
    pub project_id: String,
    /// The sandbox it came from.
    pub sandbox_id: Option<String>,
    /// The command that made it.
    pub execution_id: Option<String>,
    /// The run that made it.
    pub run_id: Option<String>,
    /// When it was kept.
    #[schema(format = DateTime)]
    pub created_at: String,
}
