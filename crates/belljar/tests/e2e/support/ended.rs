//! A program that has ended: what it said and how. One that does not end is killed and fails the test.

use std::{
    io::Read,
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};
use serde_json::Value;

use super::PATIENCE;

#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// Runs a command to its end.
    pub(crate) fn of(command: &mut Command) -> Self {
        Self::wait(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Waits for a command whose output is piped.
    pub(crate) fn wait(mut child: Child) -> Self {
        let (out, err) = (collect(child.stdout.take()), collect(child.stderr.take()));
        await_end(&mut child);
        let status = child.wait().unwrap();
        Self { code: status.code(), out: out.join().unwrap(), err: err.join().unwrap() }
    }

    /// Expects success, and returns standard output.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
    }

    /// Expects an exit code.
    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// Expects words on standard error.
    #[track_caller]
    pub(crate) fn says(self, words: &str) -> Self {
        assert!(self.err.contains(words), "no `{words}` in {self:?}");
        self
    }

    /// Reads standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

fn collect(stream: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.map(|mut stream| stream.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn await_end(child: &mut Child) {
    let pid = Pid::from_child(child);
    let handle = pidfd_open(pid, PidfdFlags::empty()).unwrap();
    let patience = Timespec { tv_sec: i64::try_from(PATIENCE.as_secs()).unwrap(), tv_nsec: 0 };
    let ended = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&patience)).unwrap();
    if ended == 0 {
        child.kill().unwrap();
        panic!("process {pid:?} did not end within {PATIENCE:?}");
    }
}
