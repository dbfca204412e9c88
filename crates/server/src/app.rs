//! What every handler starts from: the service, who is let in, what is counted.
//!
//! Owns: the shared state and the one way from asynchronous handlers to the blocking service. Refuses: work of its own.

use std::{net::SocketAddr, ops::Deref, path::PathBuf, sync::Arc, time::Duration};

use belljar_domain::{ByteSize, NewEvent, Principal, SandboxId};
use belljar_engine::service::{Brief, Finished, Ingested, Service, ServiceError, StartExecution};
use belljar_ports::SandboxProvider;
use serde_json::Value;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch},
    task::{block_in_place, spawn_blocking},
};

use crate::{
    guard::{Denials, Key, Nonces, Sessions},
    idempotency::UnderWay,
    listen,
    live::{Clients, Tape},
    mcp,
    metrics::Metrics,
    problem::{Answer, Failure},
    readiness::Readiness,
    table::Routes,
};

/// The most requests that hold a thread for long at one time.
const DWELLERS: usize = 768;

/// What can be set.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the admin key and the socket are.
    pub home: PathBuf,
    /// The version to show.
    pub version: &'static str,
    /// Names under which the server may be called, besides those of this machine's loopback.
    pub hosts: Vec<String>,
    /// How long a client may take nothing before it is let go.
    pub patience: Duration,
    /// How often a stream without news says that it is well.
    pub heartbeat: Duration,
    /// The most live streams at one time.
    pub clients: usize,
    /// With less room than this in its home the server is not ready.
    pub disk_floor: ByteSize,
    /// What passes of sandboxes are sealed with.
    pub pass_key: Vec<u8>,
    /// How long a signed request can be told from one that is repeated: older ones are refused.
    pub replay_window: Duration,
    /// Whether events are taken only if it is known whose they are: by signature, by pass, or by the socket.
    pub signed_only: bool,
    /// Where programs that know no keys may watch and tell; nowhere unless it is set.
    pub keyless: Option<SocketAddr>,
    /// Finds out what this machine can enforce, and where agents' hooks are; takes a moment.
    pub host: Look,
}

/// Finds out what there is to know of this machine: the doctor's report, and that about hooks.
#[derive(Clone)]
pub struct Look(Arc<dyn Fn() -> (Value, Value) + Send + Sync>);

impl Look {
    /// By asking whoever knows.
    pub fn new(look: impl Fn() -> (Value, Value) + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    pub(crate) fn look(&self) -> (Value, Value) {
        (self.0)()
    }
}

impl std::fmt::Debug for Look {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Look").finish_non_exhaustive()
    }
}

impl Settings {
    /// The defaults, for a home, the key its passes are sealed with, and who knows this machine.
    #[must_use]
    pub const fn new(home: PathBuf, version: &'static str, pass_key: Vec<u8>, host: Look) -> Self {
        Self {
            home,
            version,
            hosts: Vec::new(),
            patience: Duration::from_secs(30),
            heartbeat: Duration::from_secs(15),
            clients: 1024,
            disk_floor: ByteSize::mib(128),
            pass_key,
            replay_window: Duration::from_secs(300),
            signed_only: false,
            keyless: None,
            host,
        }
    }
}

/// Shared by all requests.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<Shared>);

/// See [`App`].
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) service: Service,
    pub(crate) provider: Arc<dyn SandboxProvider>,
    pub(crate) settings: Settings,
    pub(crate) routes: Routes,
    pub(crate) key: Key,
    pub(crate) watch_key: Key,
    pub(crate) sessions: Sessions,
    pub(crate) denials: Denials,
    pub(crate) nonces: Nonces,
    pub(crate) clients: Clients,
    pub(crate) tape: Tape,
    pub(crate) under_way: UnderWay,
    pub(crate) metrics: Metrics,
    pub(crate) readiness: Readiness,
    pub(crate) closing: watch::Receiver<bool>,
    pub(crate) port: u16,
    pub(crate) mcp: mcp::Endpoint,
    dwellers: Arc<Semaphore>,
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// Everything [`App`] is made of.
#[derive(Debug)]
pub(crate) struct Pieces {
    pub(crate) service: Service,
    pub(crate) provider: Arc<dyn SandboxProvider>,
    pub(crate) settings: Settings,
    pub(crate) routes: Routes,
    pub(crate) key: Key,
    pub(crate) watch_key: Key,
    pub(crate) nonces: Nonces,
    pub(crate) closing: watch::Receiver<bool>,
    pub(crate) port: u16,
}

impl App {
    pub(crate) fn new(pieces: Pieces) -> Self {
        let Pieces { service, provider, settings, routes, key, watch_key, nonces, closing, port } = pieces;
        let (clients, metrics) = (Clients::new(settings.clients), Metrics::new(provider.name()));
        let (sessions, denials) = (Sessions::default(), Denials::default());
        let dwellers = Arc::new(Semaphore::new(DWELLERS));
        let mcp = mcp::Endpoint::new(service.clone(), settings.version, port);
        Self(Arc::new(Shared {
            service,
            provider,
            settings,
            routes,
            key,
            watch_key,
            sessions,
            denials,
            nonces,
            clients,
            tape: Tape::default(),
            under_way: UnderWay::default(),
            metrics,
            readiness: Readiness::default(),
            closing,
            port,
            mcp,
            dwellers,
        }))
    }

    /// Asks the service something that takes a moment. It is asked right here: on an idle machine, handing a question to a
    /// thread and its answer back takes longer than most do. Where a booth asks, nobody else waits for that; elsewhere
    /// another thread takes over what else there is to do.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        who: &Arc<Principal>,
        question: impl FnOnce(&Service, &Principal) -> Result<T, ServiceError> + Send + 'static,
    ) -> Answer<T> {
        let ask = || question(&self.service, who);
        Ok(if listen::here().is_some() { ask()? } else { block_in_place(ask)? })
    }

    /// Asks the service to do something that is written down. The disk of a machine that was quiet takes as long to wake as
    /// the rest does, and can do so meanwhile.
    pub(crate) async fn act<T: Send + 'static>(
        &self,
        who: &Arc<Principal>,
        order: impl FnOnce(&Service, &Principal) -> Result<T, ServiceError> + Send + 'static,
    ) -> Answer<T> {
        self.service.store().rouse();
        self.ask(who, order).await
    }

    /// Records what somebody outside saw. A few events are handed over right here: a thread that only waits for the
    /// disk would cost more than they do.
    pub(crate) async fn ingest(&self, who: &Arc<Principal>, events: Vec<NewEvent>) -> Answer<Ingested> {
        let (tell, told) = oneshot::channel();
        let then = move |outcome| drop(tell.send(outcome));
        match self.service.ingest_then(who, events, then)? {
            None => told.await.map_err(|_gone| Failure::from(ServiceError::Closing))?.map_err(Failure::from),
            Some(events) => self.ask(who, move |service, who| service.ingest(who, events)).await,
        }
    }

    /// Asks the service something that takes as long as a command does.
    pub(crate) async fn dwell<T: Send + 'static>(
        &self,
        who: &Arc<Principal>,
        question: impl FnOnce(&Service, &Principal) -> Result<T, ServiceError> + Send + 'static,
    ) -> Answer<T> {
        let _place = self.place().await?;
        let (app, who) = (self.clone(), Arc::clone(who));
        self.blocking(move || question(&app.service, &who).map_err(Failure::from)).await
    }

    /// Runs a command to its end: a short one right here, a longer one on a thread of its own.
    pub(crate) async fn run(
        &self,
        who: &Arc<Principal>,
        id: SandboxId,
        order: StartExecution,
    ) -> Answer<Finished> {
        let _place = self.place().await?;
        match self.act(who, move |service, who| service.run_briefly(who, id, order)).await? {
            Brief::Over(finished) => Ok(*finished),
            Brief::Going(going) => self.blocking(move || Ok(going.follow()?)).await,
        }
    }

    /// Waits for a place among those who hold a thread for long: who waits for a command, and who sends or takes a body
    /// of any length. The rest of the threads are for everybody else.
    pub(crate) async fn place(&self) -> Answer<OwnedSemaphorePermit> {
        let place = Arc::clone(&self.dwellers).acquire_owned().await;
        place.map_err(|_closed| ServiceError::Closing.into())
    }

    /// Does something that blocks, on a thread that may.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        match spawn_blocking(work).await {
            Ok(answer) => answer,
            Err(error) if error.is_cancelled() => Err(ServiceError::Closing.into()),
            Err(error) => Err(Failure::internal("finish the request", &error)),
        }
    }

    /// Returns once the server is shutting down.
    pub(crate) async fn closing(&self) {
        let mut closing = self.closing.clone();
        // Whoever held the other end is gone, which is the end as well.
        let _gone = closing.wait_for(|closing| *closing).await;
    }
}
