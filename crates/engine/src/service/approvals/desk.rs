//! Who waits right now, and what was really asked: what is too secret or too short-lived for the store.
//!
//! Owns: the seats of open approvals, the news that one was answered, and how many watch. All of it can be lost: a seat is
//! made again from its row, without the secrets of its input.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use belljar_domain::{ApprovalId, ApprovalState};
use belljar_ports::store::ApprovalRow;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;
use tokio::sync::watch;

use crate::service::gate::Request;

/// The desk at which calls wait.
#[derive(Debug)]
pub(in crate::service) struct Desk {
    key: Vec<u8>,
    seats: Mutex<HashMap<ApprovalId, Seat>>,
    /// Held while it is found out whether a call was asked about before.
    pub(super) asking: Mutex<()>,
    news: watch::Sender<u64>,
    watchers: AtomicUsize,
}

/// One call that waits, or was answered lately.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) row: ApprovalRow,
    /// The request as it was made.
    pub(super) request: Option<Request>,
    /// What a person wants done instead, as they wrote it.
    pub(super) edited: Option<Value>,
    /// How many wait for the answer now, and since when nobody does.
    pub(super) waiters: usize,
    pub(super) left: Instant,
}

impl Seat {
    pub(super) fn new(row: ApprovalRow, request: Option<Request>) -> Self {
        Self { row, request, edited: None, waiters: 0, left: Instant::now() }
    }
}

impl Desk {
    pub(in crate::service) fn new(key: Vec<u8>) -> Self {
        Self {
            key,
            seats: Mutex::default(),
            asking: Mutex::default(),
            news: watch::Sender::new(0),
            watchers: AtomicUsize::new(0),
        }
    }

    pub(super) fn seats(&self) -> MutexGuard<'_, HashMap<ApprovalId, Seat>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that an approval took a step.
    pub(super) fn stepped(&self, row: &ApprovalRow, edited: Option<Value>) {
        if let Some(seat) = self.seats().get_mut(&row.id) {
            seat.row = row.clone();
            seat.edited = edited.or_else(|| seat.edited.take());
        }
        self.news.send_modify(|turn| *turn += 1);
    }

    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    pub(super) fn waiting(&self) -> usize {
        self.seats().values().filter(|seat| seat.row.state == ApprovalState::Pending).count()
    }

    pub(super) const fn watchers(&self) -> &AtomicUsize {
        &self.watchers
    }

    pub(super) fn is_watched(&self) -> bool {
        self.watchers.load(Ordering::Relaxed) > 0
    }

    /// A fingerprint of parts, which says nothing about them without the key.
    pub(super) fn print(&self, parts: &[&[u8]]) -> String {
        // A key of any length is a key.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) else { return String::new() };
        mac.update(b"belljar approval 1\0");
        for part in parts {
            mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// A fingerprint of an input, however its fields are ordered.
    pub(super) fn print_of(&self, input: &Value) -> String {
        let mut text = String::new();
        canonical(input, &mut text);
        self.print(&[text.as_bytes()])
    }
}

fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<_> = fields.iter().collect();
            names.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (name, value) in names {
                text.push_str(&Value::String(name.clone()).to_string());
                text.push(':');
                canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fingerprint_is_of_the_content_and_the_key() {
        let (desk, other) = (Desk::new(b"key".to_vec()), Desk::new(b"other".to_vec()));
        let (one, same) = (json!({"a": [1, {"b": 2, "c": 3}]}), json!({"a": [1, {"c": 3, "b": 2}]}));
        assert_eq!(desk.print_of(&one), desk.print_of(&same));
        assert_ne!(desk.print_of(&one), other.print_of(&one));
        assert_ne!(desk.print_of(&json!(["a", "b"])), desk.print_of(&json!(["a,b"])));
        assert_ne!(desk.print(&[b"ab", b"c"]), desk.print(&[b"a", b"bc"]));
    }
}
