//! Pages of this machine may use the protocol's paths; pages of other sites may not, whatever they ask.

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderName, HeaderValue, Method, header},
    response::Response,
};

use crate::{
    answer::typed,
    guard::{Peer, is_local},
};

/// What the original answers wherever it knows nothing better, and its start script waits for.
const GREETING: &str = "Multi-Agent Observability Server";

/// Whether a path is the protocol's alone. Without a token in it, it is so only at the address that knows no keys: the
/// dashboard's own page is elsewhere, and a key belongs to no page.
pub(crate) fn is_theirs(request: &Request) -> bool {
    let keyless = request.extensions().get::<Peer>() == Some(&Peer::Keyless);
    keyless || request.uri().path().starts_with("/t/")
}

/// The page of this machine that asks, where one may.
pub(crate) fn page(request: &Request) -> Option<HeaderValue> {
    let origin = request.headers().get(header::ORIGIN)?;
    (is_theirs(request) && is_local(origin.to_str().ok()?)).then(|| origin.clone())
}

/// Answers a browser that asks before it asks.
pub(crate) fn preflight(request: &Request, page: Option<&HeaderValue>) -> Option<Response> {
    page.filter(|_| request.method() == Method::OPTIONS)?;
    Some(Response::new(Body::empty()))
}

/// Lets the page read the answer.
pub(crate) fn allow(response: &mut Response, page: Option<HeaderValue>) {
    const ALLOWED: [(HeaderName, &str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, DELETE, OPTIONS"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "Content-Type"),
        (header::VARY, "Origin"),
    ];
    let Some(page) = page else { return };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, page);
    for (name, value) in ALLOWED {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// The answer to whatever is not asked for anything else.
pub(crate) fn greeting() -> Response {
    typed("text/plain; charset=utf-8", GREETING)
}
