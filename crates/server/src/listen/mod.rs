//! Sockets: loopback and the one in belljar's home; connections, each bounded in number, patience and header size.
//!
//! Owns: accepting, and ending in order. Refuses: to listen beyond loopback, since keys would travel in the clear.

mod booth;
mod connection;
mod roaming;
mod stall;
mod unix;

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use axum::Router;
use belljar_domain::Principal;
use belljar_engine::service::Service;
use belljar_ports::SandboxProvider;
use tokio::{
    net::{TcpListener, TcpStream, UnixListener},
    runtime::Handle,
    sync::{Semaphore, watch},
    task::JoinSet,
};

pub(crate) use self::booth::here;
use self::{booth::Booths, roaming::Socket};
use crate::{
    app::{App, Pieces, Settings},
    guard::{Key, KeyError, Nonces, Peer, key_text, random_key},
    router,
};

/// The key that lets one watch and tell.
const WATCH_KEY: &str = "watch.key";
/// The most connections at one time; more wait to be accepted.
const CONNECTIONS: usize = 4096;
/// How long connections may take to end once the server does.
const GRACE: Duration = Duration::from_secs(10);
/// How often to look whether those who are told goodbye have heard it.
const BREATH: Duration = Duration::from_millis(5);

/// Why the server does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Others could listen in.
    #[error(
        "{0} is not a loopback address, and keys would travel over the network unencrypted; listen on 127.0.0.1 and put a proxy with TLS in front of it"
    )]
    Exposed(SocketAddr),
    /// The address is taken or not there.
    #[error("could not listen on {address} (`--listen 127.0.0.1:0` takes a free port)")]
    Bind {
        /// Which.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The socket in belljar's home cannot be made.
    #[error("could not make the socket `{}`", .path.display())]
    Socket {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is no usable key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// What was signed lately cannot be read or written down.
    #[error("could not read or write `nonces` in belljar's home")]
    Nonces(#[source] io::Error),
}

/// A server that listens and does not serve yet.
#[derive(Debug)]
pub struct Server {
    app: App,
    router: Router,
    tcp: TcpListener,
    unix: UnixListener,
    keyless: Option<TcpListener>,
    address: SocketAddr,
    close: watch::Sender<bool>,
}

impl Server {
    /// Listens.
    ///
    /// # Errors
    /// When the address is not loopback or cannot be had, or there is no key.
    pub async fn bind(
        address: SocketAddr,
        service: Service,
        provider: Arc<dyn SandboxProvider>,
        settings: Settings,
    ) -> Result<Self, ServeError> {
        let (tcp, address) = listen(address).await?;
        let keyless = match settings.keyless {
            Some(address) => Some(listen(address).await?.0),
            None => None,
        };
        let unix = unix::listen(&settings.home.join("belljar.sock"))?;
        let key = Key::load(&settings.home.join("admin.key"), Principal::admin("admin"))?;
        let watcher = Principal { admin: false, ..Principal::admin("watcher") };
        let watch_key = Key::load(&settings.home.join(WATCH_KEY), watcher)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let nonces = Nonces::open(&settings.home, settings.replay_window, now).map_err(ServeError::Nonces)?;
        let (close, closing) = watch::channel(false);
        let (routes, table) = router::routes().finish();
        let port = address.port();
        let pieces =
            Pieces { service, provider, settings, routes: table, key, watch_key, nonces, closing, port };
        let app = App::new(pieces);
        app.metrics.begin(&app.service);
        let router = router::assemble(routes, &app);
        Ok(Self { app, router, tcp, unix, keyless, address, close })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where the socket for this machine's own programs is.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.app.settings.home.join("belljar.sock")
    }

    /// What a browser begins with.
    #[must_use]
    pub fn url(&self) -> String {
        match self.address.ip() {
            // A browser keeps `localhost` and its subdomains, where previews are, on this machine.
            IpAddr::V4(Ipv4Addr::LOCALHOST) => format!("http://localhost:{}", self.address.port()),
            _ => format!("http://{}", self.address),
        }
    }

    /// A link that logs one browser in, once.
    ///
    /// # Errors
    /// When the kernel gives no random bytes.
    pub fn login_link(&self) -> Result<String, ServeError> {
        let key = random_key()?;
        self.app.sessions.invite(&key);
        Ok(format!("{}/login?key={key}", self.url()))
    }

    /// What programs of the hook-observability protocol are given as the server's address. Whoever has it may watch
    /// and tell events, and nothing else.
    ///
    /// # Errors
    /// When the key in it cannot be read.
    pub fn watch_url(&self) -> Result<String, ServeError> {
        let key = key_text(&self.app.settings.home.join(WATCH_KEY))?;
        Ok(format!("{}/t/{key}", self.url()))
    }

    /// Where programs that know no keys may watch and tell.
    #[must_use]
    pub fn keyless(&self) -> Option<SocketAddr> {
        self.keyless.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Serves until `shutdown`, then ends streams with a goodbye and lets the rest finish.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let (mut connections, booths) = (JoinSet::new(), Booths::default());
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            let place = tokio::select! {
                () = &mut shutdown => break,
                place = Arc::clone(&places).acquire_owned() => place,
            };
            let Ok(place) = place else { break };
            let open = |peer| connection::Open {
                app: self.app.clone(),
                router: self.router.clone(),
                peer,
                place,
                reactor: Handle::current(),
            };
            tokio::select! {
                () = &mut shutdown => break,
                accepted = self.tcp.accept() => match accepted {
                    Ok((stream, _)) => {
                        // Small answers must not wait for more to send.
                        if let Err(error) = stream.set_nodelay(true) { tracing::debug!(%error, "no delay could not be set"); }
                        begin(&mut connections, &booths, stream, open(Peer::Tcp));
                    }
                    Err(error) => pause_after(&error).await,
                },
                accepted = accept(self.keyless.as_ref()) => match accepted {
                    Ok((stream, _)) => begin(&mut connections, &booths, stream, open(Peer::Keyless)),
                    Err(error) => pause_after(&error).await,
                },
                accepted = self.unix.accept() => match accepted {
                    Ok((stream, _)) => {
                        if let Some(peer) = unix::peer(&stream) { connections.spawn(connection::serve(stream, open(peer))); }
                    }
                    Err(error) => pause_after(&error).await,
                },
            }
            // What has ended is forgotten, so that the set holds what is open and no more.
            while connections.try_join_next().is_some() {}
        }
        self.end(connections).await;
    }

    async fn end(self, mut connections: JoinSet<()>) {
        let Self { app, router, tcp, unix, keyless, close, .. } = self;
        drop((tcp, unix, keyless, router));
        close.send_replace(true);
        app.mcp.close();
        app.service.end_queue();
        let socket = app.settings.home.join("belljar.sock");
        let all = async {
            while connections.join_next().await.is_some() {}
            // A WebSocket is no connection of ours any more, and has yet to say goodbye.
            while app.clients.open() > 0 {
                tokio::time::sleep(BREATH).await;
            }
        };
        if tokio::time::timeout(GRACE, all).await.is_err() {
            tracing::warn!(open = connections.len(), "connections were cut off");
        }
        connections.shutdown().await;
        if let Err(error) = std::fs::remove_file(&socket) {
            tracing::debug!(%error, "the socket could not be removed");
        }
    }
}

/// Serves a connection in a booth, or here if all are taken. What comes by the socket of this machine's own programs is not
/// worth one: a hook or a command asks once, and the way into a booth takes longer than it saves.
fn begin<S: Socket>(connections: &mut JoinSet<()>, booths: &Booths, stream: S, open: connection::Open) {
    let Some(booth) = booths.free() else {
        connections.spawn(connection::serve(stream, open));
        return;
    };
    match stream.leave() {
        Ok(stream) => {
            let ended = booth.serve(|| connection::serve_in_booth::<S>(stream, open));
            connections.spawn(async move { drop(ended.await) });
        }
        Err(error) => {
            // The booth is free again once it has done nothing.
            drop(booth.serve(|| std::future::ready(())));
            tracing::debug!(%error, "a connection could not be handed over");
        }
    }
}

/// Listens on loopback, and nowhere else.
async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ServeError> {
    if !address.ip().is_loopback() {
        return Err(ServeError::Exposed(address));
    }
    let failed = |source| ServeError::Bind { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

/// Where nobody listens nobody comes.
async fn accept(listener: Option<&TcpListener>) -> io::Result<(TcpStream, SocketAddr)> {
    match listener {
        Some(listener) => listener.accept().await,
        None => std::future::pending().await,
    }
}

/// Out of descriptors or memory: waiting is all that helps, and a loop that spins makes it worse.
async fn pause_after(error: &io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    tokio::time::sleep(Duration::from_millis(50)).await;
}
