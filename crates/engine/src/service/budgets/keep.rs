//! The books on disk: each sum, reservation and conversation a small document, written as it changes.

use std::time::Duration;

use belljar_domain::{ProjectId, SumKey, Timestamp};
use belljar_ports::{
    Store,
    store::{Batch, Document, PAGE_LIMIT, Removal, StoreError},
};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    super::now,
    Budgets,
    books::{Books, Page},
    limits::Limits,
};

const SUMS: &str = "spending";
const RESERVATIONS: &str = "reservation";
const CONVERSATIONS: &str = "conversation";

/// How long what nobody adds to any more is kept.
const KEPT: Duration = Duration::from_hours(35 * 24);

impl Budgets {
    /// Reads what the store has. What was set aside for too long meanwhile does not count.
    pub(in crate::service) fn load(store: &dyn Store) -> Result<Self, StoreError> {
        let conversation = |id: &str| {
            let (project, session) = id.split_once('/')?;
            Some((project.parse::<ProjectId>().ok()?, session.to_owned()))
        };
        let books = Books {
            sums: read(store, SUMS, |id| Some(SumKey(id.to_owned())))?,
            reservations: read(store, RESERVATIONS, |id| Some(id.to_owned()))?,
            conversations: read(store, CONVERSATIONS, conversation)?,
        };
        Ok(Self { books: books.into(), limits: Limits::load(store)?.into() })
    }
}

fn read<K: Ord, T: DeserializeOwned>(
    store: &dyn Store,
    collection: &str,
    key: impl Fn(&str) -> Option<K>,
) -> Result<std::collections::BTreeMap<K, T>, StoreError> {
    let mut all = std::collections::BTreeMap::new();
    let mut after = String::new();
    loop {
        let page = store.documents(collection, None, &after, PAGE_LIMIT)?;
        let Some(last) = page.last() else { return Ok(all) };
        after.clone_from(&last.id);
        let read = |kept: Document| Some((key(&kept.id)?, serde_json::from_value(kept.record).ok()?));
        all.extend(page.into_iter().filter_map(read));
    }
}

impl Books {
    /// What is to be written of a page.
    pub(super) fn batch(&self, page: &Page) -> Batch {
        let mut batch = Batch::default();
        for key in &page.sums {
            put(&mut batch, SUMS, &key.0, self.sums.get(key));
        }
        for name in &page.reservations {
            put(&mut batch, RESERVATIONS, name, self.reservations.get(name));
        }
        for (project, session) in &page.conversations {
            let kept = self.conversations.get(&(project.clone(), session.clone()));
            put(&mut batch, CONVERSATIONS, &format!("{project}/{session}"), kept);
        }
        batch
    }

    /// Forgets what nobody added to for long.
    pub(super) fn forget(&mut self, time: Timestamp) -> Page {
        let old = time.minus(KEPT);
        let mut page = Page::default();
        // What is of no particular time is kept: a total stays one.
        self.sums.retain(|key, sum| {
            let is_kept = sum.updated >= old || key.0.ends_with("@total");
            if !is_kept {
                page.sums.insert(key.clone());
            }
            is_kept
        });
        self.conversations.retain(|name, kept| {
            let is_kept = kept.updated >= old;
            if !is_kept {
                page.conversations.insert(name.clone());
            }
            is_kept
        });
        page
    }
}

fn put(batch: &mut Batch, collection: &str, id: &str, record: Option<&impl Serialize>) {
    let (collection, id) = (collection.to_owned(), id.to_owned());
    match record.and_then(|record| serde_json::to_value(record).ok()) {
        Some(record) => {
            let project = ProjectId::default();
            batch.documents.push(Document { collection, id, project, updated: now(), record });
        }
        None => batch.removals.push(Removal::Document(collection, id)),
    }
}
