//! Types: their fields, and the methods that belong to them wherever these are written.

use super::functions::Function;
use crate::{
    lang::Lang,
    tree::{Field, Id, Kind, Tree},
};

/// A class, a struct, a record.
#[derive(Debug)]
pub(crate) struct Type<'s> {
    /// Where it is declared; in Rust, also the blocks with its methods.
    pub(crate) ids: Vec<Id>,
    pub(crate) name: &'s str,
    pub(crate) fields: Vec<Member<'s>>,
    /// Places in the outline's functions.
    pub(crate) methods: Vec<usize>,
}

/// A declared field.
#[derive(Debug)]
pub(crate) struct Member<'s> {
    pub(crate) id: Id,
    pub(crate) name: &'s str,
    pub(crate) value: Option<Id>,
    /// Its declared type, as written.
    pub(crate) ty: Option<&'s str>,
    pub(crate) is_static: bool,
    pub(crate) is_final: bool,
}

pub(super) fn all<'s>(tree: &Tree<'s>, functions: &mut [Function<'s>]) -> Vec<Type<'s>> {
    let mut types: Vec<Type<'s>> = Vec::new();
    for kind in [Kind::Class, Kind::Enum, Kind::Interface, Kind::Impl] {
        for id in tree.all(kind).iter().copied() {
            let Some(name) = name(tree, id) else { continue };
            let fields = if kind == Kind::Class { fields(tree, id) } else { Vec::new() };
            let merges = matches!(tree.lang, Lang::Rust | Lang::Go);
            match types.iter_mut().find(|known| merges && known.name == name) {
                Some(known) => {
                    known.ids.push(id);
                    known.fields.extend(fields);
                }
                None => types.push(Type { ids: vec![id], name, fields, methods: Vec::new() }),
            }
        }
    }
    if tree.lang.is_script() {
        types.extend(tree.all(Kind::Dict).iter().filter_map(|id| literal(tree, *id)));
    }
    for (at, function) in functions.iter_mut().enumerate() {
        let owner = match tree.lang {
            Lang::Go => go_owner(tree, function.id).and_then(|name| {
                types.iter().position(|known| known.name == name).or_else(|| {
                    types.push(Type { ids: Vec::new(), name, fields: Vec::new(), methods: Vec::new() });
                    Some(types.len() - 1)
                })
            }),
            _ => {
                let around = literal_of(tree, function.id).or_else(|| {
                    tree.above(
                        function.id,
                        &[Kind::Class, Kind::Enum, Kind::Interface, Kind::Impl, Kind::Function, Kind::Lambda],
                    )
                });
                around.and_then(|around| types.iter().position(|known| known.ids.contains(&around)))
            }
        };
        function.owner = owner;
        if let Some(owner) = owner.and_then(|owner| types.get_mut(owner)) {
            owner.methods.push(at);
        }
    }
    types
}

fn name<'s>(tree: &Tree<'s>, id: Id) -> Option<&'s str> {
    let named =
        if tree.is(id, Kind::Impl) { tree.child(id, Field::Type) } else { tree.child(id, Field::Name) };
    // `impl<T> Stack<T>` gives methods to `Stack`.
    named.map(|name| tree.text(name).split('<').next().unwrap_or_default())
}

/// An object that is written out with its methods: a type of one instance.
fn literal<'s>(tree: &Tree<'s>, id: Id) -> Option<Type<'s>> {
    tree.parts(id).find(|part| is_method(tree, *part))?;
    let bound = tree.parent(id).and_then(|up| tree.binding(up)).filter(|(_, value)| *value == id);
    let name = bound.and_then(|(target, _)| tree.last_name(target)).unwrap_or_default();
    let pairs = tree.parts(id).filter(|part| tree.is(*part, Kind::Pair) && !is_method(tree, *part));
    let fields = pairs.filter_map(|pair| {
        let name = tree.child(pair, Field::Key).filter(|key| tree.is(*key, Kind::Ident))?;
        let value = tree.child(pair, Field::Value);
        Some(Member { id: pair, name: tree.text(name), value, ty: None, is_static: false, is_final: false })
    });
    Some(Type { ids: vec![id], name, fields: fields.collect(), methods: Vec::new() })
}

/// The object literal a function is a method of.
fn literal_of(tree: &Tree<'_>, function: Id) -> Option<Id> {
    let up = tree.parent(function)?;
    let (part, object) = if tree.is(up, Kind::Pair) { (up, tree.parent(up)?) } else { (function, up) };
    (tree.is(object, Kind::Dict) && is_method(tree, part)).then_some(object)
}

/// Whether a part of an object literal is a method; to an arrow, `this` is somebody else.
fn is_method(tree: &Tree<'_>, part: Id) -> bool {
    let is_arrow =
        |value: Id| !tree.text(value).trim_start_matches("async").trim_start().starts_with("function");
    let value = tree.child(part, Field::Value).filter(|value| tree.is(*value, Kind::Lambda));
    tree.lang.is_script()
        && (tree.is(part, Kind::Function)
            || tree.is(part, Kind::Pair) && value.is_some_and(|value| !is_arrow(value)))
}

fn go_owner<'s>(tree: &Tree<'s>, id: Id) -> Option<&'s str> {
    let list = tree.child(id, Field::Receiver)?;
    let one = tree.parts(list).next()?;
    let ty = tree.child(one, Field::Type)?;
    let name = tree.below(ty).chain([ty]).find(|id| tree.is(*id, Kind::Ident))?;
    Some(tree.text(name))
}

fn fields<'s>(tree: &Tree<'s>, class: Id) -> Vec<Member<'s>> {
    let mut found = Vec::new();
    for id in tree.below_of(class, Kind::Field).iter().copied() {
        if tree.above(id, &[Kind::Class]) != Some(class) {
            continue;
        }
        let modifiers: Vec<&str> = tree
            .children(id)
            .filter(|c| matches!(tree.kind(*c), Kind::Modifiers | Kind::Token))
            .map(|c| tree.text(c))
            .collect();
        let has = |word: &str| modifiers.iter().any(|text| text.split_whitespace().any(|part| part == word));
        let ty = tree.child(id, Field::Type).map(|ty| tree.text(ty));
        let (is_static, is_final) = (has("static"), has("final") || has("readonly"));
        let mut push = |name: Id, value: Option<Id>| {
            found.push(Member { id, name: tree.text(name), value, ty, is_static, is_final });
        };
        let declarators: Vec<Id> = tree.parts(id).filter(|part| tree.is(*part, Kind::Declarator)).collect();
        for declarator in &declarators {
            if let Some(name) = tree.child(*declarator, Field::Name) {
                push(name, tree.child(*declarator, Field::Value));
            }
        }
        if declarators.is_empty() {
            let names =
                tree.children(id).filter(|child| matches!(tree.field(*child), Field::Name | Field::Member));
            for name in names {
                push(name, tree.child(id, Field::Value));
            }
        }
    }
    if tree.lang == Lang::Python {
        found.extend(python_fields(tree, class));
    }
    found
}

/// Names bound in the body of a class.
fn python_fields<'s>(tree: &Tree<'s>, class: Id) -> Vec<Member<'s>> {
    let Some(body) = tree.child(class, Field::Body) else { return Vec::new() };
    let statements = tree.parts(body).filter(|part| tree.is(*part, Kind::ExprStmt));
    statements
        .filter_map(|statement| tree.parts(statement).next().filter(|id| tree.is(*id, Kind::Assign)))
        .filter_map(|id| {
            let name = tree.child(id, Field::Left).filter(|left| tree.is(*left, Kind::Ident))?;
            let ty = tree.child(id, Field::Type).map(|ty| tree.text(ty));
            let value = tree.child(id, Field::Right);
            Some(Member { id, name: tree.text(name), value, ty, is_static: true, is_final: false })
        })
        .collect()
}
