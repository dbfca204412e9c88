//! The one place where what went wrong becomes an HTTP answer (RFC 9457).

use std::error::Error;

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use belljar_api::{FieldProblem, Problem};
use belljar_domain::{ApprovalId, EXIT_DENIED};
use belljar_engine::{changes::RenderError, service::ServiceError};
use belljar_ports::StoreError;

/// Every code there is, and what it means. Programs go by them, so none ever changes.
pub(crate) const CODES: [(&str, &str); 36] = [
    ("APPROVAL_REQUIRED", "A person is asked first; `approval` says where the answer will be."),
    (
        "BUDGET_EXCEEDED",
        "A budget has no room for it; the detail names it, `Retry-After` says when to ask again.",
    ),
    ("CONFLICT", "Something is in the way; the detail says what."),
    ("DISK_FULL", "The sandbox's disk is full."),
    ("EXECUTION_ERROR", "The command could not be started."),
    ("EXECUTION_NOT_FOUND", "There is no such execution in this sandbox."),
    ("EXECUTION_OVER", "The execution is over."),
    ("HOST_NOT_ALLOWED", "The server does not answer to this name; see `server.hosts`."),
    ("IDEMPOTENCY_IN_PROGRESS", "A request with this key is being carried out."),
    ("IDEMPOTENCY_KEY_REUSED", "This key was used for a different request."),
    ("INTERNAL_ERROR", "belljar failed; the log says more."),
    ("INVALID_REQUEST", "The request makes no sense; `errors` names the fields."),
    ("METHOD_NOT_ALLOWED", "The path does not know this method; `Allow` lists those it does."),
    ("NOTHING_LISTENS", "Nothing in the sandbox listens on this port."),
    ("NOT_READY", "Requests cannot be carried out now; `errors` names what is wrong."),
    ("NOT_FOUND", "There is no such thing."),
    ("ORIGIN_NOT_ALLOWED", "The request comes from a page of another site."),
    ("PERMISSION_DENIED", "It is not the caller's to do."),
    ("QUOTA_EXCEEDED", "It would be more than is allowed, and waiting did not help."),
    ("RANGE_NOT_SATISFIABLE", "The file does not have these bytes."),
    ("ROUTE_NOT_FOUND", "There is nothing at this path."),
    ("SANDBOX_ERROR", "The provider failed."),
    ("SANDBOX_NOT_FOUND", "There is no such sandbox."),
    ("SANDBOX_NOT_RUNNING", "The sandbox is in no state for that."),
    ("SIGNATURE_INVALID", "The signature is not of this request, too old, or was used before."),
    ("SIGNATURE_REQUIRED", "Events are taken here only if it is known whose they are."),
    ("STORE_ERROR", "The store failed."),
    ("TIMEOUT", "It took longer than the route allows."),
    ("TOO_LARGE", "It is larger than allowed."),
    ("TOO_MANY_CLIENTS", "As many streams are open as there may be."),
    ("UNAUTHORIZED", "No known key was shown."),
    ("UNAVAILABLE", "The server is shutting down."),
    ("UNSUPPORTED", "This host or provider cannot do it."),
    ("UNSUPPORTED_MEDIA_TYPE", "The body is of another type than the route takes."),
    ("UPGRADE_REQUIRED", "This is a WebSocket."),
    ("BAD_GATEWAY", "What listens in the sandbox did not answer in HTTP."),
];

/// What a handler answers with.
pub(crate) type Answer<T> = Result<T, Failure>;

/// A request that was not carried out.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    status: StatusCode,
    code: &'static str,
    detail: String,
    hint: Option<String>,
    errors: Vec<FieldProblem>,
    exit_code: Option<u8>,
    taken: Option<usize>,
    /// Boxed, for nearly no failure has one, and every answer is as large as a failure.
    approval: Option<Box<ApprovalId>>,
    /// Seconds after which it is worth asking again.
    retry_after: u32,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self {
            status,
            code,
            detail,
            hint: None,
            errors: Vec::new(),
            exit_code: None,
            taken: None,
            approval: None,
            retry_after: 1,
        }
    }

    /// A request that makes no sense.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST", detail)
    }

    /// A field that makes no sense.
    pub(crate) fn field(field: impl Into<String>, message: impl Into<String>) -> Self {
        let (field, message) = (field.into(), message.into());
        let failure = Self::invalid(format!("`{field}`: {message}"));
        Self { errors: vec![FieldProblem { field, message }], ..failure }
    }

    /// A server that cannot do its work, and why.
    pub(crate) fn not_ready(errors: Vec<FieldProblem>) -> Self {
        let each: Vec<_> = errors.iter().map(|wrong| format!("{} {}", wrong.field, wrong.message)).collect();
        let failure = Self::new(StatusCode::SERVICE_UNAVAILABLE, "NOT_READY", each.join("; "));
        Self { errors, ..failure }
    }

    pub(crate) fn missing(what: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", format!("there is no {what}"))
    }

    pub(crate) fn too_large(what: &str, limit: usize) -> Self {
        let detail = format!("{what} is larger than the {limit} bytes allowed");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "TOO_LARGE", detail)
    }

    /// Something that should not happen; the reason is for the log and for whoever reads the answer.
    pub(crate) fn internal(doing: &'static str, error: &(dyn Error + 'static)) -> Self {
        let detail = format!("could not {doing}: {}", chain(error));
        tracing::error!(error = %detail, "request failed");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR", detail)
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) const fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) const fn code(&self) -> &'static str {
        self.code
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    fn problem(self) -> Problem {
        Problem {
            kind: format!("/docs#{}", self.code),
            title: title(self.status).to_owned(),
            status: self.status.as_u16(),
            detail: self.detail,
            code: self.code.to_owned(),
            hint: self.hint,
            errors: self.errors,
            exit_code: self.exit_code,
            taken: self.taken,
            approval: self.approval.map(|id| id.to_string()),
        }
    }
}

fn title(status: StatusCode) -> &'static str {
    status.canonical_reason().unwrap_or("Problem")
}

/// An error with everything that caused it, each said once.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        source = cause.source();
    }
    text
}

/// Tells the metrics which code an answer carries, so that they need not read its body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProblemCode(pub(crate) &'static str);

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, code) = (self.status, self.code);
        let again = self.retry_after;
        let body = serde_json::to_vec(&self.problem()).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        response.extensions_mut().insert(ProblemCode(code));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        match status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(again));
            }
            _ => {}
        }
        response
    }
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        let status = match &error {
            ServiceError::NoSandbox(_) | ServiceError::NoExecution(_) | ServiceError::NotFound(_) => {
                StatusCode::NOT_FOUND
            }
            ServiceError::NotRunning { .. }
            | ServiceError::Over(_)
            | ServiceError::Unread { .. }
            | ServiceError::ApprovalRequired { .. }
            | ServiceError::Conflict(_) => StatusCode::CONFLICT,
            ServiceError::Invalid(_) => StatusCode::BAD_REQUEST,
            // Understood, and impossible here: not a fault of the server, so not in the 500s.
            ServiceError::Command { .. } | ServiceError::Unsupported(_) => StatusCode::UNPROCESSABLE_ENTITY,
            ServiceError::Quota(_) | ServiceError::Budget { .. } => StatusCode::TOO_MANY_REQUESTS,
            ServiceError::Denied(_) | ServiceError::Refused { .. } => StatusCode::FORBIDDEN,
            ServiceError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ServiceError::Behind(_) | ServiceError::Closing => StatusCode::SERVICE_UNAVAILABLE,
            ServiceError::Store(_) | ServiceError::Provider { .. } => {
                tracing::error!(code = error.code(), error = %chain(&error), "request failed");
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        let failure = Self::new(status, error.code(), chain(&error));
        match error {
            ServiceError::Command { exit_code, .. } => Self { exit_code: Some(exit_code), ..failure },
            ServiceError::Refused { .. } => Self { exit_code: Some(EXIT_DENIED), ..failure }
                .hint("`belljar approvals list` shows what waits for a person, guardian.toml what is ruled"),
            ServiceError::ApprovalRequired { id, .. } => {
                let hint = format!(
                    "wait for it with POST /api/v1/approvals/{id}/wait, then make the same request again; \
                     `belljar approvals allow {id}` answers it"
                );
                Self { approval: Some(Box::new(id)), exit_code: Some(EXIT_DENIED), ..failure }.hint(hint)
            }
            ServiceError::Budget { budget, retry_after, .. } => Self {
                retry_after: u32::try_from(retry_after).unwrap_or(u32::MAX),
                ..failure
            }
            .hint(format!(
                "`belljar budget status` shows how far it is used, `belljar budget set {budget}` raises it"
            )),
            ServiceError::Unread { taken, .. } => Self { taken: Some(taken), ..failure },
            _ => failure,
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        ServiceError::from(error).into()
    }
}

impl From<RenderError> for Failure {
    fn from(error: RenderError) -> Self {
        match &error {
            // The host's directory or the sandbox's disk went away since: a state of the world, told as such.
            RenderError::Workspace { .. } | RenderError::Host { .. } | RenderError::Sandbox { .. } => {
                Self::new(StatusCode::CONFLICT, "CONFLICT", chain(&error))
            }
            RenderError::Output(_) => Self::internal("write the diff", &error),
        }
    }
}
