//! What can be wrong with a payload: things that end the reading, and things that are noted beside what was read.

use serde::{Deserialize, Serialize};

/// Why nothing could be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// More than is taken.
    #[error("the payload has {actual} bytes; {limit} are taken")]
    TooLarge {
        /// How much there was.
        actual: usize,
        /// How much is taken.
        limit: usize,
    },
    /// Not JSON.
    #[error("the payload is not JSON: {0}")]
    NotJson(String),
    /// JSON, but no object.
    #[error("the payload is {0}, not an object")]
    NotAnObject(&'static str),
    /// An envelope of a form we do not know.
    #[error("{0}")]
    Envelope(String),
}

/// Something about one field that is not as it should be. The field itself is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Where, as a JSON path: `$.tool_input`.
    pub path: String,
    /// What is wrong with it.
    pub problem: String,
}
