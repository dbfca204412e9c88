//! Programs that speak to other machines.
//!
//! Owns: who of them is known, and what addresses mean. Refuses: whether a host may be spoken to; the policy says that.

mod configured;
mod connect;
mod copy;
mod doors;
mod fetch;
mod httpie;
mod remote;
mod scan;
mod talk;

use super::Program;
use crate::effects::act::Act;
use crate::shell::value::Value;

/// The program of this family with a name.
pub(super) fn family(name: &str) -> Option<Program> {
    Some(match name {
        "curl" | "curlie" => fetch::curl,
        "wget" | "wget2" => fetch::wget,
        "aria2c" | "axel" | "lwp-request" | "lwp-download" | "lynx" | "links" | "elinks" | "w3m"
        | "fetch" | "GET" | "POST" | "youtube-dl" | "yt-dlp" => fetch::others,
        "http" | "https" | "xh" | "xhs" | "httpie" => httpie::outcome,
        "nc" | "netcat" | "ncat" | "nc.openbsd" | "nc.traditional" => connect::nc,
        "socat" => connect::socat,
        "telnet" | "websocat" | "wscat" | "grpcurl" | "cryptcat" => connect::plain,
        "ftp" | "sftp" | "lftp" | "tftp" | "smbclient" | "ncftp" | "ncftpput" => talk::outcome,
        "mail" | "mailx" | "sendmail" | "mutt" | "msmtp" | "swaks" => talk::mail,
        "sshd" | "dropbear" | "ttyd" | "gotty" | "wetty" | "tmate" | "upterm" | "teleconsole" | "x11vnc"
        | "x0vncserver" | "vncserver" | "xrdp" | "code-server" | "bore" | "localtunnel" | "lt" | "serveo"
        | "tailscale" | "zrok" | "frpc" | "rathole" | "caddy" | "filebrowser" | "jupyter" | "jupyter-lab"
        | "jupyter-notebook" => doors::outcome,
        "ssh" | "autossh" | "mosh" | "dbclient" | "rsh" => remote::ssh,
        "ssh-keygen" | "ssh-add" | "ssh-agent" | "ssh-keyscan" | "ssh-copy-id" => remote::keys,
        "pssh" | "pdsh" | "clush" | "parallel-ssh" | "dsh" => remote::many,
        "scp" | "rcp" | "pscp" => copy::scp,
        "rsync" => copy::rsync,
        "rclone" | "s3cmd" | "mc" | "s5cmd" => copy::store,
        "sshfs" => copy::mounted,
        "ping" | "ping6" | "fping" | "traceroute" | "tracepath" | "mtr" => scan::ping,
        "dig" | "nslookup" | "host" | "drill" | "whois" | "kdig" | "dog" => scan::names,
        "ab" | "wrk" | "wrk2" | "hey" | "siege" | "vegeta" | "locust" | "bombardier" | "oha" | "k6" => {
            scan::load
        }
        name if scan::knows(name) => scan::outcome,
        _ => return None,
    })
}

/// The host of a URL or `host:port`, in lower case.
fn host(text: &str) -> String {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    if let Some(inner) = host.strip_prefix('[') {
        return inner.split(']').next().unwrap_or(inner).to_ascii_lowercase();
    }
    host.split(':').next().unwrap_or(host).to_ascii_lowercase()
}

/// Whether an address is this machine.
pub(super) fn is_local(address: &Value) -> bool {
    let text = String::from_utf8_lossy(address.prefix()).into_owned();
    let host = host(&text);
    matches!(host.as_str(), "localhost" | "0.0.0.0" | "::1" | "ip6-localhost" | "host.docker.internal")
        || host.starts_with("127.")
        || host.ends_with(".localhost")
        || host.ends_with(".test")
}

/// An address of a raw connection: what comes from it is no file somebody put there, but whoever is at the other end.
fn raw(host: &Value, port: Option<&Value>) -> Value {
    let mut address = Value::known("tcp://");
    address.append(host.clone());
    if let Some(port) = port {
        address.append(Value::known(":"));
        address.append(port.clone());
    }
    address
}

/// What it means to speak to a socket of this machine, where that is more than to speak: the one behind it does what it is told.
pub(super) fn door(path: &Value) -> Option<Act> {
    let name = path.prefix().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    match name {
        b"docker.sock" | b"podman.sock" | b"containerd.sock" | b"crio.sock" | b"buildkitd.sock" => {
            Some(Act::Privilege { how: "the socket of docker".to_owned() })
        }
        b"belljar.sock" => Some(Act::Tamper { how: "the socket of the guard's own server".to_owned() }),
        _ => None,
    }
}
