//! Many parameters in a row.

use std::collections::BTreeSet;

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    outline::Function,
    tree::{Field, Id, Kind},
};

/// From how many on.
const MANY: usize = 4;
/// Decorators of functions nobody calls by place: frameworks hand each value over by its name.
const FILLED_BY_NAME: [&str; 9] = [
    "overload",
    "click.",
    "typer.",
    "app.command",
    "pytest.",
    "fixture",
    "parametrize",
    "app.callback",
    "given(",
];

pub(super) fn many(file: &File<'_>) -> Vec<Draft> {
    file.functions().filter_map(|function| draft(file, function)).collect()
}

fn draft(file: &File<'_>, function: &Function<'_>) -> Option<Draft> {
    let mut required: Vec<_> = function.params.iter().filter(|param| param.is_required).collect();
    // `(err, req, res, next)` is the order of every web framework.
    if ["req", "res"].iter().all(|name| required.iter().any(|param| param.name == *name)) {
        required.retain(|param| !matches!(param.name, "err" | "error" | "req" | "res" | "next"));
    }
    let is_chosen = !function.is_dictated
        && !FILLED_BY_NAME.iter().any(|mark| function.has_mark(mark))
        && !is_callback(file, function);
    if required.len() < MANY || !is_chosen {
        return None;
    }
    let types: Option<BTreeSet<&str>> = required.iter().map(|param| param.ty.as_deref()).collect();
    // A swap of two different types is found by the compiler.
    if types.is_some_and(|types| types.len() == required.len()) {
        return None;
    }
    let degree = match required.len() {
        ..7 => 1000,
        7..11 => 2000,
        _ => 3000,
    };
    let names: Vec<&str> = required.iter().map(|param| param.name).filter(|name| !name.is_empty()).collect();
    let message = format!(
        "`{}` takes {} values told apart by their place: {}",
        function.name,
        required.len(),
        names.join(", ")
    );
    Some(
        Draft::new(Rule::ManyPositional, message)
            .about(format!("{} parameters", required.len()))
            .scaled(degree)
            .element(file.function_element(function, "every caller keeps this order")),
    )
}

/// Whether somebody else chose the parameters: a function handed to another, or a method of an object literal.
fn is_callback(file: &File<'_>, function: &Function<'_>) -> bool {
    let tree = &file.tree;
    let parent = tree.parent(function.id);
    parent.is_some_and(|up| {
        tree.is(up, Kind::Args)
            || tree.is(up, Kind::Pair)
                && tree
                    .parent(up)
                    .and_then(|dict| tree.parent(dict))
                    .is_some_and(|at| tree.is(at, Kind::Args))
    }) || is_typed_elsewhere(file, function)
        || function.is_signature
            && tree.lang.is_typescript()
            && tree.child(function.id, Field::Body).is_none()
            && function.owner.is_none()
}

/// `const render: Renderer = (a, b, c, d) => …` takes what its type says.
fn is_typed_elsewhere(file: &File<'_>, function: &Function<'_>) -> bool {
    let tree = &file.tree;
    let is_typed = |up: Id| {
        matches!(tree.kind(up), Kind::Declarator | Kind::Field) && tree.child(up, Field::Type).is_some()
    };
    tree.lang.is_typescript()
        && tree.parent(function.id).is_some_and(is_typed)
        && function.params.iter().all(|param| param.ty.is_none())
}
