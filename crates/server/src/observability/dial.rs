//! Where an answer goes: to the WebSocket the asking agent opened on its own loopback, and nowhere else.
//!
//! Whoever tells an event names the address, so a server that dials whatever is named can be made to talk to anything it
//! reaches. Only `ws://` to loopback without a path is dialled, and for a sandboxed agent its own loopback is meant.

use std::{net::IpAddr, sync::Arc, time::Duration};

use belljar_domain::{Principal, SandboxId};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{client_async, tungstenite::Message};

use crate::app::App;

/// How long an agent may take to answer the call, and to hang up after it was told.
const DIAL: Duration = Duration::from_secs(5);
const HANG_UP: Duration = Duration::from_millis(500);

/// An address that may be dialled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Agent {
    port: u16,
}

impl Agent {
    /// Reads the address an agent waits at; the reason if it is not one that may be dialled.
    pub(super) fn at(url: &str, own: u16) -> Result<Self, &'static str> {
        let authority = url.strip_prefix("ws://").ok_or("only ws:// is dialled")?;
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let (host, port) = authority.rsplit_once(':').ok_or("the address has no port")?;
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
        if bare != "localhost" && !bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()) {
            return Err("only the agent's own loopback is dialled");
        }
        match port.parse() {
            Ok(0) | Err(_) => Err("the address has no port"),
            Ok(port) if port == own => Err("this is the server itself"),
            Ok(port) => Ok(Self { port }),
        }
    }

    /// Tells the agent one thing and hangs up.
    pub(super) async fn tell(self, app: &App, inside: Option<SandboxId>, said: String) -> Result<(), String> {
        let told = async {
            let stream = self.dial(app, inside).await?;
            let url = format!("ws://localhost:{}/", self.port);
            let (mut socket, _) = client_async(url, stream).await.map_err(|error| error.to_string())?;
            socket.send(Message::text(said)).await.map_err(|error| error.to_string())?;
            Ok::<_, String>(socket)
        };
        let mut socket =
            timeout(DIAL, told).await.map_err(|_late| "the agent did not answer".to_owned())??;
        // It has what it waits for; whether it says goodbye is its own affair.
        let _unheard = timeout(HANG_UP, async {
            socket.close(None).await?;
            while socket.next().await.is_some_and(|frame| frame.is_ok()) {}
            Ok::<_, tokio_tungstenite::tungstenite::Error>(())
        })
        .await;
        Ok(())
    }

    async fn dial(self, app: &App, inside: Option<SandboxId>) -> Result<TcpStream, String> {
        let port = self.port;
        let Some(id) = inside else {
            return match TcpStream::connect(("127.0.0.1", port)).await {
                Ok(stream) => Ok(stream),
                Err(_) => TcpStream::connect(("::1", port)).await.map_err(|error| error.to_string()),
            };
        };
        let who = Arc::new(Principal::admin("observability"));
        let dialled = app.ask(&who, move |service, who| service.dial(who, id, port)).await;
        let stream = dialled.map_err(|failure| failure.detail().to_owned())?;
        stream.set_nonblocking(true).map_err(|error| error.to_string())?;
        TcpStream::from_std(stream).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_dialled() {
        for url in ["ws://localhost:4001", "ws://127.0.0.1:4001/", "ws://[::1]:4001"] {
            assert_eq!(Agent::at(url, 7420), Ok(Agent { port: 4001 }), "{url}");
        }
        for url in [
            "ws://evil.example:80",
            "ws://169.254.169.254:80/",
            "ws://10.0.0.1:4001",
            "wss://localhost:4001",
            "http://localhost:4001",
            "ws://localhost:4001/admin",
            "ws://localhost:4001/?x",
            "ws://localhost@evil.example:80",
            "ws://localhost",
            "ws://localhost:0",
            "ws://localhost:7420",
            "ws://localhost:99999",
            "",
        ] {
            assert!(Agent::at(url, 7420).is_err(), "{url}");
        }
    }
}
