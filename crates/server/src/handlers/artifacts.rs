//! Files kept beside the ledger, by their content.

use std::{sync::Arc, time::SystemTime};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use belljar_api as api;
use belljar_ports::store::{ArtifactFilter, NewArtifact};

use super::transfer;
use crate::{
    answer::{Json, created, page, typed},
    app::App,
    extract::{Artifact, Caller, Query, cursor, limit, parsed},
    problem::{Answer, Failure},
    wire,
};

/// Lists artifacts, newest first.
#[utoipa::path(get, path = "/api/v1/artifacts", tag = "artifacts", params(api::ArtifactQuery),
    responses((status = 200, body = api::Page<api::Artifact>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::ArtifactQuery>,
) -> Answer<Json<api::Page<api::Artifact>>> {
    let (limit, below) = (limit(query.limit)?, cursor(query.cursor.as_deref())?);
    let filter = ArtifactFilter {
        project: who.scope(),
        sandbox: parsed("sandbox_id", query.sandbox_id.as_deref())?,
        execution: parsed("execution_id", query.execution_id.as_deref())?,
        run: parsed("run_id", query.run_id.as_deref())?,
        digest: None,
    };
    let store = Arc::clone(app.service.store());
    let rows = app.blocking(move || Ok(store.artifacts(&filter, below, limit)?)).await?;
    Ok(page(rows, limit, |artifact| artifact.link.to_string(), wire::artifact))
}

/// Keeps a file. One with the same content is kept once.
#[utoipa::path(post, path = "/api/v1/artifacts", tag = "artifacts", params(api::NewArtifactQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"), responses((status = 201, body = api::Artifact)))]
pub(crate) async fn upload(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::NewArtifactQuery>,
    headers: HeaderMap,
    body: Body,
) -> Answer<Response> {
    let named = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let name = query.name;
    if name.is_empty() || name.chars().count() > 255 || name.chars().any(char::is_control) {
        return Err(Failure::field("name", "must have 1 to 255 characters that can be shown"));
    }
    let about = NewArtifact {
        project: who.project.clone(),
        sandbox: parsed("sandbox_id", query.sandbox_id.as_deref())?,
        execution: parsed("execution_id", query.execution_id.as_deref())?,
        run: None,
        name,
        media_type: named.unwrap_or("application/octet-stream").chars().take(255).collect(),
        created: SystemTime::now().into(),
    };
    let _place = app.place().await?;
    let mut content = transfer::incoming(body);
    let service = app.service.clone();
    let kept = app
        .blocking(move || {
            // What is pointed to must be the caller's to point to.
            about.sandbox.map(|id| service.sandbox(&who, id)).transpose()?;
            about.execution.map(|id| service.execution(&who, id)).transpose()?;
            Ok(service.store().put_artifact(&about, &mut content)?)
        })
        .await?;
    Ok(created(&format!("/api/v1/artifacts/{}", kept.digest), wire::artifact(kept)))
}

/// Downloads an artifact.
#[utoipa::path(get, path = "/api/v1/artifacts/{digest}", tag = "artifacts", params(("digest" = String, Path, pattern = "^[0-9a-f]{64}$")),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream")))]
pub(crate) async fn download(
    State(app): State<App>,
    Caller(who): Caller,
    Artifact(digest): Artifact,
) -> Answer<Response> {
    let filter = ArtifactFilter { project: who.scope(), digest: Some(digest), ..ArtifactFilter::default() };
    let store = Arc::clone(app.service.store());
    let (found, content) = app
        .blocking(move || {
            let found = store.artifacts(&filter, None, 1)?.pop();
            let found = found.ok_or_else(|| Failure::missing(format!("artifact {digest}")))?;
            Ok((found, store.open_artifact(digest, 0)?))
        })
        .await?;
    let body = transfer::outgoing(app.place().await?, content).await?;
    let mut response = typed("application/octet-stream", body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(found.bytes));
    headers.insert(header::ETAG, transfer::quoted(&digest.to_string()));
    // Who uploaded it chose the type; a browser is told to keep it, not to show it.
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    Ok(response)
}
