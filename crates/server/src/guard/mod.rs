//! Who is let in: the right name called, no page of another site behind it, a key that is known.
//!
//! Owns: every check before a handler runs. Refuses: to say what a caller may do; that is the service's, by `Principal`.

mod denials;
mod hosts;
mod key;
mod origin;
mod sessions;

use std::sync::Arc;

use axum::{
    body::Body,
    http::{HeaderMap, Request, StatusCode, header},
};
use belljar_domain::Principal;

pub(crate) use denials::Denials;
pub(crate) use hosts::{Named, named};
pub use key::KeyError;
pub(crate) use key::{AdminKey, random_key};
pub(crate) use sessions::{Sessions, clear_cookie, cookie};

use crate::{
    app::App,
    problem::{Answer, Failure},
    table::Access,
};

/// Where a connection comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// The network, which is this machine's loopback.
    Tcp,
    /// The socket in belljar's home; the kernel says whose process it is.
    Unix {
        /// The user.
        uid: u32,
    },
}

/// Lets a request in on somebody's behalf, or as nobody where that is enough.
pub(crate) fn admit(app: &App, request: &Request<Body>, access: Access) -> Answer<Option<Arc<Principal>>> {
    let peer = request.extensions().get::<Peer>().copied().unwrap_or(Peer::Tcp);
    if peer == Peer::Tcp {
        hosts::check(&app.settings.hosts, request)?;
        origin::check(request)?;
    }
    match (identify(app, peer, request.headers()), access) {
        (Ok(who), _) => Ok(Some(who)),
        (Err(_), Access::Open) => Ok(None),
        (Err(failure), Access::Key) => {
            app.denials.tell(app, request, &failure);
            Err(failure)
        }
    }
}

fn identify(app: &App, peer: Peer, headers: &HeaderMap) -> Answer<Arc<Principal>> {
    if let Peer::Unix { uid } = peer {
        let own = rustix::process::geteuid().as_raw();
        return if uid == 0 || uid == own {
            Ok(Arc::new(Principal::admin(&format!("uid:{uid}"))))
        } else {
            let detail = format!("user {uid} may not use this socket; it is for user {own} and root");
            Err(Failure::new(StatusCode::FORBIDDEN, "PERMISSION_DENIED", detail))
        };
    }
    match shown_key(headers) {
        Some(key) if app.key.is(key) => Ok(Arc::clone(app.key.principal())),
        Some(_) => Err(unauthorized("the key is not known")),
        None if app.sessions.knows(headers) => Ok(Arc::clone(app.key.principal())),
        None => Err(unauthorized("no key was shown")),
    }
}

fn shown_key(headers: &HeaderMap) -> Option<&str> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer =
        bearer.and_then(|value| value.strip_prefix("Bearer ").or_else(|| value.strip_prefix("bearer ")));
    bearer.or_else(|| headers.get("x-api-key").and_then(|value| value.to_str().ok())).map(str::trim)
}

fn unauthorized(detail: &str) -> Failure {
    Failure::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", detail).hint(
        "send `Authorization: Bearer KEY` with the key in admin.key in belljar's home, or use the socket there",
    )
}

/// Takes our own key out of a request that goes on into a sandbox.
pub(crate) fn strip_key(app: &App, headers: &mut HeaderMap) {
    if shown_key(headers).is_some_and(|key| app.key.is(key)) {
        headers.remove(header::AUTHORIZATION);
        headers.remove("x-api-key");
    }
}
