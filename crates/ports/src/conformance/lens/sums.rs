//! Sums: what records add, and what they added before they changed.

use belljar_domain::{
    EventStatus, Usd,
    eye::{IndexEntry, Spent},
};

use super::{Bench, Verdict, agent, call, noon, ok, request, revise, session};
use crate::{
    conformance::expect,
    lens::{AgentFilter, CostBy, EventSearch, GroupBy, Lens, Period},
};

pub(super) fn follow(bench: &Bench<'_>) -> Verdict {
    let lens = bench.lens()?;
    revise(&*lens, 1, |shelf| {
        shelf.put_call(call(1, "s", "Bash", None))?;
        shelf.put_call(call(2, "s", "Bash", Some(EventStatus::Success)))
    })?;
    revise(&*lens, 2, |shelf| {
        if let Some(mut known) = shelf.call(call(1, "s", "Bash", None).id)? {
            let done = call(1, "s", "Bash", Some(EventStatus::Failure));
            known.known = done.known;
            known.known.duration_ms = Some(10_000);
            known.cost = Some(Usd(500));
            shelf.put_call(known)?;
        }
        Ok(())
    })?;
    let usage = ok(lens.tool_usage(&Period::default()))?;
    let bash = usage.first().ok_or("no usage")?;
    expect("tools", &usage.len(), &1)?;
    let total = &bash.total;
    expect("counts", &(total.calls, total.succeeded, total.failed), &(2, 1, 1))?;
    expect("time", &(total.duration_ms, total.durations.count()), &(10_100, 2))?;
    expect("cost", &total.cost, &Usd(500))?;
    expect("days", &bash.days.len(), &1)?;
    let tomorrow = Period { from: Some(noon(86_400)), ..Period::default() };
    expect("tomorrow's usage", &ok(lens.tool_usage(&tomorrow))?.len(), &0)?;
    let mut busy = agent(3, "s", "");
    busy.counts.calls = 2;
    busy.durations.add(100);
    let mut child = agent(4, "s", "a");
    child.agent_type = Some("Explore".to_owned());
    child.parent = Some(String::new());
    child.ended = Some(noon(2));
    revise(&*lens, 3, |shelf| {
        shelf.put_agent(busy.clone())?;
        shelf.put_agent(child.clone())
    })?;
    let metrics = |by| ok(lens.agent_metrics(&AgentFilter::default(), by, 10));
    let each = metrics(GroupBy::Agent)?;
    let names: Vec<&str> = each.iter().map(|one| one.key.as_str()).collect();
    expect("agents, the busiest first", &names, &vec!["s", "a"])?;
    expect("their times", &each.first().map(|one| one.durations.count()), &Some(1))?;
    let kinds = metrics(GroupBy::Type)?;
    expect("kinds", &kinds.iter().map(|one| one.key.as_str()).collect(), &vec!["main", "Explore"])?;
    let only = AgentFilter { agent: Some("a".to_owned()), ..AgentFilter::default() };
    expect("one agent", &ok(lens.agent_metrics(&only, GroupBy::Agent, 10))?.len(), &1)?;
    let handed = ok(lens.handoffs(&AgentFilter::default()))?;
    let edge = handed.first().ok_or("no hand-off")?;
    expect(
        "a hand-off",
        &(edge.from.as_str(), edge.to.as_str(), edge.count, edge.done),
        &("main", "Explore", 1, 1),
    )?;
    expect("how long it took", &edge.duration_ms, &2_000)
}

fn costs(lens: &dyn Lens, by: CostBy) -> Result<Vec<(String, u64, u64)>, String> {
    let lines = ok(lens.cost(&Period::default(), by))?;
    Ok(lines.into_iter().map(|line| (line.key, line.spent.requests, line.spent.cost.0)).collect())
}

pub(super) fn money(bench: &Bench<'_>) -> Verdict {
    let lens = bench.lens()?;
    revise(&*lens, 1, |shelf| {
        shelf.put_request(request(1, "s", "", "opus"))?;
        shelf.put_request(request(2, "s", "a", "haiku"))?;
        shelf.put_request(request(3, "t", "", "opus"))
    })?;
    let line = |key: &str, requests, cost| (key.to_owned(), requests, cost);
    expect("by day", &costs(&*lens, CostBy::Day)?, &vec![line("2026-06-01", 3, 3_000)])?;
    expect("by project", &costs(&*lens, CostBy::Project)?, &vec![line("default", 3, 3_000)])?;
    expect(
        "by model",
        &costs(&*lens, CostBy::Model)?,
        &vec![line("opus", 2, 2_000), line("haiku", 1, 1_000)],
    )?;
    expect("by run", &costs(&*lens, CostBy::Run)?, &vec![])?;
    // One turns out to belong to another, and to have cost more; one does not count after all.
    revise(&*lens, 2, |shelf| {
        let mut first = request(1, "s", "", "opus");
        (first.session, first.cost) = ("t".to_owned(), Usd(5_000));
        let mut second = request(2, "s", "a", "haiku");
        second.counted = false;
        for (id, request) in [(first.id, first), (second.id, second)] {
            shelf.request(id)?;
            shelf.put_request(request)?;
        }
        Ok(())
    })?;
    expect("by session", &costs(&*lens, CostBy::Session)?, &vec![line("t", 2, 6_000)])?;
    expect("by agent", &costs(&*lens, CostBy::Agent)?, &vec![line("t", 2, 6_000)])?;
    let of = Period { session: Some("s".to_owned()), ..Period::default() };
    expect("of one session", &ok(lens.cost(&of, CostBy::Model))?.len(), &0)
}

pub(super) fn pruned(bench: &Bench<'_>) -> Verdict {
    let lens = bench.lens()?;
    revise(&*lens, 1, |shelf| {
        shelf.put_session(session(1, "s"))?;
        shelf.put_call(call(2, "s", "Bash", Some(EventStatus::Success)))?;
        for seq in [1, 2] {
            shelf.index(seq, IndexEntry { tags: Vec::new(), words: "needle".to_owned() })?;
        }
        shelf.put_request(request(3, "s", "", "opus"))
    })?;
    expect("nothing is old", &ok(lens.prune(noon(-1), 0))?, &0)?;
    expect("what is old", &ok(lens.prune(noon(100), 2))?, &3)?;
    let needle = EventSearch { text: Some("needle".to_owned()), ..EventSearch::default() };
    expect("words", &ok(lens.events(&needle, u64::MAX, 10))?, &vec![2])?;
    expect("the session", &ok(lens.session(None, "s"))?, &None)?;
    let spent = ok(lens.cost(&Period::default(), CostBy::Day))?;
    expect("what was spent", &spent.first().map(|line| line.spent.cost), &Some(Usd(1_000)))?;
    expect("how tools were used", &ok(lens.tool_usage(&Period::default()))?.len(), &1)?;
    expect("an empty sum", &Spent::default().basis().as_str(), &"reported")
}
