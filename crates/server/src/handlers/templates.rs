//! Templates: name, list, show, take away.

use std::path::PathBuf;

use axum::{extract::State, http::StatusCode};
use belljar_api as api;

use crate::{
    answer::Json,
    app::App,
    extract::{Caller, JsonBody, Named},
    problem::{Answer, Failure},
    wire,
};

/// Lists templates: `host`, which is always there, then those that were imported, by name. All projects start from the same.
#[utoipa::path(get, path = "/api/v1/templates", tag = "templates",
    responses((status = 200, body = api::Page<api::Template>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(who): Caller,
) -> Answer<Json<api::Page<api::Template>>> {
    let found = app.ask(&who, |service, _| service.templates()).await?;
    Ok(Json(api::Page { items: wire::templates(found), next_cursor: None }))
}

/// Shows a template by one of its names.
#[utoipa::path(get, path = "/api/v1/templates/{id}", tag = "templates", params(("id" = String, Path, description = "Its name.", max_length = 128)),
    responses((status = 200, body = api::Template)))]
pub(crate) async fn get(
    State(app): State<App>,
    Caller(who): Caller,
    Named(name): Named,
) -> Answer<Json<api::Template>> {
    let all = app.ask(&who, |service, _| service.templates()).await?;
    let is_meant = |one: &api::Template| one.name == name || one.aliases.contains(&name);
    let found = wire::templates(all).into_iter().find(is_meant);
    found.map(Json).ok_or_else(|| Failure::missing(format!("template `{name}`")))
}

/// Gives a directory, an archive or an image of the server's machine a name to start sandboxes from; an admin may.
#[utoipa::path(put, path = "/api/v1/templates/{id}", tag = "templates", params(("id" = String, Path, description = "Its name.", max_length = 128)),
    request_body = api::TemplateRequest, responses((status = 200, body = api::Template)))]
pub(crate) async fn put(
    State(app): State<App>,
    Caller(who): Caller,
    Named(name): Named,
    JsonBody(request): JsonBody<api::TemplateRequest>,
) -> Answer<Json<api::Template>> {
    let source = PathBuf::from(request.source);
    if !source.is_absolute() {
        return Err(Failure::field("source", "must be an absolute path on the server's machine"));
    }
    let made = app.dwell(&who, move |service, who| service.import_template(who, &name, &source)).await?;
    Ok(Json(wire::template(made)))
}

/// Takes a template's name away, and with its last name what it was unpacked to; an admin may.
#[utoipa::path(delete, path = "/api/v1/templates/{id}", tag = "templates", params(("id" = String, Path, description = "Its name.", max_length = 128)),
    responses((status = 204)))]
pub(crate) async fn delete(
    State(app): State<App>,
    Caller(who): Caller,
    Named(name): Named,
) -> Answer<StatusCode> {
    app.ask(&who, move |service, who| service.remove_template(who, &name)).await?;
    Ok(StatusCode::NO_CONTENT)
}
