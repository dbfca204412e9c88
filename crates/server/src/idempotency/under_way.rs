//! Keys whose request this server carries out just now. A claim that is answered by nobody and is not among them was
//! left by a server that is gone.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use belljar_domain::ProjectId;

type Key = (ProjectId, String);

/// The keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnderWay(Arc<Mutex<HashSet<Key>>>);

/// One key, for as long as its request is carried out.
#[derive(Debug)]
pub(super) struct Turn {
    all: UnderWay,
    key: Key,
}

impl UnderWay {
    fn keys(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a key, unless somebody has it.
    pub(super) fn enter(&self, project: &ProjectId, key: &str) -> Option<Turn> {
        let key = (project.clone(), key.to_owned());
        self.keys().insert(key.clone()).then(|| Turn { all: self.clone(), key })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.all.keys().remove(&self.key);
    }
}
