//! A few connections for reading, made when first needed and used again.

use std::{
    path::PathBuf,
    sync::{Condvar, Mutex, PoisonError},
};

use belljar_ports::StoreError;
use rusqlite::{Connection, OpenFlags};

use super::{
    gate::Gate,
    open::{self, Places},
    sql::Doing,
};
use crate::ledger::chain::Seal;

/// Reads at the same time; more wait for their turn.
const MOST: usize = 4;
/// Statements each connection keeps ready.
pub(crate) const STATEMENTS: usize = 64;

#[derive(Debug)]
struct Shelf {
    idle: Vec<Connection>,
    out: usize,
}

/// What a reader waits for, so that it finds everything that was answered.
#[derive(Debug)]
pub(crate) enum Before {
    /// The writer of this process.
    Gate(Gate),
    /// Nobody.
    Nothing,
    /// That of another, or nobody.
    Daybook(Box<(Places, Seal)>),
}

/// The connections.
#[derive(Debug)]
pub(crate) struct Pool {
    path: PathBuf,
    before: Before,
    /// Bytes of the file that are read where the kernel has them, instead of being copied.
    mapped: u64,
    shelf: Mutex<Shelf>,
    returned: Condvar,
}

impl Pool {
    pub(crate) const fn new(path: PathBuf, before: Before) -> Self {
        let shelf = Shelf { idle: Vec::new(), out: 0 };
        Self { path, before, mapped: 0, shelf: Mutex::new(shelf), returned: Condvar::new() }
    }

    /// As [`Pool::new`], for a file that may be mapped: a disk that fails while it is read ends the process, so this is
    /// for what is read most and matters least.
    pub(crate) fn mapping(path: PathBuf, mapped: u64) -> Self {
        Self { mapped, ..Self::new(path, Before::Nothing) }
    }

    /// Reads with a connection of one's own for the while, and finds everything that was answered.
    pub(crate) fn read<T>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if let Before::Gate(gate) = &self.before {
            gate.pass()?;
        }
        let connection = match self.borrow() {
            Some(connection) => Ok(connection),
            None => self.connect(),
        };
        let outcome = connection.map(|connection| {
            let ready = match &self.before {
                Before::Gate(_) | Before::Nothing => Ok(()),
                Before::Daybook(of) => open::await_posting(&of.0, &connection, &of.1),
            };
            (ready.and_then(|()| job(&connection)), connection)
        });
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.out -= 1;
        let outcome = outcome.and_then(|(outcome, connection)| {
            shelf.idle.push(connection);
            outcome
        });
        drop(shelf);
        self.returned.notify_one();
        outcome
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        let connection = connect(&self.path)?;
        if self.mapped > 0 {
            let size = super::sql::signed(self.mapped);
            connection.pragma_update(None, "mmap_size", size).doing("open the store for reading")?;
        }
        Ok(connection)
    }

    /// Lets go of connections nobody uses.
    pub(crate) fn clear(&self) {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner).idle.clear();
    }

    fn borrow(&self) -> Option<Connection> {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        while shelf.out >= MOST {
            shelf = self.returned.wait(shelf).unwrap_or_else(PoisonError::into_inner);
        }
        shelf.out += 1;
        shelf.idle.pop()
    }
}

/// Opens a connection that cannot write.
pub(crate) fn connect(path: &std::path::Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).doing("open the store for reading")?;
    connection.busy_timeout(std::time::Duration::from_secs(5)).doing("open the store for reading")?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}
