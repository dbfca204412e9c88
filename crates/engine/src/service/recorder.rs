//! The one way into the ledger: take out secrets, append, and publish only what is durable.

use std::{borrow::Cow, sync::Arc};

use belljar_guardian::redact::Redactor;
use belljar_ports::{
    Store,
    store::{Appended, Batch, Pending, StoreError, pending},
};
use tokio::sync::watch;

use super::eye::Bell;

/// Appends and publishes.
#[derive(Debug)]
pub(super) struct Recorder {
    store: Arc<dyn Store>,
    published: Arc<watch::Sender<u64>>,
    redactor: Redactor,
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
        Ok(Self { store, published, redactor: Redactor::new(fingerprint_key), bell })
    }

    pub(super) const fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(super) const fn redactor(&self) -> &Redactor {
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

    /// What people and programs wrote into events and command lines, without its secrets.
    fn cleaned(&self, mut batch: Batch) -> Batch {
        for event in &mut batch.events {
            for text in [&mut event.target, &mut event.reason, &mut event.error].into_iter().flatten() {
                self.clean(text);
            }
            self.redactor.value(&mut event.payload);
        }
        for execution in &mut batch.executions {
            self.clean(&mut execution.command);
            self.redactor.value(&mut execution.record);
        }
        batch
    }

    fn clean(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.redactor.text(text) {
            *text = clean;
        }
    }
}
