//! What a policy says beside its rules: directories that are given, packages and hosts that are allowed.

use serde::{Deserialize, Serialize};

/// What may be done in a directory and all below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Nothing, not even reading.
    None,
    /// Reading.
    Read,
    /// Everything that may be done in the workspace.
    Write,
}

/// A directory that is given, or kept, whatever the rules about places say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acl {
    /// The directory: absolute, or `~/…`.
    pub path: String,
    /// What may be done there.
    pub access: Access,
    /// To whom; everybody unless it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl Acl {
    /// Its path in the syntax of patterns.
    pub(super) fn pattern(&self) -> String {
        if self.path.starts_with('/') && !self.path.starts_with("//") {
            format!("/{}", self.path)
        } else {
            self.path.clone()
        }
    }

    /// Whether it is about somebody.
    pub(super) fn is_for(&self, agent: Option<&str>) -> bool {
        self.agent.is_none() || self.agent.as_deref() == agent
    }

    /// Why it cannot be used.
    pub(super) fn fault(&self) -> Option<String> {
        let is_whole = self.path.starts_with('/') || self.path == "~" || self.path.starts_with("~/");
        (!is_whole).then(|| format!("`{}` is no whole path; begin it with `/` or `~/`", self.path))
    }
}

/// Names that are allowed; what is not named asks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// Which, with stars.
    #[serde(default)]
    pub allowed: Vec<String>,
}
