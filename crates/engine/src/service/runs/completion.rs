//! Whoever asked to be told of a run's end is: one post with the results, tried again if it does not arrive.

use std::{thread, time::Duration};

use belljar_domain::{EventKind, EventStatus, Principal};
use serde_json::json;

use super::{super::Service, record::Run, selection::judgement_of};

/// How long is waited before each try.
const TRIES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(500), Duration::from_secs(2)];

impl Service {
    /// Posts how a run ended, and writes down whether that arrived.
    pub(super) fn tell_end(&self, run: &Run, url: &str) {
        let mut body = serde_json::to_value(judgement_of(run)).unwrap_or_default();
        if let Some(fields) = body.as_object_mut() {
            fields.insert("type".to_owned(), "run.ended".into());
            fields.insert("state".to_owned(), run.state.as_str().into());
            fields.insert("trouble".to_owned(), json!(run.trouble));
        }
        let bytes = body.to_string().into_bytes();
        let headers = [("x-belljar-event", "run.ended".to_owned()), ("x-belljar-run", run.id.to_string())];
        let mut error = None;
        for wait in TRIES {
            thread::sleep(wait);
            error = match self.0.courier.post(url, &headers, &bytes) {
                Ok(reply) if (200..300).contains(&reply.code) => None,
                Ok(reply) => Some(format!("it answered {}", reply.code)),
                Err(failure) => Some(failure.to_string()),
            };
            if error.is_none() {
                break;
            }
        }
        let who = Principal { project: run.project.clone(), name: run.by.clone(), admin: run.by_admin };
        let kind = if error.is_none() { EventKind::WebhookDelivered } else { EventKind::WebhookFailed };
        let mut event = self.event(&who, kind);
        event.run = Some(run.id);
        event.status = Some(if error.is_none() { EventStatus::Success } else { EventStatus::Failure });
        event.reason = error;
        event.target_type = Some("run".to_owned());
        // It is told, whether or not that can be written down.
        let _unwritten = self.record(event).wait();
    }
}
