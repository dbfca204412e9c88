//! Events as the server shows them, from it or, where none is up, from the ledger itself.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};
use belljar_domain::Timestamp;
use belljar_ports::{
    Store,
    store::{EventFilter, PAGE_LIMIT},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    args::Selection,
    client::{Client, Told},
    context::Context,
    sandboxes::read_store,
};

/// How often to look whether a server is back, or into a store no server can tell of.
const OFTEN: Duration = Duration::from_millis(300);
/// What a list can be asked for, and a stream cannot.
const LISTED: [&str; 7] = ["from", "until", "run_id", "app", "prompt_id", "tool_use_id", "text"];
/// What the ledger calls columns, and what they are called everywhere else.
const NAMES: [(&str, &str); 5] = [
    ("session", "session_id"),
    ("sandbox", "sandbox_id"),
    ("execution", "execution_id"),
    ("run", "run_id"),
    ("project", "project_id"),
];

/// What is looked at of an event; the rest is in the value.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Seen {
    pub(super) seq: u64,
    pub(super) kind: String,
    pub(super) time: Timestamp,
    pub(super) agent_id: Option<String>,
    pub(super) agent_name: Option<String>,
    pub(super) session_id: Option<String>,
    pub(super) sandbox_id: Option<String>,
    pub(super) run_id: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) target: Option<String>,
    pub(super) decision: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) status: Option<String>,
    pub(super) error: Option<String>,
    pub(super) cost_micros: Option<u64>,
    pub(super) tokens: Option<u64>,
    pub(super) duration_ms: Option<u64>,
    #[serde(default)]
    pub(super) payload: Value,
}

impl Seen {
    pub(super) fn of(value: &Value) -> Option<Self> {
        serde_json::from_value(value.clone()).ok()
    }

    /// Whether it has all these words, in whatever it says.
    fn has(&self, words: &str) -> bool {
        let told = [&self.tool, &self.target, &self.reason, &self.error].into_iter().flatten();
        let told = told.cloned().chain([self.kind.clone(), self.payload.to_string()]);
        let told = told.collect::<Vec<_>>().join(" ").to_lowercase();
        let split = |text: &str| -> BTreeSet<String> {
            text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect()
        };
        split(&told).is_superset(&split(words.to_lowercase().trim()))
    }

    /// Something in the payload, by its path.
    pub(super) fn said(&self, pointer: &str) -> Option<&str> {
        self.payload.pointer(pointer).and_then(Value::as_str)
    }
}

/// Where events come from, and which are wanted.
#[derive(Debug)]
pub(super) struct Source {
    context: Context,
    which: Selection,
    until: Option<Timestamp>,
    /// Whether a server looked for the words; it knows more about words than we do.
    is_searched: AtomicBool,
}

impl Source {
    pub(super) fn new(context: &Context, which: Selection, until: Option<Timestamp>) -> Self {
        Self { context: context.clone(), which, until, is_searched: AtomicBool::new(false) }
    }

    fn server(&self) -> Result<Option<Client>> {
        Ok(match self.context.remote()? {
            Some(remote) => Some(remote),
            None => Client::at_home(&self.context.home),
        })
    }

    /// Up to so many, newest first, before a place.
    pub(super) fn newest(&self, before: Option<u64>, limit: usize) -> Result<Vec<Value>> {
        let before = before.map(|place| place.to_string());
        let limit_text = limit.to_string();
        let more = [("limit", Some(limit_text.as_str())), ("cursor", before.as_deref())];
        let server = self.server()?;
        self.is_searched.store(server.is_some(), Ordering::Relaxed);
        let found = match server {
            Some(server) => server.told(&self.query(&more))?,
            None => self.stored(|store, filter| {
                let before = before.as_deref().and_then(|place| place.parse().ok()).unwrap_or(u64::MAX);
                store.events_before(filter, before, limit)
            })?,
        };
        Ok(found)
    }

    /// Some, oldest first, after a place.
    pub(super) fn after(&self, place: u64) -> Result<Vec<Value>> {
        let (text, limit) = (place.to_string(), PAGE_LIMIT.to_string());
        let server = self.server()?;
        self.is_searched.store(server.is_some(), Ordering::Relaxed);
        match server {
            Some(server) => Ok(server.told(&self.query(&[("after", Some(&text)), ("limit", Some(&limit))]))?),
            None => self.stored(|store, filter| store.events(filter, place, PAGE_LIMIT)),
        }
    }

    /// Hands over what happens after a place, until nobody takes it. A server that goes away is waited for.
    pub(super) fn follow(&self, mut place: u64, mut take: impl FnMut(Value) -> bool) -> Result<()> {
        self.is_searched.store(false, Ordering::Relaxed);
        loop {
            let Some(server) = self.server()? else {
                for event in self.stored(|store, filter| store.events(filter, place, PAGE_LIMIT))? {
                    place = place_of(&event).unwrap_or(place);
                    if !take(event) {
                        return Ok(());
                    }
                }
                thread::sleep(OFTEN);
                continue;
            };
            let since = place.to_string();
            let mut query = self.query(&[("since", Some(&since))]);
            // The stream has no end, and finds nothing by these.
            query.retain(|(name, _)| !LISTED.contains(name));
            // One that has just gone is not there to be asked.
            let Ok(mut stream) = server.listen(&query) else {
                thread::sleep(OFTEN);
                continue;
            };
            while let Ok(Told::Event(event)) = stream.next_value() {
                place = place_of(&event).unwrap_or(place);
                if !take(event) {
                    return Ok(());
                }
            }
        }
    }

    /// What a session has spent, in millionths of a dollar, where a server knows.
    pub(super) fn spent(&self, session: &str) -> Option<u64> {
        let found = self.server().ok()??.session(session).ok()??;
        found.pointer("/spent/cost_usd")?.as_f64().map(micros)
    }

    /// Whether an event is of those that only we can tell.
    pub(super) fn wants(&self, seen: &Seen) -> bool {
        let (which, tool) = (&self.which, seen.tool.as_deref().unwrap_or_default());
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
        };
        (which.tool.is_empty() || which.tool.iter().any(|wanted| wanted.eq_ignore_ascii_case(tool)))
            && is(&which.run, seen.run_id.as_deref())
            && is(&which.app, seen.agent_name.as_deref())
            && is(&which.prompt, seen.said("/prompt_id"))
            && is(&which.call, seen.said("/tool_use_id"))
            && (self.is_searched.load(Ordering::Relaxed)
                || which.text.as_deref().is_none_or(|words| seen.has(words)))
    }

    fn query(&self, more: &[(&'static str, Option<&str>)]) -> Vec<(&'static str, String)> {
        let which = &self.which;
        let kinds = Some(which.kind.join(",")).filter(|kinds| !kinds.is_empty());
        let own = [
            ("agent_id", which.agent.clone()),
            ("session_id", which.session.clone()),
            ("sandbox_id", which.sandbox.clone()),
            ("execution_id", which.execution.clone()),
            ("run_id", which.run.clone()),
            ("app", which.app.clone()),
            ("prompt_id", which.prompt.clone()),
            ("tool_use_id", which.call.clone()),
            ("text", which.text.clone()),
            ("kind", kinds),
            ("status", which.status.clone()),
            ("decision", which.decision.clone()),
            ("from", which.since.map(|moment| moment.0.to_string())),
            ("until", self.until.map(|moment| moment.to_string())),
        ];
        let more = more.iter().map(|(name, value)| (*name, value.map(str::to_owned)));
        own.into_iter().chain(more).filter_map(|(name, value)| Some((name, value?))).collect()
    }

    fn stored(
        &self,
        ask: impl FnOnce(
            &dyn Store,
            &EventFilter,
        ) -> Result<Vec<belljar_domain::Event>, belljar_ports::StoreError>,
    ) -> Result<Vec<Value>> {
        let Some(store) = read_store(&self.context.home)? else { return Ok(Vec::new()) };
        let which = &self.which;
        let wrong = |name: &str| format!("--{name} is not what it should be");
        let filter = EventFilter {
            kinds: which.kind.clone(),
            agent: which.agent.clone(),
            session: which.session.clone(),
            sandbox: which
                .sandbox
                .as_deref()
                .map(str::parse)
                .transpose()
                .with_context(|| wrong("sandbox"))?,
            execution: which
                .execution
                .as_deref()
                .map(str::parse)
                .transpose()
                .with_context(|| wrong("execution"))?,
            status: which.status.as_deref().map(str::parse).transpose().with_context(|| wrong("status"))?,
            decision: which
                .decision
                .as_deref()
                .map(str::parse)
                .transpose()
                .with_context(|| wrong("decision"))?,
            from: which.since.map(|moment| moment.0),
            until: self.until,
            ..EventFilter::default()
        };
        let found = ask(&store, &filter).context("read the ledger")?;
        Ok(found.iter().filter_map(|event| serde_json::to_value(event).ok()).map(named).collect())
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "no session costs more than such a number holds, and none less than nothing"
)]
fn micros(dollars: f64) -> u64 {
    (dollars.max(0.0) * 1e6).round() as u64
}

pub(super) fn place_of(event: &Value) -> Option<u64> {
    event.get("seq").and_then(Value::as_u64)
}

/// An event of the ledger as the server would show it.
fn named(event: Value) -> Value {
    let Value::Object(fields) = event else { return event };
    let renamed: Map<String, Value> = fields
        .into_iter()
        .map(|(name, value)| match NAMES.iter().find(|(own, _)| *own == name) {
            Some((_, shown)) => ((*shown).to_owned(), value),
            None => (name, value),
        })
        .collect();
    Value::Object(renamed)
}
