//! The rules, one folder or file per kind. Each looks at one file and drafts what it finds; what needs several
//! files is in `project`.

mod algorithm;
mod execution;
mod identity;
mod meaning;
mod name;
mod position;
mod timing;
mod types;
mod value;

use crate::{
    file::{File, Write},
    finding::Draft,
    lang::Lang,
    outline::Function,
    tree::{Field, Id, Kind},
};

pub(crate) use algorithm::{is_inverse, twins};

/// Everything one file shows by itself.
pub(crate) fn find(file: &File<'_>) -> Vec<Draft> {
    let mut found = timing::find(file);
    found.extend(identity::find(file));
    if !file.is_test {
        found.extend(name::find(file));
        found.extend(types::find(file));
        found.extend(meaning::find(file));
        found.extend(position::find(file));
        found.extend(execution::find(file));
        found.extend(value::find(file));
    }
    found
}

/// The values a function returns, not those of functions inside it.
pub(crate) fn returned_values(file: &File<'_>, function: &Function<'_>) -> Vec<Id> {
    let tree = &file.tree;
    let own = |id: &Id| file.function_of(*id).is_some_and(|of| of.id == function.id);
    let returns = tree.below_of(function.id, Kind::Return).iter().copied().filter(own);
    let direct = |id: Id| tree.above(id, &[Kind::Function, Kind::Lambda]) == Some(function.id);
    let mut found: Vec<Id> =
        returns.filter(|id| direct(*id)).filter_map(|id| tree.parts(id).last()).collect();
    if let Some(body) = function.body {
        if tree.lang == Lang::Rust {
            found.extend(tree.parts(body).last().filter(|last| is_expression(tree.kind(*last))));
        } else if !tree.is(body, Kind::Block) {
            found.push(body);
        }
    }
    found
}

fn is_expression(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Number
            | Kind::Str
            | Kind::Tuple
            | Kind::List
            | Kind::Unary
            | Kind::Bool
            | Kind::Ident
            | Kind::Call
            | Kind::Binary
    )
}

/// Statements of a block and of the file itself, as lists in the order they run.
pub(crate) fn sequences(file: &File<'_>) -> Vec<Vec<Id>> {
    let tree = &file.tree;
    let blocks = tree.all(Kind::Block).iter().chain(tree.all(Kind::Module)).copied();
    blocks.filter(|block| !file.in_test(*block)).map(|block| tree.parts(block).collect()).collect()
}

/// The call a statement makes, if a call is all it is; whatever waits for it taken off.
pub(crate) fn statement_call(file: &File<'_>, statement: Id) -> Option<Id> {
    let tree = &file.tree;
    let mut inner = match tree.kind(statement) {
        Kind::ExprStmt | Kind::Return => tree.parts(statement).next()?,
        Kind::Declarator => tree.child(statement, Field::Value)?,
        Kind::Decl => {
            tree.child(tree.parts(statement).find(|part| tree.is(*part, Kind::Declarator))?, Field::Value)?
        }
        Kind::Assign => tree.child(statement, Field::Right)?,
        _ => return None,
    };
    if tree.is(inner, Kind::Assign) {
        inner = tree.child(inner, Field::Right)?;
    }
    if tree.is(inner, Kind::Await) {
        inner = tree.parts(inner).next()?;
    }
    tree.is(inner, Kind::Call).then_some(inner)
}

/// The field of its own object a node names, in a method.
pub(crate) fn own_field<'s>(file: &File<'s>, function: &Function<'s>, id: Id) -> Option<&'s str> {
    let tree = &file.tree;
    match tree.kind(id) {
        Kind::Member => {
            let object = tree.object(id)?;
            let is_self = tree.is(object, Kind::SelfRef)
                || function.receiver.is_some_and(|own| tree.text(object) == own);
            (is_self && tree.is(tree.member(id)?, Kind::Ident))
                .then(|| tree.member(id).map(|member| tree.text(member)))?
        }
        // In Java a bare name may be a field.
        Kind::Ident if tree.lang == Lang::Java => {
            let name = tree.text(id);
            let owner = file.outline.owner(function)?;
            let is_field = owner.fields.iter().any(|field| field.name == name);
            let is_whole = !matches!(tree.field(id), Field::Member | Field::Name | Field::Type);
            (is_field && is_whole && !file.outline.binds(function, name)).then_some(name)
        }
        _ => None,
    }
}

/// The fields of its own object a function assigns. Ask [`File::writes`], which looks once.
pub(crate) fn find_writes<'s>(file: &File<'s>, function: &Function<'s>) -> Vec<Write<'s>> {
    let tree = &file.tree;
    let mut found = Vec::new();
    for kind in [Kind::Assign, Kind::AugAssign, Kind::Update] {
        for id in tree.below_of(function.id, kind).iter().copied() {
            let target = tree.child(id, Field::Left).or_else(|| tree.parts(id).next());
            let Some(field) = target.and_then(|target| own_field(file, function, target)) else { continue };
            found.push((field, id, tree.child(id, Field::Right)));
        }
    }
    found.sort_by_key(|(_, id, _)| *id);
    found
}

/// Whether a name says it is a lock.
pub(crate) fn is_lock_name(name: &str) -> bool {
    crate::words::words(name).iter().any(|word| {
        matches!(
            word.as_str(),
            "lock" | "locks" | "mutex" | "mu" | "mtx" | "rwlock" | "semaphore" | "sem" | "rlock"
        ) || word.ends_with("lock") && !word.contains("block") && !word.contains("clock")
    })
}

/// Whether a lock is held around a place: by a block, or taken before it in the same function.
pub(crate) fn is_locked(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    for up in tree.ancestors(id) {
        match tree.kind(up) {
            Kind::Synchronized => return true,
            Kind::With => {
                let items = tree.children(up).filter(|child| tree.is(*child, Kind::WithItem));
                let mut names = items.flat_map(|item| tree.below_of(item, Kind::Ident).iter());
                if names.any(|name| is_lock_name(tree.text(*name))) {
                    return true;
                }
            }
            Kind::Function => {
                let calls = tree.below_of(up, Kind::Call).iter().copied().take_while(|call| *call < id);
                let mut held = 0_i32;
                for call in calls {
                    let Some(callee) = tree.callee(call) else { continue };
                    match callee.name {
                        "lock" | "Lock" | "RLock" | "acquire" | "write" | "lockInterruptibly"
                        | "runExclusive"
                            if callee
                                .receiver
                                .is_some_and(|it| tree.last_name(it).is_some_and(is_lock_name)) =>
                        {
                            held += 1;
                        }
                        "unlock" | "Unlock" | "RUnlock" | "release" if !is_deferred(file, call) => held -= 1,
                        _ => {}
                    }
                }
                return held > 0
                    || tree.text(up).split('{').next().is_some_and(|head| head.contains("synchronized"));
            }
            _ => {}
        }
    }
    false
}

/// Whether a call runs when its function is left.
pub(crate) fn is_deferred(file: &File<'_>, call: Id) -> bool {
    file.tree
        .above(call, &[Kind::Defer, Kind::Finally, Kind::Function])
        .is_some_and(|up| !file.tree.is(up, Kind::Function))
}
