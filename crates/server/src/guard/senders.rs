//! Requests that are signed: by a sender whose key is known, just now, and never before.
//!
//! Refuses: to guess; a signature that is there and wrong is refused, whatever else lets its sender in.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::{HeaderMap, StatusCode, request::Parts},
};
use belljar_capture::signature::{Statement, header};

use super::nonces::Again;
use crate::{
    app::App,
    problem::{Answer, Failure},
};

/// The most bytes that are signed.
const LARGEST: usize = 64 << 20;
const LONGEST_NONCE: usize = 128;

/// Who signed a request.
#[derive(Debug, Clone)]
pub(crate) struct Signed(pub(crate) Arc<str>);

/// Checks a signature if there is one, and says so in the request.
pub(crate) async fn check(app: &App, request: Request) -> Answer<Request> {
    if !request.headers().contains_key(header::SIGNATURE) {
        return Ok(request);
    }
    let (mut parts, body) = request.into_parts();
    match signed(app, &parts, body).await {
        Ok((sender, body)) => {
            parts.extensions.insert(Signed(sender));
            Ok(Request::from_parts(parts, Body::from(body)))
        }
        Err(failure) => {
            app.denials.tell(app, (&parts.method, &parts.uri), &failure);
            Err(failure)
        }
    }
}

/// Who signed a request, and its body.
async fn signed(app: &App, parts: &Parts, body: Body) -> Answer<(Arc<str>, Bytes)> {
    let text = |name: &str| field(&parts.headers, name);
    let (sender, timestamp) = (text(header::SENDER)?, text(header::TIMESTAMP)?);
    let (nonce, signature) = (text(header::NONCE)?, text(header::SIGNATURE)?);
    let key = key(&app.settings.home, &sender).ok_or_else(|| wrong("no key is known for this sender"))?;
    let said: u64 = timestamp.parse().map_err(|_nonsense| wrong("the timestamp is not in seconds"))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let window = app.settings.replay_window;
    if said.abs_diff(now) > window.as_secs() {
        return Err(wrong("the timestamp is not of now").hint("check the clocks of both machines"));
    }
    if nonce.len() > LONGEST_NONCE {
        return Err(wrong("the nonce is too long"));
    }
    let body = to_bytes(body, LARGEST).await.map_err(|_long| Failure::too_large("the body", LARGEST))?;
    let statement = Statement { timestamp: &timestamp, nonce: &nonce, path: parts.uri.path(), body: &body };
    if !statement.is_signed(key.trim().as_bytes(), &signature) {
        return Err(wrong("the signature is not of this request"));
    }
    // Only what was signed is remembered, so nobody else can fill this.
    app.nonces.first(format!("{sender} {nonce}"), said, now).map_err(again)?;
    Ok((sender.into(), body))
}

fn again(why: Again) -> Failure {
    match why {
        Again::Repeated => wrong(&why.to_string()),
        Again::TooMany => Failure::new(StatusCode::TOO_MANY_REQUESTS, "QUOTA_EXCEEDED", why.to_string()),
        Again::Unwritten(error) => Failure::internal("write down that a request was made", &error),
    }
}

/// The key of a sender, which is a file in belljar's home.
fn key(home: &Path, sender: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    let is_name = !sender.is_empty() && sender.len() <= 64 && sender.bytes().all(is_plain);
    let key = fs::read_to_string(home.join("senders").join(format!("{sender}.key"))).ok().filter(|_| is_name);
    key.filter(|key| !key.trim().is_empty())
}

fn field(headers: &HeaderMap, name: &str) -> Answer<String> {
    let value = headers.get(name).and_then(|value| value.to_str().ok()).filter(|value| !value.is_empty());
    value.map(str::to_owned).ok_or_else(|| wrong(&format!("the header `{name}` is missing")))
}

fn wrong(why: &str) -> Failure {
    Failure::new(StatusCode::UNAUTHORIZED, "SIGNATURE_INVALID", why)
        .hint("`belljar hooks keys list` shows whose keys are known")
}

/// What is asked of somebody who signed nothing and is not known otherwise.
pub(super) fn required() -> Failure {
    let detail = "this server takes events that are signed, or come from a sandbox or by its socket";
    Failure::new(StatusCode::UNAUTHORIZED, "SIGNATURE_REQUIRED", detail)
        .hint("`belljar hooks keys add NAME` makes a key; see docs/hooks.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere_else() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("senders")).unwrap();
        fs::write(home.path().join("admin.key"), "admin").unwrap();
        fs::write(home.path().join("senders/ci.key"), "secret\n").unwrap();
        assert_eq!(key(home.path(), "ci").as_deref(), Some("secret\n"));
        for name in ["", "../admin", "ci.key", "x/../ci", &"n".repeat(65)] {
            assert_eq!(key(home.path(), name), None, "{name}");
        }
    }
}
