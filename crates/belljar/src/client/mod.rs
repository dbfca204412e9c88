//! belljar's own server, asked by the command line: the API of `belljar serve` over the socket in belljar's home, or
//! over HTTP where `BELLJAR_URL` and `BELLJAR_TOKEN` say so.
//!
//! Owns: the calls the commands make, and the problems that come back. Refuses: a runtime, and any cost to a command
//! that needs no server: whether one is up is a single attempt to connect.

mod answer;
mod approvals;
mod error;
mod events;
mod executions;
mod files;
mod http;
mod orders;
mod records;
#[cfg(test)]
mod tests;
mod wire;

use std::{path::Path, time::Duration};

use belljar_domain::{SandboxId, SandboxState, Span, Usage};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(crate) use approvals::Approval;
pub(crate) use error::ClientError;
pub(crate) use events::{Happening, Happenings, Told};
pub(crate) use executions::{Running, Said, Speech};
pub(crate) use records::{
    Agent, AgentMetrics, Call, CostReport, Detection, ErrorGroup, MOST_OF_A_TRACE, Session, SessionDetail,
    Spent, ToolUsage, TraceItem, read,
};
pub(crate) use wire::{Event, Execution, Exit, LogPage, Page, Port, Sandbox, Snapshot};

use self::{answer::Answer, http::Server};

/// How long an answer may take: one that needs no more than a look, and one that makes something.
const QUICK: Duration = Duration::from_secs(30);
const SLOW: Duration = Duration::from_secs(600);
/// The most items of a page, and the most pages of a list.
const PAGE: usize = 1000;
const PAGES: usize = 100;

type Result<T> = std::result::Result<T, ClientError>;

/// A server that answers.
#[derive(Debug)]
pub(crate) struct Client {
    server: Server,
}

impl Client {
    /// The server of a home, if one is up.
    pub(crate) fn at_home(home: &Path) -> Option<Self> {
        Server::at_socket(home.join("belljar.sock")).map(|server| Self { server })
    }

    /// A server somewhere else.
    pub(crate) fn at_url(url: &str, token: Option<&str>) -> Result<Self> {
        Ok(Self { server: Server::at_url(url, token)? })
    }

    /// Sandboxes, newest first; those alive alone unless all are wanted.
    pub(crate) fn sandboxes(&self, all: bool) -> Result<Vec<Sandbox>> {
        let statuses: &[&str] =
            if all { &[""] } else { &["&status=CREATING", "&status=RUNNING", "&status=PAUSED"] };
        let mut found: Vec<Sandbox> = Vec::new();
        for status in statuses {
            found.extend(self.pages(&format!("/api/v1/sandboxes?limit={PAGE}{status}"))?);
        }
        Ok(found)
    }

    pub(crate) fn sandbox(&self, id: SandboxId) -> Result<Sandbox> {
        self.look(&format!("/api/v1/sandboxes/{id}"))
    }

    /// Makes a sandbox of what the API calls one to be made.
    pub(crate) fn create(&self, order: &Value) -> Result<Sandbox> {
        self.server.send_patiently("/api/v1/sandboxes", order, SLOW)?.json()
    }

    /// Ends a sandbox and removes it.
    pub(crate) fn delete(&self, id: SandboxId) -> Result<()> {
        self.server.send("DELETE", &format!("/api/v1/sandboxes/{id}"), None, SLOW).map(drop)
    }

    pub(crate) fn pause(&self, id: SandboxId) -> Result<SandboxState> {
        let paused: Sandbox = self.tell(id, "pause", &json!({}))?.json()?;
        Ok(paused.state)
    }

    pub(crate) fn resume(&self, id: SandboxId) -> Result<SandboxState> {
        let resumed: Sandbox = self.tell(id, "resume", &json!({}))?.json()?;
        Ok(resumed.state)
    }

    /// Ends a sandbox and keeps what it changed.
    pub(crate) fn stop(&self, id: SandboxId) -> Result<()> {
        self.tell(id, "stop", &json!({})).map(drop)
    }

    pub(crate) fn extend(&self, id: SandboxId, ttl: Span) -> Result<()> {
        // The API counts in seconds; less than one would be none.
        let seconds = ttl.as_millis().div_ceil(1000);
        self.tell(id, "extend", &json!({ "ttl_seconds": seconds })).map(drop)
    }

    pub(crate) fn snapshot(&self, id: SandboxId, name: Option<&str>) -> Result<Snapshot> {
        self.tell(id, "snapshots", &json!({ "name": name }))?.json()
    }

    pub(crate) fn snapshots(&self) -> Result<Vec<Snapshot>> {
        self.pages(&format!("/api/v1/snapshots?limit={PAGE}"))
    }

    pub(crate) fn delete_snapshot(&self, id: &str) -> Result<()> {
        self.server.send("DELETE", &format!("/api/v1/snapshots/{id}"), None, QUICK).map(drop)
    }

    pub(crate) fn usage(&self, id: SandboxId) -> Result<Usage> {
        self.look(&format!("/api/v1/sandboxes/{id}/stats"))
    }

    pub(crate) fn ports(&self, id: SandboxId) -> Result<Vec<Port>> {
        self.look(&format!("/api/v1/sandboxes/{id}/ports")).map(|page: Page<Port>| page.items)
    }

    /// The commands of a sandbox, newest first.
    pub(crate) fn executions(&self, id: SandboxId, limit: usize) -> Result<Vec<Execution>> {
        self.look(&format!("/api/v1/sandboxes/{id}/executions?limit={limit}"))
            .map(|page: Page<Execution>| page.items)
    }

    /// What commands in a sandbox wrote after a place; words make it a search, newest first.
    pub(crate) fn logs(&self, id: SandboxId, query: &[(&str, &str)]) -> Result<LogPage> {
        self.look(&http::target(&format!("/api/v1/sandboxes/{id}/logs"), query))
    }

    /// Events, newest first.
    pub(crate) fn events(&self, query: &[(&str, &str)]) -> Result<Vec<Event>> {
        self.look(&http::target("/api/v1/events", query)).map(|page: Page<Event>| page.items)
    }

    /// Events as they happen.
    pub(crate) fn follow(&self, query: &[(&str, &str)]) -> Result<Happenings> {
        let target = http::target("/api/v1/events/stream", query);
        self.server.send("GET", &target, None, events::SILENCE).map(Happenings::new)
    }

    /// Events, whole.
    pub(crate) fn told(&self, query: &[(&str, String)]) -> Result<Vec<Value>> {
        self.look(&http::target("/api/v1/events", &lent(query))).map(|page: Page<Value>| page.items)
    }

    /// Events as they happen, whole.
    pub(crate) fn listen(&self, query: &[(&str, String)]) -> Result<Happenings> {
        self.follow(&lent(query))
    }

    /// Tells an event in the hook-observability project's form; false if it was there already.
    pub(crate) fn observed(&self, id: &str, event: &Value) -> Result<bool> {
        let told: Value =
            self.server.send("POST", &http::target("/events", &[("id", id)]), Some(event), SLOW)?.json()?;
        Ok(told.get("id").is_some_and(|id| !id.is_null()))
    }

    /// What an operator watches, as text.
    pub(crate) fn metrics(&self) -> Result<String> {
        self.server.send("GET", "/metrics", None, QUICK)?.text()
    }

    fn tell(&self, id: SandboxId, what: &str, body: &Value) -> Result<Answer> {
        self.server.send("POST", &format!("/api/v1/sandboxes/{id}/{what}"), Some(body), SLOW)
    }

    fn look<T: DeserializeOwned>(&self, target: &str) -> Result<T> {
        self.server.send("GET", target, None, QUICK)?.json()
    }

    fn pages<T: DeserializeOwned>(&self, target: &str) -> Result<Vec<T>> {
        let mut page: Page<T> = self.look(target)?;
        let mut found = page.items;
        for _page in 1..PAGES {
            let Some(cursor) = page.next_cursor else { break };
            page = self.look(&http::target(target, &[("cursor", &cursor)]))?;
            found.append(&mut page.items);
        }
        Ok(found)
    }
}

fn lent<'q>(query: &'q [(&'q str, String)]) -> Vec<(&'q str, &'q str)> {
    query.iter().map(|(name, value)| (*name, value.as_str())).collect()
}
