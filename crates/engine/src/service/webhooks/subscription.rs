//! Who is told of what.

use belljar_domain::{DeliveryId, Event, Principal, ProjectId, Timestamp};
use belljar_ports::store::{Batch, DeliveryRow, Document, Removal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::{Result, Service, ServiceError, now};

/// What documents of subscriptions are one of.
const COLLECTION: &str = "webhook";
/// Where the place in the ledger is kept.
const PLACES: &str = "place";
const PLACE: &str = "webhooks";
/// The most subscriptions there may be, the most kinds of one, and the bounds of a secret.
const MOST: usize = 100;
const MOST_KINDS: usize = 32;
const LONGEST_KIND: usize = 64;
const SECRET: std::ops::RangeInclusive<usize> = 16..=256;

/// A subscription to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewWebhook {
    /// Where to post.
    pub url: String,
    /// Kinds of events, or their beginnings up to a dot; all when empty.
    pub events: Vec<String>,
    /// What deliveries are signed with; made up when left out.
    pub secret: Option<String>,
}

/// A subscription. Its secret is shown once, to whoever made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookView {
    /// Its identity.
    pub id: String,
    /// Whose it is.
    pub project: ProjectId,
    /// Where it posts.
    pub url: String,
    /// Which kinds of events; all when empty.
    pub events: Vec<String>,
    /// When it was made.
    pub created: Timestamp,
}

/// A subscription as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Webhook {
    #[serde(skip)]
    pub(super) id: String,
    #[serde(skip)]
    pub(super) project: ProjectId,
    pub(super) url: String,
    pub(super) events: Vec<String>,
    pub(super) secret: String,
    pub(super) created: Timestamp,
    /// Events up to this place happened before it was made.
    pub(super) since: u64,
}

impl Webhook {
    /// Says whether it wants to know of an event.
    pub(super) fn wants(&self, event: &Event) -> bool {
        let kind = &event.what.kind;
        event.seq > self.since
            && event.what.project == self.project
            && !kind.as_str().starts_with("webhook.")
            && (self.events.is_empty() || self.events.iter().any(|wanted| kind.is_of(wanted)))
    }

    fn read(document: Document) -> Option<Self> {
        let kept: Self = serde_json::from_value(document.record).ok()?;
        Some(Self { id: document.id, project: document.project, ..kept })
    }

    fn view(self) -> WebhookView {
        let Self { id, project, url, events, created, .. } = self;
        WebhookView { id, project, url, events, created }
    }
}

impl Service {
    /// Subscribes an address to events; the answer has the secret deliveries are signed with.
    ///
    /// # Errors
    /// When the address or the secret cannot be used, or there are too many.
    pub fn subscribe(&self, who: &Principal, asked: NewWebhook) -> Result<(WebhookView, String)> {
        self.0.courier.foresee(&asked.url).map_err(|error| ServiceError::Invalid(error.to_string()))?;
        let is_kind = |kind: &String| {
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'.' || byte == b'_';
            !kind.is_empty() && kind.len() <= LONGEST_KIND && kind.bytes().all(plain)
        };
        if asked.events.len() > MOST_KINDS || !asked.events.iter().all(is_kind) {
            return Err(ServiceError::Invalid(format!(
                "`events` are at most {MOST_KINDS} kinds such as `sandbox` or `execution.ended`"
            )));
        }
        let secret = asked
            .secret
            .unwrap_or_else(|| format!("whsec_{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()));
        if !SECRET.contains(&secret.len()) {
            return Err(ServiceError::Invalid("a secret has 16 to 256 bytes".to_owned()));
        }
        if self.webhooks_kept()?.len() >= MOST {
            return Err(ServiceError::Quota(format!("there are {MOST} webhooks, as many as there may be")));
        }
        let webhook = Webhook {
            id: format!("whk_{}", Uuid::now_v7().simple()),
            project: who.project.clone(),
            url: asked.url,
            events: asked.events,
            secret: secret.clone(),
            created: now(),
            since: self.store().last_seq()?,
        };
        let documents = vec![document(COLLECTION, &webhook.id, &webhook.project, json!(webhook))];
        self.0.recorder.commit(Batch { documents, ..Batch::default() })?;
        Ok((webhook.view(), secret))
    }

    /// Subscriptions, by name.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn webhooks(&self, who: &Principal) -> Result<Vec<WebhookView>> {
        let all = self.webhooks_kept()?.into_iter().filter(|webhook| who.sees(&webhook.project));
        Ok(all.map(Webhook::view).collect())
    }

    /// Ends a subscription.
    ///
    /// # Errors
    /// When there is none of theirs.
    pub fn unsubscribe(&self, who: &Principal, id: &str) -> Result<()> {
        self.webhook(who, id)?;
        let removals = vec![Removal::Document(COLLECTION.to_owned(), id.to_owned())];
        self.0.recorder.commit(Batch { removals, ..Batch::default() })?;
        Ok(())
    }

    /// Attempts to tell a subscriber, newest first.
    ///
    /// # Errors
    /// When there is no such subscription.
    pub fn deliveries(
        &self,
        who: &Principal,
        id: &str,
        below: Option<DeliveryId>,
        limit: usize,
    ) -> Result<Vec<DeliveryRow>> {
        self.webhook(who, id)?;
        Ok(self.store().deliveries(id, below, limit)?)
    }

    pub(super) fn webhook(&self, who: &Principal, id: &str) -> Result<Webhook> {
        let found = self.store().document(COLLECTION, id)?.filter(|found| who.sees(&found.project));
        found.and_then(Webhook::read).ok_or_else(|| ServiceError::NotFound(format!("webhook `{id}`")))
    }

    pub(super) fn webhooks_kept(&self) -> Result<Vec<Webhook>> {
        let kept = self.store().documents(COLLECTION, None, "", MOST)?;
        Ok(kept.into_iter().filter_map(Webhook::read).collect())
    }

    /// The place in the ledger up to which deliveries are planned.
    pub(super) fn place(&self) -> Result<Option<u64>> {
        let kept = self.store().document(PLACES, PLACE)?;
        Ok(kept.and_then(|kept| kept.record.get("seq").and_then(Value::as_u64)))
    }
}

/// The place, as it is kept.
pub(super) fn place_document(seq: u64) -> Document {
    document(PLACES, PLACE, &ProjectId::default(), json!({ "seq": seq }))
}

fn document(collection: &str, id: &str, project: &ProjectId, record: Value) -> Document {
    let (collection, id, project) = (collection.to_owned(), id.to_owned(), project.clone());
    Document { collection, id, project, updated: now(), record }
}
