//! Refused keys are told to the ledger, but never so often that telling becomes the attack.

use std::{
    borrow::Cow,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use axum::http::{Method, Uri};
use belljar_domain::{EventId, EventKind, EventStatus, NewEvent, ProjectId, Verdict};
use uuid::Uuid;

use crate::{app::App, problem::Failure};

/// At most this many events …
const MOST: u32 = 10;
/// … in this time.
const WINDOW: Duration = Duration::from_secs(60);

/// How many were told lately.
#[derive(Debug, Default)]
pub(crate) struct Denials(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    began: Option<Instant>,
    told: u32,
    untold: u64,
}

impl Denials {
    pub(super) fn tell(&self, app: &App, (method, uri): (&Method, &Uri), failure: &Failure) {
        let Some(untold) = self.turn(Instant::now()) else { return };
        let path: String = without_token(uri.path()).chars().take(512).collect();
        tracing::warn!(%path, code = failure.code(), untold, "request refused");
        let id = EventId::from_uuid(Uuid::now_v7());
        let event = NewEvent {
            target: Some(format!("{method} {path}")),
            target_type: Some("route".to_owned()),
            decision: Some(Verdict::Deny),
            reason: Some(failure.detail().to_owned()),
            status: Some(EventStatus::Denied),
            payload: serde_json::json!({"code": failure.code(), "untold": untold}),
            ..NewEvent::new(id, SystemTime::now().into(), ProjectId::default(), EventKind::ApiDenied)
        };
        let app = app.clone();
        // Appending waits while the store's queue is full; the refused need not be answered any later for it.
        drop(tokio::task::spawn_blocking(move || app.service.record(event).then(drop)));
    }

    /// Says whether this one is told, and how many were not since the last.
    fn turn(&self, now: Instant) -> Option<u64> {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if window.began.is_none_or(|began| now.duration_since(began) >= WINDOW) {
            window.began = Some(now);
            window.told = 0;
        }
        if window.told >= MOST {
            window.untold += 1;
            return None;
        }
        window.told += 1;
        Some(std::mem::take(&mut window.untold))
    }
}

/// A token in a path is somebody's, even if it is not known here.
fn without_token(path: &str) -> Cow<'_, str> {
    match path.strip_prefix("/t/").map(|rest| rest.split_once('/').unwrap_or((rest, ""))) {
        Some((_token, rest)) => Cow::Owned(format!("/t/…/{rest}")),
        None => Cow::Borrowed(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_not_told() {
        assert_eq!(without_token("/t/secret/events"), "/t/…/events");
        assert_eq!(without_token("/t/secret"), "/t/…/");
        assert_eq!(without_token("/api/t/x"), "/api/t/x");
    }

    #[test]
    fn a_flood_is_counted_and_not_told() {
        let (denials, start) = (Denials::default(), Instant::now());
        let told = (0..1000).filter(|_| denials.turn(start).is_some()).count();
        assert_eq!(told, 10);
        assert_eq!(denials.turn(start + WINDOW), Some(990));
    }
}
