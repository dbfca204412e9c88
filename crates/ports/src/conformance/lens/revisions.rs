//! Changing records: once, wholly, and found again.

use std::collections::BTreeMap;

use belljar_domain::{
    ProjectId,
    eye::{ErrorGroup, ErrorGroupState, Series, record_id},
};

use super::{Bench, Verdict, agent, call, noon, ok, request, revise, session};
use crate::{conformance::expect, store::StoreError};

pub(super) fn once(bench: &Bench<'_>) -> Verdict {
    let lens = bench.lens()?;
    expect("the place of nothing", &ok(lens.place())?, &0)?;
    revise(&*lens, 3, |shelf| shelf.put_session(session(1, "s")))?;
    expect("the place", &ok(lens.place())?, &3)?;
    let mut is_done = false;
    revise(&*lens, 3, |_| {
        is_done = true;
        Ok(())
    })?;
    expect("work for a place that is reached", &is_done, &false)?;
    drop(lens);
    let lens = bench.lens()?;
    expect("the place after reopening", &ok(lens.place())?, &3)?;
    expect("the session after reopening", &ok(lens.session(None, "s"))?, &Some(session(1, "s")))
}

pub(super) fn all_or_nothing(bench: &Bench<'_>) -> Verdict {
    let lens = bench.lens()?;
    let failed = lens.revise(5, &mut |shelf| {
        shelf.put_session(session(1, "s"))?;
        shelf.put_call(call(2, "s", "Bash", None))?;
        Err(StoreError::Invalid("on purpose".to_owned()))
    });
    expect("whether it failed", &failed.is_err(), &true)?;
    expect("the place", &ok(lens.place())?, &0)?;
    expect("the session", &ok(lens.session(None, "s"))?, &None)
}

pub(super) fn found(bench: &Bench<'_>) -> Verdict {
    let lens = bench.lens()?;
    let own = ProjectId::default();
    let labels: BTreeMap<String, String> = [("session.id".to_owned(), "s".to_owned())].into();
    let series = Series {
        project: own.clone(),
        name: "m".to_owned(),
        labels: labels.clone(),
        unit: "USD".to_owned(),
        session: Some("s".to_owned()),
        before: 0.5,
        now: 0.25,
        start: 1,
        latest: 2,
    };
    let group = ErrorGroup {
        id: record_id(9, 0),
        project: own.clone(),
        fingerprint: "f".to_owned(),
        what: "tool".to_owned(),
        tool: None,
        title: "t".to_owned(),
        sample: "s".to_owned(),
        first: noon(0),
        last: noon(1),
        count: 1,
        agents: std::collections::BTreeSet::default(),
        sessions: std::collections::BTreeSet::default(),
        state: ErrorGroupState::Open,
        by: None,
        reason: None,
        since: None,
        returned: 0,
    };
    let (one, asked) = (call(2, "s", "Bash", None), request(3, "s", "", "m"));
    revise(&*lens, 1, |shelf| {
        shelf.put_session(session(1, "s"))?;
        shelf.put_agent(agent(1, "s", "a"))?;
        shelf.put_call(one.clone())?;
        shelf.put_request(asked.clone())?;
        shelf.put_error_group(group.clone())?;
        shelf.put_series(series.clone())
    })?;
    // Once from what was just changed, once from what was written.
    for place in [2, 3] {
        let mut seen = Ok(());
        revise(&*lens, place, |shelf| {
            let one = Some(one.clone());
            let asked = Some(asked.clone());
            seen = expect("a call by its identity", &shelf.call(one.as_ref().map_or(0, |one| one.id))?, &one)
                .and(expect("a call by its name", &shelf.call_by_use(&own, "s", "use-2")?, &one))
                .and(expect("in another session", &shelf.call_by_use(&own, "t", "use-2")?, &None))
                .and(expect("an agent", &shelf.agent(&own, "s", "a")?, &Some(agent(1, "s", "a"))))
                .and(expect("a request by name", &shelf.request_by_name(&own, "req-3")?, &asked))
                .and(expect("a request by message", &shelf.request_by_message(&own, "msg-3")?, &asked))
                .and(expect("counted requests", &shelf.counted_requests(&own, "s")?, &vec![record_id(3, 3)]))
                .and(expect("errors", &shelf.error_group(&own, "f")?, &Some(group.clone())))
                .and(expect("a series", &shelf.series(&own, "m", &labels)?, &Some(series.clone())));
            shelf.put_session(session(1, "s"))
        })?;
        seen?;
    }
    expect("the session's series", &ok(lens.series_of(&session(1, "s")))?, &vec![series])
}
