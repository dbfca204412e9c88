//! The store in SQLite: one thread writes, a few connections read, and two threads tidy up behind them.
//!
//! Owns: who does what. Everything that is written goes through the writer's queue; everything that is read comes from
//! the pool. The files are this user's alone.

mod checkpoint;
mod events;
mod files;
mod indexer;
mod logs;
mod migrate;
mod open;
mod pool;
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
};

use belljar_ports::{
    StoreError,
    store::{Pending, pending},
};

use crate::{StoreConfig, artifacts::Artifacts, ledger::chain::Seal, queue::Queue};
use checkpoint::Stop;
use indexer::Bell;
use open::{Opened, Places};
use pool::Pool;
use writer::{Desk, Job, Task, Work, Writer};

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
        let Opened { connection, seal, tip, lock } = open::for_writing(&places, &wal_pages)?;
        let desk = Arc::new(Desk {
            queue: Queue::new(),
            commits: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            last_commit_micros: AtomicU64::new(0),
            last_seq: AtomicU64::new(tip.head.seq),
            last_log: AtomicU64::new(0),
            wal_pages,
        });
        let mut store = Self::reading(places, config, seal.clone());
        store.desk = Some(Arc::clone(&desk));
        store.lock = Mutex::new(Some(lock));
        let on_logs = store.on_logs.clone();
        let writer = Writer { connection, seal, tip, desk: Arc::clone(&desk), on_logs };
        store.start("store-writer", move || writer.run())?;
        let (path, stop) = (store.places.database.clone(), Arc::clone(&store.stop));
        store.start("store-tidy", move || checkpoint::in_quiet_moments(&path, &desk.wal_pages, &stop))?;
        let (places, bell, ledger) = (store.places.clone(), store.on_logs.clone(), store.seal.ledger);
        store.start("store-index", move || indexer::run(&places.database, &places.search, ledger, &bell))?;
        Ok(store)
    }

    /// Opens the store in a home directory for reading, which works while another process writes.
    ///
    /// # Errors
    /// When there is none, or a newer belljar wrote it.
    pub fn open_read_only(home: &Path, config: StoreConfig) -> Result<Self, StoreError> {
        let places = Places::below(home);
        let seal = open::for_reading(&places)?;
        Ok(Self::reading(places, config, seal))
    }

    fn reading(places: Places, config: StoreConfig, seal: Seal) -> Self {
        Self {
            config,
            pool: Pool::new(places.database.clone()),
            artifacts: Artifacts::new(places.artifacts.clone(), config.artifact_bytes),
            places,
            seal,
            on_logs: Bell::default(),
            desk: None,
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
