//! A program that is running, from the first line it printed on.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use super::Ended;

pub(crate) struct Started {
    child: Child,
    out: BufReader<ChildStdout>,
    input: Option<ChildStdin>,
}

impl Started {
    /// Starts a command and waits until it has printed `ready`.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let input = child.stdin.take();
        let mut started = Self { child, out, input };
        let line = started.line();
        if line != "ready\n" {
            panic!("instead of `ready`: {line:?}, {:?}", started.wait());
        }
        started
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.input.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end; `out` is what it printed since.
    pub(crate) fn wait(mut self) -> Ended {
        drop(self.input.take());
        let ended = Ended::wait(self.child);
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        Ended { out: rest, ..ended }
    }
}
