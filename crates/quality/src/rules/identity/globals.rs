//! Names of a file that one function writes and another reads.

use super::containers::{is_assigned, is_container, uses};
use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    tree::{Id, Kind},
};

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let mut found = Vec::new();
    let tree = &file.tree;
    for kind in [Kind::Global, Kind::Nonlocal] {
        let mut seen: Vec<&str> = Vec::new();
        for statement in tree.all(kind).iter().copied() {
            for name in tree.parts(statement).map(|part| tree.text(part)) {
                if !seen.contains(&name) {
                    found.extend(declared(file, statement, name));
                    seen.push(name);
                }
            }
        }
    }
    if tree.lang.is_script() {
        found.extend(script(file));
    }
    found
}

/// A name a function says it writes, that another function reads.
fn declared(file: &File<'_>, statement: Id, name: &str) -> Option<Draft> {
    let tree = &file.tree;
    let writer = file.function_of(statement)?;
    let names = || tree.all(Kind::Ident).iter().copied().filter(|id| tree.text(*id) == name);
    let write = names().find(|id| tree.contains(writer.id, *id) && is_assigned(file, *id))?;
    let read = names().find(|id| {
        let reader = file.function_of(*id);
        let is_other = reader.is_some_and(|reader| reader.id != writer.id);
        let is_own =
            reader.is_some_and(|reader| file.outline.binds(reader, name)) && !shares(file, *id, name);
        let is_value = !is_assigned(file, *id)
            && !matches!(tree.parent(*id).map(|up| tree.kind(up)), Some(Kind::Global | Kind::Nonlocal))
            && tree.field(*id) != crate::tree::Field::Member;
        is_other && is_value && !is_own
    })?;
    let message = format!(
        "`{}` writes `{name}`, and `{}` reads it",
        writer.name,
        file.function_of(read).map_or("another", |reader| reader.name)
    );
    Some(
        Draft::new(Rule::GlobalState, message)
            .about("global")
            // Two functions are bound; the declaration is a third place, not a third party.
            .scaled(1000)
            .element(file.element(statement, "declared here"))
            .element(file.element(write, "written here"))
            .element(file.element(read, "read here")),
    )
}

/// Whether the function around a place says that a name is not its own; the outer function of a `nonlocal` owns it.
fn shares(file: &File<'_>, id: Id, name: &str) -> bool {
    let tree = &file.tree;
    let Some(function) = file.function_of(id) else { return false };
    let statements =
        [Kind::Global, Kind::Nonlocal].into_iter().flat_map(|kind| tree.below_of(function.id, kind).iter());
    statements.into_iter().any(|statement| tree.parts(*statement).any(|part| tree.text(part) == name))
}

/// JavaScript has no word for it: a variable of the file, written in one function and read in another.
fn script(file: &File<'_>) -> Vec<Draft> {
    let tops = file.outline.top.iter().filter(|top| {
        !top.is_const && !top.is_exported && !top.value.is_some_and(|value| is_container(file, value))
    });
    let draft = |top: &crate::outline::TopName<'_>| {
        let uses = uses(file, top.name);
        let (writer, write) = *uses.iter().find(|(_, id)| is_assigned(file, *id))?;
        let (_, read) = *uses.iter().find(|(reader, id)| *reader != writer && !is_assigned(file, *id))?;
        let message = format!("`{}` is written by one function and read by another", top.name);
        Some(
            Draft::new(Rule::GlobalState, message)
                .hint()
                .about("global")
                .element(file.element(write, "written here"))
                .element(file.element(read, "read here")),
        )
    };
    tops.filter_map(draft).collect()
}
