//! The server that is up, or one in this process for as long as a command needs it.
//!
//! Owns: that a command which changes what the store has gives the same answer either way: it asks the same server, by the
//! same socket. Refuses: to wait for long when another belljar is just about to be one.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use belljar_ports::{SandboxProvider, store::StoreError};
use belljar_server::Server;
use belljar_store::SqliteStore;
use serde_json::Value;
use tokio::{runtime::Builder, sync::oneshot};

use super::{
    composed::{Composed, Life},
    serve,
};
use crate::{client::Client, context::Context, runtime};

/// How long another belljar that has the store may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(20);

/// Asks the server that is up; if none is, one in this process.
pub(super) fn with_server<T>(context: &Context, ask: impl FnOnce(&Client) -> Result<T>) -> Result<T> {
    if let Some(server) = context.remote()? {
        return ask(&server);
    }
    if let Some(server) = Client::at_home(&context.home) {
        return ask(&server);
    }
    // The provider makes the home.
    let provider: Arc<dyn SandboxProvider> = Arc::new(context.provider()?);
    match SqliteStore::open(&context.home, context.config.store) {
        Ok(store) => serving(context, provider, store, ask),
        // Another one began in the same moment; it has a socket soon.
        Err(error @ StoreError::Locked { .. }) => match awaited(context) {
            Some(server) => ask(&server),
            None => Err(error).context("open the store"),
        },
        Err(error) => Err(error).context("open the store"),
    }
}

/// A field of an answer; nothing where there is none.
pub(super) fn field<'a>(answer: &'a Value, name: &str) -> &'a Value {
    answer.get(name).unwrap_or(&Value::Null)
}

fn awaited(context: &Context) -> Option<Client> {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(server) = Client::at_home(&context.home) {
            return Some(server);
        }
        if Instant::now() >= until {
            return None;
        }
        thread::sleep(STEP);
    }
}

fn serving<T>(
    context: &Context,
    provider: Arc<dyn SandboxProvider>,
    store: SqliteStore,
    ask: impl FnOnce(&Client) -> Result<T>,
) -> Result<T> {
    serve::start_logging(context, "warn");
    let composed = Composed::open(context, provider, store, runtime::dir(context), 0, Life::Attended)?;
    let answer = asked(context, &composed, ask);
    composed.close()?;
    answer
}

fn asked<T>(context: &Context, composed: &Composed, ask: impl FnOnce(&Client) -> Result<T>) -> Result<T> {
    let reactor =
        Builder::new_multi_thread().worker_threads(1).enable_all().build().context("start the runtime")?;
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let settings = serve::edge(context)?;
    let (service, provider) = (composed.service.clone(), Arc::clone(&composed.provider));
    let server = reactor.block_on(Server::bind(anywhere, service, provider, settings))?;
    let (stop, stopped) = oneshot::channel::<()>();
    let running = reactor.spawn(server.run(async move {
        // Whoever would say so being gone is the end as well.
        let _gone = stopped.await;
    }));
    let answer =
        Client::at_home(&context.home).context("reach the server in this process").and_then(|c| ask(&c));
    drop(stop);
    // Nothing of it is left to be waited for but its connections.
    let _ended = reactor.block_on(running);
    answer
}
