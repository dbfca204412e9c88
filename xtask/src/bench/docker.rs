//! A Docker daemon of the race's own: no network, no bridge, nothing shared with one that may be running already.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};

use super::site::Site;
use crate::shell;

const IMAGE: &str = "belljar-race:1";
const PATIENCE: Duration = Duration::from_secs(60);
/// What goes into the image, with the libraries each needs.
const PROGRAMS: [&str; 3] = ["/bin/true", "/bin/sleep", "/bin/sh"];

/// A running daemon with one idle container. Dropped, it is stopped.
#[derive(Debug)]
pub(crate) struct Docker {
    daemon: Child,
    client: PathBuf,
    socket: String,
    container: String,
}

impl Docker {
    /// Starts the daemon, imports a tiny image made of this host's own programs, leaves one container idle.
    pub(crate) fn start(site: &Site) -> anyhow::Result<Self> {
        if site.root.is_none() {
            bail!("starting dockerd takes root");
        }
        let client = shell::find("docker").context("docker is not installed (apt-get install docker.io)")?;
        let program =
            shell::find("dockerd").context("dockerd is not installed (apt-get install docker.io)")?;
        let dir = site.dir.join("docker");
        fs::create_dir(&dir)?;
        let socket = format!("unix://{}/docker.sock", dir.display());
        let log = fs::File::create(dir.join("log"))?;
        let daemon = Command::new(program)
            .arg("--data-root")
            .arg(dir.join("data"))
            .arg("--exec-root")
            .arg(dir.join("exec"))
            .arg("--pidfile")
            .arg(dir.join("pid"))
            .args(["--host", &socket, "--iptables=false", "--ip6tables=false", "--bridge=none"])
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("could not start dockerd")?;
        // From here on dropping it stops the daemon.
        let mut docker = Self { daemon, client, socket, container: String::new() };
        docker.await_ready(&dir.join("log"))?;
        let archive = archive(&dir)?;
        shell::read(docker.command(&["import"]).arg(&archive).arg(IMAGE))?;
        let idle = ["run", "--detach", "--network", "none", IMAGE, "/bin/sleep", "1000000"];
        docker.container = shell::read(&mut docker.command(&idle))?.trim().to_owned();
        Ok(docker)
    }

    /// One container from nothing to gone.
    pub(crate) fn run(&self) -> Command {
        self.command(&["run", "--rm", "--network", "none", IMAGE, "/bin/true"])
    }

    /// A further command in the idle container.
    pub(crate) fn exec(&self) -> Command {
        self.command(&["exec", &self.container, "/bin/true"])
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.client);
        command.arg("--host").arg(&self.socket).args(arguments);
        command
    }

    fn await_ready(&mut self, log: &Path) -> anyhow::Result<()> {
        let start = Instant::now();
        while !shell::succeeds(&mut self.command(&["version"])) {
            let ended = self.daemon.try_wait()?;
            if ended.is_some() || start.elapsed() > PATIENCE {
                let said = fs::read_to_string(log).unwrap_or_default();
                let last = said.lines().last().unwrap_or("it said nothing").to_owned();
                bail!("dockerd does not come up on this host: {last}");
            }
            thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

impl Drop for Docker {
    fn drop(&mut self) {
        if !self.container.is_empty() {
            let _gone = self.command(&["rm", "--force", &self.container]).output();
        }
        // Asked, not killed: it stops its own containerd and unmounts what it mounted.
        let _gone = Command::new("kill").arg(self.daemon.id().to_string()).status();
        let _ended = self.daemon.wait();
    }
}

/// Packs the programs and what the dynamic loader says they need, under the names they are looked for by.
fn archive(dir: &Path) -> anyhow::Result<PathBuf> {
    let mut files: BTreeSet<String> = PROGRAMS.map(str::to_owned).into();
    for program in PROGRAMS {
        files.extend(libraries(&shell::read(Command::new("ldd").arg(program))?));
    }
    let archive = dir.join("image.tar");
    let mut tar = Command::new("tar");
    tar.arg("--create").arg("--dereference").arg("--file").arg(&archive).args(["--directory", "/"]);
    tar.args(files.iter().map(|path| path.trim_start_matches('/')));
    shell::read(&mut tar).context("could not pack the image")?;
    Ok(archive)
}

/// Absolute paths in what `ldd` printed.
fn libraries(said: &str) -> Vec<String> {
    said.split_whitespace().filter(|word| word.starts_with('/')).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_the_paths_ldd_names() {
        let said = "\tlinux-vdso.so.1 (0x00007ffe)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n";
        assert_eq!(libraries(said), ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"]);
        assert!(libraries("\tstatically linked\n").is_empty());
    }
}
