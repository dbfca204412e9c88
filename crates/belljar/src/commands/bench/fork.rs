//! `belljar bench fork`: many sandboxes from one snapshot, all running at the same time.

use std::{
    num::NonZero,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Instant,
};

use anyhow::{Context as _, Result};
use belljar_domain::{SandboxSpec, SnapshotId, TemplateRef};
use belljar_ports::{Sandbox, SandboxProvider};

use super::{
    ground::{Ground, Herd, execute},
    report::Report,
    series::Series,
};
use crate::context::new_snapshot_id;

/// What the forks must find: proof that they started from the snapshot.
const MARK: &str = "forked-from-here";

pub(crate) fn measure(ground: &Ground, count: u32) -> Result<Report> {
    let mut taking = Series::new("snapshot");
    let snapshot = Snapshot::take(ground, &mut taking)?;
    let spec = SandboxSpec {
        template: TemplateRef::Snapshot(snapshot.id),
        ..ground.provider.snapshot_spec(snapshot.id)?
    };
    let (forks, herd, took) = {
        let start = Instant::now();
        let (forks, herd) = fork(ground, &spec, count);
        (forks, herd, start.elapsed())
    };
    if let Some(sandbox) = herd.last() {
        execute(sandbox, &["test", "-f", MARK]).context("look for what the snapshot holds in a fork")?;
    }
    drop(herd);
    Ok(Report::new("fork", vec![taking, forks]).total("all forks", took))
}

/// Makes the forks on every processor at once, as whoever forks an agent does.
fn fork(ground: &Ground, spec: &SandboxSpec, count: u32) -> (Series, Herd) {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicU32::new(0);
    let outcomes = Mutex::new((Series::new("fork"), Herd::default()));
    let work = || {
        while ground.goes_on() && next.fetch_add(1, Ordering::Relaxed) < count {
            let start = Instant::now();
            let made: Result<Box<dyn Sandbox>> = ground.create(spec);
            let took = start.elapsed();
            let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(sandbox) = outcomes.0.add(took, made) {
                outcomes.1.add(sandbox);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    outcomes.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// A snapshot that is removed on drop, after everything that started from it.
struct Snapshot<'a> {
    ground: &'a Ground,
    id: SnapshotId,
}

impl<'a> Snapshot<'a> {
    fn take(ground: &'a Ground, taking: &mut Series) -> Result<Self> {
        let mut herd = Herd::default();
        herd.add(ground.create(&ground.spec)?);
        let origin = herd.last().context("a sandbox was made just now")?;
        execute(origin, &["sh", "-c", &format!("echo x > {MARK}")])?;
        let id = new_snapshot_id();
        let held = Self { ground, id };
        let start = Instant::now();
        let taken = origin.snapshot(id, None)?;
        taking.add(start.elapsed(), Ok(taken));
        Ok(held)
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // It may never have been taken.
        let _absent = self.ground.provider.remove_snapshot(self.id);
    }
}
