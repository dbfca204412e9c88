//! Host directories or files lent to a sandbox: `HOST:SANDBOX:ro|rw`, nothing implied.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{HostPath, PathError, SandboxPath};

/// Whether the sandbox may write to the host through a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MountMode {
    /// Look, do not touch.
    Ro,
    /// Writes go straight to the host.
    Rw,
}

/// One lent path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// What is lent.
    pub host: HostPath,
    /// Where it appears.
    pub sandbox: SandboxPath,
    /// What the sandbox may do with it.
    pub mode: MountMode,
}

/// Why a text is not a mount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MountError {
    /// Not three parts, or the third is not a mode.
    #[error("`{0}` is not a mount; write HOST:SANDBOX:ro or HOST:SANDBOX:rw")]
    Shape(String),
    /// One of the two paths is unusable.
    #[error("in the mount `{text}`")]
    Path {
        /// The whole text.
        text: String,
        /// What is wrong with the path.
        #[source]
        source: PathError,
    },
    /// The sandbox's own root or kernel file systems cannot be covered.
    #[error("nothing can be mounted on `{0}` in a sandbox")]
    Reserved(SandboxPath),
}

impl FromStr for Mount {
    type Err = MountError;

    fn from_str(text: &str) -> Result<Self, MountError> {
        let shape = || MountError::Shape(text.chars().take(200).collect());
        let (paths, mode) = text.rsplit_once(':').ok_or_else(shape)?;
        let (host, sandbox) = paths.rsplit_once(':').ok_or_else(shape)?;
        let mode = match mode {
            "ro" => MountMode::Ro,
            "rw" => MountMode::Rw,
            _ => return Err(shape()),
        };
        let wrong = |source| MountError::Path { text: text.to_owned(), source };
        let host = HostPath::new(host).map_err(wrong)?;
        let sandbox = SandboxPath::new(sandbox).map_err(wrong)?;
        let reserved = ["/proc", "/sys", "/dev"].iter().any(|top| sandbox.as_path().starts_with(top));
        if reserved || sandbox.as_path().parent().is_none() {
            return Err(MountError::Reserved(sandbox));
        }
        Ok(Self { host, sandbox, mode })
    }
}

impl fmt::Display for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = match self.mode {
            MountMode::Ro => "ro",
            MountMode::Rw => "rw",
        };
        write!(f, "{}:{}:{mode}", self.host, self.sandbox)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_names_both_sides_and_a_mode() {
        let mount: Mount = "/data:/srv/data:ro".parse().unwrap();
        assert_eq!(mount.to_string(), "/data:/srv/data:ro");
        assert_eq!(mount.mode, MountMode::Ro);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "/data",
            "/data:/srv",
            "/data:/srv:rwx",
            "data:/srv:ro",
            "/d/..:/srv:ro",
            "/d:/proc/x:ro",
            "/d:/:rw",
        ] {
            assert!(text.parse::<Mount>().is_err(), "{text}");
        }
    }
}
