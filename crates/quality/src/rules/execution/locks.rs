//! Locks taken in both orders.

use std::collections::BTreeMap;

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    outline::Function,
    rules::{is_deferred, is_lock_name},
    tree::{Id, Kind},
};

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let mut orders: BTreeMap<(String, String), (Id, Id)> = BTreeMap::new();
    for function in file.functions() {
        for (first, second, at) in nested(file, function) {
            orders.entry((first, second)).or_insert((at, function.id));
        }
    }
    let mut found = Vec::new();
    for ((first, second), (here, in_one)) in &orders {
        let other = orders.get(&(second.clone(), first.clone()));
        let Some((there, in_other)) = other.filter(|_| first < second) else { continue };
        if in_one == in_other {
            continue;
        }
        let message = format!("`{first}` before `{second}` in one place, the other way round in another");
        found.push(
            Draft::new(Rule::LockOrder, message)
                .about("order")
                .element(file.element(*here, "one order"))
                .element(file.element(*there, "the other order")),
        );
    }
    found
}

/// Pairs of locks where the second is taken while the first is held, and where.
fn nested(file: &File<'_>, function: &Function<'_>) -> Vec<(String, String, Id)> {
    let tree = &file.tree;
    let mut held: Vec<(String, Id)> = Vec::new();
    let mut found = Vec::new();
    for id in tree.below(function.id) {
        // What a block took is released behind it.
        held.retain(|(_, until)| id < *until);
        match taken(file, id) {
            Some(Act::Takes { lock, until }) => {
                found.extend(
                    held.iter()
                        .filter(|(other, _)| *other != lock)
                        .map(|(other, _)| (other.clone(), lock.clone(), id)),
                );
                held.push((lock, until));
            }
            Some(Act::Releases(lock)) => held.retain(|(other, _)| *other != lock),
            None => {}
        }
    }
    found
}

enum Act {
    Takes { lock: String, until: Id },
    Releases(String),
}

fn taken(file: &File<'_>, id: Id) -> Option<Act> {
    let tree = &file.tree;
    match tree.kind(id) {
        Kind::WithItem => {
            let around = tree.above(id, &[Kind::With, Kind::Try])?;
            let name = tree.parts(id).next().and_then(|value| lock_name(file, value))?;
            Some(Act::Takes { lock: name, until: tree.below(around).end })
        }
        Kind::Synchronized => {
            let name = tree.parts(id).next().and_then(|value| tree.dotted(value))?;
            Some(Act::Takes { lock: plain(&name), until: tree.below(id).end })
        }
        Kind::Call => {
            let callee = tree.callee(id)?;
            let lock = callee.receiver.and_then(|receiver| tree.dotted(receiver)).map(|name| plain(&name))?;
            match callee.name {
                "lock" | "Lock" | "acquire" | "write" | "RLock"
                    if is_lock_name(&lock) || callee.name != "write" =>
                {
                    let block = tree.above(id, &[Kind::Block])?;
                    Some(Act::Takes { lock, until: tree.below(block).end })
                }
                "unlock" | "Unlock" | "release" | "RUnlock" if !is_deferred(file, id) => {
                    Some(Act::Releases(lock))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn lock_name(file: &File<'_>, value: Id) -> Option<String> {
    let name = plain(&file.tree.dotted(value)?);
    (is_lock_name(&name) || is_made_as_lock(file, &name)).then_some(name)
}

/// Whether a name of the file or a field of an object is bound to a new lock, whatever it is called.
fn is_made_as_lock(file: &File<'_>, name: &str) -> bool {
    let tree = &file.tree;
    let makes = |value: Id| {
        let kinds = ["Lock", "RLock", "Mutex", "RwLock", "Semaphore", "BoundedSemaphore", "Condition"];
        tree.callee(value).is_some_and(|callee| kinds.contains(&callee.name))
    };
    let tops = file.outline.top.iter().filter(|top| top.name == name).filter_map(|top| top.value);
    let methods = file.outline.functions.iter().flat_map(|function| file.writes(function));
    let fields = methods.filter(|(field, _, _)| *field == name).filter_map(|(_, _, value)| *value);
    tops.chain(fields).any(makes)
}

/// The lock without whose it is.
fn plain(name: &str) -> String {
    let own = ["self.", "this."].iter().find_map(|own| name.strip_prefix(own));
    own.unwrap_or(name).to_owned()
}
