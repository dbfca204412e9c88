//! How answers are written: JSON, pages, nothing.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use belljar_api::Page;
use serde::Serialize;

use crate::problem::Failure;

/// A value as JSON.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(body) => typed("application/json", body),
            Err(error) => Failure::internal("write the answer", &error).into_response(),
        }
    }
}

/// Bytes with their media type.
pub(crate) fn typed(media_type: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A value that was made, and where it is from now on.
pub(crate) fn created<T: Serialize>(place: &str, value: T) -> Response {
    let mut response = (StatusCode::CREATED, Json(value)).into_response();
    if let Ok(place) = HeaderValue::from_str(place) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    response
}

/// A page of at most `limit` items; a full one says where the next begins.
pub(crate) fn page<T, U>(
    rows: Vec<T>,
    limit: usize,
    cursor: impl Fn(&T) -> String,
    show: impl Fn(T) -> U,
) -> Json<Page<U>> {
    let next_cursor = rows.last().filter(|_| rows.len() >= limit).map(cursor);
    Json(Page { items: rows.into_iter().map(show).collect(), next_cursor })
}
