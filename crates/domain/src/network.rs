//! How much network a sandbox has.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The network a sandbox sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkMode {
    /// Its own loopback and nothing else.
    #[default]
    None,
    /// Only listed hosts, through belljar's proxy.
    Allowlist,
    /// The host's network, as it is.
    Open,
}

/// Why a text is not a network mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a network mode; use none, allowlist or open")]
pub struct NetworkModeError(String);

impl FromStr for NetworkMode {
    type Err = NetworkModeError;

    fn from_str(text: &str) -> Result<Self, NetworkModeError> {
        match text {
            "none" | "isolated" => Ok(Self::None),
            "allowlist" => Ok(Self::Allowlist),
            "open" | "bridge" => Ok(Self::Open),
            other => Err(NetworkModeError(other.chars().take(40).collect())),
        }
    }
}

impl fmt::Display for NetworkMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Allowlist => "allowlist",
            Self::Open => "open",
        })
    }
}
