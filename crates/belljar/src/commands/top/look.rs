//! One look at everything: sandboxes with what they use, the server's own state, what happened last.

use std::{collections::HashMap, time::SystemTime};

use anyhow::Result;
use belljar_domain::{SandboxId, SandboxState};
use belljar_ports::Store as _;
use serde_json::{Value, json};

use crate::{
    client::{Client, Event},
    commands::logs::deeds,
    context::Context,
    output::timestamp,
    sandboxes::{Measured, Meter, Sandboxes, Seen, Wanted, read_store, tenths},
};

/// The most events of a look, and the most sandboxes whose commands are asked for.
const EVENTS: usize = 50;
const ASKED: usize = 200;

/// Looks again and again.
#[derive(Debug)]
pub(super) struct Looker {
    pub(super) sandboxes: Sandboxes,
    meter: Meter,
    agent: Option<String>,
    home: std::path::PathBuf,
}

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) rows: Vec<Row>,
    pub(super) server: Option<ServerState>,
    /// Newest first.
    pub(super) events: Vec<Event>,
}

/// A sandbox on the screen.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) measured: Measured,
    /// What runs in it, as far as known.
    pub(super) command: String,
}

/// How the server is doing.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ServerState {
    pub(super) pool_ready: u64,
    pub(super) pool_target: u64,
    pub(super) queued: u64,
    pub(super) lag_ms: u64,
    pub(super) events: u64,
}

/// All sandboxes together.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) running: usize,
    pub(super) paused: usize,
    pub(super) other: usize,
    pub(super) cpu_milli: u64,
    pub(super) memory_bytes: u64,
    pub(super) alerts: usize,
}

impl Looker {
    pub(super) fn open(context: &Context, agent: Option<String>) -> Result<Self> {
        Ok(Self {
            sandboxes: Sandboxes::open(context)?,
            meter: Meter::new(context.config.thresholds),
            agent,
            home: context.home.clone(),
        })
    }

    pub(super) fn look(&mut self) -> Result<Look> {
        self.sandboxes.find_server();
        let live = self.sandboxes.list(&Wanted { agent: self.agent.clone(), ..Wanted::default() })?;
        let measured = self.meter.measure(&self.sandboxes, live);
        let commands = self.commands(&measured);
        let row = |measured: Measured| {
            let command = commands.get(&measured.seen.id).cloned();
            Row { command: command.unwrap_or_else(|| made_for(&measured.seen)), measured }
        };
        let rows = measured.into_iter().map(row).collect();
        let server = self.sandboxes.server().and_then(|server| server_state(server).ok());
        Ok(Look { rows, server, events: self.events() })
    }

    /// What the server runs in each sandbox.
    fn commands(&self, measured: &[Measured]) -> HashMap<SandboxId, String> {
        let Some(server) = self.sandboxes.server() else { return HashMap::new() };
        let running = |one: &Measured| {
            let newest = server.executions(one.seen.id, 5).ok()?;
            let runs = newest.into_iter().find(|execution| execution.status == "running")?;
            Some((one.seen.id, runs.command.join(" ")))
        };
        measured.iter().take(ASKED).filter_map(running).collect()
    }

    fn events(&self) -> Vec<Event> {
        let limit = EVENTS.to_string();
        if let Some(server) = self.sandboxes.server() {
            return server.events(&[("limit", &limit)]).unwrap_or_default();
        }
        let past = read_store(&self.home).ok().flatten();
        let newest = past.and_then(|store| store.events_before(&Default::default(), u64::MAX, EVENTS).ok());
        newest.unwrap_or_default().into_iter().map(Event::from).collect()
    }
}

/// What a sandbox was made for, and how that went if it is over.
fn made_for(seen: &Seen) -> String {
    let command = seen.command.join(" ");
    match &seen.report {
        Some(report) => format!("(exit {}) {command}", report.exit_code()),
        None => command,
    }
}

fn server_state(server: &Client) -> Result<ServerState> {
    let text = server.metrics()?;
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.trim().parse::<f64>().ok()).unwrap_or(0.0)
    };
    Ok(ServerState {
        pool_ready: whole(number("belljar_pool_ready")),
        pool_target: whole(number("belljar_pool_target")),
        queued: whole(number("belljar_create_queued")),
        lag_ms: whole(number("belljar_writer_lag_seconds") * 1000.0),
        events: whole(number("belljar_ledger_events")),
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a gauge is a small whole number, and a float becomes the nearest of the range"
)]
fn whole(number: f64) -> u64 {
    number.max(0.0) as u64
}

impl Totals {
    pub(super) fn of(rows: &[Row]) -> Self {
        let mut totals = Self::default();
        for Row { measured, .. } in rows {
            match measured.seen.state {
                SandboxState::Running => totals.running += 1,
                SandboxState::Paused => totals.paused += 1,
                _ => totals.other += 1,
            }
            totals.cpu_milli += measured.cpu_milli.unwrap_or(0);
            totals.memory_bytes += measured.usage.memory_bytes.unwrap_or(0);
            totals.alerts += measured.alerts.len();
        }
        totals
    }
}

impl Look {
    pub(super) fn json(&self) -> Value {
        let totals = Totals::of(&self.rows);
        let row = |row: &Row| {
            let mut object = row.measured.json();
            if let Some(object) = object.as_object_mut() {
                object.insert("command".to_owned(), json!(row.command));
            }
            object
        };
        let server = self.server.map(|state| {
            json!({
                "pool_ready": state.pool_ready,
                "pool_target": state.pool_target,
                "queued": state.queued,
                "writer_lag_ms": state.lag_ms,
                "ledger_events": state.events,
            })
        });
        json!({
            "time": timestamp(SystemTime::now()),
            "server": server,
            "totals": {
                "sandboxes": self.rows.len(),
                "running": totals.running,
                "paused": totals.paused,
                "cpu_percent": tenths(totals.cpu_milli),
                "memory_bytes": totals.memory_bytes,
                "alerts": totals.alerts,
            },
            "sandboxes": self.rows.iter().map(row).collect::<Vec<_>>(),
            "events": self.events.iter().map(deeds::describe).collect::<Vec<_>>(),
        })
    }
}
