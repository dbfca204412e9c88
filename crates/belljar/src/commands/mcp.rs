//! `belljar mcp`: sandboxes as tools of the Model Context Protocol, over standard input and output.
//!
//! With a server up, this carries bytes between the client and the server's socket, which speaks the protocol. Without
//! one, the service runs here and ends with the client. Nothing but the protocol is written to standard output.

use std::{
    io::{self, Read as _, Write as _},
    net::Shutdown,
    os::unix::net::UnixStream,
    process::ExitCode,
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use belljar_domain::Principal;
use belljar_ports::store::StoreError;
use belljar_server::Session;
use belljar_store::{SqliteStore, StoreConfig};
use tempfile::TempDir;
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

use super::{
    composed::{Composed, Life},
    serve,
};
use crate::{args::Mcp, context::Context, runtime};

/// What the server is asked for, and the most bytes of its answer.
const UPGRADE: &[u8] = b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: mcp\r\n\r\n";
const LONGEST_HEAD: usize = 16 * 1024;
/// How long the server may take to answer that.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn mcp(context: &Context, args: &Mcp) -> Result<ExitCode> {
    match UnixStream::connect(context.home.join("belljar.sock")) {
        Ok(server) => bridge(server).map(|()| ExitCode::SUCCESS),
        Err(_nobody) => embedded(context, args).map(|()| ExitCode::SUCCESS),
    }
}

/// Carries bytes both ways until either side has no more to say.
fn bridge(mut server: UnixStream) -> Result<()> {
    server.set_read_timeout(Some(PATIENCE)).context("set a time limit")?;
    server.write_all(UPGRADE).context("ask the server for its tools")?;
    let head = read_head(&mut server).context("read the server's answer")?;
    if !head.starts_with("HTTP/1.1 101 ") {
        bail!("the server does not offer its tools here: {}", head.lines().next().unwrap_or_default());
    }
    server.set_read_timeout(None).context("lift the time limit")?;
    let mut to_server = server.try_clone().context("share the connection")?;
    let forward = move || {
        let copied = io::copy(&mut io::stdin().lock(), &mut to_server);
        // The server answers what it was asked before, and then closes its side.
        let _closed = to_server.shutdown(Shutdown::Write);
        copied
    };
    thread::Builder::new().name("stdin".to_owned()).spawn(forward).context("start a thread")?;
    let mut out = io::stdout().lock();
    let mut bytes = [0; 16 * 1024];
    loop {
        let count = server.read(&mut bytes).context("read from the server")?;
        let Some(came) = bytes.get(..count).filter(|came| !came.is_empty()) else { return Ok(()) };
        // A client that is gone needs no answers.
        if out.write_all(came).and_then(|()| out.flush()).is_err() {
            return Ok(());
        }
    }
}

/// Byte by byte, so that nothing after it is taken.
fn read_head(server: &mut UnixStream) -> io::Result<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && head.len() < LONGEST_HEAD {
        server.read_exact(&mut byte)?;
        head.extend(byte);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// Serves from this process.
fn embedded(context: &Context, args: &Mcp) -> Result<()> {
    serve::start_logging(context, "warn");
    // The provider makes the home, after which the journals' place is named.
    let provider = Arc::new(context.provider()?);
    let (store, aside) = open_store(context)?;
    let journals = aside.as_ref().map_or_else(|| runtime::dir(context), |dir| dir.path().to_owned());
    let composed = Composed::open(context, provider, store, journals, 0, Life::Attended)?;
    let service = &composed.service;
    let who = Principal::admin("mcp");
    let session = Session::new(service.clone(), who.clone(), env!("CARGO_PKG_VERSION"));
    let served = converse(&session);
    for id in session.made().into_iter().filter(|_| !args.keep) {
        if let Err(error) = service.delete(&who, id) {
            tracing::warn!(%id, %error, "a sandbox could not be deleted");
        }
    }
    composed.close()?;
    served
}

/// The store of belljar's home; or one aside, for as long as this runs, while another client's belljar uses that.
fn open_store(context: &Context) -> Result<(SqliteStore, Option<TempDir>)> {
    match SqliteStore::open(&context.home, context.config.store) {
        Ok(store) => Ok((store, None)),
        Err(StoreError::Locked { .. }) => {
            let aside = tempfile::tempdir().context("make a directory for a store")?;
            let store = SqliteStore::open(aside.path(), StoreConfig::default());
            Ok((store.context("open a store aside")?, Some(aside)))
        }
        Err(error) => Err(error).context("open the store"),
    }
}

fn converse(session: &Session) -> Result<()> {
    let reactor = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .thread_name("belljar")
        .build()
        .context("start the runtime")?;
    let done = reactor.block_on(async {
        let mut terminate = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
        let mut interrupt = signal(SignalKind::interrupt()).context("listen for SIGINT")?;
        tokio::select! {
            ended = session.run(tokio::io::stdin(), tokio::io::stdout()) => ended.context("serve the client"),
            _heard = terminate.recv() => Ok(()),
            _heard = interrupt.recv() => Ok(()),
        }
    });
    // A thread may sit in a read of standard input that nobody ends.
    reactor.shutdown_background();
    done
}
