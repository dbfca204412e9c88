//! The store in SQLite: one thread writes, a few connections read, and two threads tidy up behind them.
//!
//! Owns: who does what. Everything that is written goes through the writer's queue; everything that is read comes from
//! the pool. The files are this user's alone.

mod checkpoint;
mod events;
mod eye;
mod files;
mod gate;
mod indexer;
mod logs;
mod migrate;
mod open;
mod pool;
mod posting;
mod prepared;
mod prune;
mod rows;
mod samples;
mod search;
mod sql;
mod stats;
mod store;
mod verify;
mod writer;

use std::{
    fs::File,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use belljar_ports::{
    StoreError,
    store::{Appended, Pending, pending},
};

use crate::{StoreConfig, artifacts::Artifacts, daybook::stir::Stir, ledger::chain::Seal, queue::Queue};
use checkpoint::Stop;
pub use eye::SqliteLens;
use gate::Gate;
use indexer::Bell;
use open::{Opened, Places};
use pool::{Before, Pool};
use posting::Debts;
use prepared::Prepared;
use writer::{Desk, Job, Task, Work, Writer};

/// How long what was written down may wait to be posted. Long enough that a client's next requests are not held up by
/// the posting of its first, and that they are posted together.
const BREATH: Duration = Duration::from_millis(25);

/// A store in one directory.
#[derive(Debug)]
pub struct SqliteStore {
    config: StoreConfig,
    places: Places,
    pool: Pool,
    artifacts: Artifacts,
    seal: Seal,
    on_logs: Bell,
    /// `None` when it was opened for reading.
    desk: Option<Arc<Desk>>,
    /// Held by its thread while it writes, or by somebody who writes a small batch down by themselves. `None` when the
    /// store was opened for reading or is closed.
    writer: Arc<Mutex<Option<Writer>>>,
    stop: Arc<Stop>,
    /// The writer first.
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Held by whoever removes what is past its time; two at once would put checkpoints over each other's.
    pruning: Mutex<()>,
    /// Held until the last thread is gone.
    lock: Mutex<Option<File>>,
}

impl SqliteStore {
    /// Opens the store in a home directory for writing, making it if there is none.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process writes to it, [`StoreError::Newer`] when a newer belljar wrote it,
    /// [`StoreError::Key`] when the ledger's key is missing.
    pub fn open(home: &Path, config: StoreConfig) -> Result<Self, StoreError> {
        let places = Places::below(home);
        let wal_pages = Arc::new(AtomicU64::new(0));
        let Opened { connection, seal, tip, lock, daybook } = open::for_writing(&places, &wal_pages)?;
        let desk = Arc::new(Desk {
            queue: Queue::new(),
            commits: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            last_commit_micros: AtomicU64::new(0),
            last_seq: AtomicU64::new(tip.head.seq),
            last_log: AtomicU64::new(0),
            wal_pages,
            stir: daybook.as_ref().and_then(|_| Stir::open(&places.daybook)),
        });
        let hurry = Arc::clone(&desk);
        let gate = Gate::new(move || hurry.queue.ring(Duration::ZERO));
        let mut store = Self::reading(places, config, seal.clone(), Before::Gate(gate.clone()));
        store.desk = Some(Arc::clone(&desk));
        store.lock = Mutex::new(Some(lock));
        let on_logs = store.on_logs.clone();
        let writer = Writer {
            connection,
            seal,
            tip,
            desk: Arc::clone(&desk),
            on_logs,
            daybook,
            wal: open::log_of(&store.places.database),
            owed: Debts::default(),
            gate,
            flushes: true,
        };
        let writer = Arc::new(Mutex::new(Some(writer)));
        store.writer = Arc::clone(&writer);
        let desk_of_thread = Arc::clone(&desk);
        store.start("store-writer", move || writer::run(&writer, &desk_of_thread))?;
        let (path, stop) = (store.places.database.clone(), Arc::clone(&store.stop));
        store.start("store-tidy", move || checkpoint::in_quiet_moments(&path, &desk.wal_pages, &stop))?;
        let (places, bell, ledger) = (store.places.clone(), store.on_logs.clone(), store.seal.ledger);
        store.start("store-index", move || indexer::run(&places.database, &places.search, ledger, &bell))?;
        store.clear_artifacts()?;
        Ok(store)
    }

    /// Opens the store in a home directory for reading, which works while another process writes.
    ///
    /// # Errors
    /// When there is none, or a newer belljar wrote it.
    pub fn open_read_only(home: &Path, config: StoreConfig) -> Result<Self, StoreError> {
        let places = Places::below(home);
        let seal = open::for_reading(&places)?;
        let before = Before::Daybook(Box::new((places.clone(), seal.clone())));
        Ok(Self::reading(places, config, seal, before))
    }

    fn reading(places: Places, config: StoreConfig, seal: Seal, before: Before) -> Self {
        Self {
            config,
            pool: Pool::new(places.database.clone(), before),
            artifacts: Artifacts::new(places.artifacts.clone(), config.artifact_bytes),
            places,
            seal,
            on_logs: Bell::default(),
            desk: None,
            writer: Arc::default(),
            stop: Arc::default(),
            threads: Mutex::default(),
            pruning: Mutex::default(),
            lock: Mutex::default(),
        }
    }

    fn start(&self, name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), StoreError> {
        let started = thread::Builder::new().name(name.to_owned()).spawn(body);
        let handle = started.map_err(|e| StoreError::backend("start a thread of the store", e))?;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
        Ok(())
    }

    /// Hands work to the writer.
    fn submit(&self, work: Work, weight: usize) -> Pending {
        let Some(desk) = &self.desk else { return Pending::ready(Err(StoreError::ReadOnly)) };
        let (promise, answer) = pending();
        // A job given back is dropped, and its promise says that the store is closed.
        drop(desk.queue.push(Job { work, promise }, weight));
        answer
    }

    /// Writes a small batch down on this thread if nobody else writes: two changes of threads are what most of a lone
    /// append would take. Gives it back otherwise.
    fn lead(&self, batch: Prepared) -> Result<Result<Appended, StoreError>, Prepared> {
        let (Some(desk), Ok(mut held)) = (&self.desk, self.writer.try_lock()) else { return Err(batch) };
        let Some(writer) = held.as_mut().filter(|_| desk.queue.is_idle()) else { return Err(batch) };
        let answer = writer.lead(batch)?;
        drop(held);
        // Whoever waits for the answer has the processors first. A reader who cannot wait hurries it.
        desk.queue.ring(BREATH);
        Ok(answer)
    }

    /// Has the writer do something in a transaction, and waits for it.
    fn task(&self, task: Task) -> Result<(), StoreError> {
        self.submit(Work::Task(task), 0).wait().map(drop)
    }

    /// Ends the threads, the writer last: the last connection that goes takes the write-ahead log along.
    fn end(&self) {
        self.stop.ask();
        self.on_logs.stop();
        let mut threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        while threads.len() > 1 {
            // A thread that panicked has nothing left to do either.
            let _ended = threads.pop().map(JoinHandle::join);
        }
        self.pool.clear();
        if let Some(desk) = &self.desk {
            desk.queue.close();
        }
        let _ended = threads.pop().map(JoinHandle::join);
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn durable_seq(&self) -> Option<u64> {
        self.desk.as_ref().map(|desk| desk.last_seq.load(Ordering::Acquire))
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.end();
    }
}
