//! Why a tool call was not carried out, with the codes its callers know.

use belljar_engine::service::ServiceError;
use rmcp::model::CallToolResult;
use serde_json::json;

use crate::problem::chain;

/// A tool call that failed. It is an answer for the model, not an error of the protocol.
#[derive(Debug)]
pub(super) struct ToolFailure {
    code: &'static str,
    message: String,
}

pub(super) type Outcome<T> = Result<T, ToolFailure>;

impl ToolFailure {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new("INVALID_REQUEST", message)
    }

    pub(super) fn answer(self) -> CallToolResult {
        CallToolResult::structured_error(
            json!({ "success": false, "error_code": self.code, "message": self.message }),
        )
    }
}

impl From<ServiceError> for ToolFailure {
    fn from(error: ServiceError) -> Self {
        let code = match &error {
            ServiceError::TooLarge(_) => "INSUFFICIENT_RESOURCES",
            ServiceError::Unsupported(_) => "INSUFFICIENT_RESOURCES",
            ServiceError::Store(_) | ServiceError::Provider { .. } => {
                tracing::error!(code = error.code(), error = %chain(&error), "tool call failed");
                error.code()
            }
            error => error.code(),
        };
        // The hints of the service name routes; whoever calls tools has names of their own for them.
        let message = chain(&error).replace("POST /api/v1/sandboxes", "sandbox_create");
        Self::new(code, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_an_answer_with_a_code_and_a_hint_in_the_callers_words() {
        let id = "sbx_0190000000007000800000000000002a".parse().unwrap();
        let error = ServiceError::NotRunning {
            id,
            state: "stopped".to_owned(),
            hint: "make a new one with POST /api/v1/sandboxes".to_owned(),
        };
        let answer = ToolFailure::from(error).answer();
        let said = answer.structured_content.unwrap();
        assert_eq!(answer.is_error, Some(true));
        assert_eq!(said["error_code"], "SANDBOX_NOT_RUNNING");
        assert!(said["message"].as_str().unwrap().ends_with("make a new one with sandbox_create"), "{said}");
    }
}
