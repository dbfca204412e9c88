//! Reading: a file or a part of it, what it is, or a directory as a tar.

use std::{fs::File, io::SeekFrom};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use belljar_api as api;
use belljar_domain::{Principal, SandboxId, SandboxPath};
use belljar_engine::service::{FileKind, FileView, Service, ServiceError};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio_util::io::ReaderStream;

use super::{
    super::transfer,
    range::{Part, part},
};
use crate::{
    answer::{Json, typed},
    app::App,
    extract::{Accepts, Caller, FilePath, Query},
    problem::{Answer, Failure},
    wire,
};

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

/// What is wanted of a path.
#[derive(Clone, Copy)]
enum Want {
    /// What it is.
    About,
    /// The file.
    Content,
    /// The directory as a tar; a file is a file.
    Archive,
}

/// What was found at a path.
enum Found {
    /// What it is, which is all that was asked.
    About(FileView),
    /// A file, open.
    Open(File, FileView),
    /// A directory, to be packed.
    Directory,
}

/// Reads a file, whole or a range of it; `stat` describes it, a directory comes as a tar.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/files/{path}", tag = "files",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("path" = String, Path, description = "A path from the sandbox's root; may contain slashes."), api::FileQuery,
        ("Range" = Option<String>, Header), ("If-None-Match" = Option<String>, Header)),
    responses(
        (status = 200, content((Vec<u8> = "application/octet-stream"), (Vec<u8> = "application/x-tar"), (api::File = "application/json"), (String = "*/*"))),
        (status = 206, body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 304), (status = 416, body = api::Problem, content_type = "application/problem+json")))]
pub(crate) async fn get(
    State(app): State<App>,
    Caller(who): Caller,
    FilePath(id, path): FilePath,
    Query(query): Query<api::FileQuery>,
    accepts: Accepts,
    headers: HeaderMap,
) -> Answer<Response> {
    let archive = query.archive.is_some() || accepts.names("application/x-tar");
    let want = match (query.stat, archive) {
        (true, _) => Want::About,
        (false, true) => Want::Archive,
        (false, false) => Want::Content,
    };
    let asked = path.clone();
    let found = app.ask(&who, move |service, who| find(service, who, id, &asked, want)).await?;
    match found {
        Found::About(view) => Ok(Json(wire::file(view)).into_response()),
        Found::Open(file, view) => send(file, &view, &headers).await,
        Found::Directory => {
            let (service, who) = (app.service.clone(), who);
            let body = transfer::written(app.place().await?, move |to| {
                Ok(service.pack(&who, id, &path, to).map(drop)?)
            })
            .await?;
            Ok(typed("application/x-tar", body))
        }
    }
}

/// Says what reading a file would answer, without the bytes.
#[utoipa::path(head, path = "/api/v1/sandboxes/{id}/files/{path}", tag = "files",
    params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), ("path" = String, Path, description = "A path from the sandbox's root; may contain slashes."), api::FileQuery,
        ("Range" = Option<String>, Header), ("If-None-Match" = Option<String>, Header)),
    responses((status = 200), (status = 206), (status = 304), (status = 416)))]
pub(crate) async fn head(
    app: State<App>,
    who: Caller,
    path: FilePath,
    query: Query<api::FileQuery>,
    accepts: Accepts,
    headers: HeaderMap,
) -> Answer<Response> {
    get(app, who, path, query, accepts, headers).await
}

fn find(
    service: &Service,
    who: &Principal,
    id: SandboxId,
    path: &SandboxPath,
    want: Want,
) -> Result<Found, ServiceError> {
    if matches!(want, Want::About) {
        return service.stat(who, id, path, false).map(Found::About);
    }
    let view = service.stat(who, id, path, true)?;
    match view.kind {
        FileKind::File => service.open_file(who, id, path).map(|(file, view)| Found::Open(file, view)),
        FileKind::Directory if matches!(want, Want::Archive) => Ok(Found::Directory),
        FileKind::Directory => Err(ServiceError::Conflict(format!(
            "`{path}` is a directory; list it with GET …/files?path={path}, or ask for ?archive=tar"
        ))),
        FileKind::Symlink | FileKind::Other => {
            Err(ServiceError::Conflict(format!("`{path}` is neither a file nor a directory")))
        }
    }
}

async fn send(file: File, view: &FileView, headers: &HeaderMap) -> Answer<Response> {
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let tag = transfer::quoted(&format!("{:x}-{:x}", view.modified.as_micros(), view.size));
    let known = tag.to_str().unwrap_or_default();
    let has = text(header::IF_NONE_MATCH)
        .is_some_and(|tags| tags.split(',').any(|one| one.trim() == known || one.trim() == "*"));
    if has {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    // A part of another version is of no use; the whole is.
    let same = text(header::IF_RANGE).is_none_or(|wanted| wanted == known);
    let wanted = text(header::RANGE).filter(|_| same);
    let (status, first, count) = match part(wanted, view.size) {
        Part::Whole => (StatusCode::OK, 0, view.size),
        Part::From(first, count) => (StatusCode::PARTIAL_CONTENT, first, count),
        Part::Beyond => {
            let detail = format!("the file has {} bytes", view.size);
            let failure = Failure::new(StatusCode::RANGE_NOT_SATISFIABLE, "RANGE_NOT_SATISFIABLE", detail);
            let whole = format!("bytes */{}", view.size);
            return Ok(([(header::CONTENT_RANGE, whole)], failure).into_response());
        }
    };
    let mut file = tokio::fs::File::from_std(file);
    if first > 0 {
        file.seek(SeekFrom::Start(first))
            .await
            .map_err(|error| Failure::internal("read the file", &error))?;
    }
    let body = Body::from_stream(ReaderStream::with_capacity(file.take(count), CHUNK));
    let mut response = typed(media_type(&view.name), body);
    *response.status_mut() = status;
    let answered = response.headers_mut();
    if status == StatusCode::PARTIAL_CONTENT {
        let place = format!("bytes {first}-{}/{}", first + count - 1, view.size);
        answered.insert(
            header::CONTENT_RANGE,
            HeaderValue::from_str(&place).unwrap_or(HeaderValue::from_static("")),
        );
    }
    answered.insert(header::CONTENT_LENGTH, HeaderValue::from(count));
    answered.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    answered.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answered.insert(header::ETAG, tag);
    Ok(response)
}

/// What a file is, by its name. The edge's policy of content keeps a browser from running any of it.
fn media_type(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    match ending.as_str() {
        "txt" | "log" | "md" | "rs" | "py" | "js" | "ts" | "c" | "h" | "toml" | "yaml" | "yml" | "sh" => {
            "text/plain; charset=utf-8"
        }
        "html" | "htm" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "tar" => "application/x-tar",
        "zip" => "application/zip",
        "gz" | "tgz" => "application/gzip",
        _ => "application/octet-stream",
    }
}
