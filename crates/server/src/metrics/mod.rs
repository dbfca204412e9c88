//! What an operator watches. The names are a contract; the labels are words of our own, or bounded in number (`active`).
//!
//! Owns: counting, and reading from the ledger what happened to sandboxes, so that nothing on the way of a command has
//! to count. Refuses: labels from outside without a bound.

mod active;

use std::{
    sync::atomic::{AtomicI64, AtomicU64},
    time::Duration,
};

use axum::http::{Method, StatusCode};
use belljar_domain::{EventKind, EventStatus, Principal, Usd};
use belljar_engine::service::{CreateStage, Service, ServiceError, ServiceHealth};
use belljar_ports::store::{EventFilter, PAGE_LIMIT};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};
use std::sync::{Mutex, PoisonError};

use self::active::Active;

type Float = Gauge<f64, AtomicU64>;
type Whole = Gauge<i64, AtomicI64>;

/// From 100 µs to 100 s: a request, and a command.
const REQUEST_BUCKETS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 5.0, 30.0, 120.0];
const COMMAND_BUCKETS: [f64; 13] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0, 600.0];

/// From a twentieth of a millisecond, which taking a sandbox that is ready may take, to waiting in a queue.
const STAGE_BUCKETS: [f64; 12] =
    [0.00005, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.1, 1.0, 10.0, 60.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Served {
    method: &'static str,
    route: &'static str,
    status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Staged {
    stage: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Coded {
    code: &'static str,
}

/// Everything that is counted.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    active: Active,
    executions: Histogram,
    spawned: Counter,
    errors: Family<Coded, Counter>,
    requests: Family<Served, Histogram, fn() -> Histogram>,
    stages: Family<Staged, Histogram, fn() -> Histogram>,
    cost: Counter<f64, AtomicU64>,
    pool_ready: Whole,
    pool_target: Whole,
    queued: Whole,
    adopted: Whole,
    reaped: Whole,
    writer_lag: Float,
    writer_queued: Whole,
    records_lag: Whole,
    records_passed_over: Whole,
    writer_failures: Whole,
    ledger_events: Whole,
    clients: Whole,
    pub(crate) dropped: Counter,
    /// How far the ledger has been counted.
    counted: Mutex<u64>,
    /// Held by whoever writes: what lives is shown anew each time.
    writing: Mutex<()>,
}

impl Metrics {
    /// Begins to count, for a provider with this name.
    pub(crate) fn new(provider: &'static str) -> Self {
        let requests: fn() -> Histogram = || Histogram::new(REQUEST_BUCKETS);
        let mut metrics = Self {
            registry: Registry::default(),
            active: Active::new(provider),
            executions: Histogram::new(COMMAND_BUCKETS),
            spawned: Counter::default(),
            errors: Family::default(),
            requests: Family::new_with_constructor(requests),
            stages: Family::new_with_constructor(|| Histogram::new(STAGE_BUCKETS)),
            cost: Counter::default(),
            pool_ready: Whole::default(),
            pool_target: Whole::default(),
            queued: Whole::default(),
            adopted: Whole::default(),
            reaped: Whole::default(),
            writer_lag: Float::default(),
            writer_queued: Whole::default(),
            records_lag: Whole::default(),
            records_passed_over: Whole::default(),
            writer_failures: Whole::default(),
            ledger_events: Whole::default(),
            clients: Whole::default(),
            dropped: Counter::default(),
            counted: Mutex::new(0),
            writing: Mutex::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        self.active.register(registry);
        registry.register_with_unit(
            "sandbox_execution_duration",
            "How long commands took",
            Unit::Seconds,
            self.executions.clone(),
        );
        registry.register("sandbox_spawn", "Sandboxes made", self.spawned.clone());
        registry.register(
            "sandbox_error",
            "Operations on sandboxes that failed, by code",
            self.errors.clone(),
        );
        registry.register("belljar_pool_ready", "Warm sandboxes ready", self.pool_ready.clone());
        registry.register("belljar_pool_target", "Warm sandboxes wanted", self.pool_target.clone());
        registry.register("belljar_create_queued", "Requests for sandboxes that wait", self.queued.clone());
        registry.register(
            "belljar_adopted",
            "Sandboxes taken over from an earlier server",
            self.adopted.clone(),
        );
        registry.register(
            "belljar_reaped",
            "Sandboxes an earlier server left that were removed",
            self.reaped.clone(),
        );
        registry.register_with_unit(
            "belljar_writer_lag",
            "How long the oldest write waits",
            Unit::Seconds,
            self.writer_lag.clone(),
        );
        registry.register("belljar_writer_queued", "Writes that wait", self.writer_queued.clone());
        let about = "Events that are not in the records of what agents did yet";
        registry.register("belljar_records_lag_events", about, self.records_lag.clone());
        let about = "Events since the server's start that no record of what agents did takes";
        registry.register("belljar_records_passed_over_events", about, self.records_passed_over.clone());
        registry.register("belljar_writer_failures", "Commits that failed", self.writer_failures.clone());
        registry.register(
            "belljar_ledger_events",
            "Place of the last durable event",
            self.ledger_events.clone(),
        );
        registry.register("belljar_live_clients", "Streams open now", self.clients.clone());
        registry.register(
            "belljar_dropped_clients",
            "Clients let go because they did not read",
            self.dropped.clone(),
        );
        registry.register_with_unit(
            "belljar_create_stage",
            "How long each part of making a sandbox took",
            Unit::Seconds,
            self.stages.clone(),
        );
        let about = "What agents cost in dollars since the server began, each request counted once";
        registry.register("belljar_cost_usd", about, self.cost.clone());
        registry.register_with_unit(
            "http_request_duration",
            "How long requests took, by route",
            Unit::Seconds,
            self.requests.clone(),
        );
    }

    /// Counts an answer.
    pub(crate) fn served(
        &self,
        method: &Method,
        route: &'static str,
        status: StatusCode,
        code: Option<&'static str>,
        took: Duration,
    ) {
        let labels = Served { method: method_name(method), route, status: class(status) };
        self.requests.get_or_create(&labels).observe(took.as_secs_f64());
        if let Some(code) = code.filter(|_| route.contains("/sandboxes")).filter(|code| FAULTS.contains(code))
        {
            self.errors.get_or_create(&Coded { code }).inc();
        }
    }

    /// Begins to count what happens from now on.
    pub(crate) fn begin(&self, service: &Service) {
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = *service.published().borrow();
        // What did not come up yet is there, and zero: whoever looks for a name finds it.
        for code in FAULTS {
            drop(self.errors.get_or_create(&Coded { code }));
        }
        for stage in CreateStage::ALL {
            drop(self.stages.get_or_create(&Staged { stage: stage.as_str() }));
        }
        let stages = self.stages.clone();
        service.hear_stages(move |stage, took| {
            stages.get_or_create(&Staged { stage: stage.as_str() }).observe(took.as_secs_f64());
        });
    }

    /// Counts what the ledger got since the last time. Blocks on the store.
    pub(crate) fn catch_up(&self, service: &Service) -> Result<(), ServiceError> {
        // A request whose price is known better later may cost less than was thought; a counter only grows.
        self.cost.inc_by((dollars(service.spent_so_far()?) - self.cost.get()).max(0.0));
        let who = Principal::admin("metrics");
        let kinds = [EventKind::SandboxCreated, EventKind::ExecutionEnded, EventKind::LimitReached];
        let filter = EventFilter {
            kinds: kinds.iter().map(|k| k.as_str().to_owned()).collect(),
            ..EventFilter::default()
        };
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let durable = *service.published().borrow();
            if durable <= *counted {
                return Ok(());
            }
            let events = service.events(&who, filter.clone(), *counted, PAGE_LIMIT)?;
            for event in &events {
                self.happened(&event.what.kind, event.what.status, event.what.duration_ms);
            }
            let last = events.last().map_or(0, |event| event.seq);
            *counted = if events.len() < PAGE_LIMIT { durable.max(last) } else { last };
        }
    }

    fn happened(&self, kind: &EventKind, status: Option<EventStatus>, duration_ms: Option<u64>) {
        match kind {
            EventKind::SandboxCreated => {
                self.spawned.inc();
            }
            EventKind::LimitReached => {
                self.errors.get_or_create(&Coded { code: LIMIT_REACHED }).inc();
            }
            EventKind::ExecutionEnded => {
                if let Some(took) = duration_ms {
                    self.executions.observe(Duration::from_millis(took).as_secs_f64());
                }
                if status == Some(EventStatus::Timeout) {
                    self.errors.get_or_create(&Coded { code: "TIMEOUT" }).inc();
                }
            }
            _ => {}
        }
    }

    /// Writes everything, as Prometheus reads it.
    pub(crate) fn write(&self, health: &ServiceHealth, clients: usize) -> Result<String, std::fmt::Error> {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.active.set(&health.active);
        self.pool_ready.set(whole(health.pool_ready));
        self.pool_target.set(whole(health.pool_target));
        self.queued.set(whole(health.queued));
        self.adopted.set(whole(health.adopted));
        self.reaped.set(whole(health.reaped));
        self.writer_lag.set(health.writer.lag.as_secs_f64());
        self.writer_queued.set(whole(health.writer.queued));
        self.records_lag.set(whole(health.unseen));
        self.records_passed_over.set(whole(health.passed_over));
        self.writer_failures.set(whole(health.writer.failures));
        self.ledger_events.set(whole(health.writer.last_seq));
        self.clients.set(i64::try_from(clients).unwrap_or(i64::MAX));
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// An amount as a number with a point, exact to a millionth.
fn dollars(amount: Usd) -> f64 {
    let part = |count: u64| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    part(amount.micros() / 1_000_000) + part(amount.micros() % 1_000_000) / 1e6
}

/// Faults are ours, the host's or the command's; a client's typing error is none.
const FAULTS: [&str; 8] = [
    "SANDBOX_ERROR",
    "STORE_ERROR",
    "INTERNAL_ERROR",
    "EXECUTION_ERROR",
    "QUOTA_EXCEEDED",
    "TIMEOUT",
    "UNAVAILABLE",
    LIMIT_REACHED,
];

/// What a sandbox did to itself; no answer has this code.
const LIMIT_REACHED: &str = "LIMIT_REACHED";

fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

const fn class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        0..200 => "1xx",
        200..300 => "2xx",
        300..400 => "3xx",
        400..500 => "4xx",
        _ => "5xx",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promised_names_are_exact() {
        let metrics = Metrics::new("process");
        metrics.happened(&EventKind::SandboxCreated, None, None);
        metrics.happened(&EventKind::ExecutionEnded, Some(EventStatus::Timeout), Some(20));
        metrics.served(
            &Method::POST,
            "/api/v1/sandboxes",
            StatusCode::CREATED,
            None,
            Duration::from_millis(2),
        );
        let text = metrics.write(&ServiceHealth::default(), 3).unwrap();
        for line in [
            "sandbox_active_count{project=\"default\",provider=\"process\",state=\"running\"} 0",
            "sandbox_execution_duration_seconds_count 1",
            "sandbox_spawn_total 1",
            "sandbox_error_total{code=\"TIMEOUT\"} 1",
            "belljar_live_clients 3",
            "http_request_duration_seconds_count{method=\"POST\",route=\"/api/v1/sandboxes\",status=\"2xx\"} 1",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
    }
}
