//! What a sandbox changed: shown, and taken to another.

use axum::{
    body::Body,
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use belljar_api as api;
use belljar_engine::changes::{self, Bundle, Look};

use crate::{
    answer::{Json, typed},
    app::App,
    extract::{Accepts, Caller, Query, Sandbox, is_json, parse, path_inside, read_within},
    problem::Answer,
};

/// The most bytes of a bundle that is applied.
const LARGEST: usize = 32 * 1024 * 1024;

/// Shows what a sandbox changed in its workspace: as a value, as a patch for `git apply`, as a summary, or as a bundle with
/// both sides of every file.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/diff", tag = "observe", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), api::DiffQuery),
    responses((status = 200, content((serde_json::Value = "application/json"), (String = "text/x-diff"), (String = "text/plain")))))]
pub(crate) async fn diff(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
    Query(query): Query<api::DiffQuery>,
    accepts: Accepts,
) -> Answer<Response> {
    let wanted = query.format.unwrap_or_else(|| {
        if accepts.names("text/x-diff") || accepts.names("text/x-patch") {
            api::DiffFormat::Patch
        } else {
            api::DiffFormat::Json
        }
    });
    if wanted == api::DiffFormat::Bundle {
        let bundle = app.dwell(&who, move |service, who| service.changes_bundle(who, id)).await??;
        return Ok(Json(bundle).into_response());
    }
    let found = app.dwell(&who, move |service, who| service.changes(who, id)).await?;
    app.blocking(move || {
        let found = changes::find_renames(found);
        Ok(match wanted {
            api::DiffFormat::Patch => {
                let mut patch = Vec::new();
                changes::diff(&found, &mut patch, Look::Patch)?;
                typed("text/x-diff; charset=utf-8", patch)
            }
            api::DiffFormat::Stat => {
                typed("text/plain; charset=utf-8", changes::stat(&found, Look::Terminal)?)
            }
            api::DiffFormat::Json | api::DiffFormat::Bundle => Json(changes::json(&found)?).into_response(),
        })
    })
    .await
}

/// Changes a sandbox's workspace, or another directory of it, as a bundle says: all of it, or nothing where something
/// there is not what the changes began with.
#[utoipa::path(post, path = "/api/v1/sandboxes/{id}/apply", tag = "files", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), api::ApplyQuery),
    request_body = api::Bundle, responses((status = 200, body = api::AppliedBundle)))]
pub(crate) async fn apply(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
    Query(query): Query<api::ApplyQuery>,
    headers: HeaderMap,
    body: Body,
) -> Answer<Json<api::AppliedBundle>> {
    is_json(&headers)?;
    let at = query.path.as_deref().map(|path| path_inside("path", path)).transpose()?;
    let bundle: Bundle = parse(&read_within(body, LARGEST).await?)?;
    let done =
        app.dwell(&who, move |service, who| service.apply_bundle(who, id, &bundle, at.as_ref())).await?;
    Ok(Json(api::AppliedBundle { applied: done.applied, unchanged: done.unchanged }))
}
