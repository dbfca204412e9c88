//! Computing the ledger again from its first hash to its head, and naming the first place that does not fit.
//!
//! Owns: the walk over events and checkpoints as one read of one moment. Refuses: to mend anything.

use belljar_domain::{Digest, Timestamp};
use belljar_ports::{
    StoreError,
    store::{Finding, Head, Tampering, Verification},
};
use rusqlite::{Connection, OptionalExtension, Row, types::ValueRef};

use super::{
    events,
    sql::{Doing, amount, hash, signed},
};
use crate::ledger::{
    chain::{Checkpoint, Seal, link},
    columns::{self, Column},
};

const READING: &str = "read the ledger";

/// Walks the ledger.
pub(crate) fn verify(
    connection: &Connection,
    seal: &Seal,
    noted: Option<Head>,
) -> Result<Verification, StoreError> {
    // One transaction, so that the head and the rows are of the same moment while a server writes on.
    let moment = connection.unchecked_transaction().doing(READING)?;
    let sealed = sealed_head(&moment)?;
    let start = Head { seq: 0, hash: seal.genesis() };
    let mut walk =
        Walk { seal, at: start, sealed: sealed.0, noted, events: 0, pruned: 0, over_checkpoint: false };
    let mut finding = walk.over(&moment)?;
    if let Some(found) = &mut finding {
        found.what = moved_or(&moment, found, seal)?;
    }
    let is_forged = !seal.agrees(&seal.of_head(sealed.0.seq, sealed.0.hash), &sealed.1);
    let forged = is_forged.then_some(Finding { seq: sealed.0.seq, what: Tampering::ForgedHead });
    Ok(Verification {
        events: walk.events,
        pruned: walk.pruned,
        head: sealed.0,
        keyed: seal.key.is_some(),
        finding: finding.or(forged),
    })
}

fn sealed_head(connection: &Connection) -> Result<(Head, Vec<u8>), StoreError> {
    let read = |row: &Row<'_>| Ok((Head { seq: amount(row, 0)?, hash: hash(row, 1)? }, row.get(2)?));
    connection.query_row("SELECT head_seq, head_hash, head_mac FROM ledger", [], read).doing(READING)
}

struct Walk<'a> {
    seal: &'a Seal,
    at: Head,
    sealed: Head,
    noted: Option<Head>,
    events: u64,
    pruned: u64,
    over_checkpoint: bool,
}

type Step = Result<Option<Finding>, StoreError>;

fn found(seq: u64, what: Tampering) -> Step {
    Ok(Some(Finding { seq, what }))
}

impl Walk<'_> {
    fn over(&mut self, connection: &Connection) -> Step {
        let mut checkpoints = checkpoints(connection)?.into_iter().peekable();
        let sql = format!("{} ORDER BY seq", *events::SELECT);
        let mut statement = connection.prepare(&sql).doing(READING)?;
        let mut rows = statement.query([]).doing(READING)?;
        while let Some(row) = rows.next().doing(READING)? {
            let seq = amount(row, 0).doing(READING)?;
            while let Some((checkpoint, mac)) = checkpoints.next_if(|(next, _)| next.first < seq) {
                if let Some(wrong) = self.skip(&checkpoint, &mac)? {
                    return Ok(Some(wrong));
                }
            }
            if let Some(wrong) = self.step(seq, row)? {
                return Ok(Some(wrong));
            }
        }
        for (checkpoint, mac) in checkpoints {
            if let Some(wrong) = self.skip(&checkpoint, &mac)? {
                return Ok(Some(wrong));
            }
        }
        self.end()
    }

    fn skip(&mut self, checkpoint: &Checkpoint, mac: &[u8]) -> Step {
        let follows = checkpoint.first == self.at.seq + 1 && checkpoint.prev_hash == self.at.hash;
        let is_ours = self.seal.agrees(&self.seal.of_checkpoint(checkpoint), mac);
        if !follows || !is_ours || checkpoint.last < checkpoint.first {
            return found(checkpoint.first, Tampering::ForgedCheckpoint);
        }
        self.pruned += checkpoint.last - self.at.seq;
        self.at = Head { seq: checkpoint.last, hash: checkpoint.hash };
        self.over_checkpoint = true;
        self.compare()
    }

    fn step(&mut self, seq: u64, row: &Row<'_>) -> Step {
        if seq > self.sealed.seq {
            return found(seq, Tampering::Inserted);
        }
        if seq <= self.at.seq {
            // A row where a checkpoint says there is none.
            return found(seq, Tampering::Inserted);
        }
        if seq > self.at.seq + 1 {
            return found(self.at.seq + 1, Tampering::Dropped { last: seq - 1 });
        }
        let Some((prev, own, computed)) = hashes(seq, row) else { return found(seq, Tampering::Changed) };
        if own != computed {
            return found(seq, Tampering::Changed);
        }
        if prev != self.at.hash {
            // This one is whole, so what it follows is not what was there when it was written.
            let what = if self.over_checkpoint { Tampering::ForgedCheckpoint } else { Tampering::Changed };
            return if self.at.seq == 0 { found(seq, Tampering::Inserted) } else { found(self.at.seq, what) };
        }
        self.at = Head { seq, hash: own };
        self.events += 1;
        self.over_checkpoint = false;
        self.compare()
    }

    fn compare(&self) -> Step {
        match self.noted {
            Some(noted) if noted.seq == self.at.seq && noted.hash != self.at.hash => {
                found(noted.seq, Tampering::Replaced)
            }
            _ => Ok(None),
        }
    }

    fn end(&self) -> Step {
        let last = self.sealed.seq.max(self.noted.map_or(0, |noted| noted.seq));
        if self.at.seq < last {
            return found(self.at.seq + 1, Tampering::MissingTail { last });
        }
        if self.at.hash != self.sealed.hash {
            return found(self.at.seq, Tampering::Changed);
        }
        Ok(None)
    }
}

/// The hash before a row, its own, and the one computed again; `None` when they are not even hashes.
fn hashes(seq: u64, row: &Row<'_>) -> Option<(Digest, Digest, Digest)> {
    let received = Timestamp::from_micros(row.get(1).ok()?);
    let (prev, own) = (hash(row, 2).ok()?, hash(row, 3).ok()?);
    let digest = columns::digest((4..4 + columns::COUNT).map(|at| column(row, at)));
    Some((prev, own, link(prev, seq, received, &digest)))
}

fn column<'r>(row: &'r Row<'_>, at: usize) -> Column<'r> {
    match row.get_ref(at) {
        Ok(ValueRef::Integer(value)) => Column::Int(value),
        Ok(ValueRef::Real(value)) => Column::Real(value),
        Ok(ValueRef::Text(bytes)) => Column::Text(bytes),
        Ok(ValueRef::Blob(bytes)) => Column::Blob(bytes),
        Ok(ValueRef::Null) | Err(_) => Column::Null,
    }
}

fn checkpoints(connection: &Connection) -> Result<Vec<(Checkpoint, Vec<u8>)>, StoreError> {
    let sql = "SELECT first, last, prev_hash, hash, mac FROM checkpoints ORDER BY first";
    let mut statement = connection.prepare(sql).doing(READING)?;
    let rows = statement.query_map([], |row| {
        let (first, last) = (amount(row, 0)?, amount(row, 1)?);
        Ok((Checkpoint { first, last, prev_hash: hash(row, 2)?, hash: hash(row, 3)? }, row.get(4)?))
    });
    rows.doing(READING)?.collect::<rusqlite::Result<_>>().doing(READING)
}

/// A row that does not fit its place may fit the place after the row whose hash it follows: then it was moved.
fn moved_or(connection: &Connection, finding: &Finding, seal: &Seal) -> Result<Tampering, StoreError> {
    if finding.what != Tampering::Changed {
        return Ok(finding.what);
    }
    let sql = format!("{} WHERE seq = ?", *events::SELECT);
    let moved = connection.query_row(&sql, [signed(finding.seq)], |row| {
        let prev = hash(row, 2)?;
        let sql = "SELECT seq FROM events WHERE hash = ?";
        let before = connection.query_row(sql, [prev.0], |row| amount(row, 0)).optional()?;
        let origin = before.or((prev == seal.genesis()).then_some(0)).map(|seq| seq + 1);
        // The row it follows may itself have been moved, so the neighbours of its own place are tried as well.
        let places = origin.into_iter().chain(finding.seq.saturating_sub(2)..=finding.seq + 2);
        Ok(places
            .filter(|place| *place != finding.seq)
            .any(|place| hashes(place, row).is_some_and(|(_, own, computed)| own == computed)))
    });
    Ok(if moved.doing(READING)? { Tampering::Reordered } else { Tampering::Changed })
}
