//! Writing: a file, a tar of files, a directory; moving and removing.

use std::io;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use belljar_api as api;
use belljar_domain::{Principal, SandboxId, SandboxPath};
use belljar_engine::service::{Service, ServiceError};

use super::super::transfer::{self, CopyError};
use crate::{
    answer::{Json, created},
    app::App,
    extract::{Caller, FilePath, Query, path_inside},
    problem::{Answer, Failure},
    wire,
};

/// The most bytes of one upload. The sandbox's own disk limit is smaller as a rule.
const MOST: u64 = 64 * 1024 * 1024 * 1024;

/// Writes a file, or unpacks a tar below a directory. The bytes are streamed; a file appears whole or not at all.
#[utoipa::path(put, path = "/api/v1/sandboxes/{id}/files/{path}", tag = "files",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("path" = String, Path, description = "A path from the sandbox's root; may contain slashes."), api::FileWriteQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = api::File)))]
pub(crate) async fn put(
    State(app): State<App>,
    Caller(who): Caller,
    FilePath(id, path): FilePath,
    Query(query): Query<api::FileWriteQuery>,
    headers: HeaderMap,
    body: Body,
) -> Answer<Response> {
    let mode = query.mode.as_deref().map(bits).transpose()?.unwrap_or(0o644);
    if query.unpack {
        let sent =
            headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !matches!(sent, "application/x-tar" | "application/tar") {
            return Err(Failure::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "UNSUPPORTED_MEDIA_TYPE",
                "only a tar can be unpacked",
            )
            .hint("send `Content-Type: application/x-tar`"));
        }
    }
    let _place = app.place().await?;
    let mut content = transfer::incoming(body);
    let service = app.service.clone();
    let view = app
        .blocking(move || {
            if query.unpack {
                service.unpack(&who, id, &path, &mut content)?;
                return Ok(service.stat(&who, id, &path, true)?);
            }
            let parents = query.parents.unwrap_or(true);
            let mut writer = service.write_file(&who, id, &path, mode, parents)?;
            transfer::copy(&mut content, &mut writer, MOST).map_err(refused)?;
            Ok(writer.commit()?)
        })
        .await?;
    Ok(Json(wire::file(view)).into_response())
}

fn bits(text: &str) -> Answer<u32> {
    let mode =
        u32::from_str_radix(text, 8).ok().filter(|mode| (3..=4).contains(&text.len()) && *mode <= 0o777);
    mode.ok_or_else(|| {
        Failure::field("mode", "must be octal permissions such as 644, without set-user-id bits")
    })
}

fn refused(error: CopyError) -> Failure {
    match error {
        CopyError::Read(error) => Failure::invalid(format!("the body did not arrive whole: {error}")),
        CopyError::TooLong => Failure::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "TOO_LARGE",
            format!("a file may have at most {MOST} bytes"),
        ),
        CopyError::Write(error)
            if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) =>
        {
            Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "DISK_FULL", "the sandbox's disk is full")
                .hint("make a sandbox with more `limits.disk_bytes`")
        }
        CopyError::Write(error) => Failure::internal("write the file", &error),
    }
}

/// Makes a directory, or moves what is at the path.
#[utoipa::path(post, path = "/api/v1/sandboxes/{id}/files/{path}", tag = "files",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("path" = String, Path, description = "A path from the sandbox's root; may contain slashes."), api::FileMove),
    responses((status = 200, body = api::File), (status = 201, body = api::File)))]
pub(crate) async fn change(
    State(app): State<App>,
    Caller(who): Caller,
    FilePath(id, path): FilePath,
    Query(query): Query<api::FileMove>,
) -> Answer<Response> {
    match query.op {
        api::FileOperation::Mkdir => {
            let view = app.ask(&who, move |service, who| service.make_dir(who, id, &path, true)).await?;
            Ok(created(&format!("/api/v1/sandboxes/{id}/files{}", view.path), wire::file(view)))
        }
        api::FileOperation::Move => {
            let to = query.to.as_deref().ok_or_else(|| Failure::field("to", "says where to move it"))?;
            let to = path_inside("to", to)?;
            let view = app.ask(&who, move |service, who| service.rename(who, id, &path, &to)).await?;
            Ok(Json(wire::file(view)).into_response())
        }
    }
}

/// Removes what is at a path.
#[utoipa::path(delete, path = "/api/v1/sandboxes/{id}/files/{path}", tag = "files",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("path" = String, Path, description = "A path from the sandbox's root; may contain slashes."), api::FileRemoveQuery),
    responses((status = 204)))]
pub(crate) async fn remove(
    State(app): State<App>,
    Caller(who): Caller,
    FilePath(id, path): FilePath,
    Query(query): Query<api::FileRemoveQuery>,
) -> Answer<StatusCode> {
    app.ask(&who, move |service, who| gone(service, who, id, &path, query.recursive)).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn gone(
    service: &Service,
    who: &Principal,
    id: SandboxId,
    path: &SandboxPath,
    recursive: bool,
) -> Result<(), ServiceError> {
    if path.as_path().parent().is_none() {
        return Err(ServiceError::Invalid("the root of a sandbox cannot be removed".to_owned()));
    }
    service.remove(who, id, path, recursive)
}
