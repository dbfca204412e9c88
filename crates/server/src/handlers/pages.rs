//! What people read in a browser: the document, its page, the login.

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use belljar_api as api;

use crate::{
    answer::typed,
    app::App,
    extract::Query,
    guard::{clear_cookie, cookie, random_key},
    openapi,
    problem::{Answer, Failure},
};

/// Pages of ours: a style of ours, no script, nothing from elsewhere.
const PAGE_POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The OpenAPI document.
#[utoipa::path(get, path = "/openapi.json", tag = "server", security(()), responses((status = 200, body = serde_json::Value)))]
pub(crate) async fn document() -> Response {
    typed("application/json", openapi::json())
}

/// The OpenAPI document, beside what it describes.
#[utoipa::path(get, path = "/api/v1/openapi.json", tag = "server", security(()), responses((status = 200, body = serde_json::Value)))]
pub(crate) async fn document_alias() -> Response {
    document().await
}

/// The document as a page.
#[utoipa::path(get, path = "/docs", tag = "server", security(()), responses((status = 200, body = String, content_type = "text/html")))]
pub(crate) async fn docs() -> Response {
    page(typed("text/html; charset=utf-8", openapi::page()))
}

/// The style of our pages.
#[utoipa::path(get, path = "/docs/style.css", tag = "server", security(()), responses((status = 200, body = String, content_type = "text/css")))]
pub(crate) async fn style() -> Response {
    typed("text/css; charset=utf-8", include_str!("../openapi/style.css"))
}

fn page(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    response
}

/// Logs a browser in with a key that works once, then shows the dashboard.
#[utoipa::path(get, path = "/login", tag = "server", security(()), params(api::LoginQuery), responses((status = 303)))]
pub(crate) async fn login(State(app): State<App>, Query(query): Query<api::LoginQuery>) -> Answer<Response> {
    let session = random_key().map_err(|error| Failure::internal("make a session", &error))?;
    if !app.sessions.login(query.key.as_deref().unwrap_or_default(), &session) {
        return Err(Failure::new(
            StatusCode::UNAUTHORIZED,
            "UNAUTHORIZED",
            "this link was used before, or never was one",
        )
        .hint("`belljar serve` prints a fresh link at every start"));
    }
    Ok(away(&cookie(&session)))
}

/// Logs a browser out.
#[utoipa::path(post, path = "/logout", tag = "server", security(()), responses((status = 303)))]
pub(crate) async fn logout(State(app): State<App>, headers: HeaderMap) -> Response {
    app.sessions.logout(&headers);
    away(&clear_cookie())
}

fn away(cookie: &str) -> Response {
    let cookie = HeaderValue::from_str(cookie).unwrap_or(HeaderValue::from_static(""));
    let to = HeaderValue::from_static("/");
    (StatusCode::SEE_OTHER, [(header::SET_COOKIE, cookie), (header::LOCATION, to)]).into_response()
}
