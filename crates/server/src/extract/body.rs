//! Bodies: JSON with the path of what is wrong in it, or bytes.

use std::time::Duration;

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{FromRequest, Request},
    http::{HeaderMap, StatusCode, header},
};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::problem::{Answer, Failure};

/// The most bytes of a body that is held in memory.
const LIMIT: usize = 4 * 1024 * 1024;

/// How long a body that is held in memory may take to arrive: whoever drips it would hold it, and the place of its
/// request, for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads a whole body that is held in memory.
pub(crate) async fn read(body: Body) -> Answer<Bytes> {
    read_within(body, LIMIT).await
}

/// Reads a whole body of at most so many bytes.
pub(crate) async fn read_within(body: Body, limit: usize) -> Answer<Bytes> {
    let Ok(read) = timeout(PATIENCE, to_bytes(body, limit)).await else {
        let detail = format!("the body took longer than the {} seconds allowed", PATIENCE.as_secs());
        return Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "TIMEOUT", detail));
    };
    read.map_err(|error| {
        let too_long = std::error::Error::source(&error)
            .is_some_and(<dyn std::error::Error>::is::<http_body_util::LengthLimitError>);
        if too_long {
            Failure::too_large("the body", limit)
        } else {
            Failure::invalid("the body did not arrive whole")
        }
    })
}

/// A body that must be there.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        is_json(&parts.headers)?;
        parse(&read(body).await?).map(Self)
    }
}

/// A body that must be JSON, for whoever reads it themselves.
#[derive(Debug)]
pub(crate) struct JsonBytes(pub(crate) Bytes);

impl<S: Sync> FromRequest<S> for JsonBytes {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        is_json(&parts.headers)?;
        read(body).await.map(Self)
    }
}

/// A body that may be left out.
#[derive(Debug)]
pub(crate) struct OptionalJson<T>(pub(crate) T);

impl<T: DeserializeOwned + Default, S: Sync> FromRequest<S> for OptionalJson<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        let bytes = read(body).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        is_json(&parts.headers)?;
        parse::<Option<T>>(&bytes).map(|value| Self(value.unwrap_or_default()))
    }
}

/// Bytes as they are, held in memory.
#[derive(Debug)]
pub(crate) struct RawBody(pub(crate) Bytes);

impl<S: Sync> FromRequest<S> for RawBody {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self, Failure> {
        read(request.into_body()).await.map(Self)
    }
}

/// A form a page of another site may send without asking never counts as JSON.
pub(crate) fn is_json(headers: &HeaderMap) -> Answer<()> {
    let named = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = named.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json =
        essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"));
    if is_json {
        return Ok(());
    }
    let detail = format!("the body must be JSON, not `{}`", essence.chars().take(80).collect::<String>());
    Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", detail)
        .hint("send `Content-Type: application/json`"))
}

/// Reads JSON, and names the path of what is wrong in it.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Answer<T> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let message = error.inner().to_string();
        if matches!(path.as_str(), "." | "?") {
            Failure::invalid(format!("the body is not what was expected: {message}"))
        } else {
            Failure::field(path, message)
        }
    })?;
    json.end().map_err(|error| Failure::invalid(format!("there is something after the JSON: {error}")))?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use belljar_api::CreateSandbox;

    use super::*;

    #[test]
    fn what_is_wrong_is_named_by_its_path() {
        for (text, named) in [
            (r#"{"limits": {"memory_bytes": "lots"}}"#, "`limits.memory_bytes`: invalid type"),
            (r#"{"mounts": [{"host": "/a", "sandbox": "/b", "mode": "x"}]}"#, "`mounts[0].mode`"),
            (r#"{"tempalte": "host"}"#, "unknown field `tempalte`"),
            (r#"{"#, "not what was expected"),
            (r#"{} {}"#, "something after"),
        ] {
            let failure = parse::<CreateSandbox>(text.as_bytes()).unwrap_err();
            assert!(failure.detail().contains(named), "{text}: {}", failure.detail());
        }
    }
}
