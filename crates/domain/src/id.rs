//! Typed, prefixed identifiers: `sbx_…`, `exe_…`, `evt_…`.
//!
//! An id is a `UUIDv7`, so ids sort by creation. Making one needs a clock and is done outside.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {kind} id (expected `{prefix}` followed by 32 hex digits)")]
pub struct IdError {
    text: String,
    kind: &'static str,
    prefix: &'static str,
}

macro_rules! typed_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Uuid);

        impl $name {
            /// The text every id of this kind starts with.
            pub const PREFIX: &'static str = $prefix;

            /// Wraps a freshly made `UUIDv7`.
            #[must_use]
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// Unwraps it.
            #[must_use]
            pub const fn as_uuid(&self) -> Uuid {
                self.0
            }

            /// Returns the last eight digits, which differ most between neighbours; for people's eyes.
            #[must_use]
            pub fn short(&self) -> String {
                let text = self.0.simple().to_string();
                text.chars().skip(24).collect()
            }

            /// Returns the identity's random bits, from which other per-sandbox values are derived.
            #[must_use]
            pub const fn entropy(&self) -> u128 {
                self.0.as_u128()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $prefix, self.0.simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                text.strip_prefix($prefix)
                    .filter(|hex| hex.len() == 32)
                    .and_then(|hex| Uuid::try_parse(hex).ok())
                    .map(Self)
                    .ok_or_else(|| IdError { text: text.chars().take(80).collect(), kind: $kind, prefix: $prefix })
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }
    };
}

typed_id!(
    /// One sandbox.
    SandboxId,
    "sbx_",
    "sandbox"
);
typed_id!(
    /// One command in a sandbox.
    ExecutionId,
    "exe_",
    "execution"
);
typed_id!(
    /// A frozen state from which sandboxes can start.
    SnapshotId,
    "snp_",
    "snapshot"
);
typed_id!(
    /// A call that waits for a person, or waited.
    ApprovalId,
    "apr_",
    "approval"
);
typed_id!(
    /// One thing that happened.
    EventId,
    "evt_",
    "event"
);
typed_id!(
    /// One task given to several sandboxes at once.
    RunId,
    "run_",
    "run"
);
typed_id!(
    /// One attempt to tell a webhook about an event.
    DeliveryId,
    "dlv_",
    "delivery"
);
typed_id!(
    /// One agent of the registry.
    AgentId,
    "agt_",
    "agent"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_its_own_text() {
        let id = SandboxId::from_uuid(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_002a));
        assert_eq!(id.to_string(), "sbx_0190000000007000800000000000002a");
        assert_eq!(id.to_string().parse::<SandboxId>(), Ok(id));
        assert_eq!(id.short(), "0000002a");
    }

    #[test]
    fn another_kinds_id_is_refused() {
        assert!("exe_0190000000007000800000000000002a".parse::<SandboxId>().is_err());
        assert!("sbx_".parse::<SandboxId>().is_err());
        assert!("sbx_../../../../../../../etc/passwd0".parse::<SandboxId>().is_err());
    }
}
