//! Small groups of batches by way of the daybook: chained, written down, answered, and only then posted.
//!
//! Owns: what an entry says, and carrying it out, also the one a crash left behind. Refuses: what cannot be judged
//! before it is written (idempotency keys, steps of approvals, tasks) and what is too large to be written twice; those go straight into
//! the database.

use std::{
    collections::{HashSet, VecDeque},
    sync::atomic::Ordering,
    time::{Instant, SystemTime},
};

use belljar_domain::{EventId, Timestamp};
use belljar_ports::{
    StoreError,
    store::{Appended, Head},
};
use rusqlite::{Connection, OptionalExtension, types::Value};

use super::{
    prepared::Prepared,
    sql::{Doing, signed},
    writer::{INSERT_EVENT, Job, Tip, Work, Writer},
};
use crate::{
    daybook::{
        Daybook, LIGHT,
        entry::{Statement, decode, encode},
    },
    ledger::{
        chain::link,
        columns::{Column, PreparedEvent},
    },
};

const POSTING: &str = "post from the daybook";
const SEAL: &str = "UPDATE ledger SET head_seq = ?, head_hash = ?, head_mac = ?, daybook = ?";
const MARK: &str = "UPDATE ledger SET daybook = ?";

/// What is durable in the daybook and not in the database yet.
#[derive(Debug, Default)]
pub(crate) struct Debts {
    entries: VecDeque<(u64, Vec<u8>)>,
    /// The events in them, which a look into the database does not find.
    ids: HashSet<EventId>,
    /// Bytes they may take in the write-ahead log.
    needs: usize,
    has_logs: bool,
}

/// An event with its place in the chain.
struct Chained<'a> {
    event: &'a PreparedEvent,
    before: Head,
    at: Head,
}

type Answers = Vec<Result<Appended, StoreError>>;

/// Bytes an entry takes in the write-ahead log for each byte of its own, and for each of its statements: most add to the
/// end of what they touch, where others have just added. An entry that takes more, and finds the disk full, waits in the
/// daybook until there is room.
const SPREAD: usize = 2;
const TOUCH: usize = 4 * 4096;
/// Entries that may wait to be posted. Posted together they touch each page once.
const MOST_OWED: usize = 64;
/// A page in the log, with what is before it.
const FRAME: u64 = 4096 + 24;

/// Bytes a batch may take in the write-ahead log; `None` when it cannot go by way of the daybook.
fn needs(batch: &Prepared) -> Option<usize> {
    let is_plain = batch.writes.iter().all(|write| write.claims.is_none());
    is_plain.then(|| batch.weight * SPREAD + (batch.events.len() + batch.writes.len()) * TOUCH)
}

fn batch_of(job: &Job) -> Option<&Prepared> {
    match &job.work {
        Work::Batch(batch) => Some(batch),
        Work::Task(_) => None,
    }
}

impl Writer {
    /// Says whether jobs can go by way of the daybook.
    pub(crate) fn is_for_daybook(&self, jobs: &[Job]) -> bool {
        let batches: Option<Vec<&Prepared>> = jobs.iter().map(batch_of).collect();
        batches.is_some_and(|batches| !batches.is_empty() && self.has_room(&batches))
    }

    /// What is answered should find room in the database afterwards, so only the part of its log that is on the disk
    /// already is counted on.
    fn has_room(&self, batches: &[&Prepared]) -> bool {
        let weight: usize = batches.iter().map(|batch| batch.weight).sum();
        let Some(needs) = batches.iter().map(|batch| needs(batch)).sum::<Option<usize>>() else {
            return false;
        };
        let used = self.desk.wal_pages.load(Ordering::Relaxed).saturating_mul(FRAME);
        let length = || std::fs::metadata(&self.wal).map_or(0, |about| about.len());
        weight <= LIGHT
            && self.daybook.is_some()
            && used.saturating_add((needs + self.owed.needs) as u64) <= length()
    }

    /// Writes jobs down and answers them. Jobs that could not be written down are given back.
    pub(crate) fn by_daybook(&mut self, jobs: Vec<Job>) -> Result<(), Vec<Job>> {
        let batches: Vec<&Prepared> = jobs.iter().filter_map(batch_of).collect();
        let Ok(answers) = self.write_down(&batches) else { return Err(jobs) };
        jobs.into_iter().zip(answers).for_each(|(job, answer)| job.promise.keep(answer));
        Ok(())
    }

    /// Says whether what is owed may wait while these are written down.
    pub(crate) fn may_owe(&self, jobs: &[Job]) -> bool {
        self.owed.entries.len() < MOST_OWED && self.is_for_daybook(jobs)
    }

    /// Writes one batch down on the thread of whoever appends it, to be posted later by the writer's own. A batch that
    /// cannot be is given back.
    pub(crate) fn lead(&mut self, batch: Prepared) -> Result<Result<Appended, StoreError>, Prepared> {
        if self.owed.entries.len() >= MOST_OWED || !self.has_room(&[&batch]) {
            return Err(batch);
        }
        match self.write_down(&[&batch]) {
            Ok(answers) => Ok(answers.into_iter().next().unwrap_or(Err(StoreError::Closed))),
            Err(_) => Err(batch),
        }
    }

    pub(crate) fn owes(&self) -> bool {
        !self.owed.entries.is_empty()
    }

    /// Posts what is owed. As long as that fails nothing else can be written, since it would come first.
    pub(crate) fn pay(&mut self) -> Result<(), StoreError> {
        if !self.owes() {
            return Ok(());
        }
        self.sync_later()?;
        let entries: Vec<&[u8]> = self.owed.entries.iter().map(|(_, entry)| entry.as_slice()).collect();
        if let Err(error) = post(&self.connection, &entries) {
            self.failed();
            return Err(error);
        }
        if let Some((last, _)) = self.owed.entries.back() {
            self.gate.posted(*last);
        }
        if std::mem::take(&mut self.owed).has_logs {
            self.note_logs();
        }
        Ok(())
    }

    /// Chains batches and writes them down; then they are durable, and nothing but their posting is left to do.
    fn write_down(&mut self, batches: &[&Prepared]) -> Result<Answers, StoreError> {
        let begun = Instant::now();
        let now = Timestamp::from(SystemTime::now());
        let mut tip = Tip { received: self.tip.received.max(now), ..self.tip };
        let mut fresh = HashSet::new();
        let (mut chained, mut rows, mut answers) =
            (Vec::new(), Vec::new(), Vec::with_capacity(batches.len()));
        // One look at the database for all of them: each look of its own would lock and unlock it.
        let looks = batches.iter().any(|batch| !batch.is_new && !batch.events.is_empty());
        let look =
            looks.then(|| self.connection.unchecked_transaction()).transpose().doing("look for events")?;
        for batch in batches {
            let answer = self.chain(batch, &mut tip, &mut fresh, &mut chained)?;
            if answer.is_ok() {
                rows.extend(&batch.writes);
            }
            answers.push(answer);
        }
        drop(look);
        let number = self.daybook.as_ref().map(Daybook::next).ok_or(StoreError::Closed)?;
        let mac = self.seal.of_head(tip.head.seq, tip.head.hash);
        let mut statements: Vec<Statement<'_>> =
            chained.iter().map(|chained| insert(chained, tip.received)).collect();
        statements.extend(
            rows.iter()
                .map(|row| Statement { sql: row.sql, values: row.values.iter().map(column).collect() }),
        );
        statements.push(if chained.is_empty() {
            Statement { sql: MARK, values: vec![Column::Int(signed(number))] }
        } else {
            let head =
                [Column::Int(signed(tip.head.seq)), Column::Blob(&tip.head.hash.0), Column::Blob(&mac)];
            let values = head.into_iter().chain([Column::Int(signed(number))]).collect();
            Statement { sql: SEAL, values }
        });
        self.enter(number, encode(&statements))?;
        self.tip = tip;
        self.owed.ids.extend(fresh);
        self.owed.needs += batches.iter().filter_map(|batch| needs(batch)).sum::<usize>();
        self.owed.has_logs |= batches.iter().any(|batch| batch.has_logs);
        self.gate.noted(number);
        self.committed(begun);
        Ok(answers)
    }

    /// Gives a batch's events their places. A batch that repeats an event is refused as a whole, or that event left out.
    fn chain<'a>(
        &self,
        batch: &'a Prepared,
        tip: &mut Tip,
        fresh: &mut HashSet<EventId>,
        chained: &mut Vec<Chained<'a>>,
    ) -> Result<Result<Appended, StoreError>, StoreError> {
        let mut news: Vec<&PreparedEvent> = Vec::with_capacity(batch.events.len());
        for event in &batch.events {
            if !fresh.insert(event.id) || (!batch.is_new && self.is_known(event)?) {
                if batch.skip_known {
                    continue;
                }
                news.iter().for_each(|event| _ = fresh.remove(&event.id));
                return Ok(Err(StoreError::Duplicate(event.id)));
            }
            news.push(event);
        }
        let first = tip.head.seq + 1;
        for event in news {
            let (before, seq) = (tip.head, tip.head.seq + 1);
            tip.head = Head { seq, hash: link(before.hash, seq, tip.received, &event.digest) };
            chained.push(Chained { event, before, at: tip.head });
        }
        Ok(Ok(Appended { first, last: tip.head.seq }))
    }

    fn is_known(&self, event: &PreparedEvent) -> Result<bool, StoreError> {
        if self.owed.ids.contains(&event.id) {
            return Ok(true);
        }
        let doing = "look for an event";
        let mut find = self.connection.prepare_cached("SELECT 1 FROM events WHERE id = ?").doing(doing)?;
        let found = find.query_row([event.id.as_uuid().as_bytes()], |_| Ok(())).optional().doing(doing)?;
        Ok(found.is_some())
    }

    fn enter(&mut self, number: u64, entry: Vec<u8>) -> Result<(), StoreError> {
        if self.daybook.as_ref().is_some_and(|book| !book.has_room(entry.len())) {
            self.pay()?;
            // Everything in it is posted; now it is made durable where it was posted to.
            self.sync_now()?;
            mark(&self.connection, number - 1)?;
            self.daybook.iter_mut().for_each(Daybook::rewind);
        }
        let book = self.daybook.as_mut().ok_or(StoreError::Closed)?;
        if let Err(error) = book.write(&entry) {
            // It may be on the disk or not. Whatever is there must not be posted one day, so its number is used up.
            self.daybook = None;
            self.pay()?;
            self.sync_now()?;
            mark(&self.connection, number)?;
            return Err(StoreError::backend("write to the daybook", error));
        }
        self.owed.entries.push_back((number, entry));
        Ok(())
    }
}

fn insert<'a>(chained: &'a Chained<'a>, received: Timestamp) -> Statement<'a> {
    let place = [
        Column::Int(signed(chained.at.seq)),
        Column::Int(received.as_micros()),
        Column::Blob(&chained.before.hash.0),
        Column::Blob(&chained.at.hash.0),
    ];
    Statement { sql: &INSERT_EVENT, values: place.into_iter().chain(chained.event.columns()).collect() }
}

fn column(value: &Value) -> Column<'_> {
    match value {
        Value::Null => Column::Null,
        Value::Integer(value) => Column::Int(*value),
        Value::Real(value) => Column::Real(*value),
        Value::Text(text) => Column::Text(text.as_bytes()),
        Value::Blob(bytes) => Column::Blob(bytes),
    }
}

/// Carries out entries in their order, all of them or nothing.
pub(crate) fn post(connection: &Connection, entries: &[&[u8]]) -> Result<(), StoreError> {
    let unreadable = || StoreError::backend(POSTING, "the entry cannot be read");
    let statements =
        entries.iter().map(|entry| decode(entry)).collect::<Option<Vec<_>>>().ok_or_else(unreadable)?;
    connection.prepare_cached("BEGIN IMMEDIATE").and_then(|mut begin| begin.execute([])).doing(POSTING)?;
    let posted = statements.iter().flatten().try_for_each(|statement| {
        let mut prepared = connection.prepare_cached(statement.sql)?;
        prepared.execute(rusqlite::params_from_iter(&statement.values)).map(drop)
    });
    let committed = posted.and_then(|()| connection.prepare_cached("COMMIT")?.execute([]).map(drop));
    if committed.is_err() && !connection.is_autocommit() {
        // When even this fails SQLite has rolled back by itself, and the next BEGIN will say so if not.
        let _rolled_back = connection.execute_batch("ROLLBACK");
    }
    committed.doing(POSTING)
}

/// Notes that everything up to this entry is in the database, or never will be.
fn mark(connection: &Connection, number: u64) -> Result<(), StoreError> {
    connection.execute(MARK, [signed(number)]).doing(POSTING).map(drop)
}
