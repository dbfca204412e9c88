//! Programs and services beside the kernel: git, the engines that other providers will stand on, the hypervisor.

use std::{
    collections::BTreeMap,
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use belljar_jail::{
    Remedy,
    probe::{Probe, ProbeError, Prober},
};

use super::{
    check::{Check, Status, Weight},
    distribution::Distribution,
};

const AREA: &str = "tools";

pub(super) fn checks(
    prober: &Prober,
    env: &BTreeMap<String, String>,
    uid: u32,
    distribution: &Distribution,
) -> Vec<Check> {
    vec![git(distribution), docker(env, uid, distribution), runsc(), kvm(prober)]
}

fn missing(name: &'static str, weight: Weight, found: impl Into<String>) -> Check {
    let status = if weight == Weight::Optional { Status::Missing } else { Status::Degraded };
    Check::failed(AREA, name, weight, status, found)
}

fn git(distribution: &Distribution) -> Check {
    match said("git", "--version") {
        Ok(version) => Check::ok(AREA, "git", Weight::Wanted, version),
        Err(error) => missing("git", Weight::Wanted, format!("{error}: `belljar apply --3way` cannot merge"))
            .with(Remedy::run("install it", [distribution.install("git")])),
    }
}

fn docker(env: &BTreeMap<String, String>, uid: u32, distribution: &Distribution) -> Check {
    let named = env.get("DOCKER_HOST").and_then(|host| host.strip_prefix("unix://")).map(PathBuf::from);
    let usual =
        ["/var/run/docker.sock".to_owned(), format!("/run/user/{uid}/docker.sock")].map(PathBuf::from);
    let sockets: Vec<_> = named.into_iter().chain(usual).filter(|path| path.exists()).collect();
    let Some(socket) = sockets.first() else {
        let remedy = match said("docker", "--version") {
            Ok(_) => Remedy::run("docker is installed; start its engine", ["sudo systemctl start docker"]),
            Err(_) => Remedy::run("to install an engine", [distribution.install("docker.io")]),
        };
        return missing("docker", Weight::Optional, "no engine's socket was found").with(remedy);
    };
    match ask_engine(socket) {
        Ok(version) => {
            Check::ok(AREA, "docker", Weight::Optional, format!("engine {version} at {}", socket.display()))
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            missing("docker", Weight::Optional, format!("{} may not be used by this user", socket.display()))
                .with(Remedy::run("join its group and log in anew", ["sudo usermod -aG docker \"$USER\""]))
        }
        Err(error) => {
            missing("docker", Weight::Optional, format!("{} does not answer: {error}", socket.display()))
                .with(Remedy::run("start the engine", ["sudo systemctl start docker"]))
        }
    }
}

/// Asks a real engine for its version.
fn ask_engine(socket: &PathBuf) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.set_write_timeout(Some(Duration::from_secs(2)))?;
    stream.write_all(b"GET /version HTTP/1.0\r\nHost: docker\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(1 << 16).read_to_string(&mut answer)?;
    let body = answer.find('{').and_then(|at| answer.get(at..)).unwrap_or_default();
    let value: serde_json::Value =
        serde_json::Deserializer::from_str(body).into_iter().next().transpose()?.unwrap_or_default();
    let version = value.get("Version").and_then(serde_json::Value::as_str);
    version.map(str::to_owned).ok_or_else(|| io::Error::other("no version in its answer"))
}

fn runsc() -> Check {
    match said("runsc", "--version") {
        Ok(version) => Check::ok(AREA, "runsc", Weight::Optional, version),
        Err(error) => missing("runsc", Weight::Optional, format!("gVisor: {error}"))
            .with(Remedy::say("see https://gvisor.dev/docs/user_guide/install/ to install it")),
    }
}

fn kvm(prober: &Prober) -> Check {
    match prober.ask(Probe::Kvm) {
        Ok(found) => Check::ok(AREA, "kvm", Weight::Optional, format!("/dev/kvm, {found}")),
        Err(error) => {
            let said = match &error {
                ProbeError::Refused(refused) => io::Error::from_raw_os_error(refused.errno()).to_string(),
                ProbeError::Start(_) | ProbeError::Silent => error.to_string(),
            };
            let join = "if this machine has it, join its group and log in anew";
            missing("kvm", Weight::Optional, format!("/dev/kvm: {said}"))
                .with(Remedy::run(join, ["sudo usermod -aG kvm \"$USER\""]))
        }
    }
}

/// The first line a program says about itself.
fn said(program: &str, flag: &str) -> io::Result<String> {
    let output = Command::new(program).arg(flag).stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.map_err(|error| match error.kind() {
        // Directories in PATH that may not be searched answer as if they had it.
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => io::Error::other("not in PATH"),
        _ => error,
    })?;
    if !output.status.success() {
        return Err(io::Error::other(format!("`{program} {flag}` failed: {}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
}
