//! Plans deliveries as the ledger grows and makes those that are due. One thread, a few more while it delivers.

use std::{
    collections::BTreeMap,
    sync::atomic::Ordering,
    thread::{self, JoinHandle},
    time::Duration,
};

use belljar_domain::EventId;
use belljar_ports::store::{Batch, DeliveryRow, EventFilter};

use super::{
    super::{Result, Service, now},
    attempt::planned,
    subscription::{Webhook, place_document},
};

/// How often to look, and how often whether there is anyone to tell.
const ROUND: Duration = Duration::from_millis(200);
const IDLE: Duration = Duration::from_secs(1);
/// Events planned, and attempts made, at one time.
const EVENTS: usize = 500;
const ATTEMPTS: usize = 64;
/// Subscribers told at one time.
const AT_ONCE: usize = 8;

/// Starts the thread.
pub(in super::super) fn begin(service: &Service) -> Option<JoinHandle<()>> {
    let own = service.clone();
    thread::Builder::new().name("webhooks".to_owned()).spawn(move || own.tell_all()).ok()
}

impl Service {
    fn tell_all(&self) {
        let mut place = None;
        while !self.0.closing.load(Ordering::Relaxed) {
            // What cannot be read or written now is tried again.
            match self.tell_some(&mut place) {
                Ok(true) => {}
                Ok(false) if place.is_none() => thread::park_timeout(IDLE),
                Ok(false) | Err(_) => thread::park_timeout(ROUND),
            }
        }
    }

    /// Plans and delivers some; the answer is whether there may be more at once.
    fn tell_some(&self, place: &mut Option<u64>) -> Result<bool> {
        let webhooks = self.webhooks_kept()?;
        if webhooks.is_empty() {
            // Nobody wants to know of anything up to here; who subscribes later begins later.
            *place = None;
            return Ok(false);
        }
        let from = match *place {
            Some(place) => place,
            None => self.place()?.unwrap_or(0).max(webhooks.iter().map(|hook| hook.since).min().unwrap_or(0)),
        };
        let (reached, full) = self.plan(&webhooks, from)?;
        *place = Some(reached);
        let tried = self.try_due(&webhooks)?;
        Ok(full || tried)
    }

    fn plan(&self, webhooks: &[Webhook], from: u64) -> Result<(u64, bool)> {
        let published = *self.0.recorder.published().borrow();
        if published <= from {
            return Ok((from, false));
        }
        let events = self.store().events(&EventFilter::default(), from, EVENTS)?;
        let Some(last) = events.last().map(|event| event.seq) else { return Ok((from, false)) };
        let wanted = |id: EventId, hook: &Webhook| planned(hook, id, 1, now());
        let deliveries: Vec<DeliveryRow> = events
            .iter()
            .flat_map(|event| {
                let hooks = webhooks.iter().filter(|hook| hook.wants(event));
                hooks.map(|hook| wanted(event.what.id, hook))
            })
            .collect();
        let documents = vec![place_document(last)];
        self.0.recorder.commit(Batch { deliveries, documents, ..Batch::default() })?;
        Ok((last, events.len() == EVENTS))
    }

    /// Makes attempts that are due, each subscriber's one after the other.
    fn try_due(&self, webhooks: &[Webhook]) -> Result<bool> {
        let due = self.store().due_deliveries(now(), ATTEMPTS)?;
        if due.is_empty() {
            return Ok(false);
        }
        let mut by_hook: BTreeMap<String, Vec<DeliveryRow>> = BTreeMap::new();
        for row in due {
            by_hook.entry(row.webhook.clone()).or_default().push(row);
        }
        let queues: Vec<(Option<&Webhook>, Vec<DeliveryRow>)> = by_hook
            .into_iter()
            .map(|(id, rows)| (webhooks.iter().find(|hook| hook.id == id), rows))
            .take(AT_ONCE)
            .collect();
        let batches: Vec<Batch> = thread::scope(|scope| {
            let told: Vec<_> = queues
                .into_iter()
                .map(|(hook, rows)| scope.spawn(move || self.tell_one(hook, rows)))
                .collect();
            told.into_iter().filter_map(|queue| queue.join().ok()).flatten().collect()
        });
        for batch in batches {
            self.0.recorder.commit(batch)?;
        }
        Ok(true)
    }

    /// Tells one subscriber in order, until it does not answer well.
    fn tell_one(&self, hook: Option<&Webhook>, rows: Vec<DeliveryRow>) -> Vec<Batch> {
        let mut done = Vec::new();
        for row in rows {
            let Some(hook) = hook else {
                let error = Some("the webhook was removed".to_owned());
                let gone = DeliveryRow { error, retry: None, ..row };
                done.push(Batch { deliveries: vec![gone], ..Batch::default() });
                continue;
            };
            if self.0.closing.load(Ordering::Relaxed) {
                break;
            }
            let batch = self.deliver(hook, row);
            let failed = batch.deliveries.len() > 1;
            done.push(batch);
            if failed {
                break;
            }
        }
        done
    }
}
