//! `belljar serve`: the composition root of the service. The only command with a runtime.

use std::{
    fs,
    io::{self, IsTerminal as _, Write as _},
    net::{Ipv4Addr, SocketAddr},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::SystemTime,
};

use anyhow::{Context as _, Result};
use belljar_domain::Timestamp;
use belljar_ports::SandboxProvider;
use belljar_server::{Look, Server};
use belljar_store::SqliteStore;
use serde_json::{Value, json};
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{SignalKind, signal},
};
use tracing_subscriber::EnvFilter;

use super::{
    composed::{Composed, Life},
    doctor, hooks,
};
use crate::{
    args::Serve, context::Context, keys, output::print_json, policy::Watch, replay::Replay, runtime,
};

/// Where it listens unless told otherwise.
pub(super) const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7420);
/// Threads for what blocks: every request that waits for a command holds one, and so does every call to the store.
const BLOCKING: usize = 1024;

pub(crate) fn serve(context: &Context, args: &Serve) -> Result<ExitCode> {
    start_logging(context, "info,rmcp=warn");
    runtime::raise_file_limit();
    let provider: Arc<dyn SandboxProvider> = Arc::new(context.provider()?);
    // After the provider, which makes the home: the journals' place is named after it, at the first start as at the next.
    let journals = runtime::dir(context);
    let store = SqliteStore::open(&context.home, context.config.store).context("open the store")?;
    let pool = args.pool.or(context.config.server.pool).unwrap_or(2);
    let composed = Composed::open(context, provider, store, journals, pool, Life::Served)?;
    let served = run(context, args, &composed);
    composed.close()?;
    served.map(|()| ExitCode::SUCCESS)
}

fn run(context: &Context, args: &Serve, composed: &Composed) -> Result<()> {
    let listen = args.listen.or(context.config.server.listen).unwrap_or(LISTEN);
    serve_until(context, listen, composed, |server| {
        // Before anybody knows whom to ask: a signal that comes early would end this at once.
        let asked = asked_to_end()?;
        announce(context, server)?;
        Ok(async {
            asked.await;
            tracing::info!("shutting down");
        })
    })
}

/// Serves until what `ready` returns is over; `ready` is called when clients can connect, before any is answered.
pub(super) fn serve_until<F: Future<Output = ()>>(
    context: &Context,
    listen: SocketAddr,
    composed: &Composed,
    ready: impl FnOnce(&Server) -> Result<F>,
) -> Result<()> {
    let Composed { service, provider, .. } = composed;
    let reactor = reactor()?;
    reactor.block_on(async {
        let settings = edge(context)?;
        let server = Server::bind(listen, service.clone(), Arc::clone(provider), settings).await?;
        let note = Note::write(context, &server)?;
        let watch = Watch::begin(&context.home, service).context("read the policy")?;
        let replay = Replay::begin(context.home.clone()).context("start the replay of the spool")?;
        let over = ready(&server)?;
        server.run(over).await;
        drop((note, replay, watch));
        Ok(())
    })
}

/// Waits until this process is asked to end, from now on.
pub(super) fn asked_to_end() -> Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("listen for SIGINT")?;
    Ok(async move {
        tokio::select! {
            _heard = terminate.recv() => {}
            _heard = interrupt.recv() => {}
        }
    })
}

/// Connections alone are served here, everything that takes time has threads of its own. More of them than are busy only
/// wake each other.
fn reactor() -> Result<Runtime> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Builder::new_multi_thread()
        .worker_threads((processors / 2).clamp(1, 8))
        .enable_all()
        .max_blocking_threads(BLOCKING)
        .thread_name("belljar")
        .build()
        .context("start the runtime")
}

pub(super) fn edge(context: &Context) -> Result<belljar_server::Settings> {
    let passes = keys::passes(&context.home)?;
    let own = context.clone();
    let host = Look::new(move || (doctor::report(&own), hooks::report(&own)));
    let version = env!("CARGO_PKG_VERSION");
    let mut settings = belljar_server::Settings::new(context.home.clone(), version, passes, host);
    settings.keyless = context.config.server.keyless;
    settings.signed_only = context.config.hooks.signed_only;
    if let Some(window) = context.config.hooks.replay_window {
        settings.replay_window = window.as_duration();
    }
    settings.hosts.clone_from(&context.config.server.hosts);
    if let Some(patience) = context.config.server.patience {
        settings.patience = patience.as_duration();
    }
    if let Some(floor) = context.config.server.disk_floor {
        settings.disk_floor = floor;
    }
    Ok(settings)
}

/// Diagnostics go to standard error: for people on a terminal, as JSON to whoever collects them.
pub(super) fn start_logging(context: &Context, default: &str) {
    let filter = context.env.get("BELLJAR_LOG").map_or(default, String::as_str);
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_wrong| EnvFilter::new(default));
    let terminal = io::stderr().is_terminal();
    let to = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    let started = if terminal {
        to.with_ansi(context.colour(terminal)).with_target(false).try_init()
    } else {
        to.json().try_init()
    };
    if let Err(error) = started {
        eprintln!("belljar: diagnostics cannot be written: {error}");
    }
}

fn announce(context: &Context, server: &Server) -> Result<()> {
    let login = server.login_link()?;
    if context.json {
        let mut line = facts(server);
        if let Some(line) = line.as_object_mut() {
            line.insert("login_url".to_owned(), json!(login));
            line.insert("watch_url".to_owned(), json!(server.watch_url()?));
        }
        print_json(&line)?;
        return Ok(());
    }
    let mut out = io::stdout().lock();
    writeln!(out, "belljar listens on {}", server.url())?;
    writeln!(out, "  log in   {login}")?;
    writeln!(out, "  key      {}", context.home.join("admin.key").display())?;
    writeln!(out, "  watch    {}", server.watch_url()?)?;
    if let Some(keyless) = server.keyless() {
        writeln!(out, "           http://{keyless} (no key asked for)")?;
    }
    writeln!(out, "  socket   {}", server.socket().display())?;
    out.flush()?;
    Ok(())
}

/// What there is to know about a server.
pub(super) fn facts(server: &Server) -> Value {
    let started: Timestamp = SystemTime::now().into();
    json!({
        "address": server.address().to_string(),
        "url": server.url(),
        "socket": server.socket(),
        "keyless": server.keyless().map(|address| address.to_string()),
        "pid": std::process::id(),
        "version": env!("CARGO_PKG_VERSION"),
        "started_at": started.to_string(),
    })
}

/// `server.json` in belljar's home, while the server runs.
struct Note(PathBuf);

impl Note {
    fn write(context: &Context, server: &Server) -> Result<Self> {
        let path = context.home.join("server.json");
        let part = context.home.join("server.json.part");
        let written =
            write_private(&part, &format!("{}\n", facts(server))).and_then(|()| fs::rename(&part, &path));
        written.with_context(|| format!("write `{}`", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0) {
            tracing::debug!(%error, "server.json could not be removed");
        }
    }
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}
