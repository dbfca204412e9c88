//! `belljar agents`, `approve-agent`, `revoke-agent`: who may act, as what, until when.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use belljar_domain::{Role, Standing};
use serde_json::{Map, Value, json};

use super::embedded::{field, with_server};
use crate::{
    args::{AddAgent, Agents, ApproveAgent, RevokeAgent},
    client::Client,
    context::Context,
    output::{brief_text, plain, print_json, print_table, remark},
};

/// The most bytes of a file that is imported, and how deep directories are gone through.
const LARGEST: u64 = 4_000_000;
const DEEPEST: usize = 8;

pub(crate) fn agents(context: &Context, command: Agents) -> Result<ExitCode> {
    with_server(context, |server| match command {
        Agents::List { role, standing } => list(context, server, role, standing),
        Agents::Show { name } => show(context, &server.order("GET", &["agents", &name], None)?),
        Agents::Add(args) => {
            show(context, &server.order("PUT", &["agents", &args.name], Some(&described(&args)))?)
        }
        Agents::Import { paths } => import(context, server, &paths),
        Agents::Export { output } => export(context, server, output.as_deref()),
        Agents::SuggestRole { capabilities, category, description } => {
            let about = json!({
                "capabilities": capabilities, "category": category, "description": description,
            });
            suggest(context, &server.order("POST", &["agents", "suggest-role"], Some(&about))?)
        }
        Agents::Remove { name } => {
            server.order("DELETE", &["agents", &name], None)?;
            said(context, &json!({ "removed": name }), &format!("removed {name}"))
        }
    })
}

pub(crate) fn approve(context: &Context, args: &ApproveAgent) -> Result<ExitCode> {
    let seconds = args.span.map(|span| span.as_millis().div_ceil(1000));
    let leave = json!({ "role": args.role, "for_seconds": seconds, "reason": args.reason });
    with_server(context, |server| {
        let agent = server.order("POST", &["agents", &args.name, "approve"], Some(&leave))?;
        let until =
            field(&agent, "until").as_str().map_or_else(String::new, |until| format!(" until {until}"));
        let line = format!("approved {} as {}{until}", args.name, text(&agent, "role"));
        said(context, &agent, &line)
    })
}

pub(crate) fn revoke(context: &Context, args: &RevokeAgent) -> Result<ExitCode> {
    let why = json!({ "reason": args.reason });
    with_server(context, |server| {
        let agent = server.order("POST", &["agents", &args.name, "revoke"], Some(&why))?;
        said(context, &agent, &format!("revoked {}", args.name))
    })
}

/// Shows what was done, in a line or as the server tells it.
pub(super) fn said(context: &Context, answer: &Value, line: &str) -> Result<ExitCode> {
    if context.json {
        print_json(answer)?;
    } else {
        writeln!(io::stdout(), "{}", plain(line))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list(
    context: &Context,
    server: &Client,
    role: Option<Role>,
    standing: Option<Standing>,
) -> Result<ExitCode> {
    let mut query = Vec::new();
    query.extend(role.map(|role| ("role", role.as_str())));
    query.extend(standing.map(|standing| ("standing", standing.as_str())));
    let found = server.all_records("agents", &query)?;
    if context.json {
        print_json(&Value::Array(found))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |agent: &Value| {
        let running = field(agent, "sandboxes").as_array().map_or(0, Vec::len);
        let until = field(agent, "until").as_str().map_or("-", |until| until.get(..16).unwrap_or(until));
        vec![
            text(agent, "name"),
            text(agent, "role"),
            text(agent, "standing"),
            until.to_owned(),
            running.to_string(),
            brief_text(field(agent, "description").as_str().unwrap_or_default(), 60),
        ]
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    print_table(&["NAME", "ROLE", "STANDING", "UNTIL", "SANDBOXES", "DESCRIPTION"], &rows)?;
    if rows.is_empty() {
        remark("no agent is known; `belljar agents import` and `belljar approve-agent` enter them");
    }
    Ok(ExitCode::SUCCESS)
}

fn show(context: &Context, agent: &Value) -> Result<ExitCode> {
    if context.json {
        print_json(agent)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    let lines = [
        ("name", text(agent, "name")),
        ("id", text(agent, "agent_id")),
        ("role", text(agent, "role")),
        ("standing", text(agent, "standing")),
        ("until", text(agent, "until")),
        ("reason", text(agent, "reason")),
        ("by", format!("{} at {}", text(agent, "changed_by"), text(agent, "changed_at"))),
        ("description", text(agent, "description")),
        ("capabilities", words(field(agent, "capabilities"))),
        ("source", text(agent, "source")),
        ("sandboxes", words(field(agent, "sandboxes"))),
    ];
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        writeln!(out, "{name:<13} {value}")?;
    }
    for (name, value) in field(agent, "rbac").as_object().into_iter().flatten() {
        let value = if value.is_boolean() { value.to_string() } else { words(value) };
        if !value.is_empty() {
            writeln!(out, "{:<13} {value}", name.replace('_', " "))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn text(agent: &Value, name: &str) -> String {
    plain(field(agent, name).as_str().unwrap_or_default())
}

fn words(list: &Value) -> String {
    let items = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    plain(&items.collect::<Vec<_>>().join(", "))
}

/// What was said of an agent, as the server takes it: what was not said is left out.
fn described(args: &AddAgent) -> Value {
    let mut rights = Map::new();
    let lists = [("grants", &args.grants), ("denials", &args.denials), ("asks", &args.asks)];
    let scopes = [("read_scopes", &args.reads), ("write_scopes", &args.writes)];
    for (name, list) in lists.into_iter().chain(scopes).filter(|(_, list)| !list.is_empty()) {
        rights.insert(name.to_owned(), json!(list));
    }
    let flags = [
        ("can_spawn_agents", args.can_spawn),
        ("can_modify_agents", args.can_modify_agents),
        ("can_access_secrets", args.can_access_secrets),
    ];
    for (name, flag) in flags {
        rights.extend(flag.map(|flag| (name.to_owned(), json!(flag))));
    }
    let mut about = Map::new();
    about.extend(args.role.map(|role| ("role".to_owned(), json!(role))));
    about.extend(args.description.as_ref().map(|text| ("description".to_owned(), json!(text))));
    about.extend(args.public_key.as_ref().map(|key| ("public_key".to_owned(), json!(key))));
    if !args.capabilities.is_empty() {
        about.insert("capabilities".to_owned(), json!(args.capabilities));
    }
    if !rights.is_empty() {
        about.insert("rbac".to_owned(), Value::Object(rights));
    }
    Value::Object(about)
}

fn import(context: &Context, server: &Client, paths: &[PathBuf]) -> Result<ExitCode> {
    let mut files = Vec::new();
    for path in paths {
        gather(path, 0, &mut files)?;
    }
    let mut sums: [Vec<Value>; 3] = Default::default();
    let (mut unchanged, mut failed) = (0, Vec::new());
    for file in &files {
        let done = read(file).and_then(|content| {
            let body = json!({ "content": content, "source": file.to_string_lossy() });
            Ok(server.order("POST", &["agents", "import"], Some(&body))?)
        });
        match done {
            Ok(done) => {
                for (sum, name) in sums.iter_mut().zip(["added", "changed", "guessed"]) {
                    sum.extend(field(&done, name).as_array().cloned().unwrap_or_default());
                }
                unchanged += field(&done, "unchanged").as_u64().unwrap_or(0);
            }
            // One bad file keeps no other out.
            Err(error) => failed.push(json!({ "file": file, "error": format!("{error:#}") })),
        }
    }
    let [added, changed, guessed] = sums;
    let code = if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if context.json {
        print_json(&json!({
            "added": added, "changed": changed, "unchanged": unchanged, "guessed": guessed, "failed": failed,
        }))?;
        return Ok(code);
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{} added, {} changed, {unchanged} unchanged", added.len(), changed.len())?;
    for (names, what) in [(&added, "added"), (&changed, "changed")] {
        names
            .iter()
            .try_for_each(|name| writeln!(out, "  {what} {}", plain(name.as_str().unwrap_or_default())))?;
    }
    if !guessed.is_empty() {
        remark(&format!("the role of {} was concluded from what they say; look at it", guessed.len()));
    }
    for bad in &failed {
        remark(&format!("{}: {}", text(bad, "file"), text(bad, "error")));
    }
    Ok(code)
}

/// The files that are meant: what is named itself, and of directories what agents are written in.
fn gather(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let doing = || format!("read `{}`", path.display());
    if !fs::metadata(path).with_context(doing)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(path)
        .with_context(doing)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()
        .with_context(doing)?;
    entries.sort();
    for entry in entries {
        // Links may lead round in a circle.
        let about = fs::symlink_metadata(&entry).with_context(doing)?;
        if about.is_dir() && depth < DEEPEST {
            gather(&entry, depth + 1, files)?;
        } else if about.is_file() && entry.extension().is_some_and(|end| end == "md" || end == "json") {
            files.push(entry);
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<String> {
    let doing = || format!("read `{}`", file.display());
    let size = fs::metadata(file).with_context(doing)?.len();
    anyhow::ensure!(size <= LARGEST, "it has {size} bytes; at most {LARGEST}");
    fs::read_to_string(file).with_context(doing)
}

fn export(context: &Context, server: &Client, output: Option<&Path>) -> Result<ExitCode> {
    let registry = server.order("GET", &["agents", "export"], None)?;
    let text = serde_json::to_string_pretty(&registry)?;
    let Some(path) = output else {
        writeln!(io::stdout(), "{text}")?;
        return Ok(ExitCode::SUCCESS);
    };
    fs::write(path, format!("{text}\n")).with_context(|| format!("write `{}`", path.display()))?;
    let count = field(&registry, "agents").as_array().map_or(0, Vec::len);
    said(context, &json!({ "agents": count, "file": path }), &format!("{count} agents in {}", path.display()))
}

fn suggest(context: &Context, found: &Value) -> Result<ExitCode> {
    let confidence = field(found, "confidence").as_f64().unwrap_or_default();
    let how = if confidence > 0.8 { "its capabilities say so" } else { "nothing says so for certain" };
    said(context, found, &format!("{} ({:.0} %: {how})", text(found, "role"), confidence * 100.0))
}
