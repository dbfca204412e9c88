//! Servers that let others onto this machine: shells in a page, screens, tunnels, files.
//!
//! Owns: which of their words open something, and for whom. Refuses: servers of the project's own pages on this machine; those are daily work.

use super::super::call::Call;
use super::super::options::Options;
use crate::effects::act::{Act, Code, Datum, Power, Traffic};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// `ttyd`, `tmate`, `bore`, `tailscale funnel`, `jupyter` without a token.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    let words: Vec<&str> = call.words().filter(|word| !word.starts_with('-')).collect();
    let verb = words.first().copied().unwrap_or_default();
    let door = |what: &str| Outcome::of([call.network(Traffic::Listen, &Value::known(what), Vec::new())]);
    match call.name {
        "sshd" | "dropbear" if call.says(&["-t", "-T"]) => Outcome::harmless(),
        "ttyd" | "gotty" | "wetty" => {
            let is_local = call.says(&["127.0.0.1", "localhost", "lo", "--interface=lo"]);
            if is_local { Outcome::harmless() } else { door("a shell in a page") }
        }
        "sshd" | "dropbear" | "x11vnc" | "x0vncserver" | "vncserver" | "xrdp" => {
            door("a screen or a shell for others")
        }
        "tmate" | "upterm" | "teleconsole" => door("a terminal that is shared"),
        "bore" | "zrok" | "localtunnel" | "lt" | "serveo" | "frpc" | "rathole" => {
            let is_closed = matches!(verb, "list" | "status" | "server");
            if is_closed { Outcome::harmless() } else { door("a tunnel from the internet") }
        }
        "tailscale" => tailscale(call, &words),
        "caddy" | "filebrowser" => {
            let read = call.read(&Options::new("r:a:p:l:", "root= listen= address= port= config= domain="));
            match read.value("root r").filter(|_| call.name == "filebrowser" || verb == "file-server") {
                Some(root) => call.serves(Some(root)),
                None => Outcome::of([Act::Run { code: Code::Project, with: call.name.to_owned() }]),
            }
        }
        // A page in which code is run: for others only where it is told so and asks for no token.
        _ => {
            let is_bare = call.words().any(|word| {
                let value = word.split_once('=').map(|(_, value)| value.trim_matches(['\'', '"']));
                word.contains("token") && value == Some("") || matches!(word, "none" | "--auth=none")
            });
            let is_open = call.words().any(|word| word.contains("0.0.0.0") || word.ends_with("=*"));
            if is_bare && is_open {
                return door("a page in which code is run");
            }
            Outcome::of([Act::Run { code: Code::Project, with: call.name.to_owned() }])
        }
    }
}

fn tailscale(call: &Call<'_>, words: &[&str]) -> Outcome {
    let there = Value::known("a machine of the network");
    match words {
        ["funnel", "status" | "reset" | "off", ..] | [] => Outcome::harmless(),
        ["funnel", ..] => Outcome::of([call.network(
            Traffic::Listen,
            &Value::known("a tunnel from the internet"),
            Vec::new(),
        )]),
        [verb @ ("up" | "down" | "set" | "switch" | "logout"), ..] => {
            Outcome::of([Act::Power(Power::Kernel(format!("tailscale {verb}")))])
        }
        ["ssh", ..] => Outcome::of([call.network(Traffic::Remote, &there, Vec::new())]),
        ["file", "cp", ..] => {
            let files = call.args.iter().skip(2).rev().skip(1);
            let data = files.map(|file| Datum::File(call.path(file))).collect();
            Outcome::of([call.network(Traffic::Send, &there, data)])
        }
        _ => Outcome::harmless(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn doors_are_told_from_pages_of_the_work() {
        check(&[
            ("ttyd bash", "listen a shell in a page"),
            ("tmate -F", "listen a terminal that is shared"),
            ("bore local 22 --to x.example", "listen a tunnel from the internet"),
            ("tailscale status", "compute"),
            ("tailscale funnel 3000", "listen a tunnel from the internet"),
            ("jupyter notebook", "project jupyter"),
            ("jupyter notebook --ip=0.0.0.0 --NotebookApp.token=", "listen a page in which code is run"),
            ("caddy run", "project caddy"),
            ("sshd -t", "compute"),
        ]);
    }
}
