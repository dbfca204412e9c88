//! What the path of a request names: sandboxes, executions, snapshots, artifacts, files inside.

use std::fmt::Display;

use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::{StatusCode, request::Parts},
};
use belljar_capture::Agent;
use belljar_domain::{ApprovalId, Digest, ExecutionId, RunId, SandboxId, SandboxPath, SnapshotId};

use crate::problem::{Answer, Failure};

/// The most bytes of a path, and of each of its parts, as in every kernel this runs on.
const LONGEST_PATH: usize = 4096;
const LONGEST_NAME: usize = 255;

/// A sandbox by its id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sandbox(pub(crate) SandboxId);

/// An execution, and the sandbox it is said to be in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Execution(pub(crate) SandboxId, pub(crate) ExecutionId);

/// A snapshot by its id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Snapshot(pub(crate) SnapshotId);

/// An artifact by its content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Artifact(pub(crate) Digest);

/// An approval by its id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Approval(pub(crate) ApprovalId);

/// A run by its id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run(pub(crate) RunId);

/// A webhook by its id.
#[derive(Debug, Clone)]
pub(crate) struct Webhook(pub(crate) String);

/// The program whose hook it is, by its name.
#[derive(Debug, Clone)]
pub(crate) struct Vendor(pub(crate) Agent);

/// Something by the name others gave it.
#[derive(Debug, Clone)]
pub(crate) struct Named(pub(crate) String);

/// A path in a sandbox.
#[derive(Debug, Clone)]
pub(crate) struct FilePath(pub(crate) SandboxId, pub(crate) SandboxPath);

/// The parts of the path the route names, decoded.
async fn named(parts: &mut Parts) -> Answer<Vec<(String, String)>> {
    let params = RawPathParams::from_request_parts(parts, &()).await;
    let params = params.map_err(|_wrong| Failure::invalid("the path is not valid UTF-8"))?;
    Ok(params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

fn part<'a>(params: &'a [(String, String)], name: &str) -> &'a str {
    params.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str()).unwrap_or_default()
}

fn unknown(code: &'static str) -> impl Fn(&dyn Display) -> Failure {
    move |error| Failure::new(StatusCode::NOT_FOUND, code, error.to_string())
}

fn sandbox(params: &[(String, String)]) -> Answer<SandboxId> {
    part(params, "id").parse().map_err(|error| unknown("SANDBOX_NOT_FOUND")(&error))
}

macro_rules! extracted {
    ($name:ident, |$params:ident| $make:expr) => {
        impl<S: Sync> FromRequestParts<S> for $name {
            type Rejection = Failure;

            async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
                let $params = named(parts).await?;
                $make
            }
        }
    };
}

extracted!(Sandbox, |params| sandbox(&params).map(Self));
extracted!(Execution, |params| {
    let execution = part(&params, "exe").parse();
    Ok(Self(sandbox(&params)?, execution.map_err(|error| unknown("EXECUTION_NOT_FOUND")(&error))?))
});
extracted!(Snapshot, |params| part(&params, "id")
    .parse()
    .map(Self)
    .map_err(|error| unknown("NOT_FOUND")(&error)));
extracted!(Artifact, |params| part(&params, "digest")
    .parse()
    .map(Self)
    .map_err(|error| unknown("NOT_FOUND")(&error)));
extracted!(Approval, |params| part(&params, "id")
    .parse()
    .map(Self)
    .map_err(|error| unknown("NOT_FOUND")(&error)));
extracted!(Run, |params| part(&params, "id").parse().map(Self).map_err(|error| unknown("NOT_FOUND")(&error)));
extracted!(Webhook, |params| Ok(Self(part(&params, "id").to_owned())));
extracted!(Named, |params| Ok(Self(part(&params, "id").to_owned())));
extracted!(Vendor, |params| Ok(Self(Agent::from(part(&params, "agent")))));
extracted!(FilePath, |params| Ok(Self(sandbox(&params)?, path_inside("path", part(&params, "path"))?)));

/// A path inside a sandbox, as a client writes it: from the root, with or without the first `/`.
pub(crate) fn path_inside(field: &str, text: &str) -> Answer<SandboxPath> {
    let too_long = |what, limit| Err(Failure::field(field, format!("{what} is longer than {limit} bytes")));
    if text.len() > LONGEST_PATH {
        return too_long("the path", LONGEST_PATH);
    }
    if text.split('/').any(|name| name.len() > LONGEST_NAME) {
        return too_long("a name in it", LONGEST_NAME);
    }
    SandboxPath::new(format!("/{text}")).map_err(|error| Failure::field(field, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_and_within_bounds() {
        for (text, wanted) in
            [("", "/"), ("a/b", "/a/b"), ("/a//b/./c", "/a/b/c"), ("etc/passwd", "/etc/passwd")]
        {
            assert_eq!(path_inside("path", text).unwrap().to_string(), wanted);
        }
        let (name, path) = ("n".repeat(256), "a/".repeat(2500));
        for text in ["..", "a/../../etc", "a\0b", "/..", &name, &path] {
            assert!(path_inside("path", text).is_err(), "{text:.40}");
        }
    }
}
