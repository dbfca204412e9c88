//! The socket for this machine's own programs: no key, since the kernel says who calls.

use std::{
    fs, io,
    os::unix::{fs::PermissionsExt as _, net::UnixStream as BlockingStream},
    path::Path,
};

use tokio::net::{UnixListener, UnixStream};

use super::ServeError;
use crate::guard::Peer;

/// Makes the socket, in place of one nobody listens on any more.
pub(super) fn listen(path: &Path) -> Result<UnixListener, ServeError> {
    let failed = |source| ServeError::Socket { path: path.to_owned(), source };
    match BlockingStream::connect(path) {
        Ok(_) => {
            return Err(failed(io::Error::new(io::ErrorKind::AddrInUse, "another server listens on it")));
        }
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)?;
        }
        Err(_) => {}
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    // The home is closed to others already; who comes anyway is judged by what the kernel says of them.
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(listener)
}

/// Whose process is at the other end.
pub(super) fn peer(stream: &UnixStream) -> Option<Peer> {
    match stream.peer_cred() {
        Ok(who) => Some(Peer::Unix { uid: who.uid() }),
        Err(error) => {
            tracing::warn!(%error, "the kernel did not say who calls");
            None
        }
    }
}
