//! Pages of other sites may not act here with a browser's session.
//!
//! A browser says which page a request that changes something, or a WebSocket, comes from. Programs say nothing, and
//! are asked for a key anyway.

use axum::{
    body::Body,
    http::{Method, Request, StatusCode, header},
};

use crate::problem::{Answer, Failure};

/// Refuses what comes from the page of another site.
pub(super) fn check(request: &Request<Body>) -> Answer<()> {
    let only_reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let text =
        |name: header::HeaderName| request.headers().get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_upgrade = text(header::UPGRADE).is_some();
    if only_reads && !is_upgrade {
        return Ok(());
    }
    let fetched_by = text(header::HeaderName::from_static("sec-fetch-site"));
    let foreign_fetch = fetched_by.is_some_and(|site| site != "same-origin" && site != "none");
    let foreign_page = text(header::ORIGIN).is_some_and(|origin| !is_own(origin, text(header::HOST)));
    if foreign_fetch || foreign_page {
        let detail = "the request comes from a page of another site";
        return Err(Failure::new(StatusCode::FORBIDDEN, "ORIGIN_NOT_ALLOWED", detail));
    }
    Ok(())
}

/// Refuses what comes from a page that is not of this machine. For those who are let in by something no page of another
/// site can know, and whose own page is served by a program beside this one.
pub(super) fn check_local(request: &Request<Body>) -> Answer<()> {
    match request.headers().get(header::ORIGIN).map(|value| value.to_str().unwrap_or("?")) {
        Some(origin) if !is_local(origin) => {
            let detail = "the request comes from a page of another site";
            Err(Failure::new(StatusCode::FORBIDDEN, "ORIGIN_NOT_ALLOWED", detail))
        }
        _ => Ok(()),
    }
}

/// Says whether a page is of this machine and not of a sandbox: previews have names below `localhost`.
pub(crate) fn is_local(origin: &str) -> bool {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    let host = authority.map(super::hosts::without_port);
    host.is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]"))
}

/// Says whether a page was served under the very name and port the request goes to.
fn is_own(origin: &str, host: Option<&str>) -> bool {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    authority.is_some() && authority == host
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, headers: &[(&str, &str)]) -> Request<Body> {
        let start = Request::builder().method(method).header("host", "localhost:7420");
        headers
            .iter()
            .fold(start, |request, (name, value)| request.header(*name, *value))
            .body(Body::empty())
            .unwrap()
    }

    #[test]
    fn pages_of_other_sites_are_kept_out() {
        for (method, headers) in [
            ("POST", &[("origin", "http://evil.example")][..]),
            ("POST", &[("origin", "null")]),
            ("DELETE", &[("origin", "http://localhost:9999")]),
            ("POST", &[("origin", "http://5173-sbx_1.localhost:7420")]),
            ("POST", &[("sec-fetch-site", "cross-site")]),
            ("GET", &[("upgrade", "websocket"), ("origin", "http://evil.example")]),
        ] {
            assert!(check(&asked(method, headers)).is_err(), "{method} {headers:?}");
        }
    }

    #[test]
    fn pages_of_this_machine_are_told_from_those_of_sandboxes() {
        for origin in ["http://localhost:5173", "http://127.0.0.1:80", "https://localhost", "http://[::1]:1"]
        {
            assert!(check_local(&asked("POST", &[("origin", origin)])).is_ok(), "{origin}");
        }
        for origin in [
            "http://5173-sbx_1.localhost:7420",
            "http://localhost.evil.example",
            "http://evil.example:80",
            "null",
            "localhost",
            "http://localhost:80@evil.example",
            "",
        ] {
            assert!(check_local(&asked("POST", &[("origin", origin)])).is_err(), "{origin}");
        }
        assert!(check_local(&asked("POST", &[])).is_ok());
    }

    #[test]
    fn programs_and_own_pages_pass() {
        for (method, headers) in [
            ("POST", &[][..]),
            ("POST", &[("origin", "http://localhost:7420"), ("sec-fetch-site", "same-origin")]),
            ("GET", &[("upgrade", "websocket"), ("origin", "http://localhost:7420")]),
            ("GET", &[("origin", "http://evil.example")]),
        ] {
            assert!(check(&asked(method, headers)).is_ok(), "{method} {headers:?}");
        }
    }
}
