//! A swarm: different tasks at once, each a run of its own, and one account of them all.
//!
//! Owns: `[[tasks]]` of a task file, and what they come to together. Refuses: to judge between tasks; every one has its own
//! winner.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    super::{
        embedded::{field, with_server},
        runs::text,
    },
    HUNG_UP, INTERRUPTED, NO_WINNER, begun_alone, order,
    progress::Progress,
    task::TaskFile,
    watch::{Signals, Whose, follow},
};
use crate::{
    args::Fork,
    client::Client,
    context::Context,
    output::{dollars, plain, print_json, print_table},
};

/// A task file with several tasks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Swarm {
    /// What they are called together.
    name: String,
    tasks: Vec<TaskFile>,
    /// Where it was written.
    #[serde(skip)]
    file: PathBuf,
}

impl Swarm {
    /// What a file says, if it is one of several tasks.
    pub(super) fn read(file: &Path) -> Result<Option<Self>> {
        let said = fs::read_to_string(file).with_context(|| format!("read `{}`", file.display()))?;
        // Whoever reads it as one task says what is wrong with it.
        let is_swarm = toml::from_str::<toml::Table>(&said).is_ok_and(|table| table.contains_key("tasks"));
        if !is_swarm {
            return Ok(None);
        }
        let swarm: Self =
            toml::from_str(&said).with_context(|| format!("understand `{}`", file.display()))?;
        let names: BTreeSet<&str> = swarm.tasks.iter().filter_map(|task| task.name.as_deref()).collect();
        if swarm.tasks.is_empty() || names.len() < swarm.tasks.len() {
            bail!("`{}`: every one of [[tasks]] needs a `name` of its own", file.display());
        }
        Ok(Some(Self { file: file.to_owned(), ..swarm }))
    }

    /// A request for each task, with the task's name. What is wrong with one is heard before any begins.
    fn requests(self, context: &Context, args: &Fork) -> Result<Vec<(String, Value)>> {
        let mut found = Vec::new();
        for mut task in self.tasks {
            let name = task.name.take().unwrap_or_default();
            task.name = Some(format!("{}/{name}", self.name));
            let request = order::request(context, args, task, Some(&self.file));
            found.push((name.clone(), request.with_context(|| format!("the task `{name}`"))?));
        }
        Ok(found)
    }
}

/// Begins every task, waits for all, and shows what they came to.
pub(super) fn carry_out(context: &Context, args: &Fork, swarm: Swarm, whose: Whose) -> Result<ExitCode> {
    if args.keep_alive.is_some() || args.task.is_some() {
        bail!(
            "--keep-alive and --task are for one task; a file of [[tasks]] has several, each with its name"
        );
    }
    let called = swarm.name.clone();
    let requests = swarm.requests(context, args)?;
    let signals = Signals::listen()?;
    with_server(context, |server| {
        let begun = begin(server, requests)?;
        if args.detach {
            for (_, run) in &begun {
                begun_alone(context, run)?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        let mut done = Vec::new();
        // They go on side by side, whichever is watched.
        for (name, run) in begun {
            let progress = Progress::choose(context, args.quiet);
            let Some(run) = follow(server, run, whose, &signals, progress)? else {
                return Ok(ExitCode::from(HUNG_UP));
            };
            let results = server.records(&format!("runs/{}/results", text(&run, "id")), &[])?;
            done.push(Done { name, run, results });
        }
        show(context, &called, &done)?;
        Ok(code(&done))
    })
}

/// All of them, or none.
fn begin(server: &Client, requests: Vec<(String, Value)>) -> Result<Vec<(String, Value)>> {
    let mut begun: Vec<(String, Value)> = Vec::new();
    for (name, request) in requests {
        match server.order("POST", &["sandboxes", "fork"], Some(&request)) {
            Ok(run) => begun.push((name, run)),
            Err(error) => {
                for (_, run) in &begun {
                    // One that is over by now needs no stopping.
                    let _over = server.order("DELETE", &["runs", text(run, "id")], None);
                }
                return Err(anyhow::Error::from(error).context(format!("begin the task `{name}`")));
            }
        }
    }
    Ok(begun)
}

/// A task that is over.
struct Done {
    name: String,
    run: Value,
    results: Value,
}

fn show(context: &Context, called: &str, done: &[Done]) -> Result<()> {
    if context.json {
        let tasks: Vec<Value> = done.iter().map(told).collect();
        let won = done.iter().filter(|task| is_won(task)).count();
        print_json(&json!({ "swarm": called, "won": won, "tasks": tasks }))?;
        return Ok(());
    }
    let rows: Vec<Vec<String>> = done.iter().map(row).collect();
    print_table(&["TASK", "RUN", "STATE", "WINNER", "SCORE", "COST"], &rows)?;
    let mut out = io::stdout().lock();
    for task in done {
        writeln!(out, "\n{}: {}", plain(&task.name), plain(text(&task.results, "reason")))?;
    }
    writeln!(
        out,
        "\n  belljar runs show RUN   shows how a task was judged; runs apply RUN keeps its winner"
    )?;
    Ok(())
}

/// What a task came to: the results of its run, with the task's name and how the run ended.
fn told(task: &Done) -> Value {
    let mut fields: Map<String, Value> = task.results.as_object().cloned().unwrap_or_default();
    fields.insert("task".to_owned(), json!(task.name));
    fields.insert("run".to_owned(), field(&task.run, "id").clone());
    fields.insert("state".to_owned(), field(&task.run, "state").clone());
    Value::Object(fields)
}

fn row(task: &Done) -> Vec<String> {
    let id = text(&task.run, "id");
    let costs = field(&task.results, "forks").as_array().into_iter().flatten();
    let costs: Vec<f64> = costs.filter_map(|fork| field(fork, "cost").as_f64()).collect();
    let dash = || "-".to_owned();
    vec![
        plain(&task.name),
        id.get(id.len().saturating_sub(8)..).unwrap_or(id).to_owned(),
        text(&task.run, "state").to_owned(),
        field(&task.results, "winner_fork").as_u64().map_or_else(dash, |fork| fork.to_string()),
        field(&task.results, "winner_score").as_f64().map_or_else(dash, |score| format!("{score:.1}")),
        if costs.is_empty() { dash() } else { dollars(costs.iter().sum()) },
    ]
}

fn is_won(task: &Done) -> bool {
    text(&task.run, "state") == "finished" && !field(&task.results, "winner_fork").is_null()
}

fn code(done: &[Done]) -> ExitCode {
    let is = |state: &str| done.iter().any(|task| text(&task.run, "state") == state);
    match () {
        () if done.iter().all(is_won) => ExitCode::SUCCESS,
        () if is("cancelled") => ExitCode::from(INTERRUPTED),
        () if done.iter().all(|task| text(&task.run, "state") == "finished") => ExitCode::from(NO_WINNER),
        () => ExitCode::from(belljar_domain::EXIT_BELLJAR_FAILED),
    }
}
