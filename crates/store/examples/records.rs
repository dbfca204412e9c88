//! Measures records of what agents did on this machine: how fast a ledger is folded, how much room an event takes, and
//! how long questions take.
//!
//! `cargo run --release -p belljar-store --example records [EVENTS] [DIRECTORY]`; a million events unless told otherwise.

#[path = "../tests/agents/mod.rs"]
mod agents;

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use agents::Agents;
use belljar_capture::{cost::Prices, eye::Folder};
use belljar_domain::{EventStatus, Timestamp, Verdict, eye::SessionState};
use belljar_ports::{
    Lens,
    lens::{AgentFilter, CallFilter, CostBy, ErrorFilter, EventSearch, GroupBy, Period, SessionFilter},
    store::{Batch, EventFilter, PAGE_LIMIT, Store, StoreError},
};
use belljar_store::{SqliteLens, SqliteStore, StoreConfig};

type Outcome = Result<(), Box<dyn std::error::Error>>;

const ROUNDS: usize = 200;
/// What a list shows at once.
const PAGE: usize = 100;

fn main() -> Outcome {
    let count: usize = std::env::args().nth(1).map_or(Ok(1_000_000), |count| count.parse())?;
    let below = std::env::args().nth(2).map_or_else(std::env::temp_dir, PathBuf::from);
    let home = tempfile::tempdir_in(below)?;
    let store = SqliteStore::open(
        home.path(),
        StoreConfig { database_bytes: u64::MAX >> 1, ..StoreConfig::default() },
    )?;
    fill(&store, count)?;
    let lens = store.lens()?;
    let folded = fold(&store, &lens)?;
    store.flush()?;
    let size = |name: &str| room(home.path(), name) as f64 / folded as f64;
    println!("room per event: ledger {:.0} bytes, records {:.0} bytes", size("belljar.db"), size("eye.db"));
    ask(&store, &lens, folded)?;
    store.close()?;
    Ok(())
}

fn fill(store: &SqliteStore, count: usize) -> Outcome {
    let began = Instant::now();
    let start = Timestamp::from(SystemTime::now()).as_micros() - i64::try_from(count)? * 50_000;
    let mut agents = Agents::new(40, Timestamp::from_micros(start));
    let mut left = count;
    while left > 0 {
        let step = left.min(2_000);
        store.append(Batch::of_events(agents.by_ref().take(step).collect())).wait()?;
        left -= step;
    }
    println!("ledger: {count} events in {:.1?}", began.elapsed());
    Ok(())
}

fn fold(store: &SqliteStore, lens: &SqliteLens) -> Result<u64, Box<dyn std::error::Error>> {
    let folder = Folder::new(Prices::embedded()?);
    let began = Instant::now();
    let mut place = 0;
    loop {
        let events = store.events(&EventFilter::default(), place, PAGE_LIMIT)?;
        let Some(last) = events.last() else { break };
        place = last.seq;
        lens.revise(place, &mut |shelf| events.iter().try_for_each(|event| folder.fold(event, shelf)))?;
    }
    let took = began.elapsed();
    println!("fold: {place} events in {took:.1?}, {:.0} a second", place as f64 / took.as_secs_f64());
    // One at a time, as a server that is not busy sees them.
    let mut agents = Agents::new(40, Timestamp::from(SystemTime::now()));
    let mut lone = Vec::new();
    for event in agents.by_ref().take(500) {
        let seq = place + 1;
        let event = belljar_domain::Event {
            seq,
            received: event.time,
            what: event,
            prev_hash: belljar_domain::Digest([0; 32]),
            hash: belljar_domain::Digest([0; 32]),
        };
        let began = Instant::now();
        lens.revise(seq, &mut |shelf| folder.fold(&event, shelf))?;
        lone.push(began.elapsed());
        place = seq;
    }
    report("fold one event", lone);
    Ok(place)
}

fn room(home: &Path, name: &str) -> u64 {
    ["", "-wal"]
        .iter()
        .map(|end| fs::metadata(home.join(format!("{name}{end}"))).map_or(0, |about| about.len()))
        .sum()
}

fn report(what: &str, mut took: Vec<Duration>) {
    took.sort();
    let at = |percent: usize| took.get(took.len() * percent / 100).copied().unwrap_or_default();
    println!("{what:<44} median {:>8.2?}  p95 {:>8.2?}", at(50), at(95));
}

fn measure(what: &str, mut question: impl FnMut(usize) -> Result<(), StoreError>) -> Result<(), StoreError> {
    let mut took = Vec::new();
    for round in 0..ROUNDS {
        let began = Instant::now();
        question(round)?;
        took.push(began.elapsed());
    }
    report(what, took);
    Ok(())
}

fn ask(store: &SqliteStore, lens: &SqliteLens, folded: u64) -> Result<(), StoreError> {
    let sessions = lens.sessions(&SessionFilter::default(), u64::MAX, 1000)?;
    let pick = |round: usize| sessions.get(round * 7 % sessions.len().max(1));
    println!("{} sessions on the first page, {folded} events", sessions.len());
    let text = |text: &str| Some(text.to_owned());
    measure("session trace, first page", |round| {
        let Some(session) = pick(round) else { return Ok(()) };
        lens.calls_of(session, 0, PAGE)?;
        lens.requests_of(session, 0, PAGE)?;
        let kinds = ["prompt.submitted", "turn", "session"].map(str::to_owned).to_vec();
        let filter = EventFilter { session: text(&session.session), kinds, ..EventFilter::default() };
        let search = EventSearch { filter, ..EventSearch::default() };
        store.events_at(&lens.events_after(&search, 0, PAGE)?).map(drop)
    })?;
    measure("session with its agents", |round| {
        let Some(session) = pick(round) else { return Ok(()) };
        lens.session(None, &session.session)?;
        lens.agents_of(session)?;
        lens.series_of(session).map(drop)
    })?;
    let all = CallFilter::default();
    let time = |ago: u64| Timestamp::from(SystemTime::now() - Duration::from_secs(ago * 60));
    let calls = [
        ("calls: newest", all.clone()),
        ("calls: tool", CallFilter { tool: text("Grep"), ..all.clone() }),
        (
            "calls: tool and failure",
            CallFilter { tool: text("Bash"), outcome: Some(EventStatus::Failure), ..all.clone() },
        ),
        ("calls: denied", CallFilter { decision: Some(Verdict::Deny), ..all.clone() }),
        (
            "calls: tool and denied",
            CallFilter { tool: text("Glob"), decision: Some(Verdict::Deny), ..all.clone() },
        ),
        (
            "calls: denied and failed and tool",
            CallFilter {
                tool: text("Agent"),
                outcome: Some(EventStatus::Failure),
                decision: Some(Verdict::Deny),
                ..all.clone()
            },
        ),
        ("calls: open", CallFilter { open: Some(true), ..all.clone() }),
        ("calls: slower than 11 s", CallFilter { slower_than: Some(11_000), ..all.clone() }),
        (
            "calls: an hour, long ago",
            CallFilter { from: Some(time(800)), until: Some(time(740)), ..all.clone() },
        ),
        (
            "calls: a project",
            CallFilter { project: Some(belljar_domain::ProjectId::default()), ..all.clone() },
        ),
        ("calls: another project", CallFilter { project: "other".parse().ok(), ..all.clone() }),
    ];
    for (what, filter) in calls {
        measure(what, |_| lens.calls(&filter, u64::MAX, PAGE).map(drop))?;
    }
    measure("calls: session and tool", |round| {
        let session = pick(round).map(|session| session.session.clone());
        lens.calls(&CallFilter { session, tool: text("Edit"), ..all.clone() }, u64::MAX, PAGE).map(drop)
    })?;
    searches(store, lens, &sessions.iter().map(|session| session.session.clone()).collect::<Vec<_>>(), time)?;
    sums(lens)
}

fn sums(lens: &SqliteLens) -> Result<(), StoreError> {
    measure("sessions: working", |_| {
        lens.sessions(
            &SessionFilter { states: vec![SessionState::Working], ..SessionFilter::default() },
            u64::MAX,
            PAGE,
        )
        .map(drop)
    })?;
    measure("errors", |_| lens.errors(&ErrorFilter::default(), None, PAGE).map(drop))?;
    measure("agent metrics, by type", |_| {
        lens.agent_metrics(&AgentFilter::default(), GroupBy::Type, PAGE).map(drop)
    })?;
    measure("agent metrics, each", |_| {
        lens.agent_metrics(&AgentFilter::default(), GroupBy::Agent, PAGE).map(drop)
    })?;
    measure("tool usage", |_| lens.tool_usage(&Period::default()).map(drop))?;
    measure("hand-offs", |_| lens.handoffs(&AgentFilter::default()).map(drop))?;
    for by in [CostBy::Day, CostBy::Session, CostBy::Agent, CostBy::Model, CostBy::Tool] {
        measure(&format!("cost by {by:?}"), |_| lens.cost(&Period::default(), by).map(drop))?;
    }
    Ok(())
}

fn searches(
    store: &SqliteStore,
    lens: &SqliteLens,
    sessions: &[String],
    time: impl Fn(u64) -> Timestamp,
) -> Result<(), StoreError> {
    let text = |text: &str| Some(text.to_owned());
    let kinds = |kinds: &[&str]| kinds.iter().map(|kind| (*kind).to_owned()).collect::<Vec<_>>();
    let none = EventSearch::default();
    let of = |filter: EventFilter| EventSearch { filter, ..EventSearch::default() };
    let any = EventFilter::default();
    let each = [
        ("events: newest", none.clone()),
        ("events: kind", of(EventFilter { kinds: kinds(&["turn.ended"]), ..any.clone() })),
        ("events: family", of(EventFilter { kinds: kinds(&["tool"]), ..any.clone() })),
        ("events: status", of(EventFilter { status: Some(EventStatus::Failure), ..any.clone() })),
        ("events: decision", of(EventFilter { decision: Some(Verdict::Deny), ..any.clone() })),
        ("events: tool", EventSearch { tool: text("Agent"), ..none.clone() }),
        (
            "events: tool, decision and hour",
            EventSearch {
                filter: EventFilter {
                    decision: Some(Verdict::Deny),
                    from: Some(time(120)),
                    until: Some(time(60)),
                    ..any.clone()
                },
                tool: text("Agent"),
                ..none.clone()
            },
        ),
        (
            "events: what never is (tool and kind)",
            EventSearch {
                filter: EventFilter { kinds: kinds(&["prompt"]), ..any.clone() },
                tool: text("Bash"),
                ..none.clone()
            },
        ),
        (
            "events: app and failure",
            EventSearch {
                filter: EventFilter { status: Some(EventStatus::Failure), ..any.clone() },
                app: text("claude-code"),
                ..none.clone()
            },
        ),
        ("events: a common word", EventSearch { text: text("test"), ..none.clone() }),
        ("events: several words", EventSearch { text: text("could not compile"), ..none.clone() }),
        ("events: the beginning of a word", EventSearch { text: text("workspa*"), ..none.clone() }),
        ("events: a word nobody wrote", EventSearch { text: text("zebra test"), ..none.clone() }),
    ];
    for (what, search) in each {
        measure(what, |_| store.events_at(&lens.events(&search, u64::MAX, PAGE)?).map(drop))?;
    }
    measure("events: session and word", |round| {
        let session = sessions.get(round * 7 % sessions.len().max(1)).cloned();
        let search = EventSearch {
            filter: EventFilter { session, ..any.clone() },
            text: text("compile"),
            ..none.clone()
        };
        store.events_at(&lens.events(&search, u64::MAX, PAGE)?).map(drop)
    })
}
