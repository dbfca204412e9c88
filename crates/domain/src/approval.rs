//! Where a call that waits for a person stands, and how far their yes reaches.

use crate::word::words;

words! {
    /// Where a call that waits for a person stands.
    ApprovalState, "state of an approval" {
        /// Nobody has said anything yet.
        Pending = "pending",
        /// A person said yes.
        Allowed = "allowed",
        /// A person said no.
        Denied = "denied",
        /// Nobody said anything in time, which is a no.
        Expired = "expired",
        /// Whoever asked waits no more.
        Cancelled = "cancelled",
    }
}

words! {
    /// How far a yes reaches.
    ApprovalScope, "scope of an approval" {
        /// This call.
        Once = "once",
        /// Calls like this one, in this session or this sandbox.
        Session = "session",
        /// Calls like this one, by a rule in guardian.toml.
        Always = "always",
    }
}
