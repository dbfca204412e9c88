//! Retention: what goes when, what never goes early, and that the chain holds all along.

use belljar_domain::{EventKind, NewEvent};

use super::{Bench, Bounds, DAY, append, append_events, event, events, fresh, noon, ok};
use crate::{
    conformance::{Verdict, expect},
    store::{Batch, EventFilter, LogChunk, LogStream, Store, Tampering},
};

/// Audit and other events in turns, the way they come.
fn mixed(store: &dyn Store) -> Verdict {
    for _ in 0..20 {
        append_events(store, vec![event(EventKind::Killswitch)?, event(EventKind::UsageSampled)?])?;
        append_events(store, events(&EventKind::FileRead, 3)?)?;
    }
    Ok(())
}

fn count(store: &dyn Store, kind: &str) -> Result<usize, String> {
    let filter = EventFilter { kinds: vec![kind.to_owned()], ..EventFilter::default() };
    Ok(ok(store.events(&filter, 0, 1_000))?.len())
}

fn kinds(store: &dyn Store) -> Result<(usize, usize, usize), String> {
    Ok((count(store, "killswitch")?, count(store, "usage.sampled")?, count(store, "file.read")?))
}

fn holds(store: &dyn Store, pruned: u64) -> Verdict {
    let found = ok(store.verify(None))?;
    expect("finding", &found.finding, &None)?;
    expect("pruned", &found.pruned, &pruned)
}

pub(super) fn by_class(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    mixed(&*store)?;
    let noted = ok(store.verify(None))?.head;
    let now = noon();
    expect("nothing is old", &ok(store.prune(now.plus(DAY * 6)))?.events, &0)?;
    expect("after 8 days", &ok(store.prune(now.plus(DAY * 8)))?.events, &20)?;
    expect("kinds", &kinds(&*store)?, &(20, 0, 60))?;
    holds(&*store, 20)?;
    expect("after 31 days", &ok(store.prune(now.plus(DAY * 31)))?.events, &60)?;
    expect("kinds", &kinds(&*store)?, &(20, 0, 0))?;
    holds(&*store, 80)?;
    expect("what was removed is told", &count(&*store, "ledger.pruned")?, &2)?;
    expect("a head from before", &ok(store.verify(Some(noted)))?.finding, &None)?;
    append_events(&*store, vec![event(EventKind::FileRead)?])?;
    drop(store);
    let store = bench.store()?;
    expect("after 91 days", &ok(store.prune(now.plus(DAY * 91)))?.events, &23)?;
    expect("kinds", &kinds(&*store)?, &(0, 0, 0))?;
    holds(&*store, 103)?;
    let next = append_events(&*store, vec![event(EventKind::FileRead)?])?;
    expect("places go on", &next.first, &105)?;
    holds(&*store, 103)?;
    let later = crate::store::Head { seq: 200, ..noted };
    let finding = ok(store.verify(Some(later)))?.finding.map(|finding| finding.what);
    expect("a missing tail", &finding, &Some(Tampering::MissingTail { last: 200 }))
}

pub(super) fn takes_turns(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    mixed(&*store)?;
    let later = noon().plus(DAY * 31);
    let removed: Result<Vec<u64>, String> = std::thread::scope(|scope| {
        let prune = || scope.spawn(|| ok(store.prune(later)).map(|pruned| pruned.events));
        let threads: Vec<_> = (0..4).map(|_| prune()).collect();
        threads
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|_| Err("a thread ended".to_owned())))
            .collect()
    });
    expect("removed once", &removed?.iter().sum(), &80)?;
    holds(&*store, 80)
}

pub(super) fn by_size(bench: &Bench<'_>) -> Verdict {
    let bounds = Bounds { database_bytes: 1, log_bytes: 1 << 20, ..Bounds::default() };
    let store = ok((bench.open)(bounds))?;
    mixed(&*store)?;
    let chunk = LogChunk {
        sandbox: fresh("sbx_")?,
        execution: Some(fresh("exe_")?),
        stream: LogStream::Stdout,
        offset: 0,
        time: noon().minus(DAY),
        bytes: vec![b'x'; 1 << 20],
    };
    append(&*store, Batch { logs: vec![chunk], ..Batch::default() })?;
    let wordy = NewEvent { payload: serde_json::json!("x".repeat(100_000)), ..event(EventKind::FileRead)? };
    append_events(&*store, vec![wordy])?;
    let pruned = ok(store.prune(noon().plus(DAY)))?;
    expect("given up", &(pruned.logs, pruned.events), &(1, 81))?;
    expect("kinds", &kinds(&*store)?, &(20, 0, 0))?;
    expect("room was made", &(pruned.bytes < 1 << 20), &true)?;
    holds(&*store, 81)
}
