//! Files of a sandbox: what is there, reading, writing, watching. Paths are the sandbox's own; the engine resolves them
//! inside, so that no link leads out.

mod range;
mod read;
mod watch;
mod write;

use axum::extract::State;
use belljar_api as api;
use belljar_domain::Principal;
use belljar_engine::service::Service;

pub(crate) use read::{__path_get, __path_head, get, head};
pub(crate) use watch::{__path_watch, watch};
pub(crate) use write::{__path_change, __path_put, __path_remove, change, put, remove};

use crate::{
    answer::{Json, page},
    app::App,
    extract::{Caller, Query, Sandbox, path_inside},
    problem::{Answer, Failure},
    wire,
};

/// The most entries of a list.
const MOST: usize = 10_000;

/// Lists a directory of a sandbox by name, some levels deep, each directory before what is in it.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/files", tag = "files", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), api::FilesQuery),
    responses((status = 200, body = api::Page<api::File>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
    Query(query): Query<api::FilesQuery>,
) -> Answer<Json<api::Page<api::File>>> {
    let path = path_inside("path", query.path.as_deref().unwrap_or_default())?;
    let (depth, limit) = (query.depth.unwrap_or(1), query.limit.unwrap_or(1000));
    if !(1..=64).contains(&depth) {
        return Err(Failure::field("depth", "must be from 1 to 64"));
    }
    if !(1..=MOST).contains(&limit) {
        return Err(Failure::field("limit", format!("must be from 1 to {MOST}")));
    }
    let after = query.cursor.as_deref().map(|after| path_inside("cursor", after)).transpose()?;
    let list =
        move |service: &Service, who: &Principal| service.list(who, id, &path, depth, after.as_ref(), limit);
    let files = app.ask(&who, list).await?;
    Ok(page(files, limit, |view| view.path.clone(), wire::file))
}
