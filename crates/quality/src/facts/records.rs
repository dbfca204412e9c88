//! Records without names: lists that are returned and read by number, maps read by spelled-out keys.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    facts::{COORDINATES, calls, place},
    file::File,
    finding::Element,
    rules::returned_values,
    tree::{Id, Kind, Tree},
    words::number,
};

/// A function that returns a list written out, of different things.
#[derive(Debug)]
pub(crate) struct Returner {
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) at: Element,
    pub(crate) length: usize,
    pub(crate) is_tuple: bool,
}

/// A place that reads by number what a function returned.
#[derive(Debug)]
pub(crate) struct Reading {
    /// Who returned it, where that is in sight.
    pub(crate) key: Option<String>,
    /// What it is called here.
    pub(crate) name: String,
    pub(crate) at: Element,
    pub(crate) access: Access,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// At one place.
    At(u32),
    /// All at once, into so many names.
    Apart(usize),
}

pub(crate) fn returners(file: &File<'_>) -> Vec<Returner> {
    let tree = &file.tree;
    let mut found = Vec::new();
    for function in file.functions().filter(|function| !is_hook(function.name)) {
        let lists = returned_values(file, function).into_iter().filter(|id| match tree.kind(*id) {
            Kind::List => true,
            // Go's several results have types and are no value.
            Kind::Tuple => tree.lang != crate::lang::Lang::Go,
            _ => false,
        });
        let Some((id, elements)) =
            lists.map(|id| (id, tree.elements(id))).max_by_key(|(_, elements)| elements.len())
        else {
            continue;
        };
        let distinct: BTreeSet<&str> = elements.iter().map(|element| tree.text(*element)).collect();
        if distinct.len() < 2 || elements.iter().any(|element| tree.is(*element, Kind::Spread)) {
            continue;
        }
        // Places in a plane or a space have everybody's order.
        let is_place =
            |element: &Id| tree.last_name(*element).is_some_and(|name| COORDINATES.contains(&name));
        if elements.len() < 4 && elements.iter().all(is_place) {
            continue;
        }
        let owner = file.outline.owner(function).map(|owner| owner.name);
        let key =
            owner.map_or_else(|| function.name.to_owned(), |owner| format!("{owner}.{}", function.name));
        let is_tuple = tree.is(id, Kind::Tuple);
        found.push(Returner {
            key,
            name: function.name.to_owned(),
            at: place(file, id),
            length: elements.len(),
            is_tuple,
        });
    }
    found
}

/// React's convention: a value and its setter.
fn is_hook(name: &str) -> bool {
    name.strip_prefix("use").is_some_and(|rest| rest.starts_with(char::is_uppercase))
}

pub(crate) fn readings(file: &File<'_>) -> Vec<Reading> {
    let tree = &file.tree;
    let mut found = Vec::new();
    let mut origin: BTreeMap<(Option<Id>, &str), String> = BTreeMap::new();
    for id in file.all(Kind::Assign).chain(file.all(Kind::Declarator)) {
        let Some((target, value)) = tree.binding(id) else { continue };
        let call =
            if tree.is(value, Kind::Await) { tree.parts(value).next().unwrap_or(value) } else { value };
        let Some(key) = call_key(file, call) else { continue };
        match tree.kind(target) {
            Kind::Ident => {
                origin.insert((file.function_of(id).map(|function| function.id), tree.text(target)), key);
            }
            Kind::Pattern | Kind::Tuple if !tree.text(target).starts_with('{') => found.push(Reading {
                key: Some(key),
                name: String::new(),
                at: place(file, target),
                access: Access::Apart(tree.parts(target).count()),
            }),
            _ => {}
        }
    }
    let indexes = file.all(Kind::Index).filter_map(|id| Some((id, tree.object(id)?, tree.subscript(id)?)));
    // Rust reads a tuple's places like fields.
    let members = file.all(Kind::Member).filter_map(|id| Some((id, tree.object(id)?, tree.member(id)?)));
    for (id, object, index) in indexes.chain(members).filter(|(_, _, index)| tree.is(*index, Kind::Number)) {
        let Some(at) = whole(tree, index).filter(|at| *at >= 1) else { continue };
        let scope = file.function_of(id).map(|function| function.id);
        let name = tree.last_name(object).unwrap_or_default();
        let key = call_key(file, object)
            .or_else(|| origin.get(&(scope, name)).or_else(|| origin.get(&(None, name))).cloned());
        if tree.is(object, Kind::Ident) || key.is_some() {
            found.push(Reading { key, name: name.to_owned(), at: place(file, id), access: Access::At(at) });
        }
    }
    found
}

fn call_key(file: &File<'_>, id: Id) -> Option<String> {
    let key = calls::key(file, id).filter(|_| file.tree.is(id, Kind::Call));
    // A method of an object whose type is not in sight: its name may still be the only one.
    key.or_else(|| {
        file.tree
            .callee(id)
            .filter(|_| file.tree.is(id, Kind::Call))
            .map(|callee| format!("?.{}", callee.name))
    })
}

fn whole(tree: &Tree<'_>, index: Id) -> Option<u32> {
    let value = number(tree.text(index))?;
    (0..1000_u32).find(|at| (f64::from(*at) - value).abs() < f64::EPSILON)
}

/// A variable read by several keys spelled out.
#[derive(Debug)]
pub(crate) struct RecordKeys {
    pub(crate) name: String,
    pub(crate) keys: BTreeSet<String>,
    pub(crate) at: Element,
}

pub(crate) fn keys(file: &File<'_>) -> Vec<RecordKeys> {
    let tree = &file.tree;
    let mut found: BTreeMap<&str, (BTreeSet<String>, Id)> = BTreeMap::new();
    for id in file.all(Kind::Index) {
        let Some(key) = tree.subscript(id).filter(|key| tree.is(*key, Kind::Str)) else { continue };
        let Some(name) =
            tree.object(id).filter(|object| tree.is(*object, Kind::Ident)).map(|object| tree.text(object))
        else {
            continue;
        };
        found.entry(name).or_insert_with(|| (BTreeSet::new(), id)).0.insert(tree.string(key).to_owned());
    }
    let many = found.into_iter().filter(|(_, (keys, _))| keys.len() >= 3);
    many.map(|(name, (keys, id))| RecordKeys { name: name.to_owned(), keys, at: place(file, id) }).collect()
}
