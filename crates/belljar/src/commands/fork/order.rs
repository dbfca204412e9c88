//! What is typed, and what a task file says, as one request.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context as _, Result, bail};
use belljar_domain::{MountMode, SandboxSpec, Span, TemplateRef};
use serde_json::{Map, Value, json};

use super::task::{Agent, AgentFile, Line, TaskFile};
use crate::{
    args::{Fork, Vary},
    commands::run::sandbox_spec,
    context::Context,
};

/// The task file that is used where no command is given.
const TASK_FILE: &str = "belljar.task.toml";
/// How many attempts there are unless somebody says.
const ATTEMPTS: usize = 3;
/// The largest prompt that is read from a file.
const PROMPT: u64 = 128 * 1024 - 64;

/// The request of `belljar fork` for a task, and the file it is written in.
pub(super) fn request(context: &Context, args: &Fork, task: TaskFile, file: Option<&Path>) -> Result<Value> {
    let spec = sandbox_spec(context, &task.sandbox.under(&args.shape)?)?;
    let workspace = spec.workspace.as_ref().map(|path| path.as_path().to_owned());
    let prompt = match (&args.prompt, task.prompt(file)?) {
        (Some(given), _) => prompt(given)?,
        (None, written) => written,
    };
    let entrants = entrants(args, &task)?;
    let seconds = |given: Option<Span>, written: Option<&str>| -> Result<Option<u64>> {
        let written =
            written.map(|text| text.parse::<Span>().with_context(|| format!("`{text}` is no time")));
        let span = given.map(Ok).or(written).transpose()?;
        Ok(span.map(|span| span.as_millis().div_ceil(1000).max(1)))
    };
    if workspace.is_none() {
        bail!("a run needs a workspace: the directory the attempts work on; leave out `--workspace none`");
    }
    let mut request = json!({
        "prompt": prompt,
        "attempts": entrants.len(),
        "agents": entrants,
        "sandbox": sandbox(&spec)?,
        "keep": args.keep || task.keep,
        "observe": !args.no_observe && task.observe.unwrap_or(true),
        "artifacts": both(&args.artifact, &task.artifacts),
        "protected": both(&args.protect, &task.protected),
        "subjects": both(&args.subject, &task.subjects),
        "rules": rules(args, &task)?,
    });
    let optional = [
        ("task_id", json!(args.task.clone().or(task.name))),
        ("setup", json!(args.setup.clone().or(task.setup))),
        ("build", json!(args.build.clone().or(task.build))),
        ("check", json!(args.check.clone().or(task.check))),
        ("lint", json!(args.lint.clone().or(task.lint))),
        ("webhook", json!(args.webhook.clone().or(task.webhook))),
        ("judge", json!(args.judge.clone().or(task.judge))),
        ("timeout_seconds", json!(seconds(args.timeout, task.timeout.as_deref())?)),
        ("check_timeout_seconds", json!(seconds(args.check_timeout, task.check_timeout.as_deref())?)),
        ("keep_alive", json!(args.keep_alive.as_ref().map(|_| true))),
        ("preview", json!(args.keep_alive.as_ref().filter(|command| !command.is_empty()))),
        ("concurrency", json!(args.jobs.or(task.jobs))),
        ("max_forks", json!(args.max_forks.or(task.max_forks))),
        ("budget_usd", json!(args.budget.or(task.budget_usd))),
    ];
    if let Some(fields) = request.as_object_mut() {
        let given = optional.into_iter().filter(|(_, value)| !value.is_null());
        fields.extend(given.map(|(name, value)| (name.to_owned(), value)));
    }
    Ok(request)
}

/// The task file that is meant, if one is.
pub(super) fn task_file(args: &Fork) -> Option<&Path> {
    let found = || args.command.is_empty() && args.agents.is_none() && Path::new(TASK_FILE).exists();
    args.file.as_deref().or_else(|| found().then(|| Path::new(TASK_FILE)))
}

/// A prompt as text, or the file it names.
fn prompt(given: &str) -> Result<String> {
    let path = Path::new(given.strip_prefix('@').unwrap_or(given));
    // A sentence may end with the name of a file.
    let is_named = path.extension().is_some_and(|end| end == "md" || end == "txt");
    let is_file = given.starts_with('@')
        || (is_named && !given.contains('\n') && (path.exists() || !given.contains(char::is_whitespace)));
    if !is_file {
        return Ok(given.to_owned());
    }
    let read = || -> Result<String> {
        let length = fs::metadata(path)?.len();
        if length > PROMPT {
            bail!("it has {length} bytes; at most {PROMPT} are taken");
        }
        Ok(fs::read_to_string(path)?)
    };
    read().with_context(|| format!("read the prompt `{}`", path.display()))
}

/// One agent for each attempt, each with what differs.
fn entrants(args: &Fork, task: &TaskFile) -> Result<Vec<Value>> {
    let file = args.agents.as_deref().map(AgentFile::read).transpose()?.unwrap_or_default();
    let agents: Vec<&Agent> =
        if file.agents.is_empty() { task.agents.iter().collect() } else { file.agents.iter().collect() };
    let command = if args.command.is_empty() {
        task.command.clone().map(Line::argv)
    } else {
        Some(args.command.clone())
    };
    let several = if agents.is_empty() { ATTEMPTS } else { agents.len() };
    let count = args.attempts.or(task.attempts).unwrap_or(several);
    let most = args.max_forks.or(task.max_forks).unwrap_or(10);
    if count == 0 || count > most {
        bail!("a run has 1 to {most} attempts, not {count}; --max-forks allows more than 10, up to 100");
    }
    let vary = if file.vary.is_empty() { &task.vary } else { &file.vary };
    for what in &args.vary {
        if let Some(missing) = vary.missing(*what) {
            bail!(
                "--vary {missing} needs a list: write `[vary]` with `{missing}s = [\"…\", \"…\"]` in the file of --agents"
            );
        }
    }
    (0..count)
        .map(|fork| {
            let agent = agents.get(fork % agents.len().max(1));
            let command = agent.and_then(|agent| agent.command.clone()).map(Line::argv).or_else(|| command.clone());
            let Some(command) = command else {
                bail!("no command was given; write what each attempt runs after --, as in `belljar fork -- claude -p \"$(cat task.md)\"`");
            };
            let mut env: BTreeMap<String, String> = agent.map(|agent| agent.env.clone()).unwrap_or_default();
            for what in &args.vary {
                env.extend(vary.of(*what, fork));
            }
            let name = agent.and_then(|agent| agent.name.clone());
            Ok(json!({ "name": name, "command": command, "env": env }))
        })
        .collect()
}

fn both(given: &[String], written: &[String]) -> Vec<String> {
    given.iter().chain(written).cloned().collect()
}

fn rules(args: &Fork, task: &TaskFile) -> Result<Value> {
    let mut weights: Map<String, Value> =
        task.weights.iter().map(|(name, points)| (name.clone(), json!(points))).collect();
    for given in &args.weight {
        let pair = given.split_once('=').and_then(|(name, points)| Some((name, points.parse::<f64>().ok()?)));
        let (name, points) =
            pair.with_context(|| format!("`{given}` is no weight; write NAME=POINTS, as in tests=60"))?;
        weights.insert(name.to_owned(), json!(points));
    }
    Ok(json!({ "weights": weights, "waive": both(&args.waive, &task.waive) }))
}

/// A sandbox as the API takes it.
fn sandbox(spec: &SandboxSpec) -> Result<Value> {
    let mounts: Vec<Value> = spec
        .mounts
        .iter()
        .map(|mount| {
            let mode = if mount.mode == MountMode::Ro { "ro" } else { "rw" };
            json!({ "host": mount.host.to_string(), "sandbox": mount.sandbox.to_string(), "mode": mode })
        })
        .collect();
    let limits = &spec.limits;
    let seconds = |span: Span| Some(span.as_millis().div_ceil(1000)).filter(|seconds| *seconds > 0);
    let template = match &spec.template {
        TemplateRef::Path(path) => {
            std::path::absolute(path).context("find the template")?.display().to_string()
        }
        other => other.to_string(),
    };
    let mut order = json!({
        "template": template,
        "workspace": spec.workspace.as_ref().map(ToString::to_string),
        "profile": spec.profile,
        "network": spec.network,
        "limits": {
            "memory_bytes": limits.memory.as_bytes(),
            "cpus": f64::from(limits.cpus.as_milli()) / 1000.0,
            "disk_bytes": limits.disk.as_bytes(),
            "inodes": limits.inodes,
            "pids": limits.pids,
            "open_files": limits.open_files,
        },
        "mounts": mounts,
        "env": spec.env,
        "agent": spec.agent,
        "labels": spec.labels,
    });
    if let (Some(fields), Some(idle)) = (order.as_object_mut(), seconds(spec.clocks.idle)) {
        fields.insert("idle_seconds".to_owned(), json!(idle));
    }
    Ok(order)
}

impl super::task::Variation {
    fn of(&self, what: Vary, fork: usize) -> Option<(String, String)> {
        let next = |list: &[String]| list.get(fork % list.len().max(1)).cloned();
        match what {
            Vary::Model => Some(("FORK_MODEL".to_owned(), next(&self.models)?)),
            Vary::Hint => Some(("FORK_HINT".to_owned(), next(&self.hints)?)),
            Vary::Seed => Some(("FORK_SEED".to_owned(), (fork + 1).to_string())),
        }
    }

    const fn missing(&self, what: Vary) -> Option<&'static str> {
        match what {
            Vary::Model if self.models.is_empty() => Some("model"),
            Vary::Hint if self.hints.is_empty() => Some("hint"),
            Vary::Model | Vary::Hint | Vary::Seed => None,
        }
    }
}
