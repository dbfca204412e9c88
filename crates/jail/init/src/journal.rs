//! What an execution writes when nobody may be listening: records in a file outside, and orders through a pipe.
//!
//! Owns: the form of both. A journal is records one behind the other, each a header and its bytes; the last says how
//! the command ended. Refuses: to say where they are kept.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::wire::{decode, encode};

/// Bytes before each record's own.
pub const HEADER: usize = 16;
/// Most bytes of one record.
pub const MAX_RECORD: usize = 1 << 16;

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Standard output, or a terminal.
    Stdout,
    /// Standard error.
    Stderr,
    /// An [`End`]; nothing follows.
    End,
}

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Raw wait status.
    pub status: i32,
    /// Whether its clock ended it.
    pub timed_out: bool,
    /// Largest resident set of one process, KiB.
    pub max_rss_kib: u64,
    /// User and system time, microseconds.
    pub cpu_micros: u64,
    /// Bytes of standard output and error that were beyond the cap.
    pub dropped: (u64, u64),
}

/// One record, as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// What it is.
    pub kind: Kind,
    /// When it was written, in milliseconds since 1970.
    pub time_ms: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// An order to a shepherd whose visitor may have left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Standard input is over after what is in its pipe now.
    CloseInput,
    /// The window has rows and columns.
    Resize(u16, u16),
    /// A signal for the command's process group.
    Signal(u8),
    /// End the command and everything it started.
    Kill,
    /// A journal of which nothing may be left out can take this many bytes of output since its beginning. Never less than
    /// was said before.
    Upto(u64),
}

/// The header of a record.
#[must_use]
pub fn header(kind: Kind, len: usize, time_ms: u64) -> [u8; HEADER] {
    let kind: u32 = match kind {
        Kind::Stdout => 1,
        Kind::Stderr => 2,
        Kind::End => 3,
    };
    let len = u32::try_from(len).unwrap_or(0);
    let mut bytes = [0; HEADER];
    let fields = kind.to_le_bytes().into_iter().chain(len.to_le_bytes()).chain(time_ms.to_le_bytes());
    for (slot, byte) in bytes.iter_mut().zip(fields) {
        *slot = byte;
    }
    bytes
}

/// Reads the first record of what is there of a journal, and how many bytes it takes. `None`: it is not all there yet.
///
/// # Errors
/// When this is no journal.
pub fn read(bytes: &[u8]) -> Result<Option<(Record<'_>, usize)>, NoJournal> {
    let Some((head, rest)) = bytes.split_at_checked(HEADER) else { return Ok(None) };
    let (kind, rest_of_head) = number32(head).ok_or(NoJournal)?;
    let (len, time) = number32(rest_of_head).ok_or(NoJournal)?;
    let time_ms = u64::from_le_bytes(time.try_into().map_err(|_length| NoJournal)?);
    let len = usize::try_from(len).map_err(|_too_large| NoJournal)?;
    let kind = match kind {
        1 => Kind::Stdout,
        2 => Kind::Stderr,
        3 => Kind::End,
        _ => return Err(NoJournal),
    };
    if len > MAX_RECORD {
        return Err(NoJournal);
    }
    Ok(rest.get(..len).map(|bytes| (Record { kind, time_ms, bytes }, HEADER + len)))
}

/// The bytes are no journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoJournal;

fn number32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_at_checked(4)?;
    Some((u32::from_le_bytes(number.try_into().ok()?), rest))
}

/// Writes an order as it goes through the pipe.
#[must_use]
pub fn encode_order(order: &Order) -> Vec<u8> {
    let body = encode(order);
    let len = u16::try_from(body.len()).unwrap_or(0);
    len.to_le_bytes().into_iter().chain(body).collect()
}

/// Takes the first order off what came through the pipe, once it is all there. What is none is passed over.
pub fn take_order(bytes: &mut Vec<u8>) -> Option<Order> {
    loop {
        let len = usize::from(u16::from_le_bytes([*bytes.first()?, *bytes.get(1)?]));
        let order = decode::<Order>(bytes.get(2..2 + len)?);
        bytes.drain(..2 + len);
        if order.is_some() {
            return order;
        }
    }
}
