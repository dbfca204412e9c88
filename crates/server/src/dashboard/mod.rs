//! The dashboard: files built from `web/` by this crate's build script, carried in the binary, served compressed.
//!
//! Owns: how they are served: names with a hash never expire, the page itself is asked for anew, and may run no script,
//! load no style and open no connection but this server's. Refuses to need them: without npm at build time the page says
//! why it is not there, and everything else works.

mod files;
mod missing;

use std::io::Read as _;

use axum::{
    body::Bytes,
    extract::Request,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use flate2::read::GzDecoder;

use crate::{answer::typed, edge, observability};
use files::{Body, FILES, File, MISSING};

/// Where the page may get what it needs: here.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'";

/// A name with a hash is the same for ever.
const FOREVER: &str = "public, max-age=31536000, immutable";
/// Everything else is asked for again each time; it is small.
const ANEW: &str = "no-cache";

/// The page, whatever view the path names: the page itself knows its views.
pub(crate) async fn page(request: Request) -> Response {
    // Programs that speak the hook-observability protocol are greeted at any path they do not know.
    if observability::is_theirs(&request) {
        return observability::greeting();
    }
    let mut response = match FILES.iter().find(|file| file.path == "/index.html") {
        Some(file) => serve(file, request.headers()),
        None => typed("text/html; charset=utf-8", missing::page(MISSING.unwrap_or("nobody knows why"))),
    };
    let policy = if MISSING.is_some() { missing::POLICY } else { POLICY };
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

/// A file of the page.
pub(crate) async fn file(request: Request) -> Response {
    match FILES.iter().find(|file| file.path == request.uri().path()) {
        Some(file) => serve(file, request.headers()),
        None => edge::no_route(request).await,
    }
}

fn serve(file: &'static File, asked: &HeaderMap) -> Response {
    let (encoding, body) = match &file.body {
        Body::Plain(plain) => (None, Bytes::from_static(plain)),
        Body::Packed { br, .. } if accepts(asked, "br") => (Some("br"), Bytes::from_static(br)),
        Body::Packed { gz, .. } if accepts(asked, "gzip") => (Some("gzip"), Bytes::from_static(gz)),
        Body::Packed { gz, .. } => match unpacked(gz) {
            Ok(plain) => (None, plain),
            Err(_broken) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        },
    };
    let mut response = typed(file.media_type, body);
    let headers = response.headers_mut();
    let keep = if file.immutable { FOREVER } else { ANEW };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if let Some(encoding) = encoding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    response
}

/// For the few who take no compression, such as a person with curl.
fn unpacked(gz: &[u8]) -> std::io::Result<Bytes> {
    let mut plain = Vec::new();
    GzDecoder::new(gz).read_to_end(&mut plain)?;
    Ok(plain.into())
}

/// Says whether a client takes an encoding; one of weight zero is refused.
fn accepts(asked: &HeaderMap, wanted: &str) -> bool {
    let lines = asked.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|choice| {
        let (name, weight) = choice.split_once(';').unwrap_or((choice, ""));
        let refused = weight.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0_f32));
        name.trim().eq_ignore_ascii_case(wanted) && !refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> HeaderMap {
        [(header::ACCEPT_ENCODING, text.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn what_is_taken_is_what_the_client_says() {
        assert!(accepts(&asked("gzip, deflate, br, zstd"), "br"));
        assert!(accepts(&asked("BR;q=0.5"), "br"));
        assert!(!accepts(&asked("br;q=0, gzip"), "br"));
        assert!(!accepts(&asked("brotli"), "br"));
        assert!(!accepts(&HeaderMap::new(), "gzip"));
    }

    #[test]
    fn there_is_a_page_or_a_reason() {
        assert_eq!(FILES.is_empty(), MISSING.is_some());
        assert!(FILES.is_empty() || FILES.iter().any(|file| file.path == "/index.html"));
        assert!(
            FILES.iter().filter(|file| file.immutable).all(|file| file.path.contains('-')),
            "a hash each"
        );
    }

    /// What a browser loads before it shows anything: the page, and all it names.
    #[test]
    fn the_first_load_is_at_most_150_kilobytes() {
        let size = |path: &str| match FILES.iter().find(|file| file.path == path).map(|file| &file.body) {
            Some(Body::Packed { gz, .. }) => gz.len(),
            Some(Body::Plain(plain)) => plain.len(),
            None => 0,
        };
        let Some(File { body: Body::Packed { gz, .. }, .. }) =
            FILES.iter().find(|file| file.path == "/index.html")
        else {
            return assert!(MISSING.is_some(), "no page, and no reason");
        };
        let html = String::from_utf8(unpacked(gz).unwrap().to_vec()).unwrap();
        let named = html.split('"').filter(|text| text.starts_with("/assets/"));
        let code: usize = named.filter(|path| !path.ends_with(".woff2")).map(size).sum();
        let total = code + size("/index.html");
        assert!(total <= 150 * 1024, "{total} bytes, gzipped");
    }
}
