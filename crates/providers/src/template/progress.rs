//! How far an import has come. Owns the counting; refuses to draw anything.

use std::{
    cell::Cell,
    io::{self, Read},
};

/// How far an import has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Bytes of the archive or of the layers read so far, as stored: with `total`, the fraction done.
    pub read: u64,
    /// Bytes of the archive or of all layers.
    pub total: u64,
    /// Bytes of file contents written.
    pub bytes: u64,
    /// Entries unpacked.
    pub entries: u64,
}

/// Counts, and tells whoever watches about every mebibyte read.
pub(super) struct Meter<'a> {
    watch: &'a dyn Fn(Progress),
    now: Cell<Progress>,
    told_at: Cell<u64>,
}

const STEP: u64 = 1024 * 1024;

impl<'a> Meter<'a> {
    pub(super) fn new(watch: &'a dyn Fn(Progress)) -> Self {
        Self { watch, now: Cell::default(), told_at: Cell::default() }
    }

    /// Starts over with so many bytes to read.
    pub(super) fn expect(&self, total: u64) {
        self.now.set(Progress { read: 0, total, ..self.now.get() });
        self.told_at.set(0);
        self.tell();
    }

    pub(super) fn unpacked(&self, bytes: u64, entries: u64) {
        self.now.set(Progress { bytes, entries, ..self.now.get() });
    }

    pub(super) fn tell(&self) {
        (self.watch)(self.now.get());
    }

    pub(super) fn over<R: Read>(&'a self, inner: R) -> Metered<'a, R> {
        Metered { inner, meter: self }
    }

    fn advance(&self, count: usize) {
        let mut now = self.now.get();
        now.read = now.read.saturating_add(count as u64);
        self.now.set(now);
        if now.read.saturating_sub(self.told_at.get()) >= STEP {
            self.told_at.set(now.read);
            self.tell();
        }
    }
}

/// A reader whose bytes count as progress.
pub(super) struct Metered<'a, R> {
    inner: R,
    meter: &'a Meter<'a>,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.meter.advance(count);
        Ok(count)
    }
}
