//! The user's terminal: raw while a command has it, itself again afterwards, however that ends.

use std::{
    fs::File,
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use belljar_domain::Terminal;
use belljar_engine::supervise::Signals;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};

/// Raw mode, undone on drop.
#[derive(Debug)]
pub(crate) struct RawMode {
    before: Termios,
}

impl RawMode {
    pub(crate) fn enter() -> io::Result<Self> {
        let stdin = rustix::stdio::stdin();
        let before = tcgetattr(stdin)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(stdin, OptionalActions::Now, &raw)?;
        Ok(Self { before })
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // The terminal may be gone.
        let _gone = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.before);
    }
}

/// The window's size, if there is a window.
pub(crate) fn window() -> Option<Terminal> {
    // What is printed may go elsewhere while a person looks at the rest.
    let size =
        tcgetwinsize(rustix::stdio::stdout()).or_else(|_| tcgetwinsize(rustix::stdio::stderr())).ok()?;
    Some(Terminal { rows: size.ws_row, cols: size.ws_col })
}

/// Every signal meant for the command, collected.
pub(crate) fn signals() -> io::Result<Signals> {
    let (wake, writer) = UnixStream::pair()?;
    let mut flags = Vec::new();
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH] {
        let flag = Arc::new(AtomicBool::new(false));
        // The flag first: a wake-up without a flag would be lost.
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
        signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
        flags.push((u8::try_from(signal).unwrap_or(15), flag));
    }
    let pending = move || {
        let raised = flags.iter().filter(|(_, flag)| flag.swap(false, Ordering::Relaxed));
        raised.map(|(number, _)| *number).collect()
    };
    Ok(Signals { wake: File::from(OwnedFd::from(wake)), pending: Box::new(pending) })
}
