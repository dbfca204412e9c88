//! Sandboxes that are frozen for a reason, and may go on when all reasons are gone.
//!
//! Owns: which reasons there are for which sandbox, also after a restart. Refuses: to thaw what a person froze.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use belljar_domain::{ProjectId, SandboxId, SandboxState};
use belljar_ports::{
    Store,
    store::{Batch, Document, PAGE_LIMIT, Removal, StoreError},
};
use serde::{Deserialize, Serialize};

use super::super::{Result, Service, live::LiveSandbox, now};

/// What documents of holds are one of.
const COLLECTION: &str = "hold";

/// Why a sandbox is frozen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::service) enum Hold {
    /// Its agent may not act.
    Agent,
    /// A budget of this name is used up.
    Budget(String),
}

/// The reasons there are.
#[derive(Debug, Default)]
pub(in crate::service) struct Holds(Mutex<BTreeMap<SandboxId, BTreeSet<Hold>>>);

impl Holds {
    /// Reads what the store has.
    pub(in crate::service) fn load(store: &dyn Store) -> std::result::Result<Self, StoreError> {
        let kept = store.documents(COLLECTION, None, "", PAGE_LIMIT)?;
        let read = |kept: Document| Some((kept.id.parse().ok()?, serde_json::from_value(kept.record).ok()?));
        Ok(Self(Mutex::new(kept.into_iter().filter_map(read).collect())))
    }

    /// The reasons for one.
    pub(in crate::service) fn of(&self, id: SandboxId) -> BTreeSet<Hold> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned().unwrap_or_default()
    }

    /// Every sandbox that is held, with its reasons.
    pub(in crate::service) fn all(&self) -> BTreeMap<SandboxId, BTreeSet<Hold>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the reasons for one; the answer is what they are now.
    fn change(&self, id: SandboxId, change: impl FnOnce(&mut BTreeSet<Hold>)) -> BTreeSet<Hold> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reasons = all.entry(id).or_default();
        change(reasons);
        let left = reasons.clone();
        if left.is_empty() {
            all.remove(&id);
        }
        left
    }
}

impl Service {
    /// Freezes a sandbox for a reason. One that a person froze stays theirs to thaw.
    pub(in crate::service) fn freeze(&self, live: &LiveSandbox, hold: Hold, by: &str) -> Result<()> {
        let view = live.view();
        if !view.state.is_live()
            || (view.state == SandboxState::Paused && self.0.holds.of(view.id).is_empty())
        {
            return Ok(());
        }
        if view.state != SandboxState::Paused {
            live.sandbox.pause()?;
        }
        let reasons = self.0.holds.change(view.id, |reasons| reasons.extend([hold]));
        self.0.recorder.commit(kept(view.id, &view.project, &reasons))?;
        self.stepped(by, live, SandboxState::Paused).map(drop)
    }

    /// Takes a reason back; the sandbox goes on if it was the last.
    pub(in crate::service) fn thaw(&self, live: &LiveSandbox, hold: &Hold, by: &str) {
        let view = live.view();
        if !self.0.holds.of(view.id).contains(hold) {
            return;
        }
        let left = self.0.holds.change(view.id, |reasons| reasons.retain(|reason| reason != hold));
        drop(self.0.recorder.append(kept(view.id, &view.project, &left)));
        if left.is_empty() && live.sandbox.resume().is_ok() {
            // What it shows is put right by the next look, should this fail.
            let _later = self.stepped(by, live, SandboxState::Running);
        }
    }

    /// Forgets the reasons for sandboxes that are gone.
    pub(in crate::service) fn forget_holds(&self) {
        for (id, _) in self.0.holds.all() {
            if self.0.registry.sandbox(id).is_none() {
                self.0.holds.change(id, BTreeSet::clear);
                drop(self.0.recorder.append(kept(id, &ProjectId::default(), &BTreeSet::new())));
            }
        }
    }
}

fn kept(id: SandboxId, project: &ProjectId, reasons: &BTreeSet<Hold>) -> Batch {
    if reasons.is_empty() {
        let removals = vec![Removal::Document(COLLECTION.to_owned(), id.to_string())];
        return Batch { removals, ..Batch::default() };
    }
    let record = serde_json::to_value(reasons).unwrap_or_default();
    let (collection, id, project) = (COLLECTION.to_owned(), id.to_string(), project.clone());
    let documents = vec![Document { collection, id, project, updated: now(), record }];
    Batch { documents, ..Batch::default() }
}
