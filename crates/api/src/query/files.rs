//! Parameters of files.

use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

/// What to list.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FilesQuery {
    /// Which directory; the root when absent.
    #[param(max_length = 4096)]
    pub path: Option<String>,
    /// How many levels below it.
    #[param(minimum = 1, maximum = 64, default = 1)]
    pub depth: Option<u32>,
    /// The most entries wanted.
    #[param(minimum = 1, maximum = 10_000, default = 1000)]
    pub limit: Option<usize>,
    /// The `next_cursor` of the page before.
    #[param(max_length = 4096)]
    pub cursor: Option<String>,
}

/// How a directory travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArchiveFormat {
    /// As a tar.
    Tar,
}

/// What to read at a path.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FileQuery {
    /// Describes it instead of reading it; a link is described itself.
    pub stat: bool,
    /// A directory with all that is below it.
    #[param(inline)]
    pub archive: Option<ArchiveFormat>,
}

/// How to write at a path.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FileWriteQuery {
    /// The body is a tar to be unpacked below the path.
    pub unpack: bool,
    /// Makes the directories above it.
    pub parents: Option<bool>,
    /// Permission bits, in octal.
    #[param(pattern = "^0?[0-7]{3}$", example = "644")]
    pub mode: Option<String>,
}

/// How to remove what is at a path.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FileRemoveQuery {
    /// With everything below it.
    pub recursive: bool,
}

/// What to do at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileOperation {
    /// Make a directory, and those above it.
    Mkdir,
    /// Move what is there.
    Move,
}

/// What to do at a path.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FileMove {
    /// Which of the two.
    #[param(inline)]
    pub op: FileOperation,
    /// Where to, for a move.
    #[param(max_length = 4096)]
    pub to: Option<String>,
}

/// What to watch.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WatchQuery {
    /// Which directory or file; the root when absent.
    #[param(max_length = 4096)]
    pub path: Option<String>,
    /// How many levels below it.
    #[param(minimum = 1, maximum = 16, default = 4)]
    pub depth: Option<u32>,
    /// How often to look.
    #[param(minimum = 200, maximum = 60_000, default = 1000)]
    pub interval_ms: Option<u64>,
}
