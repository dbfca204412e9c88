//! One attempt: the body, its signature, and what became of it.

use std::time::{Duration, Instant};

use belljar_domain::{DeliveryId, Event, EventId, EventKind, EventStatus, NewEvent, Principal, Timestamp};
use belljar_ports::store::{Batch, DeliveryRow};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use uuid::Uuid;

use super::{
    super::{Result, Service, courier::Reply, now},
    WebhookSettings,
    subscription::Webhook,
};

/// The longest wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);
/// The longest text of what went wrong.
const LONGEST_ERROR: usize = 500;

impl Service {
    /// Tells a subscriber of nothing in particular, now; the answer is how that went.
    ///
    /// # Errors
    /// When there is no such subscription.
    pub fn test_webhook(&self, who: &Principal, id: &str) -> Result<DeliveryRow> {
        let webhook = self.webhook(who, id)?;
        let event = NewEvent::new(
            EventId::from_uuid(Uuid::now_v7()),
            now(),
            webhook.project.clone(),
            EventKind::Other("webhook.test".to_owned()),
        );
        let row = planned(&webhook, event.id, 1, now());
        let done = self.attempt(&webhook, row, &body(&event, None));
        let deliveries = vec![DeliveryRow { retry: None, ..done }];
        self.0.recorder.commit(Batch { deliveries: deliveries.clone(), ..Batch::default() })?;
        Ok(deliveries.into_iter().next().unwrap_or_else(|| planned(&webhook, event.id, 1, now())))
    }

    /// Makes an attempt that is due and plans the next if it failed.
    pub(super) fn deliver(&self, webhook: &Webhook, row: DeliveryRow) -> Batch {
        let Ok(Some(event)) = self.store().event(row.event) else {
            let error = Some("the event is past its time".to_owned());
            let gone = DeliveryRow { status: Some(EventStatus::Cancelled), error, retry: None, ..row };
            return Batch { deliveries: vec![gone], ..Batch::default() };
        };
        let settings = self.0.settings.webhooks;
        let done = self.attempt(webhook, row, &body(&event.what, Some(&event)));
        let failed = done.status != Some(EventStatus::Success);
        let mut deliveries = vec![done.clone()];
        if failed && done.attempt < settings.attempts {
            let wait = backoff(settings, done.attempt, Uuid::new_v4().as_u128());
            deliveries.push(planned(webhook, done.event, done.attempt + 1, now().plus(wait)));
            return Batch { deliveries, ..Batch::default() };
        }
        let kind = if failed { EventKind::WebhookFailed } else { EventKind::WebhookDelivered };
        let mut told =
            NewEvent::new(EventId::from_uuid(Uuid::now_v7()), now(), webhook.project.clone(), kind);
        told.status = done.status;
        told.target = Some(webhook.id.clone());
        told.target_type = Some("webhook".to_owned());
        told.reason.clone_from(&done.error);
        told.duration_ms = done.duration_ms;
        told.payload = json!({ "event": done.event, "attempts": done.attempt, "code": done.code });
        Batch { deliveries, events: vec![told], ..Batch::default() }
    }

    fn attempt(&self, webhook: &Webhook, row: DeliveryRow, body: &Value) -> DeliveryRow {
        let (began, time) = (Instant::now(), now());
        let bytes = body.to_string().into_bytes();
        let seconds = (time.as_micros() / 1_000_000).to_string();
        let kind = body.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let headers = [
            ("x-belljar-event", kind),
            ("x-belljar-delivery", row.id.to_string()),
            ("x-belljar-signature", signature(&webhook.secret, &seconds, &bytes)),
            ("x-belljar-timestamp", seconds),
        ];
        let answered = self.0.courier.post(&webhook.url, &headers, &bytes);
        let (status, code, error) = match answered {
            Ok(Reply { code, .. }) if (200..300).contains(&code) => (EventStatus::Success, Some(code), None),
            Ok(Reply { code, said }) => {
                let error = format!("it answered {code}: {said}");
                (EventStatus::Failure, Some(code), Some(error.chars().take(LONGEST_ERROR).collect()))
            }
            Err(error) => (EventStatus::Failure, None, Some(whole(&error))),
        };
        let duration_ms = u64::try_from(began.elapsed().as_millis()).ok();
        DeliveryRow { time, status: Some(status), code, error, duration_ms, retry: None, ..row }
    }
}

/// An attempt that waits for its time.
pub(super) fn planned(webhook: &Webhook, event: EventId, attempt: u32, due: Timestamp) -> DeliveryRow {
    DeliveryRow {
        id: DeliveryId::from_uuid(Uuid::now_v7()),
        webhook: webhook.id.clone(),
        project: webhook.project.clone(),
        event,
        attempt,
        time: now(),
        status: None,
        code: None,
        error: None,
        duration_ms: None,
        retry: Some(due),
    }
}

fn body(event: &NewEvent, kept: Option<&Event>) -> Value {
    json!({
        "id": event.id,
        "type": event.kind.as_str(),
        "seq": kept.map(|kept| kept.seq),
        "time": event.time.to_string(),
        "project_id": event.project,
        "sandbox_id": event.sandbox,
        "execution_id": event.execution,
        "agent_id": event.actor.id,
        "target": event.target,
        "status": event.status,
        "reason": event.reason,
        "duration_ms": event.duration_ms,
        "payload": event.payload,
    })
}

/// What proves to whoever knows the secret that the body is ours and when it was sent.
pub(in super::super) fn signature(secret: &str, timestamp: &str, body: &[u8]) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return String::new() };
    mac.update(timestamp.as_bytes());
    mac.update(b".");
    mac.update(body);
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("v1={hex}")
}

/// Twice as long each time, give or take a fifth, so that many do not come back at the same moment.
fn backoff(settings: WebhookSettings, attempt: u32, dice: u128) -> Duration {
    let doubled = settings.retry_delay.saturating_mul(1 << (attempt - 1).min(20)).min(LONGEST_WAIT);
    let percent = 80 + u32::try_from(dice % 41).unwrap_or(20);
    doubled.saturating_mul(percent) / 100
}

/// An error with everything that caused it.
fn whole(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text.chars().take(LONGEST_ERROR).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_the_documented_one() {
        // printf '1700000000.{}' | openssl dgst -sha256 -hmac 0123456789abcdef
        let said = signature("0123456789abcdef", "1700000000", b"{}");
        assert_eq!(said, "v1=e4f8e2ecae2295b2ddb2f0b5584c8275e226c0ebe9b3b819e70156bb67122e3e");
    }

    #[test]
    fn waits_double_up_to_an_hour() {
        let settings = WebhookSettings::default();
        assert_eq!(backoff(settings, 1, 20), Duration::from_secs(5));
        assert_eq!(backoff(settings, 3, 20), Duration::from_secs(20));
        assert_eq!(backoff(settings, 30, 20), LONGEST_WAIT);
        assert!(backoff(settings, 1, 0) < backoff(settings, 1, 40));
    }
}
