//! Connascence of name: one name defined twice in one scope.

use std::collections::BTreeMap;

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    lang::Lang,
    tree::{Field, Id, Kind},
};

/// Marks of definitions that belong together on purpose.
const TOGETHER: [&str; 7] = ["overload", "setter", "getter", "deleter", "register", "dispatch", "property"];

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let tree = &file.tree;
    // Elsewhere the compiler refuses it, or it is an overload.
    if tree.lang != Lang::Python && !tree.lang.is_script() {
        return Vec::new();
    }
    let mut scopes: BTreeMap<(Id, &str), Vec<Id>> = BTreeMap::new();
    let definitions = file.all(Kind::Function).chain(file.all(Kind::Class));
    let mut definitions: Vec<Id> = definitions.collect();
    definitions.sort_unstable();
    for id in definitions {
        let Some(name) = tree.child(id, Field::Name).map(|name| tree.text(name)) else { continue };
        let outer = tree.ancestors(id).find(|up| !matches!(tree.kind(*up), Kind::Decorated | Kind::Export));
        let Some(scope) = outer.filter(|scope| is_scope(file, *scope)) else { continue };
        if name != "_" && !is_together(file, id) {
            scopes.entry((scope, name)).or_default().push(id);
        }
    }
    scopes
        .into_iter()
        .filter(|(_, ids)| ids.len() > 1)
        .map(|((_, name), ids)| draft(file, name, &ids))
        .collect()
}

fn draft(file: &File<'_>, name: &str, ids: &[Id]) -> Draft {
    let message = format!("`{name}` is defined {} times in one scope; the last one counts", ids.len());
    let last = ids.last().map(|id| file.element(*id, "the one that counts"));
    let rest = ids.iter().rev().skip(1).map(|id| file.element(*id, "replaced without a word"));
    Draft::new(Rule::DuplicateDefinition, message).elements(last).elements(rest)
}

/// Bodies of files, classes and functions; what is under a condition may be meant.
fn is_scope(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    match tree.kind(id) {
        Kind::Module => true,
        Kind::Block => {
            tree.parent(id).is_some_and(|up| matches!(tree.kind(up), Kind::Class | Kind::Function))
        }
        _ => tree.parent(id).is_some_and(|up| tree.is(up, Kind::Class)),
    }
}

fn is_together(file: &File<'_>, id: Id) -> bool {
    let Some(function) = file.outline.function_at(id) else { return false };
    TOGETHER.iter().any(|mark| function.has_mark(mark))
        || function.marks.iter().any(|mark| matches!(*mark, "get" | "set" | "static"))
}
