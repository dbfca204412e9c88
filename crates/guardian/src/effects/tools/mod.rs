//! Tools: what agents' own tools would do, in the same acts as programs.
//!
//! Owns: the names and fields of every agent's tools. Refuses: commands; a tool that runs one hands it back for evaluation, so a
//! write is judged alike whichever way it is made.

mod fields;
mod kinds;
mod patch;

use serde_json::Value as Json;

use self::fields::Fields;
use self::kinds::Kind;
use super::act::{Act, Change, Datum, Effect, Effort, Traffic};
use super::context::Context;
use crate::policy::Call;
use crate::shell::ast::Span;
use crate::shell::value::{Piece, Value, Why};

pub use patch::{PatchChange, changes as patch_changes};

/// What a tool would do: effects, and commands that are still to be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolOutcome {
    /// What it does itself.
    pub effects: Vec<Effect>,
    /// What it has a shell or the system run.
    pub commands: Vec<Line>,
}

/// A command of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Text for a shell.
    Shell {
        /// The text.
        text: Vec<u8>,
        /// Where it runs.
        cwd: Value,
    },
    /// A program with its arguments, no shell between.
    Program {
        /// The program and its arguments.
        argv: Vec<Value>,
        /// Where it runs.
        cwd: Value,
    },
}

/// What a call would do.
#[must_use]
pub fn of_call(call: &Call<'_>, context: &Context) -> ToolOutcome {
    let fields = Fields::of(call, context);
    let mut outcome = ToolOutcome::default();
    let kind = kinds::of(call.tool, &fields);
    let acts = match kind {
        Kind::Shell => {
            outcome.commands = commands(&fields);
            if outcome.commands.is_empty() { vec![unreadable(call, "command")] } else { Vec::new() }
        }
        Kind::Read => paths(call, &fields, |path| Act::Read { path, deep: false }),
        Kind::Search => search(&fields),
        Kind::Look => look(&fields),
        Kind::Write => {
            let content = fields
                .text(&["content", "contents", "file_text", "text", "code", "new_source"])
                .map(Value::known);
            paths(call, &fields, |path| written(path, Change::Replace, content.clone()))
        }
        Kind::Edit => {
            let content = edits(&fields);
            paths(call, &fields, |path| written(path, Change::Edit, content.clone()))
        }
        Kind::Delete => paths(call, &fields, |path| Act::Delete { path, deep: true, filtered: false }),
        Kind::Move => moved(&fields),
        Kind::Make => paths(call, &fields, |path| written(path, Change::Make, None)),
        Kind::Mount => {
            let shown = |path| super::programs::shown(&path, context);
            fields.paths().into_iter().filter_map(shown).collect()
        }
        Kind::Patch => patched(call, &fields),
        Kind::Fetch => vec![fetched(&fields)],
        Kind::Spawn => {
            // What it is given beside its task is nobody's promise; a command is one wherever it stands.
            outcome.commands = commands(&fields);
            let agent =
                fields.text(&["subagent_type", "agent_type", "agent", "name", "mode"]).unwrap_or_default();
            vec![Act::Spawn { agent: agent.to_owned() }]
        }
        Kind::Own => vec![Act::Signal { target: Value::known(call.tool), own: true }],
        Kind::Later => vec![Act::Persist { how: call.tool.to_owned() }],
        Kind::Harmless => vec![Act::Compute],
        Kind::Foreign => foreign(call, &fields, &mut outcome),
    };
    let unguarded =
        ["dangerouslyDisableSandbox", "dangerously_disable_sandbox", "with_escalated_permissions"];
    let is_unguarded = unguarded.iter().any(|name| fields.input.get(*name) == Some(&Json::Bool(true)));
    let tampered = is_unguarded
        .then(|| Act::Tamper { how: "the agent's own sandbox is switched off for it".to_owned() });
    let acts = acts.into_iter().chain(tampered);
    let by = call.tool.to_owned();
    let effect = |act| Effect { act, by: by.clone(), span: None, effort: Effort::Done };
    outcome.effects.extend(acts.map(effect));
    outcome
}

/// What a URL brings: a page, or with `file:` a file.
fn fetched(fields: &Fields<'_>) -> Act {
    let to = fields.url();
    let file = to.text().and_then(|url| url.strip_prefix("file://"));
    match file.map(|rest| rest.strip_prefix("localhost").unwrap_or(rest)) {
        Some(path) => Act::Read { path: fields.path(path), deep: false },
        None => Act::Network { traffic: Traffic::Fetch, to, data: Vec::new() },
    }
}

fn written(path: Value, change: Change, content: Option<Value>) -> Act {
    super::programs::written(path, change, content)
}

/// An act for every path it names; a tool for files that names none is unknown.
fn paths(call: &Call<'_>, fields: &Fields<'_>, act: impl Fn(Value) -> Act) -> Vec<Act> {
    let found = fields.paths();
    if found.is_empty() { vec![unreadable(call, "path")] } else { found.into_iter().map(act).collect() }
}

fn unreadable(call: &Call<'_>, field: &str) -> Act {
    Act::Unknown(Why { construct: format!("{} without a {field}", call.tool), span: Span::default() })
}

fn commands(fields: &Fields<'_>) -> Vec<Line> {
    let cwd = fields.directory();
    let mut lines = Vec::new();
    for name in ["command", "cmd", "script", "chars", "commands", "CommandLine", "commandLine", "input"] {
        match fields.input.get(name) {
            Some(Json::String(text)) => {
                lines.push(Line::Shell { text: text.clone().into_bytes(), cwd: cwd.clone() });
            }
            Some(Json::Array(words)) => {
                let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
                // Words are a program; several lines are as many commands.
                if name == "commands" {
                    lines.extend(
                        words
                            .iter()
                            .map(|text| Line::Shell { text: text.as_bytes().to_vec(), cwd: cwd.clone() }),
                    );
                } else {
                    let argv = words.into_iter().map(Value::known).collect();
                    lines.push(Line::Program { argv, cwd: cwd.clone() });
                }
            }
            _ => continue,
        }
        break;
    }
    lines
}

/// Contents are searched: a file, or all below a directory that a pattern lets through.
fn search(fields: &Fields<'_>) -> Vec<Act> {
    let here = fields.paths();
    let here = if here.is_empty() { vec![fields.directory()] } else { here };
    let pattern = fields.text(&["glob", "include", "include_pattern", "includePattern", "glob_pattern"]);
    here.into_iter()
        .map(|path| match pattern {
            Some(pattern) => Act::Read { path: below(&path, pattern), deep: false },
            None => Act::Read { path, deep: true },
        })
        .collect()
}

fn look(fields: &Fields<'_>) -> Vec<Act> {
    let here = fields.paths();
    let here = if here.is_empty() { vec![fields.directory()] } else { here };
    let pattern = fields.text(&["pattern", "glob", "glob_pattern", "query"]);
    here.into_iter()
        .map(|path| Act::Look { path: pattern.map_or(path.clone(), |pattern| below(&path, pattern)) })
        .collect()
}

/// What a pattern below a directory stands for.
fn below(directory: &Value, pattern: &str) -> Value {
    let mut path = if pattern.starts_with('/') { Value::default() } else { directory.clone() };
    let (known, rest) = match pattern.find(['*', '?', '[', '{']) {
        Some(place) => pattern.split_at_checked(place).unwrap_or((pattern, "")),
        None => (pattern, ""),
    };
    if !path.pieces.is_empty() {
        path.push(Piece::Known(b"/".to_vec()));
    }
    path.push(Piece::Known(known.as_bytes().to_vec()));
    if !rest.is_empty() {
        path.push(Piece::Glob(rest.as_bytes().to_vec()));
    }
    super::path::normal(&path)
}

/// What an edit puts in, where it is one piece.
fn edits(fields: &Fields<'_>) -> Option<Value> {
    let one = fields.text(&[
        "new_string",
        "newString",
        "new_str",
        "new_source",
        "insert_text",
        "code_edit",
        "replace",
    ]);
    if let Some(text) = one {
        return Some(Value::known(text));
    }
    let all = fields.input.get("edits")?.as_array()?;
    let texts: Vec<&str> = all
        .iter()
        .filter_map(|edit| edit.get("new_string").or_else(|| edit.get("newText"))?.as_str())
        .collect();
    (!texts.is_empty()).then(|| Value::known(texts.join("\n")))
}

fn moved(fields: &Fields<'_>) -> Vec<Act> {
    let path = |names: &[&str]| fields.text(names).map(|text| fields.path(text));
    let from = path(&["source", "from", "old_path", "oldPath", "source_path", "path"]);
    let to = path(&["destination", "to", "new_path", "newPath", "destination_path", "target"]);
    let gone = from.map(|path| Act::Delete { path, deep: true, filtered: false });
    let made = to.map(|path| written(path, Change::Replace, None));
    gone.into_iter().chain(made).collect()
}

fn patched(call: &Call<'_>, fields: &Fields<'_>) -> Vec<Act> {
    let text = fields.text(&["input", "patch", "patchText", "diff", "command", "content"]).or_else(|| {
        // `["apply_patch", "*** Begin Patch…"]`
        fields.input.get("command")?.as_array()?.last()?.as_str()
    });
    let changes = text.map(|text| patch::changes(text.as_bytes())).unwrap_or_default();
    if changes.is_empty() {
        return paths(call, fields, |path| written(path, Change::Edit, None));
    }
    changes.into_iter().map(|change| change.act(|path| fields.path(path))).collect()
}

/// The first text among the fields that holds a credential.
fn credential(input: &Json) -> Option<&str> {
    match input {
        Json::String(text) => crate::redact::betrays(text.as_bytes()).then_some(text),
        Json::Array(all) => all.iter().find_map(credential),
        Json::Object(fields) => fields.values().find_map(credential),
        Json::Null | Json::Bool(_) | Json::Number(_) => None,
    }
}

/// A tool nobody here knows: its name, and what its fields give away.
fn foreign(call: &Call<'_>, fields: &Fields<'_>, outcome: &mut ToolOutcome) -> Vec<Act> {
    let mut acts = vec![Act::Tool { name: call.tool.to_owned() }];
    let verb = call.tool.rsplit("__").next().unwrap_or(call.tool).to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| verb.contains(word));
    let runs = says(&["shell", "bash", "exec", "terminal", "run_command", "run_script"]);
    if runs && fields.input.get("command").or_else(|| fields.input.get("cmd")).is_some() {
        outcome.commands = commands(fields);
    }
    for path in fields.paths() {
        acts.push(if says(&["delete", "remove", "unlink"]) {
            Act::Delete { path, deep: true, filtered: false }
        } else if says(&[
            "write", "create", "save", "append", "edit", "update", "patch", "replace", "insert", "move",
            "upload",
        ]) {
            written(path, Change::Replace, None)
        } else if says(&["list", "tree", "stat", "info", "glob"]) {
            Act::Look { path }
        } else {
            Act::Read { path, deep: false }
        });
    }
    if fields.text(&["url", "uri", "href"]).is_some() {
        acts.push(fetched(fields));
    }
    if says(&["move", "rename", "copy"]) {
        acts.extend(moved(fields));
    }
    // A credential among its words goes wherever the tool goes.
    if let Some(text) = credential(fields.input) {
        let (to, data) = (Value::known(call.tool), vec![Datum::Text(Value::known(text))]);
        acts.push(Act::Network { traffic: Traffic::Send, to, data });
    }
    if says(&["query", "sql", "execute", "statement"])
        && let Some(sql) = fields.text(&["sql", "query", "statement"])
    {
        acts.extend(super::programs::statements(sql));
    }
    acts
}

#[cfg(test)]
mod tests;
