//! What the program measures itself: making sandboxes while others run, and forking them from a snapshot.

use anyhow::Context as _;
use serde_json::Value;

use super::site::Site;
use crate::shell;

/// Making one sandbox while others are running.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Creation {
    pub(crate) live: u32,
    /// Milliseconds.
    pub(crate) p50: f64,
    /// Milliseconds.
    pub(crate) p95: f64,
    pub(crate) failure_rate: f64,
}

/// Many sandboxes from one snapshot, all running in the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forks {
    pub(crate) count: u32,
    /// Milliseconds for all.
    pub(crate) total: f64,
    /// Milliseconds for one.
    pub(crate) p50: f64,
    pub(crate) failure_rate: f64,
}

pub(crate) fn creation(site: &Site, live: &[u32], count: u32) -> anyhow::Result<Vec<Creation>> {
    let list: Vec<_> = live.iter().map(u32::to_string).collect();
    println!("creation with {} others running", list.join(", "));
    let report = bench(site, &["create", "--count", &count.to_string(), "--live", &list.join(",")])?;
    let of = |&live: &u32| {
        let series = series(&report, &format!("create, {live} others running"))?;
        let [p50, p95, failure_rate] = numbers(series, ["p50", "p95", "failure_rate"])?;
        Ok(Creation { live, p50, p95, failure_rate })
    };
    live.iter().map(of).collect()
}

pub(crate) fn forks(site: &Site, count: u32) -> anyhow::Result<Forks> {
    println!("{count} forks");
    let report = bench(site, &["fork", "--count", &count.to_string()])?;
    let [p50, failure_rate] = numbers(series(&report, "fork")?, ["p50", "failure_rate"])?;
    let total = report.pointer("/totals_ms/all forks").and_then(Value::as_f64);
    Ok(Forks { count, total: total.context("no total of the forks")?, p50, failure_rate })
}

pub(super) fn bench(site: &Site, arguments: &[&str]) -> anyhow::Result<Value> {
    let all: Vec<_> = ["--json", "bench"].iter().chain(arguments).copied().collect();
    let said = shell::read(&mut site.belljar(&site.maker, &all))?;
    Ok(serde_json::from_str(&said)?)
}

pub(super) fn series<'a>(report: &'a Value, name: &str) -> anyhow::Result<&'a Value> {
    let all = report.get("series").and_then(Value::as_array).context("no series in the report")?;
    let found = all.iter().find(|series| series.get("name").and_then(Value::as_str) == Some(name));
    found.with_context(|| format!("no series `{name}` in the report"))
}

pub(super) fn numbers<const N: usize>(series: &Value, names: [&str; N]) -> anyhow::Result<[f64; N]> {
    let mut found = [0.0; N];
    for (slot, name) in found.iter_mut().zip(names) {
        let number = series.get(name).and_then(Value::as_f64);
        *slot = number.with_context(|| format!("no `{name}` in {series}"))?;
    }
    Ok(found)
}
