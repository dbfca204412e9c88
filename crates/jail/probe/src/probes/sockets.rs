//! Unix sockets: no service of the host can be talked to, read-only mount or not.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::{Path, PathBuf};

use super::Probe;
use super::tools::files_below;
use crate::context::Context;
use crate::report::{Attempt, Verdict};
use crate::sys::Errno;

pub(super) const PROBES: &[Probe] = &[
    Probe::new("31-abstract-socket", "abstract sockets of the host cannot be reached", connect_abstract),
    Probe::new("32-path-socket", "sockets in the host's files cannot be reached", connect_path),
    Probe::new("33-docker-sock", "container engines cannot be reached", connect_engines),
    Probe::new("34-agent-sockets", "session buses and key agents cannot be reached", connect_agents),
];

fn connect_abstract(context: &Context) -> Verdict {
    Verdict::of(vec![connect_name(&context.abstract_socket)])
}

fn connect_path(context: &Context) -> Verdict {
    Verdict::of(vec![connect(&context.path_socket)])
}

fn connect_engines(_: &Context) -> Verdict {
    let known = [
        "/var/run/docker.sock",
        "/run/docker.sock",
        "/run/containerd/containerd.sock",
        "/run/podman/podman.sock",
        "/run/crio/crio.sock",
        "/run/buildkit/buildkitd.sock",
        "/var/run/libvirt/libvirt-sock",
        "/run/systemd/private",
    ];
    let from_environment =
        ["DOCKER_HOST", "CONTAINER_HOST", "CONTAINERD_ADDRESS"].into_iter().filter_map(socket_in);
    let paths = known.iter().map(PathBuf::from).chain(from_environment);
    Verdict::of(paths.map(|path| connect(&path)).collect())
}

/// By the names in the environment, by the usual places, and by looking for sockets where services put them.
fn connect_agents(_: &Context) -> Verdict {
    let names =
        ["SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "TMUX", "GPG_AGENT_INFO"];
    let mut paths: Vec<PathBuf> = names.into_iter().filter_map(socket_in).collect();
    paths.push("/run/dbus/system_bus_socket".into());
    for folder in ["/run/user", "/tmp/.X11-unix", "/root/.gnupg"] {
        paths.extend(files_below(Path::new(folder), 200).into_iter().filter(|path| is_socket(path)));
    }
    let sessions = fs::read_dir("/tmp").into_iter().flatten().flatten().map(|entry| entry.path());
    for session in sessions.filter(|path| path.to_string_lossy().contains("tmux-")) {
        paths.extend(files_below(&session, 20).into_iter().filter(|path| is_socket(path)));
    }
    let mut attempts: Vec<Attempt> = paths.iter().map(|path| connect(path)).collect();
    attempts.extend(["/tmp/.X11-unix/X0", "/tmp/.ICE-unix/1"].iter().map(|name| connect_name(name)));
    Verdict::of(attempts)
}

/// A socket's path as environment variables spell it: bare, `unix:///path`, `unix:path=/path,…`, `/path,pid,n`.
fn socket_in(variable: &str) -> Option<PathBuf> {
    let value = std::env::var(variable).ok()?;
    let start = value.find('/')?;
    let path = value.get(start..)?.split([',', ';']).next()?;
    Some(PathBuf::from(format!("/{}", path.trim_start_matches('/'))))
}

fn is_socket(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| std::os::unix::fs::FileTypeExt::is_socket(&metadata.file_type()))
}

/// Connects and hangs up: the service on the other side sees a caller who says nothing.
pub(super) fn connect(path: &Path) -> Attempt {
    Attempt::judge(&format!("connect {}", path.display()), UnixStream::connect(path).map_err(Errno::from))
}

fn connect_name(name: &str) -> Attempt {
    let address = SocketAddr::from_abstract_name(name);
    let connected = address.and_then(|address| UnixStream::connect_addr(&address));
    Attempt::judge(&format!("connect @{name}"), connected.map_err(Errno::from))
}
