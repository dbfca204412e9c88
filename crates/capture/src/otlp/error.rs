//! Why a request could not be read, and where.

/// Why an export request was refused. Paths are in the words of the JSON encoding.
#[derive(Debug, thiserror::Error)]
pub enum OtlpError {
    /// Not JSON, or nested too deep.
    #[error("the body is not JSON")]
    Json(#[source] serde_json::Error),
    /// Not protobuf.
    #[error("at {path}: {what}")]
    Protobuf {
        /// The field.
        path: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A field of the wrong type.
    #[error("at {path}: expected {expected}")]
    Type {
        /// The field.
        path: String,
        /// What it should be.
        expected: &'static str,
    },
    /// More than is accepted.
    #[error("at {path}: more than {limit} {what}")]
    TooMany {
        /// The field.
        path: String,
        /// The bound.
        limit: usize,
        /// Of what.
        what: &'static str,
    },
}
