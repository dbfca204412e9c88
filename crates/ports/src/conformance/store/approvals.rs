//! Calls that wait for a person.

use std::{thread, time::Duration};

use belljar_domain::{ApprovalState, ProjectId};

use super::{Bench, append, event, fresh, noon, ok, project};
use crate::{
    conformance::{Verdict, expect},
    store::{ApprovalChange, ApprovalFilter, ApprovalRow, Batch, Store, StoreError},
};

fn asked(call: &str) -> Result<ApprovalRow, String> {
    Ok(ApprovalRow {
        id: fresh("apr_")?,
        project: ProjectId::default(),
        state: ApprovalState::Pending,
        call: call.to_owned(),
        agent: Some("ann".to_owned()),
        session: Some("s".to_owned()),
        sandbox: Some(fresh("sbx_")?),
        created: noon(),
        expires: noon().plus(Duration::from_secs(300)),
        answered: None,
        delivered: None,
        record: serde_json::json!({ "tool": "Bash" }),
    })
}

fn change(from: Option<ApprovalState>, row: &ApprovalRow) -> Batch {
    Batch { approvals: vec![ApprovalChange { from, row: row.clone() }], ..Batch::default() }
}

fn refused(store: &dyn Store, batch: Batch, what: &str) -> Verdict {
    match store.commit(batch) {
        Err(StoreError::Stale(_)) => Ok(()),
        other => Err(format!("{what}: {other:?}")),
    }
}

pub(super) fn answered_once(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let row = asked("one")?;
    append(&*store, change(None, &row))?;
    refused(&*store, change(None, &asked("one")?), "the same call waited twice")?;
    refused(&*store, change(Some(ApprovalState::Pending), &asked("other")?), "an unknown one was answered")?;
    let answer = |state| ApprovalRow { state, answered: Some(noon()), ..row.clone() };
    let answers = [answer(ApprovalState::Allowed), answer(ApprovalState::Denied)];
    let tried: Vec<(ApprovalRow, bool)> = thread::scope(|scope| {
        let answer = |row: &ApprovalRow| store.commit(change(Some(ApprovalState::Pending), row)).is_ok();
        let each = answers.iter().cycle().take(8).map(|row| scope.spawn(move || (row.clone(), answer(row))));
        let each: Vec<_> = each.collect();
        each.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let taken: Vec<&ApprovalRow> = tried.iter().filter(|(_, taken)| *taken).map(|(row, _)| row).collect();
    expect("answers that counted", &taken.len(), &1)?;
    let now = ok(store.approval(row.id))?;
    expect("the one that counted", &now.as_ref(), &taken.first().copied())?;
    let state = now.map_or(ApprovalState::Pending, |row| row.state);
    // An event that goes along with a step that came too late is not written either.
    let mut late = change(Some(ApprovalState::Pending), &answer(ApprovalState::Allowed));
    late.events = vec![event(belljar_domain::EventKind::ApprovalAnswered)?];
    let before = ok(store.last_seq())?;
    refused(&*store, late, "an answer came after the answer")?;
    expect("the ledger", &ok(store.last_seq())?, &before)?;
    let delivered = ApprovalRow { delivered: Some(noon()), ..answer(state) };
    append(&*store, change(Some(state), &delivered))?;
    refused(&*store, change(Some(state), &delivered), "an answer was delivered twice")?;
    append(&*store, change(None, &asked("one")?))?;
    ok(store.close())?;
    drop(store);
    expect("kept", &ok(bench.store()?.approval(row.id))?, &Some(delivered))
}

pub(super) fn listed(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let first = asked("one")?;
    let second = ApprovalRow {
        project: project("other")?,
        agent: None,
        session: Some("t".to_owned()),
        sandbox: None,
        ..asked("two")?
    };
    let third = ApprovalRow { state: ApprovalState::Denied, answered: Some(noon()), ..asked("one")? };
    for row in [&first, &second, &third] {
        append(&*store, change(None, row))?;
    }
    let list = |filter: ApprovalFilter| ok(store.approvals(&filter, None, 9));
    let none = ApprovalFilter::default;
    expect("all", &list(none())?, &vec![third.clone(), second.clone(), first.clone()])?;
    expect("a page", &ok(store.approvals(&none(), Some(third.id), 1))?, &vec![second.clone()])?;
    for (what, filter, found) in [
        ("project", ApprovalFilter { project: Some(second.project.clone()), ..none() }, vec![&second]),
        ("state", ApprovalFilter { states: vec![ApprovalState::Denied], ..none() }, vec![&third]),
        ("agent", ApprovalFilter { agent: first.agent.clone(), ..none() }, vec![&third, &first]),
        ("session", ApprovalFilter { session: second.session.clone(), ..none() }, vec![&second]),
        ("sandbox", ApprovalFilter { sandbox: first.sandbox, ..none() }, vec![&first]),
        ("call", ApprovalFilter { call: Some("one".to_owned()), ..none() }, vec![&third, &first]),
    ] {
        expect(what, &list(filter)?.iter().collect::<Vec<_>>(), &found)?;
    }
    expect("unknown", &ok(store.approval(fresh("apr_")?))?, &None)
}
