//! How many watch at one time.

use std::sync::Arc;

use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::{Answer, Failure};

/// The places there are.
#[derive(Debug)]
pub(crate) struct Clients {
    places: Arc<Semaphore>,
    most: usize,
}

/// One who watches; the place is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Client(#[expect(dead_code, reason = "held, not used")] OwnedSemaphorePermit);

impl Clients {
    pub(crate) fn new(most: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(most)), most }
    }

    pub(crate) fn enter(&self) -> Answer<Client> {
        Arc::clone(&self.places).try_acquire_owned().map(Client).map_err(|_full| {
            let detail = format!("{} streams are open, which is all there may be", self.most);
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, "TOO_MANY_CLIENTS", detail)
        })
    }

    pub(crate) fn open(&self) -> usize {
        self.most.saturating_sub(self.places.available_permits())
    }
}
