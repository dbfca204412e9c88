//! What a container is given of this machine: files, devices, rights.

use super::super::call::Call;
use super::super::options::Read;
use crate::effects::act::{Act, Power};
use crate::effects::context::Context;
use crate::effects::invocation::Outcome;
use crate::shell::value::{Piece, Value};

/// A directory of this machine and where it is inside.
pub(super) struct Mount {
    pub source: Value,
    pub target: String,
}

/// Parts of the machine nobody else should hold in their hands.
const PARTS: [&str; 18] = [
    "/",
    "/etc",
    "/var",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/boot",
    "/root",
    "/home",
    "/proc",
    "/sys",
    "/dev",
    "/run",
    "/var/run",
    "/var/lib",
    "/var/lib/docker",
    "/opt",
];
/// Files of the system that are shown to containers as a matter of course.
const USUAL: [&str; 8] = [
    "/etc/localtime",
    "/etc/timezone",
    "/etc/passwd",
    "/etc/group",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/ssl/certs",
    "/etc/machine-id",
];

/// What `docker run` is given, as acts; the mounts are said too.
pub(super) fn given(call: &Call<'_>, read: &Read, outcome: &mut Outcome) -> Vec<Mount> {
    let privileged = |how: &str| Act::Privilege { how: how.to_owned() };
    let is_on = |name: &str| {
        read.options.iter().any(|(option, value)| {
            option == name && value.as_ref().is_none_or(|value| value.text() != Some("false"))
        })
    };
    if is_on("privileged") {
        outcome.push(privileged("a privileged container"));
    }
    for value in read.values("cap-add") {
        let name = value.text().unwrap_or("ALL").to_ascii_uppercase();
        let name = name.strip_prefix("CAP_").unwrap_or(&name).to_owned();
        let small = [
            "NET_BIND_SERVICE",
            "CHOWN",
            "SETUID",
            "SETGID",
            "FOWNER",
            "KILL",
            "SYS_NICE",
            "IPC_LOCK",
            "NET_RAW",
        ];
        if !small.contains(&name.as_str()) {
            outcome.push(privileged(&format!("the capability {name} in a container")));
        }
    }
    for (option, what) in [
        ("pid", "processes"),
        ("ipc", "memory"),
        ("userns", "users"),
        ("uts", "name"),
        ("cgroupns", "groups"),
    ] {
        if read.values(option).any(|value| value.text() == Some("host")) {
            outcome.push(privileged(&format!("this machine's {what} in a container")));
        }
    }
    for value in read.values("security-opt") {
        if value.text().is_some_and(|text| text.contains("unconfined") || text.contains("disable")) {
            outcome.push(privileged("a container without its confinement"));
        }
    }
    for value in read.values("device") {
        let text = String::from_utf8_lossy(value.prefix()).into_owned();
        let usual = ["/dev/dri", "/dev/kvm", "/dev/snd", "/dev/video", "/dev/net/tun", "/dev/fuse", "nvidia"];
        if !usual.iter().any(|known| text.contains(known)) {
            outcome.push(privileged("a device of this machine in a container"));
        }
    }
    let restarts = read.values("restart").any(|value| value.text().is_some_and(|text| text == "always"));
    let mounts = mounts(call, read);
    for mount in &mounts {
        shared(call, mount, outcome);
    }
    if restarts && outcome.acts.iter().any(|(act, _)| matches!(act, Act::Privilege { .. })) {
        outcome.push(Act::Persist { how: "a container that always comes back".to_owned() });
    }
    mounts
}

/// A volume as it is written: `source:target`.
pub(super) fn volume_of(call: &Call<'_>, volume: &Value) -> Option<Mount> {
    let prefix = String::from_utf8_lossy(volume.prefix()).into_owned();
    // A name without a slash is a volume of docker's own.
    let is_path = prefix.starts_with(['/', '.', '~']) || prefix.is_empty() && volume.why().is_some();
    let (source, target) = is_path.then(|| cut(volume))?;
    Some(Mount { source: call.path(&at_home(call, source)), target })
}

fn mounts(call: &Call<'_>, read: &Read) -> Vec<Mount> {
    let mut found = Vec::new();
    found.extend(read.values("v volume").filter_map(|volume| volume_of(call, volume)));
    for value in read.values("mount") {
        let text = value.text().unwrap_or_default();
        let field = |names: &[&str]| {
            text.split(',')
                .filter_map(|part| part.split_once('='))
                .find(|(name, _)| names.contains(name))
                .map(|(_, value)| value)
        };
        if field(&["type"]) == Some("bind")
            && let Some(source) = field(&["source", "src"])
        {
            let target = field(&["target", "dst", "destination"]).unwrap_or_default().to_owned();
            found.push(Mount { source: call.path(&Value::known(source)), target });
        }
    }
    found
}

/// A source whose tilde the shell has left: some of these programs take it for the home.
fn at_home(call: &Call<'_>, source: Value) -> Value {
    let rest = super::super::options::after(&source, 1);
    match source.prefix() {
        [b'~'] | [b'~', b'/', ..] => {
            let mut path = Value::known(call.context.home.clone());
            path.append(rest);
            path
        }
        _ => source,
    }
}

/// `source:target:options`, where the source may not be wholly known.
fn cut(value: &Value) -> (Value, String) {
    let mut source = Value::default();
    for (place, piece) in value.pieces.iter().enumerate() {
        match piece {
            Piece::Known(bytes) => match bytes.iter().position(|byte| *byte == b':') {
                Some(colon) => {
                    source.push(Piece::Known(bytes.get(..colon).unwrap_or_default().to_vec()));
                    let rest = Value { pieces: value.pieces.get(place..).unwrap_or_default().to_vec() };
                    let rest = super::super::options::after(&rest, colon + 1);
                    let target =
                        rest.text().unwrap_or_default().split(':').next().unwrap_or_default().to_owned();
                    return (source, target);
                }
                None => source.push(piece.clone()),
            },
            piece => source.push(piece.clone()),
        }
    }
    (source, String::new())
}

pub(super) fn shared(call: &Call<'_>, mount: &Mount, outcome: &mut Outcome) {
    shown(&mount.source, call.context).into_iter().for_each(|act| outcome.push(act));
}

/// What it means that a path of this machine is shown to a container or a sandbox; none where the path is not known.
pub(in crate::effects) fn shown(source: &Value, context: &Context) -> Option<Act> {
    let path = source.text()?;
    let is_socket = ["docker.sock", "containerd.sock", "podman.sock"].iter().any(|name| path.ends_with(name));
    Some(if is_socket {
        Act::Privilege { how: "the socket of docker in a container".to_owned() }
    } else if PARTS.contains(&path)
        || path.starts_with("/etc/") && !USUAL.iter().any(|usual| path.starts_with(usual))
    {
        Act::Privilege { how: format!("{path} of this machine in a container") }
    } else if path.starts_with("/dev/") {
        Act::Power(Power::Kernel(format!("{path} in a container")))
    } else if !context.workspace.is_empty() && path.as_bytes().starts_with(&context.workspace) {
        Act::Look { path: source.clone() }
    } else {
        Act::Read { path: source.clone(), deep: true }
    })
}

/// The words of a command inside with the paths they have here; none when some of them are only inside.
pub(super) fn seen_here(words: &[Value], mounts: &[Mount]) -> Option<Vec<Value>> {
    let mut any = false;
    let mut here = Vec::new();
    for word in words {
        let text = word.text()?;
        if !text.starts_with('/') || here.is_empty() {
            here.push(word.clone());
            continue;
        }
        let (mount, rest) = mounts.iter().find_map(|mount| {
            let rest = text.strip_prefix(mount.target.as_str()).filter(|_| mount.target.len() > 1)?;
            (rest.is_empty() || rest.starts_with('/')).then_some((mount, rest))
        })?;
        any = true;
        let mut path = mount.source.clone();
        path.append(Value::known(rest));
        here.push(path);
    }
    any.then_some(here)
}
