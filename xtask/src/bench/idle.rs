//! What a sandbox costs that does nothing: its two processes, and what the kernel keeps for it.

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::Context as _;
use serde_json::Value;

use super::site::Site;

/// Lines of `/proc/meminfo` that hold the kernel's own memory.
const KERNEL: [&str; 4] = ["Slab", "KernelStack", "PageTables", "Percpu"];

/// KiB of one idle sandbox, each the mean over all that were running.
#[derive(Debug, Clone)]
pub(crate) struct Idle {
    pub(crate) count: usize,
    /// Proportional set size of keeper and PID 1 together.
    pub(crate) processes: f64,
    /// Growth of each kind of the kernel's memory on the whole machine.
    pub(crate) kernel: Vec<(&'static str, f64)>,
    /// What its memory control group is charged with, where there is one.
    pub(crate) group: Option<f64>,
}

pub(crate) fn measure(site: &Site, count: usize) -> anyhow::Result<Idle> {
    // The first makes what is made once: the blank disk, caches.
    site.keep_one()?;
    let before = meminfo()?;
    let ids: Vec<_> = (0..count).map(|_| site.keep_one()).collect::<Result<_, _>>()?;
    let after = meminfo()?;
    let records: Vec<_> = ids.iter().map(|id| site.record(id)).collect::<Result<_, _>>()?;
    let each = |total: f64| total / f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let mut processes = 0.0;
    for record in &records {
        processes += pss(record, "keeper")? + pss(record, "init")?;
    }
    let kernel = KERNEL.map(|name| {
        let of = |table: &BTreeMap<String, f64>| table.get(name).copied().unwrap_or(0.0);
        (name, each(of(&after) - of(&before)))
    });
    let groups: Option<Vec<f64>> = records.iter().map(charged).collect();
    let group = groups.map(|charges| each(charges.iter().sum()));
    site.clear()?;
    Ok(Idle { count, processes: each(processes), kernel: kernel.to_vec(), group })
}

fn meminfo() -> anyhow::Result<BTreeMap<String, f64>> {
    Ok(table(&fs::read_to_string("/proc/meminfo")?))
}

/// Lines such as `Slab:  1234 kB`.
fn table(text: &str) -> BTreeMap<String, f64> {
    let entry = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        Some((name.trim().to_owned(), rest.split_whitespace().next()?.parse().ok()?))
    };
    text.lines().filter_map(entry).collect()
}

fn pss(record: &Value, role: &str) -> anyhow::Result<f64> {
    let pid = record.pointer(&format!("/{role}/pid")).and_then(Value::as_u64);
    let pid = pid.with_context(|| format!("the record names no {role}"))?;
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    table(&text).get("Pss").copied().context("smaps_rollup has no Pss")
}

/// KiB charged to the sandbox's memory group, by either version of the interface.
fn charged(record: &Value) -> Option<f64> {
    let parts = record.pointer("/group/parts")?.as_array()?;
    let dirs = parts.iter().filter_map(|part| part.get("dir")?.as_str()).map(PathBuf::from);
    let bytes = dirs.flat_map(|dir| ["memory.current", "memory.usage_in_bytes"].map(|name| dir.join(name)));
    let text = bytes.filter_map(|path| fs::read_to_string(path).ok()).next()?;
    text.trim().parse::<f64>().ok().map(|bytes| bytes / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_proc_are_read() {
        let read =
            table("7f00-7fff ---p 00000000 00:00 0 [rollup]\nRss:  676 kB\nPss:  362 kB\nSlab:   12 kB\n");
        assert_eq!((read.get("Pss"), read.get("Slab")), (Some(&362.0), Some(&12.0)));
    }
}
