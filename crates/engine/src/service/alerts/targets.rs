//! Telling the operator: an AlertManager, which wants to hear again and again, and a webhook, which wants to hear once.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use belljar_domain::Timestamp;
use serde_json::{Value, json};

use super::{
    super::{
        courier::{Courier, Reach},
        now,
        webhooks::signature,
    },
    AlertSettings,
    state::{Alert, Change},
};

/// How often an AlertManager is told of what goes on; it forgets after five minutes.
const AGAIN: Duration = Duration::from_secs(60);
/// How long an AlertManager is told that something is over.
const FAREWELL: Duration = Duration::from_secs(300);
/// How long one POST may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most posts that wait for a webhook that does not answer.
const MOST: usize = 256;

/// What is to be told, and to whom.
#[derive(Debug)]
pub(super) struct Targets {
    courier: Courier,
    alertmanager: Option<String>,
    webhook: Option<(String, Option<String>)>,
    waiting: VecDeque<Value>,
    over: Vec<(Instant, Alert, Timestamp)>,
    told: Option<Instant>,
}

impl Targets {
    pub(super) fn new(settings: &AlertSettings) -> Self {
        let alertmanager = settings.alertmanager.as_ref();
        Self {
            // The operator wrote these addresses, and an AlertManager is mostly next door.
            courier: Courier::new(Reach::Anywhere, PATIENCE),
            alertmanager: alertmanager.map(|url| format!("{}/api/v2/alerts", url.trim_end_matches('/'))),
            webhook: settings.webhook.clone().map(|url| (url, settings.secret.clone())),
            waiting: VecDeque::new(),
            over: Vec::new(),
            told: None,
        }
    }

    /// Tells what changed, and again what goes on.
    pub(super) fn tell(&mut self, changes: &[Change], raised: &[Alert]) {
        for change in changes {
            if let Change::Resolved(alert) = change {
                self.over.push((Instant::now(), alert.clone(), now()));
            }
            if self.webhook.is_some() && self.waiting.len() < MOST {
                self.waiting.push_back(notice(change));
            }
        }
        self.over.retain(|(since, ..)| since.elapsed() < FAREWELL);
        self.tell_alertmanager(!changes.is_empty(), raised);
        self.tell_webhook();
    }

    fn tell_alertmanager(&mut self, has_news: bool, raised: &[Alert]) {
        let Some(url) = &self.alertmanager else { return };
        let is_due = has_news || self.told.is_none_or(|told| told.elapsed() >= AGAIN);
        let going_on = raised.iter().map(|alert| posted(alert, None));
        let over = self.over.iter().map(|(_, alert, end)| posted(alert, Some(*end)));
        let all: Vec<Value> = going_on.chain(over).collect();
        if !is_due || all.is_empty() {
            return;
        }
        let answered = self.courier.post(url, &[], Value::Array(all).to_string().as_bytes());
        let heard = answered.is_ok_and(|reply| (200..300).contains(&reply.code));
        // Unheard, it is told again with the next look.
        self.told = heard.then(Instant::now);
    }

    fn tell_webhook(&mut self) {
        let Some((url, secret)) = &self.webhook else { return };
        while let Some(next) = self.waiting.front() {
            let body = next.to_string().into_bytes();
            let seconds = (now().as_micros() / 1_000_000).to_string();
            let mut headers = vec![("x-belljar-event", "alert".to_owned())];
            if let Some(secret) = secret {
                headers.push(("x-belljar-signature", signature(secret, &seconds, &body)));
            }
            headers.push(("x-belljar-timestamp", seconds));
            let answered = self.courier.post(url, &headers, &body);
            if !answered.is_ok_and(|reply| (200..300).contains(&reply.code)) {
                return;
            }
            self.waiting.pop_front();
        }
    }
}

/// An alert in the words of AlertManager's API, version 2.
fn posted(alert: &Alert, end: Option<Timestamp>) -> Value {
    let (rule, sandbox) = alert.subject;
    let mut labels = json!({
        "alertname": rule.name(),
        "severity": rule.severity(),
        "service": "belljar",
        "project_id": alert.project,
    });
    if let (Some(labels), Some(sandbox)) = (labels.as_object_mut(), sandbox) {
        labels.insert("sandbox_id".to_owned(), json!(sandbox));
    }
    let mut posted = json!({
        "labels": labels,
        "annotations": { "summary": rule.summary(alert.value, alert.threshold) },
        "startsAt": alert.raised.to_string(),
    });
    if let (Some(posted), Some(end)) = (posted.as_object_mut(), end) {
        posted.insert("endsAt".to_owned(), json!(end.to_string()));
    }
    posted
}

fn notice(change: &Change) -> Value {
    let (status, alert) = match change {
        Change::Raised(alert) => ("raised", alert),
        Change::Resolved(alert) => ("resolved", alert),
    };
    let (rule, sandbox) = alert.subject;
    json!({
        "type": format!("alert.{status}"),
        "time": now().to_string(),
        "rule": rule.name(),
        "severity": rule.severity(),
        "project_id": alert.project,
        "sandbox_id": sandbox,
        "value": alert.value,
        "threshold": alert.threshold,
        "summary": rule.summary(alert.value, alert.threshold),
        "raised_at": alert.raised.to_string(),
    })
}
