//! Literals and the names they are bound to; strings that functions repeat.

use std::collections::BTreeSet;

use crate::{
    facts::place,
    file::File,
    finding::Element,
    lang::Lang,
    rules::returned_values,
    tree::{Field, Id, Kind},
    words::{canonical, number, words},
};

/// A literal in one form, however it is written.
pub(crate) type Literal = String;

/// A literal bound to a name: assigned to it, or returned by it.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) name: String,
    pub(crate) words: BTreeSet<String>,
    pub(crate) literal: Literal,
    pub(crate) at: Element,
}

/// A string in a function.
#[derive(Debug)]
pub(crate) struct Quoted {
    pub(crate) text: String,
    pub(crate) at: Element,
}

/// A literal that got a name inside a function and is used once there: no more than the literal was.
#[derive(Debug)]
pub(crate) struct LocalConstant {
    pub(crate) symbol: String,
    pub(crate) literal: Literal,
}

/// Names that are the same everywhere and mean nothing.
const GENERIC: [&str; 38] = [
    "name",
    "value",
    "data",
    "result",
    "results",
    "key",
    "msg",
    "message",
    "text",
    "title",
    "label",
    "color",
    "colour",
    "style",
    "type",
    "kind",
    "id",
    "path",
    "url",
    "prefix",
    "suffix",
    "sep",
    "separator",
    "tag",
    "method",
    "mode",
    "format",
    "encoding",
    "status",
    "description",
    "default",
    "version",
    "displayname",
    "classname",
    "tmp",
    "out",
    "help",
    "usage",
];

/// Strings everybody writes.
const COMMON: [&str; 26] = [
    "utf-8",
    "utf8",
    "utf_8",
    "ascii",
    "latin-1",
    "get",
    "post",
    "put",
    "delete",
    "patch",
    "application/json",
    "content-type",
    "authorization",
    "text/plain",
    "text/html",
    "string",
    "number",
    "object",
    "boolean",
    "function",
    "undefined",
    "true",
    "false",
    "null",
    "none",
    "use strict",
];

pub(crate) fn all(file: &File<'_>) -> Vec<Binding> {
    let tree = &file.tree;
    let mut found = Vec::new();
    let is_variant = is_variant(file);
    for kind in [Kind::Assign, Kind::Declarator, Kind::Const, Kind::Static, Kind::Field] {
        for id in file.all(kind).filter(|id| !is_variant || file.function_of(*id).is_some()) {
            let Some((target, value)) = tree.binding(id) else { continue };
            let name =
                tree.last_name(target).filter(|_| !matches!(tree.kind(target), Kind::Index | Kind::Call));
            let Some((name, literal)) = name.and_then(|name| Some((name, telling(file, value)?))) else {
                continue;
            };
            if !in_enum(file, id) && !tree.is_augmented(id) {
                found.extend(binding(file, id, name, literal));
            }
        }
    }
    for function in file.functions() {
        let values = returned_values(file, function);
        if let [value] = values.as_slice()
            && let Some(literal) = telling(file, *value)
        {
            found.extend(binding(file, *value, function.name, literal));
        }
    }
    found
}

/// A file that is compiled instead of another: what both declare has to be the same.
fn is_variant(file: &File<'_>) -> bool {
    let tree = &file.tree;
    let first = tree.all(Kind::Comment).iter().copied();
    tree.lang == Lang::Go && first.take(20).any(|comment| tree.text(comment).starts_with("//go:build"))
}

fn binding(file: &File<'_>, id: Id, name: &str, literal: Literal) -> Option<Binding> {
    let all: BTreeSet<String> =
        words(name).into_iter().filter(|word| !matches!(word.as_str(), "get" | "the")).collect();
    let is_telling = all.iter().any(|word| word.len() >= 3 && !GENERIC.contains(&word.as_str()));
    is_telling.then(|| Binding { name: name.to_owned(), words: all, literal, at: place(file, id) })
}

fn in_enum(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    tree.above(id, &[Kind::Enum, Kind::Function, Kind::Class]).is_some_and(|up| match tree.kind(up) {
        Kind::Enum => true,
        Kind::Class => {
            tree.text(up).lines().next().is_some_and(|head| head.contains("Enum") || head.contains("Choices"))
        }
        _ => false,
    })
}

/// A literal that says something: not a number or a string that is everywhere.
fn telling(file: &File<'_>, id: Id) -> Option<Literal> {
    let tree = &file.tree;
    if let Some((literal, is_negative)) = tree.signed(id) {
        let value = number(tree.text(literal))?;
        let common = [0.0, 1.0, 2.0, 10.0, 100.0, 1000.0, 60.0, 24.0, 365.0, 1024.0, 3600.0];
        let is_common = common.iter().any(|known| (value - known).abs() < f64::EPSILON);
        return (!is_common)
            .then(|| format!("{}{}", if is_negative { "-" } else { "" }, canonical(tree.text(literal))));
    }
    let text = Some(tree.string(id)).filter(|_| tree.is(id, Kind::Str))?;
    let is_word =
        text.len() >= 3 && !text.contains(|c: char| c.is_whitespace() || matches!(c, '{' | '%' | '\\' | '$'));
    (is_word && !COMMON.contains(&text.to_ascii_lowercase().as_str())).then(|| format!("\"{text}\""))
}

/// Strings in functions that look like a name of something: a queue, a header, a key.
pub(crate) fn quoted(file: &File<'_>) -> Vec<Quoted> {
    let tree = &file.tree;
    let mut seen: BTreeSet<(Id, &str)> = BTreeSet::new();
    let mut found = Vec::new();
    for id in file.all(Kind::Str) {
        let text = tree.string(id);
        let Some(function) = file.function_of(id).filter(|_| is_distinctive(text)) else { continue };
        let is_key = matches!(tree.field(id), Field::Key | Field::Index | Field::Source);
        let in_log = tree
            .above(id, &[Kind::Call, Kind::Block])
            .and_then(|call| tree.callee(call))
            .is_some_and(|callee| {
                matches!(
                    callee.name,
                    "debug"
                        | "info"
                        | "warn"
                        | "warning"
                        | "error"
                        | "log"
                        | "print"
                        | "println"
                        | "Printf"
                        | "require"
                        | "t"
                        | "gettext"
                )
            });
        if !is_key && !in_log && seen.insert((function.id, text)) {
            found.push(Quoted { text: text.to_owned(), at: place(file, id) });
        }
    }
    found
}

fn is_distinctive(text: &str) -> bool {
    let is_name =
        text.contains(|c: char| c.is_ascii_uppercase()) && text.chars().all(|c| c.is_ascii_alphanumeric());
    let has_mark =
        text.contains(['_', '-', '.', ':', '/']) || text.contains(|c: char| c.is_ascii_digit()) || is_name;
    let has_letter = text.contains(|c: char| c.is_alphabetic());
    let is_plain = !text.contains(|c: char| {
        c.is_whitespace() || matches!(c, '{' | '}' | '%' | '\\' | '<' | '>' | '$' | '#' | '=')
    });
    (4..=60).contains(&text.len())
        && has_mark
        && has_letter
        && is_plain
        && !COMMON.contains(&text.to_ascii_lowercase().as_str())
}

pub(crate) fn local_constants(file: &File<'_>) -> Vec<LocalConstant> {
    let tree = &file.tree;
    let mut found = Vec::new();
    for id in [Kind::Assign, Kind::Declarator, Kind::Const].into_iter().flat_map(|kind| file.all(kind)) {
        let Some((target, value)) = tree.binding(id) else { continue };
        let Some(function) = file.function_of(id).filter(|_| tree.is(target, Kind::Ident)) else { continue };
        let literal = match tree.kind(value) {
            Kind::Number => canonical(tree.text(value)),
            Kind::Str => tree.string(value).to_owned(),
            _ => continue,
        };
        let name = tree.text(target);
        let uses = tree
            .below_of(function.id, Kind::Ident)
            .iter()
            .filter(|other| **other != target && tree.text(**other) == name)
            .count();
        if uses == 1 {
            found.push(LocalConstant { symbol: file.outline.symbol(tree, id), literal });
        }
    }
    found
}
