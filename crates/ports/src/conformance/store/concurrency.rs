//! Many at once: order, answers, and the figures of the writer.

use std::sync::mpsc;

use belljar_domain::EventKind;

use super::{Bench, event, events, ok};
use crate::{
    conformance::{Verdict, expect},
    store::{Batch, EventFilter, PAGE_LIMIT},
};

pub(super) fn answers(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let (sender, receiver) = mpsc::channel();
    for _ in 0..10 {
        let to = sender.clone();
        let batch = Batch::of_events(events(&EventKind::FileRead, 3)?);
        // The receiver outlives every callback, so sending cannot fail.
        store.append(batch).then(move |outcome| drop(to.send(outcome.map_err(|e| e.to_string()))));
    }
    let lasts: Vec<u64> =
        receiver.iter().take(10).map(|outcome| outcome.map(|done| done.last)).collect::<Result<_, _>>()?;
    expect("answers in order", &lasts, &(1..=10).map(|at| at * 3).collect())?;
    let waited = ok(store.append(Batch::of_events(vec![event(EventKind::FileRead)?])).wait())?;
    expect("an answer by waiting", &(waited.first, waited.last), &(31, 31))
}

pub(super) fn leaves_no_gap(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let appended: Result<Vec<_>, String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let store = &store;
                scope.spawn(move || {
                    for _ in 0..50 {
                        let mut one = event(EventKind::FileRead)?;
                        one.session = Some(format!("thread-{thread}"));
                        ok(store.append(Batch::of_events(vec![one])).wait())?;
                    }
                    Ok(())
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("a thread ended".to_owned())))
            .collect()
    });
    appended?;
    let found = ok(store.events(&EventFilter::default(), 0, PAGE_LIMIT))?;
    let seqs: Vec<u64> = found.iter().map(|event| event.seq).collect();
    expect("places", &seqs, &(1..=200).collect())?;
    for thread in 0..4 {
        let session = Some(format!("thread-{thread}"));
        let ids: Vec<_> = found.iter().filter(|e| e.what.session == session).map(|e| e.what.id).collect();
        expect("the order of one appender", &ids.is_sorted(), &true)?;
    }
    expect("finding", &ok(store.verify(None))?.finding, &None)
}

pub(super) fn flushes(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    for _ in 0..50 {
        store.append(Batch::of_events(vec![event(EventKind::FileRead)?])).then(drop);
    }
    ok(store.flush())?;
    expect("events", &ok(store.last_seq())?, &50)?;
    expect("rows", &ok(store.events(&EventFilter::default(), 0, PAGE_LIMIT))?.len(), &50)
}

pub(super) fn is_healthy(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    ok(store.append(Batch::of_events(vec![event(EventKind::FileRead)?])).wait())?;
    let health = store.health();
    expect("figures", &(health.commits > 0, health.queued, health.last_seq), &(true, 0, 1))?;
    expect("a commit takes time", &(health.last_commit > std::time::Duration::ZERO), &true)
}
