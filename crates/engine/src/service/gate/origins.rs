//! Where sessions began: what one is about, of an agent that does not say.
//!
//! Owns: the first directory each session was heard of in. Refuses: to let a later one take its place; an agent that goes
//! elsewhere takes along nothing of what it may change.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use belljar_capture::HookEvent;
use belljar_domain::Principal;

use crate::service::Service;

/// The most sessions that are remembered; the oldest goes first.
const MOST: usize = 4096;

/// The first directory of each session, by whose it is.
#[derive(Debug, Default)]
pub(in crate::service) struct Origins(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    known: HashMap<(String, String), String>,
    order: VecDeque<(String, String)>,
}

impl Origins {
    /// The directory a session was first heard of in; where this is the first time, that is this one.
    fn first(&self, whose: &str, session: &str, cwd: Option<&str>) -> Option<String> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (whose.to_owned(), session.to_owned());
        if let Some(first) = kept.known.get(&key) {
            return Some(first.clone());
        }
        let cwd = cwd?.to_owned();
        if kept.order.len() >= MOST
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.known.remove(&oldest);
        }
        kept.order.push_back(key.clone());
        kept.known.insert(key, cwd.clone());
        Some(cwd)
    }
}

impl Service {
    /// Where the session of a hook began, as far as it was heard of.
    #[must_use]
    pub fn origin_of(&self, who: &Principal, hook: &HookEvent) -> Option<String> {
        self.0.origins.first(&who.name, hook.session_id.as_deref()?, hook.cwd.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_stays_where_it_began() {
        let origins = Origins::default();
        assert_eq!(origins.first("me", "s", None), None);
        assert_eq!(origins.first("me", "s", Some("/w")).as_deref(), Some("/w"));
        assert_eq!(origins.first("me", "s", Some("/")).as_deref(), Some("/w"));
        assert_eq!(origins.first("you", "s", Some("/")).as_deref(), Some("/"));
        for other in 0..MOST {
            origins.first("me", &other.to_string(), Some("/x"));
        }
        assert_eq!(origins.first("me", "s", Some("/later")).as_deref(), Some("/later"));
    }
}
