//! OTLP over HTTP: what agents export about themselves, answered as exporters expect.
//!
//! Owns: media types, gzip, and the replies. An export that is sent again after a lost answer is recorded once.
//! Refuses: bodies beyond their bounds, packed or unpacked.

use std::io::Read as _;

use axum::{
    body::{Body, to_bytes},
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use belljar_capture::otlp::{self, Encoding, OtlpError};
use belljar_domain::{NewEvent, ProjectId};
use bytes::Bytes;
use flate2::read::MultiGzDecoder;

use crate::{
    answer::typed,
    app::App,
    extract::{Caller, Teller},
    problem::{Answer, Failure},
    wire,
};

/// The most bytes of an export, as it came and unpacked.
const LARGEST: usize = 16 * 1024 * 1024;
/// Events handed to the service at one time.
const STEP: usize = 1000;
/// gRPC's words for a request that makes no sense, and for one to be made again later.
const INVALID: u8 = 3;
const UNAVAILABLE: u8 = 14;

/// Takes log records (`ExportLogsServiceRequest`), as protobuf or JSON. Claude Code's events become events of the ledger.
#[utoipa::path(post, path = "/v1/logs", tag = "otlp", request_body(content = Object, content_type = "application/json"),
    responses((status = 200, body = Object), (status = 400, body = Object), (status = 413, body = Object), (status = 503, body = Object)))]
pub(crate) async fn logs(
    app: State<App>,
    who: Caller,
    teller: Teller,
    headers: HeaderMap,
    body: Body,
) -> Response {
    take(app, who, teller, headers, body, |clean, body, encoding, project| {
        Ok(wire::otlp::logs(clean, &otlp::logs(body, encoding)?, project))
    })
    .await
}

/// Takes metrics (`ExportMetricsServiceRequest`), as protobuf or JSON: sums, gauges, histograms and summaries, in either temporality.
#[utoipa::path(post, path = "/v1/metrics", tag = "otlp", request_body(content = Object, content_type = "application/json"),
    responses((status = 200, body = Object), (status = 400, body = Object), (status = 413, body = Object), (status = 503, body = Object)))]
pub(crate) async fn metrics(
    app: State<App>,
    who: Caller,
    teller: Teller,
    headers: HeaderMap,
    body: Body,
) -> Response {
    take(app, who, teller, headers, body, |clean, body, encoding, project| {
        Ok(wire::otlp::metrics(clean, &otlp::metrics(body, encoding)?, project))
    })
    .await
}

/// Takes spans (`ExportTraceServiceRequest`), as protobuf or JSON. Those that follow the `GenAI` conventions are understood.
#[utoipa::path(post, path = "/v1/traces", tag = "otlp", request_body(content = Object, content_type = "application/json"),
    responses((status = 200, body = Object), (status = 400, body = Object), (status = 413, body = Object), (status = 503, body = Object)))]
pub(crate) async fn traces(
    app: State<App>,
    who: Caller,
    teller: Teller,
    headers: HeaderMap,
    body: Body,
) -> Response {
    take(app, who, teller, headers, body, |clean, body, encoding, project| {
        Ok(wire::otlp::traces(clean, &otlp::traces(body, encoding)?, project))
    })
    .await
}

type Read = fn(wire::Clean<'_>, &[u8], Encoding, &ProjectId) -> Result<Vec<NewEvent>, OtlpError>;

async fn take(
    State(app): State<App>,
    Caller(who): Caller,
    teller: Teller,
    headers: HeaderMap,
    body: Body,
    read: Read,
) -> Response {
    let named = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let Some(encoding) = Encoding::of(named) else {
        let detail = "an export must be `application/x-protobuf` or `application/json`";
        let hint = "set OTEL_EXPORTER_OTLP_PROTOCOL to http/protobuf or http/json";
        let failure = Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", detail);
        return failure.hint(hint).into_response();
    };
    let taken = async {
        let body = unpacked(&headers, body).await?;
        let mut events = read(&|text| app.service.without_secrets(text), &body, encoding, &who.project)
            .map_err(|error| Failure::invalid(said(&error)))?;
        events.iter_mut().for_each(|event| wire::known(event, &teller));
        app.ask(&who, move |service, who| {
            let mut left = events.into_iter().peekable();
            while left.peek().is_some() {
                service.ingest(who, left.by_ref().take(STEP).collect())?;
            }
            Ok(())
        })
        .await
    };
    match taken.await {
        Ok(()) => typed(encoding.media_type(), encoding.taken()),
        Err(failure) => refused(encoding, &failure),
    }
}

/// A refusal in the exporter's own encoding; those that may pass are told apart from those that never will.
fn refused(encoding: Encoding, failure: &Failure) -> Response {
    let status = failure.status();
    // Of the server errors exporters repeat only a few; whatever went wrong here, the export was in order.
    let (status, code) = if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS {
        (status, INVALID)
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, UNAVAILABLE)
    };
    let mut response = typed(encoding.media_type(), encoding.refused(code, failure.detail()));
    *response.status_mut() = status;
    if code == UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

async fn unpacked(headers: &HeaderMap, body: Body) -> Answer<Bytes> {
    let whole = to_bytes(body, LARGEST).await.map_err(|_long| Failure::too_large("the export", LARGEST))?;
    let packed = headers.get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok());
    match packed.map(str::trim) {
        None | Some("" | "identity") => Ok(whole),
        Some(name) if name.eq_ignore_ascii_case("gzip") => {
            let mut plain = Vec::new();
            let limit = u64::try_from(LARGEST).unwrap_or(u64::MAX);
            let read = MultiGzDecoder::new(whole.as_ref()).take(limit + 1).read_to_end(&mut plain);
            read.map_err(|error| Failure::invalid(format!("the body is not gzip: {error}")))?;
            if plain.len() > LARGEST {
                return Err(Failure::too_large("the unpacked export", LARGEST));
            }
            Ok(plain.into())
        }
        Some(_) => {
            Err(Failure::invalid("the body must be plain or gzip; set OTEL_EXPORTER_OTLP_COMPRESSION"))
        }
    }
}

fn said(error: &OtlpError) -> String {
    crate::problem::chain(error)
}
