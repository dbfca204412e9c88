//! Spans of what agents do, for a collector elsewhere: a thread of its own follows the ledger and posts them as OTLP.
//!
//! Owns: the place in the ledger up to which everything was taken, kept in the store, so that the next server goes on there.
//! The ledger is the queue: a collector that is away for an hour gets that hour later, nothing waits for it, and no more is
//! held than one request. Refuses: to send again what a collector says it will never take.

use std::{
    sync::atomic::Ordering,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use belljar_capture::otlp::{Spans, export};
use belljar_domain::{EventKind, EventStatus, Principal, ProjectId};
use belljar_ports::store::{Batch, Document, EventFilter};
use serde_json::{Value, json};

use super::{
    Result, Service,
    courier::{Courier, Reach},
    now,
};

/// How often to look.
const ROUND: Duration = Duration::from_millis(500);
/// Events read, and thus spans sent, at one time.
const EVENTS: usize = 500;
/// Events before its place that a server looks at when it begins.
const MEMORY: u64 = 20_000;
/// How long to wait after a collector did not answer, at first and at most.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(10);
/// Where the place is kept.
const PLACES: &str = "place";
const OURS: &str = "export";

/// Where spans go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExportSettings {
    /// The collector's address; without one nothing is exported.
    pub endpoint: Option<String>,
    /// Headers that let one in there.
    pub headers: Vec<(String, String)>,
    /// Whether what tools were given and gave back goes along.
    pub content: bool,
}

impl ExportSettings {
    /// The address spans are posted to.
    fn url(&self) -> Option<String> {
        let endpoint = self.endpoint.as_deref()?.trim_end_matches('/');
        Some(if endpoint.ends_with("/v1/traces") {
            endpoint.to_owned()
        } else {
            format!("{endpoint}/v1/traces")
        })
    }
}

/// Starts the thread, if there is anybody to export to.
pub(super) fn begin(service: &Service) -> Option<JoinHandle<()>> {
    let url = service.0.settings.export.url()?;
    let own = service.clone();
    thread::Builder::new().name("spans".to_owned()).spawn(move || Exporter::new(own, url).run()).ok()
}

struct Exporter {
    service: Service,
    url: String,
    courier: Courier,
    spans: Spans,
    /// Up to where everything was read, and what of it waits to be taken.
    place: u64,
    waiting: Vec<Value>,
    failures: u32,
    due: Instant,
}

impl Exporter {
    fn new(service: Service, url: String) -> Self {
        let spans = Spans::new(service.0.settings.export.content);
        let courier = Courier::new(Reach::Anywhere, PATIENCE);
        Self { service, url, courier, spans, place: 0, waiting: Vec::new(), failures: 0, due: Instant::now() }
    }

    fn run(mut self) {
        let mut is_placed = false;
        while !self.service.0.closing.load(Ordering::Relaxed) {
            // What cannot be read or written now is tried again.
            is_placed = is_placed || self.find_place().is_ok();
            match self.step() {
                Ok(true) if is_placed => {}
                Ok(_) | Err(_) => thread::park_timeout(ROUND),
            }
        }
    }

    /// Goes on where an earlier server was; the first one begins with what happens from now on.
    fn find_place(&mut self) -> Result<()> {
        let kept = self.service.store().document(PLACES, OURS)?;
        let kept = kept.and_then(|kept| kept.record.get("seq")?.as_u64());
        self.place = kept.unwrap_or_else(|| *self.service.published().borrow());
        // What had begun before, and what is over, is known again; an earlier server has sent it.
        let mut before = self.place.saturating_sub(MEMORY);
        while before < self.place {
            let events = self.service.store().events(&EventFilter::default(), before, EVENTS)?;
            let Some(last) = events.last().map(|event| event.seq) else { break };
            for event in events.iter().filter(|event| event.seq <= self.place) {
                let _sent = self.spans.take(event);
            }
            before = last;
        }
        Ok(())
    }

    /// Sends what waits, or reads some more; true when there may be more at once.
    fn step(&mut self) -> Result<bool> {
        if !self.waiting.is_empty() {
            if Instant::now() < self.due || !self.send() {
                return Ok(false);
            }
            self.waiting.clear();
            self.keep_place()?;
        }
        let published = *self.service.published().borrow();
        if published <= self.place {
            return Ok(false);
        }
        let events = self.service.store().events(&EventFilter::default(), self.place, EVENTS)?;
        let Some(last) = events.last().map(|event| event.seq) else { return Ok(false) };
        self.waiting = events.iter().filter_map(|event| self.spans.take(event)).collect();
        self.place = last;
        if self.waiting.is_empty() {
            self.keep_place()?;
        }
        Ok(true)
    }

    fn keep_place(&self) -> Result<()> {
        let (collection, id) = (PLACES.to_owned(), OURS.to_owned());
        let (project, record) = (ProjectId::default(), json!({ "seq": self.place }));
        let documents = vec![Document { collection, id, project, updated: now(), record }];
        self.service.0.recorder.commit(Batch { documents, ..Batch::default() })?;
        Ok(())
    }

    /// Posts what waits; true when that is done with, taken or refused for good.
    fn send(&mut self) -> bool {
        let body = export(&self.waiting, env!("CARGO_PKG_VERSION")).to_string();
        let headers = &self.service.0.settings.export.headers;
        let headers: Vec<(&str, String)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let outcome = self.courier.post(&self.url, &headers, body.as_bytes());
        let why = match outcome {
            Ok(reply) if (200..300).contains(&reply.code) => {
                self.failures = 0;
                return true;
            }
            // What OTLP says may be sent again.
            Ok(reply) if matches!(reply.code, 408 | 429 | 500..=599) => format!("it answered {}", reply.code),
            Ok(reply) => {
                self.tell("export.refused", &format!("it answered {}: {}", reply.code, reply.said));
                self.failures = 0;
                return true;
            }
            Err(error) => error.to_string(),
        };
        if self.failures == 0 {
            self.tell("export.waiting", &why);
        }
        let wait = FIRST.saturating_mul(2_u32.saturating_pow(self.failures)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        self.due = Instant::now() + wait;
        false
    }

    /// Says in the ledger what becomes of spans that are not taken.
    fn tell(&self, kind: &str, why: &str) {
        let belljar = Principal::admin("belljar");
        let mut event = self.service.event(&belljar, EventKind::Other(kind.to_owned()));
        event.status = Some(EventStatus::Failure);
        event.error = Some(why.to_owned());
        event.payload = json!({ "by": belljar.name, "spans": self.waiting.len(), "endpoint": self.url });
        drop(self.service.record(event));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_name_the_path_or_leave_it_to_us() {
        let url = |endpoint: &str| {
            ExportSettings { endpoint: Some(endpoint.to_owned()), ..ExportSettings::default() }.url()
        };
        for endpoint in ["http://c:4318", "http://c:4318/", "http://c:4318/v1/traces"] {
            assert_eq!(url(endpoint).as_deref(), Some("http://c:4318/v1/traces"));
        }
        assert_eq!(ExportSettings::default().url(), None);
    }
}
