//! The host's own judgement: looks at every trap and says which was touched, whatever the probe reported.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Canaries;
use crate::context::Secret;

/// A trap that was sprung.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Touch {
    /// A planted file no longer says what it said.
    FileChanged(PathBuf),
    /// A file appeared beside the planted ones.
    FileMade(PathBuf),
    /// A set-uid file was left in the workspace.
    SetuidFile(PathBuf),
    /// Somebody connected to the abstract socket.
    AbstractSocket,
    /// Somebody connected to the socket in the file system.
    PathSocket,
    /// Somebody connected to the key agent's socket.
    AgentSocket,
    /// Somebody connected to the TCP port.
    Tcp,
    /// The process is gone, stopped or traced.
    Process(String),
    /// The shared memory segment was changed.
    Segment,
    /// Something was typed into the terminal.
    Terminal,
}

impl Canaries {
    /// What was touched since the traps were planted, or since this was last asked, in a fixed order.
    #[must_use]
    pub fn verify(&self) -> Vec<Touch> {
        let mut touches = self.touched_files();
        touches.extend(self.touched_sockets());
        touches.extend(self.touched_process().map(Touch::Process));
        let segment = crate::sys::shm::Segment::open(self.context.shm_key, self.secret_memory().len());
        if !segment.is_ok_and(|mut segment| segment.bytes_mut() == self.secret_memory().as_bytes()) {
            touches.push(Touch::Segment);
        }
        if self.terminal.waiting_input() > 0 {
            touches.push(Touch::Terminal);
        }
        touches.sort();
        touches
    }

    pub(super) fn listen_without_waiting(&self) -> io::Result<()> {
        self.tcp.set_nonblocking(true)?;
        for socket in [&self.abstract_socket, &self.path_socket, &self.agent_socket] {
            socket.set_nonblocking(true)?;
        }
        Ok(())
    }

    fn secret_memory(&self) -> String {
        self.context.secret(Secret::Memory)
    }

    fn touched_files(&self) -> Vec<Touch> {
        let context = &self.context;
        let object = Path::new("/dev/shm").join(&context.shm_name);
        let planted = [
            (&context.canary_file, Secret::File),
            (&context.home_secret, Secret::Home),
            (&object, Secret::Memory),
        ];
        let changed = |(file, secret): &(&PathBuf, Secret)| {
            !fs::read_to_string(file).is_ok_and(|text| text == context.secret(*secret))
        };
        let mut touches: Vec<Touch> =
            planted.into_iter().filter(changed).map(|(file, _)| Touch::FileChanged(file.clone())).collect();
        let known = [&context.canary_file, &context.path_socket, &self.agent_path];
        let beside = entries(context.canary_dir()).into_iter().filter(|path| !known.contains(&path));
        touches.extend(beside.map(Touch::FileMade));
        let setuid =
            |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.mode() & 0o6000 != 0);
        touches.extend(entries(&context.workspace).into_iter().filter(setuid).map(Touch::SetuidFile));
        touches
    }

    /// A caller who has hung up already still waits in the listener's queue, so nothing need listen meanwhile.
    fn touched_sockets(&self) -> Vec<Touch> {
        let mut touches = Vec::new();
        let sockets = [
            (&self.abstract_socket, Touch::AbstractSocket),
            (&self.path_socket, Touch::PathSocket),
            (&self.agent_socket, Touch::AgentSocket),
        ];
        for (socket, touch) in sockets {
            let callers = std::iter::from_fn(|| socket.accept().ok()).count();
            touches.extend((callers > 0).then_some(touch));
        }
        let callers = std::iter::from_fn(|| self.tcp.accept().ok()).count();
        touches.extend((callers > 0).then_some(Touch::Tcp));
        touches
    }

    fn touched_process(&self) -> Option<String> {
        let Ok(status) = fs::read_to_string(format!("/proc/{}/status", self.process.id())) else {
            return Some("gone".to_owned());
        };
        let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
        let state = field("State:");
        if state.starts_with(['T', 't', 'Z', 'X']) {
            return Some(state.to_owned());
        }
        (field("TracerPid:") != "0").then(|| "traced".to_owned())
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
