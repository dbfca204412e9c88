//! Statics that change.

use super::containers::{is_assigned, is_change, is_container_type};
use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    lang::Lang,
    outline::Type,
    tree::{Field, Id, Kind},
};

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    match file.tree.lang {
        Lang::Rust => file.all(Kind::Static).filter_map(|id| static_mut(file, id)).collect(),
        Lang::Java | Lang::TypeScript | Lang::Tsx | Lang::JavaScript => {
            file.outline.types.iter().flat_map(|owner| static_fields(file, owner)).collect()
        }
        Lang::Python | Lang::Go => Vec::new(),
    }
}

fn static_mut(file: &File<'_>, id: Id) -> Option<Draft> {
    let tree = &file.tree;
    let is_mut = tree.children(id).any(|child| tree.is(child, Kind::Modifiers) && tree.text(child) == "mut");
    let name = tree.child(id, Field::Name).filter(|_| is_mut).map(|name| tree.text(name))?;
    let message = format!("`static mut {name}`: every user shares it without a lock");
    Some(Draft::new(Rule::StaticMut, message).about("static mut").element(file.element(id, "shared by all")))
}

fn static_fields(file: &File<'_>, owner: &Type<'_>) -> Vec<Draft> {
    let tree = &file.tree;
    let mut found = Vec::new();
    for field in owner.fields.iter().filter(|field| field.is_static) {
        let made = field.value.and_then(|value| tree.callee(value)).map(|callee| callee.name);
        let is_literal = field.value.is_some_and(|value| matches!(tree.kind(value), Kind::List | Kind::Dict));
        let is_container =
            field.ty.is_some_and(is_container_type) || made.is_some_and(is_container_type) || is_literal;
        let functions = file.outline.functions.iter();
        let names = functions.flat_map(|function| tree.below_of(function.id, Kind::Ident).iter()).copied();
        let change = names.filter(|id| tree.text(*id) == field.name).find(|id| {
            let Some(place) = named(file, owner, *id, field.name) else { return false };
            is_container && is_change(file, place) || !field.is_final && is_assigned(file, place)
        });
        let Some(change) = change else { continue };
        let is_guarded = made
            .is_some_and(|made| made.contains("Concurrent") || made.contains("Synchronized"))
            || crate::rules::is_locked(file, change);
        let message = format!(
            "`{}.{}` is static, and `{}` changes it",
            owner.name,
            field.name,
            file.function_of(change).map_or("a method", |of| of.name)
        );
        let draft = Draft::new(Rule::StaticMutable, message)
            .about("static")
            .element(file.element(field.id, "shared by all"))
            .element(file.element(change, "changed here"));
        found.push(if is_guarded { draft.hint() } else { draft });
    }
    found
}

/// The place that names a static field: bare, or behind its type's name.
fn named(file: &File<'_>, owner: &Type<'_>, id: Id, name: &str) -> Option<Id> {
    let tree = &file.tree;
    let up = tree.parent(id)?;
    if tree.is(up, Kind::Member) && tree.member(up) == Some(id) {
        let of = tree.object(up)?;
        return (tree.text(of) == owner.name || tree.is(of, Kind::SelfRef)).then_some(up);
    }
    let is_bare = tree.lang == Lang::Java && tree.field(id) != Field::Name;
    let around = file.function_of(id).and_then(|function| file.outline.owner(function));
    let is_inside = around.is_some_and(|of| of.name == owner.name);
    let hidden = file.function_of(id).is_some_and(|function| file.outline.binds(function, name));
    (is_bare && is_inside && !hidden).then_some(id)
}
