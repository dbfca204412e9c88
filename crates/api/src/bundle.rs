//! What a sandbox changed, with both sides of every file, to be taken elsewhere.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Changes that stand on their own.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct Bundle {
    /// The files.
    pub files: Vec<BundleFile>,
    /// What is not in it, and why; nothing is made of it.
    #[serde(default)]
    #[schema(value_type = Vec<Object>)]
    pub left_out: Vec<serde_json::Value>,
    /// How many paths are not in it.
    #[serde(default)]
    pub left_out_count: u64,
    /// Whether something that should be in it was too much.
    #[serde(default)]
    pub is_cut: bool,
}

/// A path that differs.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct BundleFile {
    /// Where, relative to the workspace.
    #[schema(min_length = 1, max_length = 4096)]
    pub path: String,
    /// What was there; nothing if it is new.
    pub before: Option<BundleThing>,
    /// What is there; nothing if it is gone.
    pub after: Option<BundleThing>,
}

/// What a path holds.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BundleThing {
    /// A regular file, its content as text or in base64.
    File {
        /// Permission bits.
        mode: u32,
        /// Its content, where that is text.
        text: Option<String>,
        /// Its content, where it is not.
        base64: Option<String>,
    },
    /// A symbolic link.
    Symlink {
        /// What it says.
        target: String,
    },
}

/// Where to apply a bundle.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ApplyQuery {
    /// Which directory; the sandbox's workspace when absent.
    #[param(max_length = 4096)]
    pub path: Option<String>,
}

/// What became of a bundle.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AppliedBundle {
    /// Paths that were written or removed.
    pub applied: Vec<String>,
    /// How many were so already.
    pub unchanged: usize,
}
