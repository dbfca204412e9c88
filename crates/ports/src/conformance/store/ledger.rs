//! The ledger: what goes in comes out, whole, in order, once, and provably so.

use belljar_domain::{Actor, Digest, EventKind, EventStatus, NewEvent, Risk, Verdict as Decision};

use super::{Bench, append, append_events, event, events, fresh, noon, ok, project, sandbox};
use crate::{
    conformance::{Verdict, expect},
    store::{Batch, EventFilter, ExportFormat, Head, PAGE_LIMIT, Store, StoreError, Tampering},
};

fn full() -> Result<NewEvent, String> {
    Ok(NewEvent {
        project: project("team-7")?,
        actor: Actor {
            id: Some("a-1".to_owned()),
            name: Some("Ann".to_owned()),
            role: Some("coder".to_owned()),
        },
        session: Some("s-1".to_owned()),
        sandbox: Some(fresh("sbx_")?),
        execution: Some(fresh("exe_")?),
        run: Some(fresh("run_")?),
        operation: Some("tool_use".to_owned()),
        tool: Some("Bash".to_owned()),
        target: Some("rm -rf /\n\0'\"ü".replace('\0', "")),
        target_type: Some("command".to_owned()),
        decision: Some(Decision::Deny),
        reason: Some("no".to_owned()),
        risk: Some(Risk::Critical),
        status: Some(EventStatus::Denied),
        error: Some("denied".to_owned()),
        cost_micros: Some(12_345),
        tokens: Some(99),
        duration_ms: Some(7),
        payload: serde_json::json!({ "deep": { "list": [1, 2.5, null, "x"] } }),
        ..event(EventKind::from("hook.pre_tool_use"))?
    })
}

fn all(store: &dyn Store) -> Result<Vec<belljar_domain::Event>, String> {
    ok(store.events(&EventFilter::default(), 0, PAGE_LIMIT))
}

pub(super) fn comes_back(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    expect("an empty ledger", &ok(store.last_seq())?, &0)?;
    let told = vec![full()?, event(EventKind::Killswitch)?, full()?];
    let first = append_events(&*store, told.clone())?;
    expect("places", &(first.first, first.last), &(1, 3))?;
    let more = events(&EventKind::FileRead, 2)?;
    let second = append_events(&*store, more.clone())?;
    expect("places", &(second.first, second.last), &(4, 5))?;
    let found = all(&*store)?;
    let whole: Vec<NewEvent> = found.iter().map(|event| event.what.clone()).collect();
    expect("events", &whole, &[told, more].concat())?;
    let mut before = None;
    for (event, seq) in found.iter().zip(1..) {
        expect("place", &event.seq, &seq)?;
        expect("link", &event.prev_hash, &before.unwrap_or(event.prev_hash))?;
        before = Some(event.hash);
    }
    let by_id = ok(store.event(whole.first().map_or_else(|| fresh("evt_"), |event| Ok(event.id))?))?;
    expect("by id", &by_id.map(|event| event.seq), &Some(1))?;
    expect("an unknown id", &ok(store.event(fresh("evt_")?))?, &None)?;
    expect("last", &ok(store.last_seq())?, &5)?;
    expect("nothing appended", &append(&*store, Batch::default())?.last, &5)
}

pub(super) fn skips_what_is_known(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let (known, new) = (event(EventKind::ToolFinished)?, event(EventKind::ToolFailed)?);
    append_events(&*store, vec![known.clone()])?;
    let again = || Batch {
        events: vec![known.clone(), new.clone(), new.clone()],
        skip_known: true,
        ..Batch::default()
    };
    let told = append(&*store, again())?;
    expect("the new one", &(told.first, told.last), &(2, 2))?;
    let told = append(&*store, again())?;
    expect("nothing new", &(told.first, told.last), &(3, 2))?;
    expect("events", &all(&*store)?.len(), &2)?;
    expect("the finding", &ok(store.verify(None))?.finding, &None)
}

pub(super) fn is_atomic(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let known = event(EventKind::FileRead)?;
    append_events(&*store, vec![known.clone()])?;
    let row = sandbox("ann")?;
    let bad = Batch {
        events: vec![event(EventKind::SandboxCreated)?, known.clone()],
        sandboxes: vec![row.clone()],
        ..Batch::default()
    };
    match store.append(bad).wait() {
        Err(StoreError::Duplicate(id)) => expect("the duplicate", &id, &known.id)?,
        other => return Err(format!("a duplicate was not refused: {other:?}")),
    }
    expect("events", &all(&*store)?.len(), &1)?;
    expect("the row", &ok(store.sandbox(row.id))?, &None)?;
    let good = Batch {
        events: vec![event(EventKind::SandboxCreated)?],
        sandboxes: vec![row.clone()],
        ..Batch::default()
    };
    expect("the next place", &append(&*store, good)?.last, &2)?;
    expect("the row", &ok(store.sandbox(row.id))?, &Some(row))
}

pub(super) fn refuses_twice(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let known = event(EventKind::FileRead)?;
    append_events(&*store, vec![known.clone()])?;
    // In flight together, so that a store that commits them as one must tell them apart.
    let pending: Vec<_> = (0..20)
        .map(|at| {
            let event = if at % 5 == 4 { known.clone() } else { event(EventKind::FileRead)? };
            Ok(store.append(Batch::of_events(vec![event])))
        })
        .collect::<Result<_, String>>()?;
    let outcomes: Vec<bool> = pending.into_iter().map(|pending| pending.wait().is_ok()).collect();
    expect("outcomes", &outcomes, &(0..20).map(|at| at % 5 != 4).collect())?;
    expect("events", &ok(store.last_seq())?, &17)?;
    expect("finding", &ok(store.verify(None))?.finding, &None)
}

pub(super) fn filters(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let wanted = NewEvent { time: noon().minus(super::DAY), ..full()? };
    let other = event(EventKind::SandboxCreated)?;
    append_events(&*store, vec![other.clone(), wanted.clone(), event(EventKind::SandboxState)?])?;
    let none = EventFilter::default;
    let all = ok(store.events(&none(), 0, 10))?;
    // What is sorted out in memory is sorted out alike.
    let admitted = |filter: &EventFilter| all.iter().filter(|event| filter.admits(event)).count();
    for (what, filter) in [
        ("project", EventFilter { project: Some(wanted.project.clone()), ..none() }),
        ("kind", EventFilter { kinds: vec!["hook.pre_tool_use".to_owned()], ..none() }),
        ("kinds", EventFilter { kinds: vec!["nothing".to_owned(), "hook".to_owned()], ..none() }),
        ("sandbox", EventFilter { sandbox: wanted.sandbox, ..none() }),
        ("execution", EventFilter { execution: wanted.execution, ..none() }),
        ("run", EventFilter { run: wanted.run, ..none() }),
        ("agent", EventFilter { agent: Some("a-1".to_owned()), ..none() }),
        ("session", EventFilter { session: Some("s-1".to_owned()), ..none() }),
        ("operation", EventFilter { operation: Some("tool_use".to_owned()), ..none() }),
        ("status", EventFilter { status: Some(EventStatus::Denied), ..none() }),
        ("decision", EventFilter { decision: Some(Decision::Deny), ..none() }),
        ("until", EventFilter { until: Some(other.time), ..none() }),
        ("from", EventFilter { from: Some(wanted.time), until: Some(other.time), ..none() }),
    ] {
        let found = ok(store.events(&filter, 0, 10))?;
        expect(what, &found.iter().map(|event| event.what.id).collect(), &vec![wanted.id])?;
        expect(what, &all.iter().filter(|event| filter.admits(event)).cloned().collect(), &found)?;
    }
    let kinds = |kind: &str| EventFilter { kinds: vec![kind.to_owned()], ..none() };
    expect("a family", &ok(store.events(&kinds("sandbox"), 0, 10))?.len(), &2)?;
    expect("half a word", &ok(store.events(&kinds("sand"), 0, 10))?.len(), &0)?;
    expect("a family, in memory", &(admitted(&kinds("sandbox")), admitted(&kinds("sand"))), &(2, 0))?;
    let later = EventFilter { from: Some(noon().plus(super::DAY)), ..none() };
    expect("later", &ok(store.events(&later, 0, 10))?.len(), &0)
}

pub(super) fn pages(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    append_events(&*store, events(&EventKind::FileRead, PAGE_LIMIT + 20)?)?;
    let filter = EventFilter { kinds: vec!["file".to_owned()], ..EventFilter::default() };
    expect("a giant page", &ok(store.events(&filter, 0, usize::MAX))?.len(), &PAGE_LIMIT)?;
    let up: Vec<u64> = ok(store.events(&filter, 7, 3))?.iter().map(|event| event.seq).collect();
    expect("upwards", &up, &vec![8, 9, 10])?;
    let down: Vec<u64> = ok(store.events_before(&filter, 7, 3))?.iter().map(|event| event.seq).collect();
    expect("downwards", &down, &vec![6, 5, 4])?;
    let newest = ok(store.events_before(&filter, u64::MAX, 1))?;
    expect("the newest", &newest.first().map(|event| event.seq), &Some(PAGE_LIMIT as u64 + 20))?;
    expect("beyond the end", &ok(store.events(&filter, 1 << 40, 3))?.len(), &0)
}

pub(super) fn by_place(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    append_events(&*store, events(&EventKind::FileRead, 5)?)?;
    let found: Vec<u64> = ok(store.events_at(&[4, 99, 2]))?.iter().map(|event| event.seq).collect();
    expect("those that are there, in order", &found, &vec![4, 2])
}

pub(super) fn survives(bench: &Bench<'_>) -> Verdict {
    let told = events(&EventKind::Killswitch, 3)?;
    let row = sandbox("ann")?;
    let store = bench.store()?;
    append(&*store, Batch { events: told.clone(), sandboxes: vec![row.clone()], ..Batch::default() })?;
    let before = all(&*store)?;
    ok(store.close())?;
    drop(store);
    let store = bench.store()?;
    expect("events", &all(&*store)?, &before)?;
    expect("the row", &ok(store.sandbox(row.id))?, &Some(row))?;
    let next = append_events(&*store, vec![event(EventKind::ServerStarted)?])?;
    expect("the next place", &next.first, &4)?;
    expect("finding", &ok(store.verify(None))?.finding, &None)
}

pub(super) fn refuses_giants(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let payload = serde_json::Value::String("x".repeat(NewEvent::PAYLOAD_LIMIT));
    let wordy = NewEvent { payload, ..event(EventKind::FileRead)? };
    let long = NewEvent { error: Some("x".repeat(NewEvent::TEXT_LIMIT + 1)), ..event(EventKind::FileRead)? };
    for giant in [wordy, long] {
        match store.append(Batch::of_events(vec![giant])).wait() {
            Err(StoreError::Event(_)) => {}
            other => return Err(format!("a giant event was not refused: {other:?}")),
        }
    }
    let many = Batch::of_events(events(&EventKind::FileRead, 10_001)?);
    match store.append(many).wait() {
        Err(StoreError::TooLarge { .. }) => expect("events", &ok(store.last_seq())?, &0),
        other => Err(format!("a giant batch was not refused: {other:?}")),
    }
}

pub(super) fn verifies(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let empty = ok(store.verify(None))?;
    expect("an empty ledger", &(empty.events, empty.head.seq, empty.finding), &(0, 0, None))?;
    append_events(&*store, vec![full()?, event(EventKind::Killswitch)?])?;
    append_events(&*store, vec![full()?])?;
    let found = ok(store.verify(None))?;
    expect("finding", &(found.events, found.pruned, found.finding, found.keyed), &(3, 0, None, true))?;
    let last = all(&*store)?.pop().map(|event| Head { seq: event.seq, hash: event.hash });
    expect("head", &Some(found.head), &last)
}

pub(super) fn compares_heads(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    append_events(&*store, events(&EventKind::Killswitch, 2)?)?;
    let noted = ok(store.verify(None))?.head;
    append_events(&*store, events(&EventKind::Killswitch, 2)?)?;
    expect("an older head", &ok(store.verify(Some(noted)))?.finding, &None)?;
    let other = Head { hash: Digest([7; 32]), ..noted };
    let found = ok(store.verify(Some(other)))?.finding;
    expect("another ledger's head", &found.map(|finding| finding.what), &Some(Tampering::Replaced))?;
    let later = Head { seq: 9, ..noted };
    let found = ok(store.verify(Some(later)))?.finding;
    expect("a later head", &found.map(|finding| finding.what), &Some(Tampering::MissingTail { last: 9 }))
}

pub(super) fn exports(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    append_events(&*store, events(&EventKind::FileRead, PAGE_LIMIT)?)?;
    append_events(&*store, vec![full()?])?;
    let mut lines = Vec::new();
    let count = ok(store.export(&EventFilter::default(), ExportFormat::JsonLines, &mut lines))?;
    expect("events", &count, &(PAGE_LIMIT as u64 + 1))?;
    let text = String::from_utf8(lines).map_err(|e| e.to_string())?;
    let last = text.lines().last().map(serde_json::from_str::<belljar_domain::Event>);
    let last = last.transpose().map_err(|e| e.to_string())?;
    expect("the last", &last.map(|event| event.what.tool), &Some(Some("Bash".to_owned())))?;
    let mut table = Vec::new();
    let hooks = EventFilter { kinds: vec!["hook".to_owned()], ..EventFilter::default() };
    expect("filtered", &ok(store.export(&hooks, ExportFormat::Csv, &mut table))?, &1)?;
    let text = String::from_utf8(table).map_err(|e| e.to_string())?;
    let has = |part: &str| text.contains(part);
    expect("the table", &(has("seq,"), has("0.012345"), has("\"rm -rf /\n'\"\"ü\"")), &(true, true, true))
}

pub(super) fn closes(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let last = store.append(Batch::of_events(vec![event(EventKind::ServerStopped)?]));
    ok(store.close())?;
    expect("what waited", &ok(last.wait())?.last, &1)?;
    ok(store.close())?;
    match store.append(Batch::of_events(vec![event(EventKind::FileRead)?])).wait() {
        Err(StoreError::Closed) => Ok(()),
        other => Err(format!("a closed store answered {other:?}")),
    }
}
