//! Who is let in: the right name called, no page of another site behind it, a key that is known.
//!
//! Owns: every check before a handler runs. Refuses: to say what a caller may do; that is the service's, by `Principal`.

mod denials;
mod hosts;
mod key;
mod nonces;
mod origin;
mod senders;
mod sessions;

use std::{sync::Arc, time::SystemTime};

use axum::{
    body::Body,
    http::{HeaderMap, Request, StatusCode, header},
};
use belljar_capture::Pass;
use belljar_domain::Principal;

pub(crate) use denials::Denials;
pub(crate) use hosts::{Named, named};
pub use key::KeyError;
pub(crate) use key::{Key, random_key, text as key_text};
pub(crate) use nonces::Nonces;
pub(crate) use origin::is_local;
pub(crate) use senders::{Signed, check as check_signature};
pub(crate) use sessions::{Sessions, clear_cookie, cookie};

use crate::{
    app::App,
    extract::Teller,
    problem::{Answer, Failure},
    table::Access,
};

/// Where a connection comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// The network, which is this machine's loopback.
    Tcp,
    /// The address for programs that know no keys, which is on loopback as well. It watches and tells, nothing else.
    Keyless,
    /// The socket in belljar's home; the kernel says whose process it is.
    Unix {
        /// The user.
        uid: u32,
    },
}

/// Whom a request is carried out for.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) who: Arc<Principal>,
    /// As whom they tell events, where that is known.
    pub(crate) teller: Teller,
}

/// What somebody showed, and so how far they are let in.
enum Shown {
    /// Everywhere.
    Key(Arc<Principal>),
    /// To watch and to tell.
    Watcher(Arc<Principal>),
    /// To tell.
    Pass(Arc<Pass>),
    /// To tell as well, by a signature.
    Signature(Arc<str>),
}

/// Lets a request in on somebody's behalf, or as nobody where that is enough.
pub(crate) fn admit(app: &App, request: &Request<Body>, access: Access) -> Answer<Option<Admitted>> {
    let peer = request.extensions().get::<Peer>().copied().unwrap_or(Peer::Tcp);
    let token = token(request.uri().path());
    match peer {
        Peer::Tcp => {
            hosts::check(&app.settings.hosts, request)?;
            if token.is_some() { origin::check_local(request)? } else { origin::check(request)? }
        }
        Peer::Keyless => {
            hosts::check(&[], request)?;
            origin::check_local(request)?;
        }
        Peer::Unix { .. } => {}
    }
    let signed = request.extensions().get::<Signed>().cloned();
    let shown = match signed {
        Some(Signed(sender)) => Ok(Shown::Signature(sender)),
        None => identify(app, peer, token, request.headers()),
    };
    let shown = shown.and_then(|shown| within(shown, access)).and_then(|admitted| {
        let must_sign =
            app.settings.signed_only && access == Access::Tell && !matches!(peer, Peer::Unix { .. });
        if must_sign && admitted.teller.is_nobody() { Err(senders::required()) } else { Ok(admitted) }
    });
    match (shown, access) {
        (Ok(admitted), _) => Ok(Some(admitted)),
        (Err(_), Access::Open | Access::Page) => Ok(None),
        (Err(failure), Access::Key | Access::Watch | Access::Tell) => {
            app.denials.tell(app, (request.method(), request.uri()), &failure);
            Err(failure)
        }
    }
}

/// The token in a path of the form `/t/TOKEN/…`.
fn token(path: &str) -> Option<&str> {
    path.strip_prefix("/t/").and_then(|rest| rest.split('/').next())
}

fn within(shown: Shown, access: Access) -> Answer<Admitted> {
    let refused = |what: &str| {
        let detail = format!("what was shown lets one {what}, and nothing else");
        Err(Failure::new(StatusCode::FORBIDDEN, "PERMISSION_DENIED", detail))
    };
    match (shown, access) {
        (Shown::Key(who), _)
        | (Shown::Watcher(who), Access::Open | Access::Page | Access::Watch | Access::Tell) => {
            Ok(Admitted { who, teller: Teller::default() })
        }
        (Shown::Pass(pass), Access::Open | Access::Page | Access::Tell) => {
            let (project, name) = (pass.project.clone(), pass.sandbox.to_string());
            let who = Arc::new(Principal { project, name, admin: false });
            Ok(Admitted { who, teller: Teller { pass: Some(pass), sender: None } })
        }
        (Shown::Signature(sender), Access::Open | Access::Page | Access::Tell) => {
            let who = Arc::new(Principal { admin: false, ..Principal::admin(&sender) });
            Ok(Admitted { who, teller: Teller { pass: None, sender: Some(sender) } })
        }
        (Shown::Watcher(_), Access::Key) => refused("watch and tell events"),
        (Shown::Signature(_), Access::Key | Access::Watch) => refused("tell events"),
        (Shown::Pass(_), Access::Key | Access::Watch) => refused("tell the events of one sandbox"),
    }
}

/// Finds out who asks. A pass that is shown counts before everything else: a sandbox is that sandbox by whatever way it
/// comes.
fn identify(app: &App, peer: Peer, token: Option<&str>, headers: &HeaderMap) -> Answer<Shown> {
    let key = shown_key(headers);
    if let Some(text) = token.or(key).filter(|text| Pass::is_meant(text)) {
        let read = Pass::read(text, &app.settings.pass_key, SystemTime::now().into());
        return read
            .map(|pass| Shown::Pass(Arc::new(pass)))
            .map_err(|error| unauthorized(&error.to_string()));
    }
    if let Some(token) = token {
        return if app.watch_key.is(token) {
            Ok(Shown::Watcher(Arc::clone(app.watch_key.principal())))
        } else {
            Err(unauthorized("the token in the path is not known"))
        };
    }
    match (peer, key) {
        (Peer::Unix { uid }, _) => neighbour(uid),
        (Peer::Keyless, _) => Ok(Shown::Watcher(Arc::clone(app.watch_key.principal()))),
        (Peer::Tcp, Some(key)) if app.key.is(key) => Ok(Shown::Key(Arc::clone(app.key.principal()))),
        (Peer::Tcp, Some(key)) if app.watch_key.is(key) => {
            Ok(Shown::Watcher(Arc::clone(app.watch_key.principal())))
        }
        (Peer::Tcp, Some(_)) => Err(unauthorized("the key is not known")),
        (Peer::Tcp, None) if app.sessions.knows(headers) => Ok(Shown::Key(Arc::clone(app.key.principal()))),
        (Peer::Tcp, None) => Err(unauthorized("no key was shown")),
    }
}

fn neighbour(uid: u32) -> Answer<Shown> {
    let own = rustix::process::geteuid().as_raw();
    if uid == 0 || uid == own {
        return Ok(Shown::Key(Arc::new(Principal::admin(&format!("uid:{uid}")))));
    }
    let detail = format!("user {uid} may not use this socket; it is for user {own} and root");
    Err(Failure::new(StatusCode::FORBIDDEN, "PERMISSION_DENIED", detail))
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

/// Takes our own keys out of a request that goes on into a sandbox.
pub(crate) fn strip_key(app: &App, headers: &mut HeaderMap) {
    let is_ours = |key: &str| app.key.is(key) || app.watch_key.is(key) || Pass::is_meant(key);
    if shown_key(headers).is_some_and(is_ours) {
        headers.remove(header::AUTHORIZATION);
        headers.remove("x-api-key");
    }
}
