//! What handlers take out of a request, each with its own bound and its own words when it is wrong.

mod body;
mod ids;
mod query;

use std::{convert::Infallible, sync::Arc};

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, StatusCode, header, request::Parts},
};
use belljar_capture::Pass;
use belljar_domain::Principal;
use belljar_engine::service::{Identity, Proof};

pub(crate) use body::{JsonBody, JsonBytes, OptionalJson, RawBody, is_json, parse, read, read_within};
pub(crate) use ids::{
    Approval, Artifact, Execution, FilePath, Named, Run, Sandbox, Snapshot, Vendor, Webhook, path_inside,
};
pub(crate) use query::{Query, cursor, limit, moment, parsed};

use crate::problem::Failure;

/// On whose behalf a request is carried out.
#[derive(Debug)]
pub(crate) struct Caller(pub(crate) Arc<Principal>);

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let known = parts.extensions.get::<Arc<Principal>>().cloned();
        known
            .map(Self)
            .ok_or_else(|| Failure::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", "no key was shown"))
    }
}

/// Who tells something, where that is known and not claimed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Teller {
    /// The pass of the sandbox it comes from.
    pub(crate) pass: Option<Arc<Pass>>,
    /// Whose signature it has.
    pub(crate) sender: Option<Arc<str>>,
}

impl Teller {
    pub(crate) const fn is_nobody(&self) -> bool {
        self.pass.is_none() && self.sender.is_none()
    }
}

impl Teller {
    /// Who tells something, for the gate: what the key, the pass or the signature says, and nothing the body does.
    pub(crate) fn identity(&self, who: &Principal) -> Identity {
        let proof = match (&self.pass, &self.sender) {
            (Some(pass), _) => Proof::Pass(pass.sandbox),
            (None, Some(sender)) => Proof::Signature(sender.to_string()),
            (None, None) => Proof::Key,
        };
        let agent = self.pass.as_ref().and_then(|pass| pass.agent.clone());
        Identity { principal: who.clone(), proof, agent }
    }
}

impl<S: Sync> FromRequestParts<S> for Teller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

/// Which media types the client would like.
#[derive(Debug)]
pub(crate) struct Accepts(HeaderMap);

impl<S: Sync> FromRequestParts<S> for Accepts {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let wanted =
            parts.headers.get_all(header::ACCEPT).iter().map(|value| (header::ACCEPT, value.clone()));
        Ok(Self(wanted.collect()))
    }
}

impl Accepts {
    /// Says whether one is asked for by name.
    pub(crate) fn names(&self, media_type: &str) -> bool {
        let lines = self.0.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let mut types = lines.flat_map(|line| line.split(',')).filter_map(|item| item.split(';').next());
        types.any(|item| item.trim().eq_ignore_ascii_case(media_type))
    }
}
