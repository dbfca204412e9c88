//! Removing what is past its time, and more when there is too much, a little in each transaction so that nobody waits
//! long.
//!
//! Owns: retention. Events leave in runs; a keyed checkpoint takes the place of each run, keeping the hash before it
//! and the hash of its last, so that the chain can still be walked and nobody without the key can remove more.
//! Refuses: to remove what belongs to the audit before its time, whatever room it takes.

use std::{sync::PoisonError, time::SystemTime};

use belljar_domain::{Digest, EventId, EventKind, NewEvent, ProjectId, Retention, Timestamp};
use belljar_ports::{
    StoreError,
    store::{Batch, Pruned, Store},
};
use rusqlite::{Connection, OptionalExtension, Row, types::Value};
use uuid::Uuid;

use super::{
    SqliteStore, files,
    samples::{HOUR, ROLL_UP},
    sql::{Doing, amount, hash, parsed, signed},
    stats::bytes_used,
};
use crate::ledger::chain::{Checkpoint, Seal};

/// Rows removed in one transaction.
const STEP: usize = 1_000;
const PRUNING: &str = "remove what is past its time";

impl SqliteStore {
    /// Removes what is past its time at `now`.
    pub(super) fn prune_all(&self, now: Timestamp) -> Result<Pruned, StoreError> {
        let _alone = self.pruning.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pruned = Pruned::default();
        let config = self.config;
        while self.roll_up(now.minus(config.samples), &mut pruned)? {}
        while self.drop_logs(now.minus(config.events), &mut pruned)? {}
        self.drop_rows(now, &mut pruned)?;
        let cutoffs = |events: Timestamp, samples: Timestamp| Cutoffs {
            audit: now.minus(config.audit),
            events,
            samples,
        };
        let timely = cutoffs(now.minus(config.events), now.minus(config.samples));
        self.drop_events(&timely, &|| Ok(true), &mut pruned)?;
        let is_crowded = || Ok::<_, StoreError>(self.pool.read(bytes_used)? > config.database_bytes);
        while is_crowded()? && self.roll_up(now, &mut pruned)? {}
        while is_crowded()? && self.drop_logs(now, &mut pruned)? {}
        self.drop_events(&cutoffs(now, now), &is_crowded, &mut pruned)?;
        self.drop_artifacts(&mut pruned)?;
        if pruned.events > 0 {
            self.append(Batch::of_events(vec![notice(now, &pruned)])).wait()?;
        }
        self.on_logs.ring();
        while self.pool.read(free_pages)? > 0 {
            self.task(Box::new(give_back))?;
        }
        pruned.bytes = self.pool.read(bytes_used)?;
        Ok(pruned)
    }

    /// Carries out statements in one transaction.
    fn execute(&self, statements: Vec<(&'static str, Vec<Value>)>) -> Result<(), StoreError> {
        self.task(Box::new(move |connection| {
            statements.iter().try_for_each(|(sql, values)| {
                connection.execute(sql, rusqlite::params_from_iter(values)).doing(PRUNING).map(drop)
            })
        }))
    }

    /// Sums up the oldest hour of samples if it is past its time; true when there may be more.
    fn roll_up(&self, cutoff: Timestamp, pruned: &mut Pruned) -> Result<bool, StoreError> {
        let sql = "SELECT min(time) FROM samples";
        let oldest: Option<i64> =
            self.pool.read(|db| db.query_row(sql, [], |row| row.get(0)).doing(PRUNING))?;
        let hour = signed(u64::try_from(HOUR.as_micros()).unwrap_or(u64::MAX));
        let Some(oldest) = oldest.filter(|oldest| *oldest < cutoff.as_micros()) else { return Ok(false) };
        let begins = oldest.div_euclid(hour) * hour;
        let until = (begins + hour).min(cutoff.as_micros());
        let sql = "SELECT count(*) FROM samples WHERE time < ?";
        pruned.samples +=
            self.pool.read(|db| db.query_row(sql, [until], |row| amount(row, 0)).doing(PRUNING))?;
        let range = vec![Value::Integer(oldest), Value::Integer(until)];
        let with_hour = [range.clone(), vec![Value::Integer(begins)]].concat();
        self.execute(vec![
            (ROLL_UP, with_hour),
            ("DELETE FROM samples WHERE time >= ? AND time < ?", range),
        ])?;
        Ok(true)
    }

    /// Removes the oldest pieces of logs if they are past their time; true when there may be more.
    fn drop_logs(&self, cutoff: Timestamp, pruned: &mut Pruned) -> Result<bool, StoreError> {
        let oldest: Vec<(u64, i64)> = self.pool.read(|connection| {
            let sql = "SELECT seq, time FROM logs ORDER BY seq LIMIT ?";
            let mut statement = connection.prepare_cached(sql).doing(PRUNING)?;
            let rows = statement
                .query_map([signed(STEP as u64)], |row| Ok((amount(row, 0)?, row.get(1)?)))
                .doing(PRUNING)?;
            rows.collect::<rusqlite::Result<_>>().doing(PRUNING)
        })?;
        let over: Vec<u64> =
            oldest.iter().take_while(|(_, time)| *time < cutoff.as_micros()).map(|(seq, _)| *seq).collect();
        let Some(last) = over.last() else { return Ok(false) };
        self.execute(vec![("DELETE FROM logs WHERE seq <= ?", vec![Value::Integer(signed(*last))])])?;
        pruned.logs += over.len() as u64;
        Ok(over.len() == STEP)
    }

    fn drop_rows(&self, now: Timestamp, pruned: &mut Pruned) -> Result<(), StoreError> {
        let before = |span| Value::Integer(now.minus(span).as_micros());
        let (events, audit) = (before(self.config.events), before(self.config.audit));
        let sql = "SELECT (SELECT count(*) FROM idempotency WHERE expires <= ?1)
                        + (SELECT count(*) FROM deliveries WHERE time < ?2)";
        let values = [Value::Integer(now.as_micros()), events.clone()];
        pruned.others +=
            self.pool.read(|db| db.query_row(sql, values, |row| amount(row, 0)).doing(PRUNING))?;
        self.execute(vec![
            ("DELETE FROM idempotency WHERE expires <= ?", vec![Value::Integer(now.as_micros())]),
            ("DELETE FROM deliveries WHERE time < ?", vec![events.clone()]),
            ("DELETE FROM artifact_links WHERE created < ?", vec![events]),
            ("DELETE FROM rollups WHERE time < ?", vec![before(self.config.rollups)]),
            ("DELETE FROM approvals WHERE answered < ?", vec![audit.clone()]),
            ("DELETE FROM runs WHERE ended < ?", vec![audit.clone()]),
            ("DELETE FROM executions WHERE ended < ?", vec![audit.clone()]),
            ("DELETE FROM sandboxes WHERE ended < ?", vec![audit]),
        ])
    }

    /// Removes content nothing points to, and files no row knows.
    fn drop_artifacts(&self, pruned: &mut Pruned) -> Result<(), StoreError> {
        let doing = |e| StoreError::backend("remove an artifact", e);
        let _placing = self.artifacts.placing();
        for digest in self.pool.read(files::unlinked)? {
            let row = vec![Value::Blob(digest.0.to_vec())];
            self.execute(vec![("DELETE FROM artifacts WHERE digest = ?", row)])?;
            self.artifacts.remove(digest).map_err(doing)?;
            pruned.artifacts += 1;
        }
        for digest in self.artifacts.settled(SystemTime::now()).map_err(doing)? {
            if !self.pool.read(|connection| files::is_known(connection, digest))? {
                self.artifacts.remove(digest).map_err(doing)?;
            }
        }
        Ok(())
    }

    /// Removes events that are past their time, oldest first, while more is wanted.
    fn drop_events(
        &self,
        cutoffs: &Cutoffs,
        is_wanted: &dyn Fn() -> Result<bool, StoreError>,
        pruned: &mut Pruned,
    ) -> Result<(), StoreError> {
        let mut after = Some(0);
        while let Some(place) = after
            && is_wanted()?
        {
            let (runs, scanned) = self.pool.read(|connection| runs(connection, cutoffs, place))?;
            for run in runs {
                pruned.events += run.last - run.first + 1;
                let seal = self.seal.clone();
                self.task(Box::new(move |connection| replace(connection, &seal, run)))?;
            }
            after = scanned;
        }
        Ok(())
    }
}

/// The moments before which events of each class are past their time.
struct Cutoffs {
    audit: Timestamp,
    events: Timestamp,
    samples: Timestamp,
}

impl Cutoffs {
    const fn of(&self, class: Retention) -> Timestamp {
        match class {
            Retention::Audit => self.audit,
            Retention::Event => self.events,
            Retention::Sample => self.samples,
        }
    }
}

/// Neighbouring events that are past their time, among the next ones after a place, and the last of those.
fn runs(
    connection: &Connection,
    cutoffs: &Cutoffs,
    after: u64,
) -> Result<(Vec<Checkpoint>, Option<u64>), StoreError> {
    let newest = cutoffs.audit.max(cutoffs.events).max(cutoffs.samples);
    let sql = "SELECT seq, class, received, prev_hash, hash FROM events WHERE seq > ? AND received < ?
               ORDER BY seq LIMIT ?";
    let mut statement = connection.prepare_cached(sql).doing(PRUNING)?;
    let mut rows =
        statement.query((signed(after), newest.as_micros(), signed(STEP as u64))).doing(PRUNING)?;
    let mut runs: Vec<Checkpoint> = Vec::new();
    let mut scanned = None;
    while let Some(row) = rows.next().doing(PRUNING)? {
        let (place, is_over) = candidate(row, cutoffs).doing(PRUNING)?;
        scanned = Some(place.last);
        match runs.last_mut() {
            _ if !is_over => {}
            Some(run) if run.last + 1 == place.first => {
                *run = Checkpoint { last: place.last, hash: place.hash, ..*run }
            }
            _ => runs.push(place),
        }
    }
    Ok((runs, scanned))
}

fn candidate(row: &Row<'_>, cutoffs: &Cutoffs) -> rusqlite::Result<(Checkpoint, bool)> {
    let seq = amount(row, 0)?;
    let is_over = row.get::<_, i64>(2)? < cutoffs.of(parsed(row, 1)?).as_micros();
    Ok((Checkpoint { first: seq, last: seq, prev_hash: hash(row, 3)?, hash: hash(row, 4)? }, is_over))
}

/// Puts a checkpoint in place of a run of events, joined with those beside it.
fn replace(connection: &Connection, seal: &Seal, run: Checkpoint) -> Result<(), StoreError> {
    let beside = |sql: &str, place: u64| {
        let read = |row: &Row<'_>| Ok((amount(row, 0)?, hash(row, 1)?));
        connection.query_row(sql, [signed(place)], read).optional().doing(PRUNING)
    };
    let before: Option<(u64, Digest)> =
        beside("SELECT first, prev_hash FROM checkpoints WHERE last = ?", run.first - 1)?;
    let after: Option<(u64, Digest)> =
        beside("SELECT last, hash FROM checkpoints WHERE first = ?", run.last + 1)?;
    let (first, prev_hash) = before.unwrap_or((run.first, run.prev_hash));
    let (last, hash) = after.unwrap_or((run.last, run.hash));
    let joined = Checkpoint { first, last, prev_hash, hash };
    let (from, to) = (signed(first), signed(last));
    connection.execute("DELETE FROM checkpoints WHERE first BETWEEN ? AND ?", [from, to]).doing(PRUNING)?;
    let sql = "INSERT INTO checkpoints (first, last, made, prev_hash, hash, mac) VALUES (?, ?, ?, ?, ?, ?)";
    let (mac, made) = (seal.of_checkpoint(&joined), Timestamp::from(SystemTime::now()));
    connection.execute(sql, (from, to, made.as_micros(), prev_hash.0, hash.0, mac)).doing(PRUNING)?;
    let sql = "DELETE FROM events WHERE seq BETWEEN ? AND ?";
    connection.execute(sql, [signed(run.first), signed(run.last)]).doing(PRUNING)?;
    Ok(())
}

fn free_pages(connection: &Connection) -> Result<u64, StoreError> {
    connection.query_row("PRAGMA freelist_count", [], |row| amount(row, 0)).doing(PRUNING)
}

/// Gives some free pages back to the file system; each step of the statement gives one.
fn give_back(connection: &Connection) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached("PRAGMA incremental_vacuum(1024)").doing(PRUNING)?;
    let mut pages = statement.query([]).doing(PRUNING)?;
    while pages.next().doing(PRUNING)?.is_some() {}
    Ok(())
}

/// The event that says what was removed.
fn notice(now: Timestamp, pruned: &Pruned) -> NewEvent {
    let id = EventId::from_uuid(Uuid::now_v7());
    let mut event = NewEvent::new(id, now, ProjectId::default(), EventKind::LedgerPruned);
    event.payload =
        serde_json::json!({ "events": pruned.events, "logs": pruned.logs, "samples": pruned.samples });
    event
}
