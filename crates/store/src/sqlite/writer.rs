//! The one thread that writes. Whatever waits is made durable together by one flush of the disk; then, and only then,
//! those who wait are answered. A small group goes by way of the daybook; what is large or special is written straight
//! into the database, in one transaction.
//!
//! Owns: the end of the chain. Refuses: to let one bad batch take others with it; when a transaction fails, its batches
//! are tried again one by one, and only the guilty hear of it.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use belljar_domain::{EventId, Timestamp};
use belljar_ports::{
    StoreError,
    store::{Appended, Head, Promise},
};
use rusqlite::{Connection, ErrorCode, params_from_iter, types::Value};

use super::{
    BREATH,
    gate::Gate,
    posting::Debts,
    prepared::{Claim, Prepared, Write},
    sql::{Doing, signed, unsigned},
};
use crate::{
    daybook::{Daybook, stir::Stir},
    ledger::{
        chain::{Seal, link},
        columns::{self, PreparedEvent},
    },
    queue::Queue,
};

/// How often to try again to post what is owed.
const RETRY: Duration = Duration::from_secs(1);
const OWING: &str = "write to the store, since what came before could not be posted";

/// Something other than a batch to do inside a transaction; called again when the first transaction failed.
pub(crate) type Task = Box<dyn FnMut(&Connection) -> Result<(), StoreError> + Send>;

/// What the writer can be asked to do.
pub(crate) enum Work {
    Batch(Prepared),
    Task(Task),
}

/// One request, and who waits for it.
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) promise: Promise,
}

impl Job {
    pub(crate) const fn has_logs(&self) -> bool {
        matches!(&self.work, Work::Batch(batch) if batch.has_logs)
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

/// What the writer shares with everyone else.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) queue: Queue<Job>,
    pub(crate) commits: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) last_commit_micros: AtomicU64,
    pub(crate) last_seq: AtomicU64,
    /// The last piece of a log that was written.
    pub(crate) last_log: AtomicU64,
    /// Pages in the write-ahead log.
    pub(crate) wal_pages: Arc<AtomicU64>,
    /// `None` where there is no daybook to wake the disk by.
    pub(crate) stir: Option<Stir>,
}

/// The end of the chain, as of the last event written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tip {
    pub(crate) head: Head,
    pub(crate) received: Timestamp,
}

/// The thread's own things.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) seal: Seal,
    pub(crate) tip: Tip,
    pub(crate) desk: Arc<Desk>,
    pub(crate) on_logs: super::indexer::Bell,
    /// `None` when there is no room for one.
    pub(crate) daybook: Option<Daybook>,
    /// The database's write-ahead log.
    pub(crate) wal: PathBuf,
    pub(crate) owed: Debts,
    pub(crate) gate: Gate,
    /// Whether every commit is flushed to the disk; those the daybook vouches for need not be.
    pub(crate) flushes: bool,
}

/// The thread: works until the queue is closed and empty. It takes jobs only while it holds the writer, so nobody who
/// holds the writer and sees an empty queue overtakes anyone.
pub(crate) fn run(writer: &Mutex<Option<Writer>>, desk: &Desk) {
    while desk.queue.wait() {
        let mut held = writer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(writer) = held.as_mut() else { break };
        let paid = writer.work(desk.queue.take());
        if writer.owes() {
            desk.queue.ring(if paid { BREATH } else { RETRY });
        }
    }
    let Some(mut writer) = writer.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
    // What could not be posted stays in the daybook; what is in the write-ahead log is durable, moving it only tidy.
    let _owed = writer.pay();
    super::checkpoint::all(&writer.connection);
}

fn refuse(jobs: Vec<Job>, error: &StoreError) {
    let why = error.to_string();
    jobs.into_iter().for_each(|job| job.promise.keep(Err(StoreError::backend(OWING, why.clone()))));
}

impl Writer {
    /// Does what waits. The answer is false when what is owed could not be posted.
    fn work(&mut self, jobs: Vec<Job>) -> bool {
        // Whoever waits for these, or for what they wrote down before, has the processors first.
        if (self.gate.is_wanted() || !self.may_owe(&jobs))
            && let Err(error) = self.pay()
        {
            refuse(jobs, &error);
            return false;
        }
        let jobs =
            if self.is_for_daybook(&jobs) { self.by_daybook(jobs).err().unwrap_or_default() } else { jobs };
        if !jobs.is_empty() {
            // What was written down comes first.
            if let Err(error) = self.pay() {
                refuse(jobs, &error);
                return false;
            }
            self.group(jobs);
        }
        super::checkpoint::if_large(&self.connection, &self.desk.wal_pages);
        true
    }

    fn group(&mut self, mut jobs: Vec<Job>) {
        match self.transaction(&mut jobs) {
            Ok(answers) => self.answer(jobs, answers),
            Err(error) => match <[Job; 1]>::try_from(jobs) {
                Ok([guilty]) => guilty.promise.keep(Err(error)),
                Err(several) => several.into_iter().for_each(|job| self.group(vec![job])),
            },
        }
    }

    fn answer(&self, jobs: Vec<Job>, answers: Vec<Appended>) {
        let has_logs = jobs.iter().any(Job::has_logs);
        jobs.into_iter().zip(answers).for_each(|(job, appended)| job.promise.keep(Ok(appended)));
        if has_logs {
            self.note_logs();
        }
    }

    /// There are new logs. Their last place is only a figure for health; when it cannot be read it is merely late.
    pub(crate) fn note_logs(&self) {
        let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'logs'";
        let last =
            self.connection.prepare_cached(sql).and_then(|mut read| read.query_row([], |row| row.get(0)));
        self.desk.last_log.store(unsigned(last.unwrap_or(0)), Ordering::Relaxed);
        self.on_logs.ring();
    }

    /// Everything up to the tip is durable.
    pub(crate) fn committed(&self, begun: Instant) {
        self.desk.last_seq.store(self.tip.head.seq, Ordering::Release);
        self.desk.commits.fetch_add(1, Ordering::Relaxed);
        self.desk.last_commit_micros.store(micros(begun.elapsed()), Ordering::Relaxed);
        self.desk.stir.iter().for_each(Stir::wrote);
    }

    pub(crate) fn failed(&self) {
        self.desk.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// From now on commits are flushed, and what came before with them.
    pub(crate) fn sync_now(&mut self) -> Result<(), StoreError> {
        self.flush_commits(true, "full")
    }

    /// From now on commits are not flushed.
    pub(crate) fn sync_later(&mut self) -> Result<(), StoreError> {
        self.flush_commits(false, "normal")
    }

    fn flush_commits(&mut self, flushes: bool, word: &str) -> Result<(), StoreError> {
        if self.flushes != flushes {
            self.connection.pragma_update(None, "synchronous", word).doing("write to the store")?;
            self.flushes = flushes;
        }
        Ok(())
    }

    /// Writes all or nothing.
    fn transaction(&mut self, jobs: &mut [Job]) -> Result<Vec<Appended>, StoreError> {
        let begun = Instant::now();
        let now = Timestamp::from(SystemTime::now());
        let mut tip = Tip { received: self.tip.received.max(now), ..self.tip };
        let written = self.attempt(jobs, &mut tip);
        match written {
            Ok(answers) => {
                self.tip = tip;
                self.committed(begun);
                Ok(answers)
            }
            Err(error) => {
                self.failed();
                if !self.connection.is_autocommit() {
                    // When even this fails SQLite has rolled back by itself, and the next BEGIN will say so if not.
                    let _rolled_back = self.connection.execute_batch("ROLLBACK");
                }
                Err(error)
            }
        }
    }

    fn attempt(&mut self, jobs: &mut [Job], tip: &mut Tip) -> Result<Vec<Appended>, StoreError> {
        let doing = "write to the store";
        self.sync_now()?;
        self.connection
            .prepare_cached("BEGIN IMMEDIATE")
            .and_then(|mut begin| begin.execute([]))
            .doing(doing)?;
        let before = tip.head.seq;
        let mut answers = Vec::with_capacity(jobs.len());
        for job in jobs {
            let first = tip.head.seq + 1;
            match &mut job.work {
                Work::Batch(batch) => self.write(batch, tip)?,
                Work::Task(task) => task(&self.connection)?,
            }
            answers.push(Appended { first, last: tip.head.seq });
        }
        if tip.head.seq != before {
            self.seal(tip.head)?;
        }
        self.connection.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([])).doing(doing)?;
        Ok(answers)
    }

    fn write(&self, batch: &Prepared, tip: &mut Tip) -> Result<(), StoreError> {
        if !batch.events.is_empty() {
            let mut insert = self.connection.prepare_cached(&INSERT_EVENT).doing("write to the ledger")?;
            for event in &batch.events {
                let hash = link(tip.head.hash, tip.head.seq + 1, tip.received, &event.digest);
                let next = Head { seq: tip.head.seq + 1, hash };
                match insert_event(&mut insert, event, tip, next).map_err(|e| rejected(e, event.id)) {
                    Ok(_) => tip.head = next,
                    Err(StoreError::Duplicate(_)) if batch.skip_known => {}
                    Err(error) => return Err(error),
                }
            }
        }
        batch.writes.iter().try_for_each(|write| self.put(write))
    }

    fn put(&self, write: &Write) -> Result<(), StoreError> {
        let doing = "write a row";
        let mut statement = self.connection.prepare_cached(write.sql).doing(doing)?;
        let changed = statement.execute(params_from_iter(&write.values)).doing(doing)?;
        match write.claims {
            Some(claim) if changed == 0 => Err(self.refusal(claim, write)?),
            Some(_) | None => Ok(()),
        }
    }

    /// Says why something could not be claimed.
    fn refusal(&self, claim: Claim, write: &Write) -> Result<StoreError, StoreError> {
        match claim {
            Claim::Key => self.key_refusal(write),
            Claim::Step(id) => Ok(StoreError::Stale(id)),
        }
    }

    fn key_refusal(&self, write: &Write) -> Result<StoreError, StoreError> {
        let [project, key, fingerprint, ..] = write.values.as_slice() else { return Ok(StoreError::Closed) };
        let sql = "SELECT fingerprint = ?3 FROM idempotency WHERE project = ?1 AND key = ?2";
        let same = self.connection.query_row(sql, [project, key, fingerprint], |row| row.get(0));
        let Value::Text(name) = key else { return Ok(StoreError::Closed) };
        let is_same: bool = same.doing("read an idempotency key")?;
        Ok(if is_same { StoreError::KeyTaken(name.clone()) } else { StoreError::KeyReused(name.clone()) })
    }

    fn seal(&self, head: Head) -> Result<(), StoreError> {
        let sql = "UPDATE ledger SET head_seq = ?, head_hash = ?, head_mac = ?";
        let mac = self.seal.of_head(head.seq, head.hash);
        let update = self.connection.prepare_cached(sql);
        update
            .and_then(|mut update| update.execute((signed(head.seq), head.hash.0, mac)))
            .doing("seal the ledger")?;
        Ok(())
    }
}

pub(crate) static INSERT_EVENT: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
    let names = columns::NAMES.join(", ");
    let marks = vec!["?"; columns::COUNT + 4].join(", ");
    format!("INSERT INTO events (seq, received, prev_hash, hash, {names}) VALUES ({marks})")
});

fn insert_event(
    insert: &mut rusqlite::CachedStatement<'_>,
    event: &PreparedEvent,
    tip: &Tip,
    next: Head,
) -> rusqlite::Result<usize> {
    insert.raw_bind_parameter(1, signed(next.seq))?;
    insert.raw_bind_parameter(2, tip.received.as_micros())?;
    insert.raw_bind_parameter(3, tip.head.hash.0.as_slice())?;
    insert.raw_bind_parameter(4, next.hash.0.as_slice())?;
    for (at, column) in (5..).zip(event.columns()) {
        insert.raw_bind_parameter(at, column)?;
    }
    insert.raw_execute()
}

fn rejected(error: rusqlite::Error, id: EventId) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => StoreError::Duplicate(id),
        _ => StoreError::backend("write to the ledger", error),
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
