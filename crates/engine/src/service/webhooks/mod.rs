//! Webhooks: whoever subscribes is told of events by a signed POST, again and again until they answer or it is given up.
//!
//! Owns: subscriptions, the place in the ledger up to which deliveries are planned, attempts and their log. Refuses: to
//! tell of its own events, which would never end. A delivery is planned in the same transaction that moves the place,
//! so a server that is killed loses none and plans none twice.

mod attempt;
mod follow;
mod subscription;

use std::time::Duration;

pub(super) use attempt::signature;
pub(super) use follow::begin;
pub use subscription::{NewWebhook, WebhookView};

/// What the operator wants of webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookSettings {
    /// Whether addresses of this machine and its networks may be told.
    pub allow_private: bool,
    /// How often one event is tried.
    pub attempts: u32,
    /// How long until the second attempt; later ones wait twice as long each time.
    pub retry_delay: Duration,
    /// How long one attempt may take.
    pub timeout: Duration,
}

impl Default for WebhookSettings {
    fn default() -> Self {
        Self {
            allow_private: false,
            attempts: 8,
            retry_delay: Duration::from_secs(5),
            timeout: Duration::from_secs(10),
        }
    }
}
