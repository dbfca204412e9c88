//! Lists: what is selected, and where the next page begins.

use belljar_domain::{
    EventStatus, Verdict as Decision,
    eye::{Call, IndexEntry, SessionState},
};

use super::{Bench, Verdict, agent, call, noon, ok, project, revise, session};
use crate::{
    conformance::expect,
    lens::{CallFilter, EventSearch, Lens, SessionFilter},
    store::EventFilter,
};

fn many(lens: &dyn Lens) -> Verdict {
    let other = project("other")?;
    revise(lens, 100, |shelf| {
        for number in 1..=20 {
            let tool = if number % 2 == 0 { "Bash" } else { "Read" };
            let outcome = match number % 5 {
                0 => None,
                1 => Some(EventStatus::Failure),
                _ => Some(EventStatus::Success),
            };
            let mut one = call(number, if number <= 10 { "s" } else { "t" }, tool, outcome);
            if number == 7 {
                one.known.decision = Some(Decision::Deny);
                one.fingerprint = Some("f".to_owned());
                one.agent = "a".to_owned();
            }
            if number == 20 {
                one.project = other.clone();
            }
            shelf.put_call(one)?;
        }
        Ok(())
    })
}

fn numbers(calls: &[Call]) -> Vec<u64> {
    calls.iter().map(|call| call.id / 4096).collect()
}

pub(super) fn calls(bench: &Bench<'_>) -> Verdict {
    let lens = bench.lens()?;
    many(&*lens)?;
    let found = |filter: &CallFilter| ok(lens.calls(filter, u64::MAX, 100)).map(|calls| numbers(&calls));
    let all = CallFilter::default();
    let text = |text: &str| Some(text.to_owned());
    expect("all", &found(&all)?, &(1..=20).rev().collect())?;
    for (what, filter, wanted) in [
        ("a project", CallFilter { project: Some(project("other")?), ..all.clone() }, vec![20]),
        (
            "a session and a tool",
            CallFilter { session: text("s"), tool: text("Bash"), ..all.clone() },
            vec![10, 8, 6, 4, 2],
        ),
        (
            "an outcome",
            CallFilter { outcome: Some(EventStatus::Failure), session: text("t"), ..all.clone() },
            vec![16, 11],
        ),
        ("open ones", CallFilter { open: Some(true), ..all.clone() }, vec![20, 15, 10, 5]),
        ("a decision", CallFilter { decision: Some(Decision::Deny), ..all.clone() }, vec![7]),
        ("an error", CallFilter { fingerprint: text("f"), ..all.clone() }, vec![7]),
        ("an agent", CallFilter { agent: text("a"), ..all.clone() }, vec![7]),
        ("a name", CallFilter { tool_use_id: text("use-9"), ..all.clone() }, vec![9]),
        ("a time", CallFilter { from: Some(noon(3)), until: Some(noon(6)), ..all.clone() }, vec![5, 4, 3]),
        ("no time", CallFilter { from: Some(noon(300)), ..all.clone() }, vec![]),
        ("slow ones", CallFilter { slower_than: Some(101), ..all.clone() }, vec![]),
    ] {
        expect(what, &found(&filter)?, &wanted)?;
    }
    let first = ok(lens.calls(&all, u64::MAX, 15))?;
    let next = ok(lens.calls(&all, first.last().map_or(0, |call| call.id), 15))?;
    expect("the next page", &numbers(&next), &vec![5, 4, 3, 2, 1])?;
    let of = ok(lens.calls_of(&session(1, "s"), first.last().map_or(0, |call| call.id), 3))?;
    expect("a session's, oldest first", &numbers(&of), &vec![7, 8, 9])
}

pub(super) fn others(bench: &Bench<'_>) -> Verdict {
    let lens = bench.lens()?;
    revise(&*lens, 9, |shelf| {
        for (number, name, state) in [(1, "s", SessionState::Working), (2, "t", SessionState::Done)] {
            let mut one = session(number, name);
            one.state = state;
            one.received = noon(i64::try_from(number * 10).unwrap_or(0));
            one.model = Some(format!("model-{number}"));
            shelf.put_session(one)?;
        }
        for (number, name, times) in [(3, "", 1), (4, "a", 5)] {
            let mut one = agent(number, "s", name);
            one.repetition.times = times;
            shelf.put_agent(one)?;
        }
        Ok(())
    })?;
    let found = |filter: &SessionFilter| {
        ok(lens.sessions(filter, u64::MAX, 10))
            .map(|all| all.into_iter().map(|one| one.session).collect::<Vec<_>>())
    };
    let all = SessionFilter::default();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    expect("all sessions", &found(&all)?, &names(&["t", "s"]))?;
    let working = SessionFilter { states: vec![SessionState::Working, SessionState::Waiting], ..all.clone() };
    expect("by state", &found(&working)?, &names(&["s"]))?;
    expect(
        "by model",
        &found(&SessionFilter { model: Some("model-2".to_owned()), ..all.clone() })?,
        &names(&["t"]),
    )?;
    expect("quiet ones", &found(&SessionFilter { quiet_since: Some(noon(15)), ..all })?, &names(&["s"]))?;
    expect("agents of a session", &ok(lens.agents_of(&session(1, "s")))?.len(), &2)?;
    let repeating = ok(lens.repeating(None, 3, noon(-1)))?;
    expect(
        "those who repeat themselves",
        &repeating.iter().map(|agent| agent.agent.as_str()).collect(),
        &vec!["a"],
    )?;
    expect("not so long ago", &ok(lens.repeating(None, 3, noon(1)))?.len(), &0)
}

pub(super) fn events(bench: &Bench<'_>) -> Verdict {
    let lens = bench.lens()?;
    revise(&*lens, 9, |shelf| {
        for (seq, kind, words) in [
            (1, "tool.requested", "cargo test --workspace"),
            (2, "tool.finished", "no such file: src/main.rs"),
            (5, "prompt.submitted", "please run the Tests again"),
        ] {
            let tags =
                vec![("kind", kind.to_owned()), ("kind", "tool".to_owned()), ("session", "s".to_owned())];
            let tags = if seq == 5 { tags.into_iter().filter(|tag| tag.1 != "tool").collect() } else { tags };
            shelf.index(seq, IndexEntry { tags, words: words.to_owned() })?;
        }
        Ok(())
    })?;
    let search = |text: Option<&str>, kinds: &[&str], session: Option<&str>| {
        let owned = |text: &str| text.to_owned();
        let kinds = kinds.iter().map(|kind| owned(kind)).collect();
        let filter = EventFilter { kinds, session: session.map(owned), ..EventFilter::default() };
        EventSearch { filter, text: text.map(owned), ..EventSearch::default() }
    };
    let found = |search: &EventSearch| ok(lens.events(search, u64::MAX, 10));
    expect("everything", &found(&search(None, &[], None))?, &vec![5, 2, 1])?;
    expect("a family", &found(&search(None, &["tool"], None))?, &vec![2, 1])?;
    expect("two kinds", &found(&search(None, &["tool.requested", "prompt.submitted"], None))?, &vec![5, 1])?;
    expect("words in any case", &found(&search(Some("TESTS run"), &[], None))?, &vec![5])?;
    expect("the beginning of a word", &found(&search(Some("test*"), &[], Some("s")))?, &vec![5, 1])?;
    expect("a name in pieces", &found(&search(Some("src/main.rs"), &["tool"], None))?, &vec![2])?;
    expect("another session", &found(&search(None, &[], Some("t")))?, &vec![])?;
    expect("a page", &ok(lens.events(&search(None, &[], None), 5, 1))?, &vec![2])?;
    expect("oldest first", &ok(lens.events_after(&search(None, &[], None), 1, 10))?, &vec![2, 5])?;
    expect("no word", &found(&search(Some(" ** "), &[], None)).is_err(), &true)
}
