//! `belljar bench best-of`: runs as `belljar fork` makes them, one attempt and several, in turn.
//!
//! Owns: two questions. How long after the snapshot do all attempts run? And do several that mostly wait, as agents do,
//! take longer than one?

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use belljar_domain::Timestamp;
use serde_json::{Value, json};

use super::{ground::Ground, report::Report, series::Series};
use crate::{
    client::Client,
    commands::{
        embedded::{field, with_server},
        runs::{items, text},
    },
    context::Context,
};

/// How long each attempt sleeps: longer than anything around it takes.
const SLEEP: &str = "3";
/// How often both are measured, in turn, so that a busy moment hits both.
const ROUNDS: u32 = 3;

pub(crate) fn measure(context: &Context, ground: &Ground, count: u32) -> Result<Report> {
    let mut started = Series::new("snapshot to all running");
    let (mut one, mut several) = (Series::new("one attempt"), Series::new("all attempts"));
    with_server(context, |server| {
        // The first run fills caches.
        run(server, ground, 1)?;
        for _round in 0..ROUNDS {
            if !ground.goes_on() {
                break;
            }
            let alone = run(server, ground, 1)?;
            one.add(alone.over, Ok(()));
            let together = run(server, ground, count)?;
            several.add(together.over, Ok(()));
            started.add(together.running, Ok(()));
        }
        Ok(())
    })?;
    Ok(Report::new("best-of", vec![started, one, several]))
}

/// How long after its snapshot a run's attempts all ran, and were all over.
struct Took {
    running: Duration,
    over: Duration,
}

fn run(server: &Client, ground: &Ground, count: u32) -> Result<Took> {
    let workspace = ground.workspace().to_str().context("the workspace's name is not valid UTF-8")?;
    let request = json!({
        "task_id": "bench", "attempts": count, "max_forks": 100, "concurrency": count,
        "command": ["sleep", SLEEP], "sandbox": { "workspace": workspace },
    });
    let mut run = server.order("POST", &["sandboxes", "fork"], Some(&request))?;
    while matches!(text(&run, "state"), "preparing" | "running" | "judging") {
        let version = field(&run, "version").to_string();
        let target = format!("runs/{}/wait", text(&run, "id"));
        run = server.records(&target, &[("version", version.as_str())])?;
    }
    ensure!(text(&run, "state") == "finished", "the run ended as {run}");
    let ready = moment(&run, "ready_at")?;
    let last = |name: &str| -> Result<Duration> {
        let ends: Result<Vec<i64>> = items(&run, "forks").map(|fork| moment(fork, name)).collect();
        let micros = ends?.into_iter().max().context("a run has attempts")? - ready;
        Ok(Duration::from_micros(u64::try_from(micros).context("time goes on")?))
    };
    Ok(Took { running: last("started_at")?, over: last("ended_at")? })
}

fn moment(value: &Value, name: &str) -> Result<i64> {
    let time: Timestamp = text(value, name).parse().with_context(|| format!("read {name} of {value}"))?;
    Ok(time.as_micros())
}
