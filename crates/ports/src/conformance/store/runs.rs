//! Tasks given to several sandboxes at once.

use belljar_domain::{ProjectId, RunState};

use super::{Bench, DAY, append, fresh, noon, ok, project};
use crate::{
    conformance::{Verdict, expect},
    store::{Batch, RunFilter, RunRow},
};

fn begun(task: &str) -> Result<RunRow, String> {
    Ok(RunRow {
        id: fresh("run_")?,
        project: ProjectId::default(),
        state: RunState::Running,
        task: task.to_owned(),
        winner: None,
        created: noon(),
        ended: None,
        record: serde_json::json!({ "attempts": [{ "n": 0 }] }),
    })
}

fn put(row: &RunRow) -> Batch {
    Batch { runs: vec![row.clone()], ..Batch::default() }
}

pub(super) fn listed(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let first = begun("mend")?;
    let second = RunRow { project: project("other")?, created: noon().minus(DAY), ..begun("build")? };
    for row in [&first, &second] {
        append(&*store, put(row))?;
    }
    let first = RunRow { state: RunState::Finished, winner: Some(4), ended: Some(noon()), ..first };
    append(&*store, put(&first))?;
    let list = |filter: RunFilter| ok(store.runs(&filter, None, 9));
    let none = RunFilter::default;
    expect("all", &list(none())?, &vec![second.clone(), first.clone()])?;
    expect("a page", &ok(store.runs(&none(), Some(second.id), 1))?, &vec![first.clone()])?;
    for (what, filter, found) in [
        ("project", RunFilter { project: Some(second.project.clone()), ..none() }, vec![&second]),
        ("state", RunFilter { states: vec![RunState::Finished], ..none() }, vec![&first]),
        ("task", RunFilter { task: Some("build".to_owned()), ..none() }, vec![&second]),
        ("from", RunFilter { from: Some(noon().minus(DAY / 2)), ..none() }, vec![&first]),
        ("until", RunFilter { until: Some(noon().minus(DAY / 2)), ..none() }, vec![&second]),
    ] {
        expect(what, &list(filter)?.iter().collect::<Vec<_>>(), &found)?;
    }
    expect("unknown", &ok(store.run(fresh("run_")?))?, &None)?;
    ok(store.close())?;
    drop(store);
    expect("kept", &ok(bench.store()?.run(first.id))?, &Some(first))
}
