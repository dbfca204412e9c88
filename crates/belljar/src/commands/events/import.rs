//! `belljar events import`: what a server of the hook-observability project kept in its `events.db`, told to ours.
//!
//! Owns: reading that database, which is opened for reading only. Every event gets the id that its place there makes, so
//! what is imported again, or broke off in between, is recorded once.

use std::{
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::{args::ImportEvents, client::Client, context::Context, output::print_json};

/// The columns, which are called like the fields they came from; what was an object or a list is kept as JSON.
const COLUMNS: [&str; 10] = [
    "source_app",
    "session_id",
    "hook_event_type",
    "payload",
    "chat",
    "summary",
    "timestamp",
    "humanInTheLoop",
    "humanInTheLoopStatus",
    "model_name",
];
const AS_JSON: [&str; 4] = ["payload", "chat", "humanInTheLoop", "humanInTheLoopStatus"];

pub(super) fn import(context: &Context, args: &ImportEvents) -> Result<ExitCode> {
    let server = match context.remote()? {
        Some(remote) => remote,
        None => Client::at_home(&context.home)
            .context("no server listens; start `belljar serve` and import again")?,
    };
    let wrong = || format!("read `{}`", args.file.display());
    let theirs = open(&args.file).with_context(wrong)?;
    let columns = columns(&theirs).with_context(wrong)?;
    let (mut imported, mut known) = (0_u64, 0_u64);
    let mut all = theirs.prepare(&format!("SELECT id, {} FROM events ORDER BY id", columns.join(", ")))?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next().with_context(wrong)? {
        let number: i64 = row.get(0)?;
        let event = event(row, &columns).with_context(|| format!("event {number}"))?;
        let is_new =
            server.observed(&id(number, &event), &event).with_context(|| format!("tell event {number}"))?;
        if is_new { imported += 1 } else { known += 1 }
    }
    if context.json {
        print_json(&json!({"imported": imported, "known": known}))?;
    } else {
        writeln!(io::stdout(), "{imported} events imported, {known} were there already")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn open(path: &Path) -> Result<Connection> {
    // SQLite would make what is not there.
    if !path.is_file() {
        bail!("there is no such file");
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).context("open it as a database")
}

/// The columns that are there: older databases have fewer.
fn columns(theirs: &Connection) -> Result<Vec<&'static str>> {
    let mut named =
        theirs.prepare("SELECT name FROM pragma_table_info('events')").context("it is no database")?;
    let found: Vec<String> = named.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let columns: Vec<_> =
        COLUMNS.into_iter().filter(|name| found.iter().any(|found| found == name)).collect();
    if !["source_app", "session_id", "hook_event_type", "payload"].iter().all(|due| columns.contains(due)) {
        bail!(
            "it has no events of the hook-observability project: its table `events` is missing or another one"
        );
    }
    Ok(columns)
}

/// An event as its script would have sent it.
fn event(row: &Row<'_>, columns: &[&'static str]) -> Result<Value> {
    let mut fields = Map::new();
    for (place, column) in columns.iter().enumerate() {
        let value = match row.get::<_, rusqlite::types::Value>(place + 1)? {
            rusqlite::types::Value::Text(text) if AS_JSON.contains(column) => {
                serde_json::from_str(&text).unwrap_or(Value::String(text))
            }
            rusqlite::types::Value::Text(text) => Value::String(text),
            rusqlite::types::Value::Integer(number) => json!(number),
            rusqlite::types::Value::Real(number) => json!(number),
            rusqlite::types::Value::Null | rusqlite::types::Value::Blob(_) => continue,
        };
        fields.insert((*column).to_owned(), value);
    }
    Ok(Value::Object(fields))
}

/// The same for the same event of the same database, wherever that lies: made of its number there and what it says.
fn id(number: i64, event: &Value) -> String {
    let digest = Sha256::digest(format!("{number} {event}").as_bytes());
    // As in other ids, milliseconds come first.
    let millis = event.get("timestamp").and_then(Value::as_u64).unwrap_or(0).to_be_bytes();
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(millis.iter().skip(2).chain(digest.iter())).for_each(|(to, from)| *to = *from);
    format!("evt_{}", uuid::Builder::from_custom_bytes(bytes).into_uuid().simple())
}
