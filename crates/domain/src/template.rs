//! What a sandbox starts from.

use std::{fmt, path::PathBuf, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::SnapshotId;

/// A root to start from, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TemplateRef {
    /// This machine's toolchain, read-only.
    #[default]
    Host,
    /// A directory, tar, OCI layout or `docker save` archive on the host.
    Path(PathBuf),
    /// One imported before, by name.
    Named(String),
    /// A snapshot.
    Snapshot(SnapshotId),
}

/// Why a text is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a template; use host, a path containing `/`, an imported name, or snp_…")]
pub struct TemplateError(String);

/// Names other tools use for "a machine with the usual languages".
const HOST_ALIASES: [&str; 13] = [
    "host",
    "node",
    "node:20-alpine",
    "python:3.11-alpine",
    "python:3.12-slim",
    "alpine",
    "agent-sandbox-dev-node22",
    "base",
    "python",
    "react",
    "nextjs",
    "vanilla",
    "claude-code",
];

impl TemplateRef {
    /// Names that mean [`TemplateRef::Host`], itself first.
    #[must_use]
    pub const fn host_names() -> &'static [&'static str] {
        &HOST_ALIASES
    }

    /// Says whether a name is one of those that mean [`TemplateRef::Host`] unless something was imported under it.
    #[must_use]
    pub fn is_host_alias(name: &str) -> bool {
        HOST_ALIASES.contains(&name)
    }
}

impl FromStr for TemplateRef {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        if text == "host" {
            return Ok(Self::Host);
        }
        if let Ok(snapshot) = text.parse() {
            return Ok(Self::Snapshot(snapshot));
        }
        if text.contains('/') && !is_name(text) || text.starts_with(['.', '/']) {
            return Ok(Self::Path(PathBuf::from(text)));
        }
        if is_name(text) {
            return Ok(Self::Named(text.to_owned()));
        }
        Err(TemplateError(text.chars().take(80).collect()))
    }
}

/// A name is safe as a file name and as a command's argument: letters, digits and `._:-`, starting with neither a dot nor
/// a dash.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 128
        && !text.starts_with(['.', '-'])
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._:-".contains(c))
}

impl fmt::Display for TemplateRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host"),
            Self::Path(path) => path.display().fmt(f),
            Self::Named(name) => f.write_str(name),
            Self::Snapshot(id) => id.fmt(f),
        }
    }
}

impl TryFrom<String> for TemplateRef {
    type Error = TemplateError;

    fn try_from(text: String) -> Result<Self, TemplateError> {
        text.parse()
    }
}

impl From<TemplateRef> for String {
    fn from(template: TemplateRef) -> Self {
        template.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_a_name_a_path_or_a_snapshot() {
        assert_eq!("host".parse(), Ok(TemplateRef::Host));
        assert_eq!("./root.tar".parse(), Ok(TemplateRef::Path("./root.tar".into())));
        assert_eq!("python:3.12-slim".parse(), Ok(TemplateRef::Named("python:3.12-slim".into())));
        assert!("..".parse::<TemplateRef>().is_ok_and(|t| matches!(t, TemplateRef::Path(_))));
        assert!("a b".parse::<TemplateRef>().is_err());
    }
}
