//! What a browser shows when a preview cannot be shown.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use belljar_domain::SandboxId;

use crate::{openapi::page::escaped, problem::Failure};

/// The reason as a page that looks again by itself.
pub(super) fn explain(failure: &Failure, id: SandboxId, port: u16) -> Response {
    let status = failure.clone().into_response().status();
    let again =
        if status == StatusCode::BAD_GATEWAY { "<meta http-equiv=\"refresh\" content=\"2\">" } else { "" };
    let html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">{again}<title>port {port}</title></head>\
         <body><h1>Port {port}</h1><p>{}</p><p>Sandbox <code>{id}</code></p></body></html>",
        escaped(failure.detail())
    );
    let policy = "default-src 'none'; frame-ancestors 'none'";
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (status, headers, html).into_response()
}
