//! A terminal with a person at it: what the person sees, types, and does to the window.

use std::{
    fs::File,
    io::{Read, Write},
    os::fd::{AsFd, OwnedFd},
    process::{Child, Command},
    sync::{Arc, Mutex},
    thread,
};

use rustix::{
    fs::{Mode, OFlags},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Termios, Winsize, tcgetattr, tcsetwinsize},
};

use super::{Glass, eventually, paper::rendered, until};

pub(crate) struct Terminal {
    master: File,
    slave: OwnedFd,
    screen: Arc<Mutex<String>>,
    child: Child,
}

impl Terminal {
    /// Starts belljar on a terminal of 30 lines and 100 columns.
    pub(crate) fn start(glass: &Glass, args: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave =
            rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let master = File::from(master);
        resize(&master, 30, 100);
        let marked = glass.belljar(args);
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait"]).arg(marked.get_program()).args(marked.get_args());
        command.current_dir(glass.work()).env_clear();
        command.envs(marked.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let side = || slave.try_clone().unwrap();
        let child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let (mut reader, shown) = (master.try_clone().unwrap(), Arc::clone(&screen));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                shown.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        });
        Self { master, slave, screen, child }
    }

    /// Waits until the screen shows something.
    pub(crate) fn sees(&self, text: &str) {
        eventually(text, || {
            let screen = self.screen.lock().unwrap();
            if screen.contains(text) { Ok(()) } else { Err(screen.clone()) }
        });
    }

    /// Waits until the screen of a full-screen program shows something.
    pub(crate) fn shows(&self, text: &str) {
        eventually(text, || {
            let screen = rendered(&self.screen.lock().unwrap());
            if screen.contains(text) { Ok(()) } else { Err(format!("\n{screen}\n")) }
        });
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn resize(&self, rows: u16, cols: u16) {
        resize(&self.master, rows, cols);
    }

    pub(crate) fn settings(&self) -> Termios {
        tcgetattr(&self.slave).unwrap()
    }

    /// Everything that was written to it, as it was written.
    pub(crate) fn written(&self) -> String {
        self.screen.lock().unwrap().clone()
    }

    /// Waits for belljar's end.
    pub(crate) fn code(&mut self) -> Option<i32> {
        until("belljar ends", || self.child.try_wait().unwrap().is_some());
        self.child.wait().unwrap().code()
    }
}

fn resize(master: impl AsFd, rows: u16, cols: u16) {
    tcsetwinsize(master, Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}
