//! Roots with a name that sandboxes start from.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A template to be named.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TemplateRequest {
    /// A directory, a tar, an OCI layout or a `docker save` archive on the server's machine.
    #[schema(min_length = 1, max_length = 4096)]
    pub source: String,
}

/// A template.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Template {
    /// Its name; as `template` it starts sandboxes.
    pub name: String,
    /// Other names for it, which other tools use.
    pub aliases: Vec<String>,
    /// Where it came from, on the server's machine; `/` for `host`, which is that machine's own toolchain.
    pub source: String,
    /// Bytes on disk; absent for a directory that is used where it is.
    pub bytes: Option<u64>,
}
