//! All entries, in memory: what the gate looks at before every call.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use belljar_domain::{AgentEntry, AgentName, ProjectId};
use belljar_ports::{
    Store,
    store::{Document, PAGE_LIMIT, StoreError},
};

/// What documents of agents are one of.
pub(super) const COLLECTION: &str = "agent";

type Key = (ProjectId, AgentName);

/// See the module.
#[derive(Debug, Default)]
pub(in crate::service) struct Roster {
    entries: RwLock<BTreeMap<Key, Arc<AgentEntry>>>,
    /// Held by whoever changes one, from reading it until it is durable.
    changing: Mutex<()>,
}

impl Roster {
    /// Reads what the store has.
    pub(in crate::service) fn load(store: &dyn Store) -> Result<Self, StoreError> {
        let mut entries = BTreeMap::new();
        let mut after = String::new();
        loop {
            let page = store.documents(COLLECTION, None, &after, PAGE_LIMIT)?;
            let Some(last) = page.last() else { break };
            after.clone_from(&last.id);
            // One a newer belljar wrote otherwise stays where it is, and is not known here: nobody acts by it.
            let read = page.into_iter().filter_map(|kept| serde_json::from_value(kept.record).ok());
            entries.extend(read.map(|entry: AgentEntry| (key(&entry), Arc::new(entry))));
        }
        Ok(Self { entries: RwLock::new(entries), changing: Mutex::default() })
    }

    pub(in crate::service) fn find(&self, project: &ProjectId, name: &str) -> Option<Arc<AgentEntry>> {
        let name: AgentName = name.parse().ok()?;
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.get(&(project.clone(), name)).cloned()
    }

    /// All of a project, or of all, by name.
    pub(in crate::service) fn all(&self, project: Option<&ProjectId>) -> Vec<Arc<AgentEntry>> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let wanted = entries.values().filter(|entry| project.is_none_or(|project| entry.project == *project));
        wanted.cloned().collect()
    }

    /// Lets one change entries, nobody else meanwhile.
    pub(super) fn change(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, entry: &Arc<AgentEntry>) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        entries.insert(key(entry), Arc::clone(entry));
    }

    pub(super) fn remove(&self, entry: &AgentEntry) {
        self.entries.write().unwrap_or_else(PoisonError::into_inner).remove(&key(entry));
    }
}

fn key(entry: &AgentEntry) -> Key {
    (entry.project.clone(), entry.name.clone())
}

/// What an entry is called among documents.
pub(super) fn document_id(entry: &AgentEntry) -> String {
    format!("{}/{}", entry.project, entry.name)
}

/// An entry as it is kept.
pub(super) fn document(entry: &AgentEntry) -> Document {
    Document {
        collection: COLLECTION.to_owned(),
        id: document_id(entry),
        project: entry.project.clone(),
        updated: entry.changed,
        record: serde_json::to_value(entry).unwrap_or_default(),
    }
}
