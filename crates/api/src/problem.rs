//! What went wrong, as RFC 9457 writes it.

use serde::Serialize;
use utoipa::ToSchema;

/// What went wrong.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Problem {
    /// Where this kind of problem is explained.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind of problem, for people.
    pub title: String,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// What exactly went wrong.
    pub detail: String,
    /// The code programs go by; it never changes.
    #[schema(example = "SANDBOX_NOT_FOUND")]
    pub code: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The fields that are wrong, where it is about fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
    /// What a shell would exit with, where a command could not be started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
    /// Where a person's answer will be: wait for it, then make the same request again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^apr_[0-9a-f]{32}$")]
    pub approval: Option<String>,
    /// How many bytes a command took of its input, where it did not take all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<usize>,
}

/// A field that is wrong.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct FieldProblem {
    /// Where it is, such as `limits.memory_bytes`.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
}
