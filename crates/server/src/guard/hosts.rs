//! Names under which the server may be called.
//!
//! A page of another site can point a name of its own at this machine and then read our answers as its own (DNS
//! rebinding). It cannot choose the `Host` its browser sends, so only names that are ours are answered.

use std::net::IpAddr;

use axum::{
    body::Body,
    http::{Request, StatusCode, header, uri::Authority},
};
use belljar_domain::SandboxId;

use crate::problem::{Answer, Failure};

/// What a request was sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// The server.
    Server,
    /// A port inside a sandbox: `{port}-{id}.localhost`.
    Preview {
        /// The port.
        port: u16,
        /// The sandbox.
        id: SandboxId,
    },
}

/// Reads what a request was sent to.
pub(crate) fn named(request: &Request<Body>) -> Named {
    let preview = || {
        let (label, rest) = host(request)?.split_once('.')?;
        let (port, id) = label.split_once('-')?;
        let is_ours = rest == "localhost";
        Some((port.parse().ok().filter(|_| is_ours)?, id.to_ascii_lowercase().parse().ok()?))
    };
    preview().map_or(Named::Server, |(port, id)| Named::Preview { port, id })
}

/// Refuses names that are not ours.
pub(super) fn check(configured: &[String], request: &Request<Body>) -> Answer<()> {
    let Some(host) = host(request) else {
        return Err(Failure::invalid("the request names no host"));
    };
    if is_loopback(host) || configured.iter().any(|name| name.eq_ignore_ascii_case(host)) {
        return Ok(());
    }
    let shown: String = host.chars().take(80).collect();
    let detail = format!("this server does not answer to the name `{shown}`");
    Err(Failure::new(StatusCode::MISDIRECTED_REQUEST, "HOST_NOT_ALLOWED", detail)
        .hint("call it localhost or 127.0.0.1, or list the name under `server.hosts`"))
}

/// The host a request names, without its port.
fn host(request: &Request<Body>) -> Option<&str> {
    let named = request.headers().get(header::HOST).and_then(|value| value.to_str().ok());
    named.or_else(|| request.uri().authority().map(Authority::as_str)).map(without_port)
}

pub(super) fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !host.ends_with(':') => host,
        _ => authority,
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let lower = bare.to_ascii_lowercase();
    lower == "localhost"
        || lower.ends_with(".localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(host: &str) -> Request<Body> {
        Request::builder().header("host", host).body(Body::empty()).unwrap()
    }

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let configured = ["belljar.example".to_owned()];
        for host in
            ["localhost", "LOCALHOST:1", "127.0.0.1:7420", "[::1]:7420", "a.localhost", "belljar.example:80"]
        {
            assert!(check(&configured, &asked(host)).is_ok(), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "127.0.0.1.evil.example",
            "[2001:db8::1]",
            "",
        ] {
            assert!(check(&configured, &asked(host)).is_err(), "{host}");
        }
        assert!(check(&configured, &Request::new(Body::empty())).is_err());
    }

    #[test]
    fn a_preview_names_a_port_and_a_sandbox() {
        let id = "sbx_0190000000007000800000000000002a";
        let found = named(&asked(&format!("5173-{id}.localhost:7420")));
        assert_eq!(found, Named::Preview { port: 5173, id: id.parse().unwrap() });
        for host in [
            "localhost",
            &format!("5173-{id}.evil.example"),
            &format!("99999-{id}.localhost"),
            "80-sbx_.localhost",
        ] {
            assert_eq!(named(&asked(host)), Named::Server, "{host}");
        }
    }
}
