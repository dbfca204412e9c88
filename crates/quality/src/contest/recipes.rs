//! Settings in files of recipes: what targets and tasks that run tests or linters do, and what they are made of.

use super::settings::{Parts, Whose, script};

/// Targets, the variables they use, and what settles how all of them run.
pub(super) fn makefile(text: &str) -> Parts {
    let mut parts = targets(text);
    for word in ["include", "-include", "sinclude", "import", "set"] {
        let lines: Vec<&str> =
            text.lines().filter(|line| line.split_whitespace().next() == Some(word)).collect();
        if !lines.is_empty() {
            parts.insert(word.to_owned(), (Whose::Runner, lines.join("\n")));
        }
    }
    let assigned: Vec<(&str, &str)> = text.lines().filter_map(assignment).collect();
    for special in ["SHELL", ".SHELLFLAGS", "MAKEFLAGS", ".DEFAULT_GOAL", "PATH", "PYTHONPATH"] {
        if let Some((_, value)) = assigned.iter().rfind(|(name, _)| *name == special) {
            parts.insert(special.to_owned(), (Whose::Runner, (*value).to_owned()));
        }
    }
    // A variable a protected target uses is part of it, and so is what that variable is made of.
    let mut open: Vec<(String, Whose)> =
        parts.values().flat_map(|(whose, said)| used(said).map(|name| (name.to_owned(), *whose))).collect();
    while let Some((name, whose)) = open.pop() {
        let values: Vec<&str> =
            assigned.iter().filter(|(own, _)| *own == name).map(|(_, value)| *value).collect();
        let label = format!("variable {name}");
        if values.is_empty() || parts.contains_key(&label) {
            continue;
        }
        let said = values.join("\n");
        open.extend(used(&said).map(|name| (name.to_owned(), whose)));
        parts.insert(label, (whose, said));
    }
    parts
}

/// `NAME = value`, `NAME := value`, `export NAME ?= value`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    if line.starts_with(['\t', ' ', '#']) {
        return None;
    }
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!', ' ', '\t']);
    let name = ["export ", "override "].iter().fold(name, |name, word| name.trim_start_matches(word)).trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "._-".contains(c));
    is_name.then(|| (name, value.trim()))
}

/// The variables a text uses: `$(NAME)`, `${NAME}`, `{{NAME}}`.
fn used(text: &str) -> impl Iterator<Item = &str> {
    ["$(", "${", "{{"].into_iter().flat_map(move |open| {
        text.split(open).skip(1).filter_map(|rest| {
            let name = rest.trim_start();
            let end = name.find(|c: char| !(c.is_alphanumeric() || "._-".contains(c)))?;
            name.get(..end).filter(|name| !name.is_empty())
        })
    })
}

/// Tasks below `tasks:`, by how far they are indented.
pub(super) fn tasks(text: &str) -> Parts {
    let mut parts = Parts::new();
    let mut open: Option<(String, Whose)> = None;
    let (mut is_inside, mut depth) = (false, None);
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) {
        let indent = line.len() - line.trim_start().len();
        if indent == 0 {
            is_inside = line.starts_with("tasks:");
            open = None;
            if ["includes:", "set:", "shopt:", "dotenv:"].iter().any(|key| line.starts_with(key)) {
                parts.insert(line.trim().to_owned(), (Whose::Runner, line.trim().to_owned()));
            }
            continue;
        }
        if is_inside && indent == *depth.get_or_insert(indent) {
            let name = line.trim().split(':').next().unwrap_or_default().trim_matches(['"', '\'']);
            open = script(name).map(|whose| (name.to_owned(), whose));
        }
        if let Some((name, whose)) = &open {
            let part = parts.entry(name.clone()).or_insert((*whose, String::new()));
            part.1.push_str(line.trim());
            part.1.push('\n');
        }
    }
    parts
}

/// What a target of a makefile needs and does.
fn targets(text: &str) -> Parts {
    let mut parts = Parts::new();
    let mut open: Option<(String, Whose)> = None;
    for line in text.lines() {
        let is_recipe = line.starts_with(['\t', ' ']);
        if !is_recipe {
            let head = line.split(':').next().unwrap_or_default();
            let named = line.contains(':') && !line.contains(":=") && !head.starts_with(['#', '.']);
            let name = head.split_whitespace().next().unwrap_or_default();
            open = script(name).filter(|_| named).map(|whose| (name.to_owned(), whose));
        }
        if let Some((name, whose)) = &open {
            let part = parts.entry(name.clone()).or_insert((*whose, String::new()));
            part.1.push_str(line.trim());
            part.1.push('\n');
        }
    }
    parts
}
