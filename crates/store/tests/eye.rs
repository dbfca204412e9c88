//! Records as the server makes them: the same however events are cut into transactions, and after a restart.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod agents;

use agents::Agents;
use belljar_capture::{cost::Prices, eye::Folder};
use belljar_domain::{Digest, Event, Timestamp};
use belljar_ports::{
    Lens,
    lens::{AgentFilter, CallFilter, CostBy, ErrorFilter, GroupBy, Period, SessionFilter},
};
use belljar_store::{SqliteStore, StoreConfig};

fn events(count: usize) -> Vec<Event> {
    let made = Agents::new(5, Timestamp::from_micros(1_794_700_000_000_000)).take(count);
    let event = |(seq, what): (u64, belljar_domain::NewEvent)| Event {
        seq,
        received: Timestamp::from_micros(what.time.as_micros() + 1_000),
        what,
        prev_hash: Digest([0; 32]),
        hash: Digest([0; 32]),
    };
    (1..).zip(made).map(event).collect()
}

fn fold(lens: &dyn Lens, events: &[Event], step: usize) {
    let folder = Folder::new(Prices::embedded().unwrap());
    for some in events.chunks(step) {
        let to = some.last().unwrap().seq;
        lens.revise(to, &mut |shelf| some.iter().try_for_each(|event| folder.fold(event, shelf))).unwrap();
    }
}

/// Everything there is to ask, as text.
fn all(lens: &dyn Lens) -> Vec<String> {
    let mut said = Vec::new();
    said.push(format!("{:#?}", lens.calls(&CallFilter::default(), u64::MAX, 1000).unwrap()));
    for session in lens.sessions(&SessionFilter::default(), u64::MAX, 1000).unwrap() {
        said.push(format!("{:#?}", lens.agents_of(&session).unwrap()));
        said.push(format!("{:#?}", lens.requests_of(&session, 0, 1000).unwrap()));
        said.push(format!("{session:#?}"));
    }
    said.push(format!("{:#?}", lens.errors(&ErrorFilter::default(), None, 1000).unwrap()));
    said.push(format!("{:#?}", lens.tool_usage(&Period::default()).unwrap()));
    for by in [CostBy::Day, CostBy::Session, CostBy::Agent, CostBy::Model, CostBy::Tool] {
        said.push(format!("{:#?}", lens.cost(&Period::default(), by).unwrap()));
    }
    for by in [GroupBy::Agent, GroupBy::Type] {
        said.push(format!("{:#?}", lens.agent_metrics(&AgentFilter::default(), by, 1000).unwrap()));
    }
    said
}

#[test]
fn records_are_the_same_however_events_are_cut() {
    let events = events(3_000);
    let homes = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let told: Vec<Vec<String>> = homes
        .iter()
        .zip([1, 37, 1000])
        .map(|(home, step)| {
            let store = SqliteStore::open(home.path(), StoreConfig::default()).unwrap();
            let (first, rest) = events.split_at(1234);
            fold(&store.lens().unwrap(), first, step);
            // Another process goes on, and is told of some events again.
            let lens = store.lens().unwrap();
            fold(&lens, first, step);
            fold(&lens, rest, step);
            all(&lens)
        })
        .collect();
    assert!(told[0][0].len() > 10_000);
    for other in &told[1..] {
        for (one, other) in told[0].iter().zip(other) {
            assert_eq!(one, other);
        }
    }
}

#[test]
fn sums_are_what_their_parts_come_to() {
    let events = events(2_000);
    let home = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(home.path(), StoreConfig::default()).unwrap();
    let lens = store.lens().unwrap();
    fold(&lens, &events, 100);
    let reported: u64 = events.iter().filter_map(|event| event.what.cost_micros).sum();
    for by in [CostBy::Day, CostBy::Session, CostBy::Agent, CostBy::Model] {
        let lines = lens.cost(&Period::default(), by).unwrap();
        assert_eq!(lines.iter().map(|line| line.spent.cost.micros()).sum::<u64>(), reported, "{by:?}");
    }
    let asked = events.iter().filter(|event| event.what.kind.as_str() == "tool.requested").count();
    let usage = lens.tool_usage(&Period::default()).unwrap();
    assert_eq!(usage.iter().map(|tool| tool.total.calls).sum::<u64>(), asked as u64);
    let sessions = lens.sessions(&SessionFilter::default(), u64::MAX, 1000).unwrap();
    assert_eq!(sessions.iter().map(|session| session.counts.calls).sum::<u64>(), asked as u64);
    let failed: u64 = sessions.iter().map(|session| session.counts.failed).sum();
    let groups = lens.errors(&ErrorFilter::default(), None, 100).unwrap();
    assert_eq!(
        groups.iter().map(|group| group.count).sum::<u64>(),
        failed,
        "each call that failed is in one group"
    );
    let agents = lens.agent_metrics(&AgentFilter::default(), GroupBy::Type, 1000).unwrap();
    assert_eq!(agents.iter().map(|one| one.spent.cost.micros()).sum::<u64>(), reported);
}
