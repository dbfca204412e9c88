//! What happens around every handler, in this order: let in, carry out once, in time, counted, with safe headers.

use std::time::Instant;

use axum::{
    body::Body,
    extract::{MatchedPath, Request, State},
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{
    app::App,
    guard, idempotency, observability,
    problem::{Answer, Failure, ProblemCode},
    table::{self, Access, OPEN, Rules},
};

/// Wraps every route.
pub(crate) async fn edge(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let matched = request.extensions().get::<MatchedPath>();
    let found = matched.and_then(|path| table::find(&app.routes, path.as_str(), &method));
    let (route, rules) = found.unwrap_or(("unmatched", Some(OPEN)));
    // A method the path does not have is answered so to everyone.
    let rules = rules.unwrap_or(OPEN);
    let page = observability::page(&request);
    let mut response = match observability::preflight(&request, page.as_ref()) {
        Some(answer) => answer,
        None => carry_out(&app, request, next, rules).await.unwrap_or_else(IntoResponse::into_response),
    };
    observability::allow(&mut response, page);
    let code = response.extensions().get::<ProblemCode>().map(|code| code.0);
    app.metrics.served(&method, route, response.status(), code, began.elapsed());
    harden(&mut response);
    response
}

async fn carry_out(app: &App, mut request: Request, next: Next, rules: Rules) -> Answer<Response> {
    if rules.access == Access::Tell {
        request = guard::check_signature(app, request).await?;
    }
    if let Some(admitted) = guard::admit(app, &request, rules.access)? {
        request.extensions_mut().insert(admitted.who);
        request.extensions_mut().insert(admitted.teller);
    }
    let changes = matches!(*request.method(), Method::POST | Method::PUT);
    let once = changes && request.headers().contains_key(idempotency::HEADER);
    let answer = async {
        if once { idempotency::once(app, request, next).await } else { Ok(next.run(request).await) }
    };
    match rules.time {
        None => answer.await,
        Some(time) => tokio::time::timeout(time, answer).await.unwrap_or_else(|_| {
            let detail = format!("it took longer than the {} seconds allowed", time.as_secs());
            Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "TIMEOUT", detail))
        }),
    }
}

/// Whatever is answered, a browser must not guess what it is, frame it, or tell others where it came from. A page says
/// itself what it needs; everything else needs nothing, not even where a sandbox wrote it.
fn harden(response: &mut Response<Body>) {
    const ALWAYS: [(HeaderName, &str); 3] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox"));
}

/// A path nobody has.
pub(crate) async fn no_route(request: Request) -> Response {
    if observability::is_theirs(&request) {
        observability::greeting()
    } else {
        nothing(&request).into_response()
    }
}

fn nothing(request: &Request) -> Failure {
    let path: String = request.uri().path().chars().take(200).collect();
    Failure::new(StatusCode::NOT_FOUND, "ROUTE_NOT_FOUND", format!("there is nothing at `{path}`"))
        .hint("GET /openapi.json lists every route, /docs shows them")
}

/// A path without such a method.
pub(crate) async fn no_method(request: Request) -> Response {
    if observability::is_theirs(&request) {
        observability::greeting()
    } else {
        not_so(&request).into_response()
    }
}

fn not_so(request: &Request) -> Failure {
    let detail = format!("this path does not know {}", request.method());
    Failure::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", detail)
}
