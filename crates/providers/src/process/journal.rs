//! The journals of recorded executions, in the words of the port.

use belljar_domain::Outcome;
use belljar_jail::journal::{self, End, Kind};
use belljar_ports::{JournalRecord, Order, RawExit, SandboxError};

use super::execution::decode;

/// Reads every whole record.
pub(super) fn read(bytes: &[u8]) -> Result<(Vec<JournalRecord>, usize), SandboxError> {
    let mut records = Vec::new();
    let mut taken = 0;
    loop {
        let next = journal::read(bytes.get(taken..).unwrap_or_default());
        let Some((record, len)) = next.map_err(|_none| damaged())? else { return Ok((records, taken)) };
        taken += len;
        records.push(match record.kind {
            Kind::Stdout | Kind::Stderr => JournalRecord::Output {
                is_error: record.kind == Kind::Stderr,
                time_ms: record.time_ms,
                bytes: record.bytes.to_vec(),
            },
            Kind::End => JournalRecord::End(end(record)?),
        });
    }
}

fn end(record: journal::Record<'_>) -> Result<RawExit, SandboxError> {
    let end: End = belljar_jail::decode(record.bytes).ok_or_else(damaged)?;
    let outcome: Outcome = decode(end.status);
    Ok(RawExit {
        outcome,
        time_ms: record.time_ms,
        timed_out: end.timed_out,
        max_rss_bytes: end.max_rss_kib * 1024,
        dropped_out: end.dropped.0,
        dropped_err: end.dropped.1,
    })
}

fn damaged() -> SandboxError {
    SandboxError::Invalid("this is no journal of an execution, or it is damaged".to_owned())
}

pub(super) fn write_order(order: &Order) -> Vec<u8> {
    journal::encode_order(&match order {
        Order::CloseInput => journal::Order::CloseInput,
        Order::Resize(rows, cols) => journal::Order::Resize(*rows, *cols),
        Order::Signal(signal) => journal::Order::Signal(*signal),
        Order::Kill => journal::Order::Kill,
        Order::Upto(limit) => journal::Order::Upto(*limit),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_records_are_read_and_half_ones_wait() {
        let mut bytes = journal::header(Kind::Stdout, 2, 7).to_vec();
        bytes.extend(b"hi");
        let whole = bytes.len();
        bytes.extend(&journal::header(Kind::Stderr, 5, 8)[..9]);
        let (records, taken) = read(&bytes).unwrap();
        let expected = JournalRecord::Output { is_error: false, time_ms: 7, bytes: b"hi".to_vec() };
        assert_eq!((records, taken), (vec![expected], whole));
        assert!(read(&[9; 64]).is_err());
    }

    #[test]
    fn orders_are_heard_one_by_one() {
        let mut heard = [write_order(&Order::Signal(15)), write_order(&Order::Kill)].concat();
        assert_eq!(journal::take_order(&mut heard), Some(journal::Order::Signal(15)));
        assert_eq!(journal::take_order(&mut heard), Some(journal::Order::Kill));
        assert_eq!(journal::take_order(&mut heard), None);
    }
}
