//! The streams of one command on our side: what can be read is handed on, what is to be read waits until there is room.
//!
//! Owns: the descriptors and the one wait for all of them. Refuses: to know when a command is over.

use std::{fs::File, io, os::fd::OwnedFd, time::Duration};

use belljar_ports::Execution;
use rustix::{
    buffer::spare_capacity,
    event::{PollFd, PollFlags, Timespec, poll},
};

use super::Outlet;

/// The descriptors of one command, our side.
pub(super) struct Carried {
    pub(super) source: Option<OwnedFd>,
    pub(super) sink: Option<OwnedFd>,
    pub(super) reading: [Option<OwnedFd>; 2],
    /// Input read from the source and not yet taken by the command.
    pub(super) pending: Vec<u8>,
}

/// What can be done without waiting.
#[derive(Default)]
pub(super) struct Ready {
    pub(super) ended: bool,
    pub(super) signal: bool,
    pub(super) input: bool,
    pub(super) room: bool,
    pub(super) output: [bool; 2],
}

impl Carried {
    pub(super) fn wait(
        &self,
        execution: &dyn Execution,
        signals: Option<&File>,
        over: bool,
        timeout: Duration,
    ) -> io::Result<Ready> {
        let mut list: Vec<PollFd<'_>> = Vec::with_capacity(6);
        let mut names: Vec<Role> = Vec::with_capacity(6);
        if !over {
            list.push(PollFd::from_borrowed_fd(execution.ended(), PollFlags::IN));
            names.push(Role::Ended);
        }
        if let Some(signals) = signals {
            list.push(PollFd::new(signals, PollFlags::IN));
            names.push(Role::Signal);
        }
        if let (Some(source), true) = (&self.source, self.pending.is_empty() && self.sink.is_some()) {
            list.push(PollFd::new(source, PollFlags::IN));
            names.push(Role::Input);
        }
        if let (Some(sink), false) = (&self.sink, self.pending.is_empty()) {
            list.push(PollFd::new(sink, PollFlags::OUT));
            names.push(Role::Room);
        }
        for (stream, name) in self.reading.iter().zip([Role::Stdout, Role::Stderr]) {
            if let Some(stream) = stream {
                list.push(PollFd::new(stream, PollFlags::IN));
                names.push(name);
            }
        }
        let timeout = Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(timeout.subsec_nanos()),
        };
        match poll(&mut list, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut ready = Ready::default();
        for (entry, name) in list.iter().zip(names) {
            if entry.revents().is_empty() {
                continue;
            }
            match name {
                Role::Ended => ready.ended = true,
                Role::Signal => ready.signal = true,
                Role::Input => ready.input = true,
                Role::Room => ready.room = true,
                Role::Stdout => ready.output[0] = true,
                Role::Stderr => ready.output[1] = true,
            }
        }
        Ok(ready)
    }

    pub(super) fn output(&mut self, ready: &Ready, buffer: &mut Vec<u8>, outlet: &mut dyn Outlet) {
        for (index, (stream, is_ready)) in self.reading.iter_mut().zip(ready.output).enumerate() {
            let Some(fd) = stream.as_ref().filter(|_| is_ready) else { continue };
            buffer.clear();
            let kept = match rustix::io::read(fd, spare_capacity(buffer)) {
                Ok(1..) => {
                    let carried = if index == 0 { outlet.stdout(buffer) } else { outlet.stderr(buffer) };
                    carried.is_ok()
                }
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => true,
                // A terminal whose last user left answers EIO.
                Ok(_) | Err(_) => false,
            };
            if !kept {
                *stream = None;
            }
        }
    }

    pub(super) fn input(&mut self, buffer: &mut Vec<u8>) {
        let Some(source) = &self.source else { return };
        buffer.clear();
        match rustix::io::read(source, spare_capacity(buffer)) {
            Ok(1..) => {
                self.pending.extend_from_slice(buffer);
                self.flush();
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            // End of input: the command's end closes too.
            Ok(_) | Err(_) => {
                self.source = None;
                self.sink = None;
            }
        }
    }

    pub(super) fn flush(&mut self) {
        let Some(sink) = &self.sink else { return };
        match rustix::io::write(sink, &self.pending) {
            Ok(count) => drop(self.pending.drain(..count)),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => {
                self.pending.clear();
                self.source = None;
                self.sink = None;
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Role {
    Ended,
    Signal,
    Input,
    Room,
    Stdout,
    Stderr,
}
