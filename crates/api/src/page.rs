//! Lists come in pages.

use serde::Serialize;
use utoipa::ToSchema;

/// One page of a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Where the next page begins; absent at the end.
    pub next_cursor: Option<String>,
}
