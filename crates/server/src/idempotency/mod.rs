//! A request with an `Idempotency-Key` is carried out once, however often it is made.
//!
//! Owns: claiming the key, repeating the answer, taking up what a server that was killed left unanswered. Refuses: to keep
//! answers that failed, so that a request can be made again with the same key, and answers that stream: whoever asks again
//! is told from the beginning what the log has. A repeated answer has no secrets, whatever the first had: it was kept
//! without them.

mod under_way;

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::Response,
};
use belljar_domain::{Digest, Principal, Timestamp};
use belljar_engine::service::Claim;
use belljar_ports::store::{Batch, IdempotencyRow, Pending, Removal, StoreError, StoredResponse};
use sha2::{Digest as _, Sha256};
use tokio::sync::oneshot;
use uuid::{Builder, Uuid};

pub(crate) use under_way::UnderWay;

use crate::{
    app::App,
    extract,
    problem::{Answer, Failure},
};

/// What carries the key.
pub(crate) const HEADER: &str = "idempotency-key";
/// How long an answer is repeated.
const LIFE: Duration = Duration::from_secs(24 * 3600);
/// The longest answer that is kept.
const LONGEST_ANSWER: usize = 4 * 1024 * 1024;
const LONGEST_KEY: usize = 255;

/// Carries a request out, unless that was done before; then its answer is repeated.
pub(crate) async fn once(app: &App, request: Request, next: Next) -> Answer<Response> {
    let Some(who) = request.extensions().get::<Arc<Principal>>().cloned() else {
        return Ok(next.run(request).await);
    };
    let key = key(&request)?;
    let (parts, body) = request.into_parts();
    let bytes = extract::read(body).await?;
    let now: Timestamp = SystemTime::now().into();
    let mut claim = IdempotencyRow {
        project: who.project.clone(),
        fingerprint: fingerprint(parts.method.as_str(), &parts.uri.to_string(), &bytes),
        key,
        response: None,
        created: now,
        expires: now.plus(LIFE),
    };
    let Some(turn) = app.under_way.enter(&claim.project, &claim.key) else {
        // Nothing is claimed while somebody else may give the key up: nobody would know that it is used again.
        let known = known(app, &claim, now).await?;
        return match known.response {
            _ if known.fingerprint != claim.fingerprint => Err(reused(&claim.key)),
            Some(answer) => Ok(repeat(answer)),
            None => Err(in_progress(&claim.key)),
        };
    };
    let is_again = match append(app, claim.clone()).await {
        Ok(()) => false,
        Err(StoreError::KeyTaken(_)) => {
            let known = known(app, &claim, now).await?;
            if let Some(answer) = known.response {
                return Ok(repeat(answer));
            }
            claim.created = known.created;
            true
        }
        Err(StoreError::KeyReused(_)) => return Err(reused(&claim.key)),
        Err(error) => return Err(error.into()),
    };
    // A client that goes away must not leave the key claimed and unanswered, so nobody but this task waits for it.
    let mut request = Request::from_parts(parts, Body::from(bytes));
    request.extensions_mut().insert(Claim { identity: identity(&claim), since: claim.created, is_again });
    let app = app.clone();
    let task = tokio::spawn(async move {
        let _turn = turn;
        keep(&app, claim, next.run(request).await).await
    });
    task.await.map_err(|error| Failure::internal("finish the request", &error))
}

fn key(request: &Request) -> Answer<String> {
    let text = request.headers().get(HEADER).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if text.is_empty() || text.len() > LONGEST_KEY {
        return Err(Failure::field(
            "Idempotency-Key",
            format!("must have 1 to {LONGEST_KEY} plain characters"),
        ));
    }
    Ok(text.to_owned())
}

/// What the request asks for: the same key for anything else is a mistake.
fn fingerprint(method: &str, uri: &str, body: &[u8]) -> Digest {
    let mut hash = Sha256::new();
    for part in [method.as_bytes(), uri.as_bytes(), body] {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(part);
    }
    Digest(hash.finalize().into())
}

/// What whatever a claim makes is called: the same, however often it is taken up.
fn identity(claim: &IdempotencyRow) -> Uuid {
    let micros = claim.created.as_micros();
    let digest = Sha256::digest(format!("{}\0{}\0{micros}", claim.project.as_str(), claim.key));
    let mut chance = [0; 10];
    chance.iter_mut().zip(digest.iter()).for_each(|(to, from)| *to = *from);
    Builder::from_unix_timestamp_millis(u64::try_from(micros / 1000).unwrap_or(0), &chance).into_uuid()
}

/// The claim that was there.
async fn known(app: &App, claim: &IdempotencyRow, now: Timestamp) -> Answer<IdempotencyRow> {
    let (project, key) = (claim.project.clone(), claim.key.clone());
    let store = Arc::clone(app.service.store());
    let known = app.blocking(move || Ok(store.idempotency(&project, &key, now)?)).await?;
    // It was given up in this moment.
    known.ok_or_else(|| in_progress(&claim.key))
}

fn repeat(stored: StoredResponse) -> Response {
    let mut response = Response::new(Body::from(stored.body));
    *response.status_mut() = StatusCode::from_u16(stored.status).unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    if let Ok(media_type) = HeaderValue::from_str(&stored.media_type) {
        headers.insert(header::CONTENT_TYPE, media_type);
    }
    if let Some(location) = stored.location.and_then(|text| HeaderValue::from_str(&text).ok()) {
        headers.insert(header::LOCATION, location);
    }
    headers.insert("idempotency-replayed", HeaderValue::from_static("true"));
    response
}

fn in_progress(key: &str) -> Failure {
    let detail = format!("a request with the key `{key}` is being carried out");
    Failure::new(StatusCode::CONFLICT, "IDEMPOTENCY_IN_PROGRESS", detail).hint("try again in a moment")
}

fn reused(key: &str) -> Failure {
    let detail = format!("the key `{key}` was used for a different request");
    Failure::new(StatusCode::CONFLICT, "IDEMPOTENCY_KEY_REUSED", detail)
        .hint("use a new key for every new request")
}

async fn keep(app: &App, claim: IdempotencyRow, response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let said = |name| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let media_type = said(header::CONTENT_TYPE).unwrap_or_default();
    if parts.status.is_success() && media_type.starts_with("text/event-stream") {
        return Response::from_parts(parts, body);
    }
    if !parts.status.is_success() {
        release(app, claim).await;
        return Response::from_parts(parts, body);
    }
    let Ok(bytes) = to_bytes(body, LONGEST_ANSWER).await else {
        release(app, claim).await;
        return axum::response::IntoResponse::into_response(Failure::too_large("the answer", LONGEST_ANSWER));
    };
    let stored = StoredResponse {
        status: parts.status.as_u16(),
        media_type: media_type.to_owned(),
        location: said(header::LOCATION).map(str::to_owned),
        body: bytes.to_vec(),
    };
    let row = IdempotencyRow { response: Some(stored), ..claim };
    if let Err(error) = append(app, row).await {
        tracing::warn!(error = %crate::problem::chain(&error), "an answer could not be kept under its idempotency key");
    }
    Response::from_parts(parts, Body::from(bytes))
}

async fn release(app: &App, claim: IdempotencyRow) {
    let removals = vec![Removal::Idempotency(claim.project, claim.key)];
    let store = Arc::clone(app.service.store());
    let batch = Batch { removals, ..Batch::default() };
    if let Err(error) = durable(move || store.append(batch)).await {
        tracing::warn!(error = %crate::problem::chain(&error), "an idempotency key could not be released");
    }
}

/// Keeps a claim or an answer.
async fn append(app: &App, row: IdempotencyRow) -> Result<(), StoreError> {
    let service = app.service.clone();
    durable(move || service.keep_answer(row)).await
}

/// Waits until something is durable, without holding a thread.
async fn durable(begin: impl FnOnce() -> Pending + Send + 'static) -> Result<(), StoreError> {
    let (tell, told) = oneshot::channel();
    // The receiver may be gone with its request; then nobody wants to know.
    let handed = tokio::task::spawn_blocking(move || {
        begin().then(move |outcome| drop(tell.send(outcome)));
    });
    if handed.await.is_err() {
        return Err(StoreError::Closed);
    }
    told.await.unwrap_or(Err(StoreError::Closed)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_tells_requests_apart() {
        let first = fingerprint("POST", "/a", b"b");
        assert_eq!(first, fingerprint("POST", "/a", b"b"));
        for (method, uri, body) in
            [("PUT", "/a", "b"), ("POST", "/ab", ""), ("POST", "/", "ab"), ("POST", "/a", "c")]
        {
            assert_ne!(first, fingerprint(method, uri, body.as_bytes()));
        }
    }
}
