//! Webhooks: who is told of events, and how that went.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A webhook to be made.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWebhook {
    /// Where to post: http or https. Addresses of private networks must be allowed by the operator.
    #[schema(min_length = 8, max_length = 2048)]
    pub url: String,
    /// Kinds of events, or their beginnings up to a dot, such as `sandbox` or `execution.ended`; all when left out.
    #[serde(default)]
    #[schema(max_items = 32)]
    pub events: Vec<String>,
    /// What deliveries are signed with; made up when left out.
    #[schema(min_length = 16, max_length = 256)]
    pub secret: Option<String>,
}

/// A webhook.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Webhook {
    /// Its identity.
    #[schema(pattern = "^whk_[0-9a-f]{32}$")]
    pub id: String,
    /// Whose it is.
    pub project_id: String,
    /// Where it posts.
    pub url: String,
    /// Which kinds of events; all when empty.
    pub events: Vec<String>,
    /// When it was made.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// What deliveries are signed with; shown once, to whoever made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// One attempt to tell a webhook of an event.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Delivery {
    /// Its identity, which is also sent.
    pub id: String,
    /// Which webhook.
    pub webhook_id: String,
    /// Which event.
    pub event_id: String,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// When it was made, or planned.
    #[schema(format = DateTime)]
    pub time: String,
    /// How it ended: success, failure or cancelled; absent while it waits.
    pub status: Option<String>,
    /// The HTTP status of the answer.
    pub code: Option<u16>,
    /// What went wrong.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// When it is to be made, while it waits.
    #[schema(format = DateTime)]
    pub due_at: Option<String>,
}
