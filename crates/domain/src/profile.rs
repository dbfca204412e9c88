//! Two things that must not be mixed: the profile a user asks for and the isolation a provider achieves.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// How much of its own root a sandbox may change. Ordered from loose to tight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The whole root is writable (copy-on-write), so that packages can be installed system-wide.
    Permissive,
    /// Read-only root; workspace, home and `/tmp` are writable.
    #[default]
    Strict,
}

/// Why a text is not a profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a profile; use strict or permissive")]
pub struct ProfileError(String);

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        match text {
            "strict" => Ok(Self::Strict),
            "permissive" => Ok(Self::Permissive),
            other => Err(ProfileError(other.chars().take(40).collect())),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Strict => "strict",
            Self::Permissive => "permissive",
        })
    }
}

/// What stands between a sandboxed command and the host. Ordered from weak to strong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// A container engine's defaults.
    Container,
    /// belljar's own namespaces, seccomp and Landlock.
    Namespaces,
    /// A user-space kernel.
    Gvisor,
    /// A virtual machine.
    Vm,
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Container => "container",
            Self::Namespaces => "namespaces",
            Self::Gvisor => "gvisor",
            Self::Vm => "vm",
        })
    }
}
