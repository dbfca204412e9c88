//! The one way into the ledger: take out secrets, append, and publish only what is durable.

use std::{borrow::Cow, io, sync::Arc};

use belljar_domain::NewEvent;
use belljar_guardian::redact::Redactor;
use belljar_ports::{
    Store,
    store::{Appended, Batch, Pending, StoreError, pending},
};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::eye::Bell;

/// The most of a command line that is shown in lists; its record has all of it.
const LONGEST_COMMAND: usize = 4096;

/// Appends and publishes.
#[derive(Debug)]
pub(super) struct Recorder {
    store: Arc<dyn Store>,
    published: Arc<watch::Sender<u64>>,
    redactor: Arc<Redactor>,
    bell: Arc<Bell>,
}

/// Lets readers know how far they may read.
fn publish(published: &watch::Sender<u64>, appended: Appended) {
    published.send_if_modified(|last| {
        let is_news = appended.last > *last;
        *last = appended.last.max(*last);
        is_news
    });
}

impl Recorder {
    pub(super) fn new(
        store: Arc<dyn Store>,
        fingerprint_key: &[u8],
        bell: Arc<Bell>,
    ) -> Result<Self, StoreError> {
        let published = Arc::new(watch::Sender::new(store.last_seq()?));
        Ok(Self { store, published, redactor: Arc::new(Redactor::new(fingerprint_key)), bell })
    }

    pub(super) const fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(super) const fn redactor(&self) -> &Arc<Redactor> {
        &self.redactor
    }

    /// The place of the last event that may be shown.
    pub(super) fn published(&self) -> watch::Receiver<u64> {
        self.published.subscribe()
    }

    /// Hands a batch to the store; it is published as soon as it is durable, whether or not somebody waits.
    pub(super) fn append(&self, batch: Batch) -> Pending {
        self.append_then(batch, || {})
    }

    /// As [`Recorder::append`], with something to do once it is durable.
    pub(super) fn append_then(&self, batch: Batch, then: impl FnOnce() + Send + 'static) -> Pending {
        let (promise, pending) = pending();
        let (published, bell) = (Arc::clone(&self.published), Arc::clone(&self.bell));
        self.store.append(self.cleaned(batch)).then(move |outcome| {
            if let Ok(appended) = &outcome {
                publish(&published, *appended);
                bell.ring();
                then();
            }
            promise.keep(outcome);
        });
        pending
    }

    /// Appends a batch and waits until it is durable and published.
    pub(super) fn commit(&self, batch: Batch) -> Result<Appended, StoreError> {
        let appended = self.store.commit(self.cleaned(batch))?;
        publish(&self.published, appended);
        self.bell.ring();
        Ok(appended)
    }

    /// What people and programs wrote into events, command lines, sandboxes and answers, without its secrets. What
    /// commands wrote is redacted where it is read, for a secret may come in pieces.
    fn cleaned(&self, mut batch: Batch) -> Batch {
        for event in &mut batch.events {
            self.clean_event(event);
        }
        for execution in &mut batch.executions {
            self.clean(&mut execution.command);
            execution.command.truncate(execution.command.floor_char_boundary(LONGEST_COMMAND));
            self.redactor.value(&mut execution.record);
        }
        for sandbox in &mut batch.sandboxes {
            self.clean(&mut sandbox.name);
            self.redactor.value(&mut sandbox.record);
            for (name, value) in &mut sandbox.labels {
                let mut pair = json!({ name: &*value });
                self.redactor.value(&mut pair);
                if let Some(clean) = pair.get(name).and_then(Value::as_str) {
                    clean.clone_into(value);
                }
            }
            self.hide_env(&mut sandbox.record);
        }
        for change in &mut batch.approvals {
            self.redactor.value(&mut change.row.record);
        }
        for run in &mut batch.runs {
            self.clean(&mut run.task);
            self.redactor.value(&mut run.record);
        }
        for row in &mut batch.idempotency {
            if let Some(response) = &mut row.response {
                self.clean_answer(&mut response.body);
            }
        }
        batch
    }

    /// An event without its secrets, as it is recorded.
    pub(super) fn clean_event(&self, event: &mut NewEvent) {
        let actor = &mut event.actor;
        // Who somebody is said to be is a claim like any other text.
        let names = [&mut actor.id, &mut actor.name, &mut actor.role, &mut event.session, &mut event.tool];
        let texts = [&mut event.target, &mut event.reason, &mut event.error, &mut event.operation];
        for text in names.into_iter().chain(texts).flatten() {
            self.clean(text);
        }
        self.redactor.value(&mut event.payload);
        // What is too long is cut last: half a secret would not be known as one.
        let bytes = length(&event.payload);
        if event.check(bytes).is_err() {
            event.clip(bytes);
        }
    }

    /// An environment is full of secrets whose names say nothing; only their fingerprints are kept.
    fn hide_env(&self, record: &mut Value) {
        let env = record.pointer_mut("/spec/env").and_then(Value::as_object_mut);
        for value in env.into_iter().flat_map(serde_json::Map::values_mut) {
            if let Value::String(text) = value
                && !is_hidden(text)
            {
                *text = self.redactor.marker("env", text);
            }
        }
    }

    /// An answer that is repeated later is kept without the secrets the first one may have had.
    fn clean_answer(&self, body: &mut Vec<u8>) {
        let clean = match serde_json::from_slice::<Value>(body) {
            Ok(mut value) => {
                let before = value.clone();
                self.redactor.value(&mut value);
                (value != before).then(|| serde_json::to_vec(&value).unwrap_or_default())
            }
            Err(_) => match self.redactor.bytes(body) {
                Cow::Owned(clean) => Some(clean),
                Cow::Borrowed(_) => None,
            },
        };
        if let Some(clean) = clean {
            *body = clean;
        }
    }

    fn clean(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.redactor.text(text) {
            *text = clean;
        }
    }
}

/// How many bytes a value has as JSON.
fn length(value: &Value) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail, nor can a value be one that JSON does not know.
    let _counted = serde_json::to_writer(&mut count, value);
    count.0
}

fn is_hidden(value: &str) -> bool {
    value.starts_with("[redacted:") && value.ends_with(']')
}
