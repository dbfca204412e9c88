//! Things opened or locked that nothing in the function closes.

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    lang::Lang,
    rules::{is_deferred, is_lock_name},
    tree::{Field, Id, Kind},
};

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    file.all(Kind::Call).filter_map(|call| opened(file, call).or_else(|| locked(file, call))).collect()
}

/// `f = open(path)` that is neither closed nor handed on.
fn opened(file: &File<'_>, call: Id) -> Option<Draft> {
    let tree = &file.tree;
    let callee = tree.callee(call)?;
    let is_open = match tree.lang {
        Lang::Python => callee.name == "open" && callee.receiver.is_none(),
        Lang::Go => {
            matches!(callee.name, "Open" | "OpenFile" | "Create")
                && callee.receiver.is_some_and(|os| tree.text(os) == "os")
        }
        Lang::JavaScript | Lang::TypeScript | Lang::Tsx => matches!(callee.name, "openSync"),
        Lang::Rust | Lang::Java => false,
    };
    let parent = tree.parent(call).filter(|_| is_open)?;
    let parent = if tree.is(parent, Kind::Await) { tree.parent(parent)? } else { parent };
    let (target, _) =
        tree.binding(parent).filter(|_| matches!(tree.kind(parent), Kind::Assign | Kind::Declarator))?;
    let name = if tree.is(target, Kind::Tuple) { tree.parts(target).next()? } else { target };
    let name = Some(tree.text(name)).filter(|_| tree.is(name, Kind::Ident))?;
    let function = file.function_of(call)?;
    let is_kept = tree
        .below_of(function.id, Kind::Ident)
        .iter()
        .copied()
        .filter(|id| *id > call && tree.text(*id) == name)
        .any(|id| {
            let up = tree.parent(id).unwrap_or(id);
            let closes = tree.is(up, Kind::Member)
                && tree.member(up).is_some_and(|member| matches!(tree.text(member), "close" | "Close"));
            let handed_on = matches!(
                tree.kind(up),
                Kind::Return | Kind::Args | Kind::WithItem | Kind::Pair | Kind::Tuple | Kind::List
            );
            let stored = tree.field(id) == Field::Right;
            closes || handed_on || stored
        });
    (!is_kept)
        .then(|| draft(file, call, &format!("`{name}` is opened and not closed in `{}`", function.name)))
}

/// `lock.acquire()` that no way out of the function is sure to release.
fn locked(file: &File<'_>, call: Id) -> Option<Draft> {
    let tree = &file.tree;
    let callee = tree.callee(call).filter(|callee| matches!(callee.name, "acquire" | "Lock" | "lock"))?;
    if tree.lang == Lang::Rust || tree.above(call, &[Kind::WithItem]).is_some() {
        return None;
    }
    let lock = tree.dotted(callee.receiver?).filter(|lock| is_lock_name(lock))?;
    let function = file
        .function_of(call)
        .filter(|function| !matches!(function.name, "lock" | "Lock" | "acquire" | "__enter__"))?;
    let releases = tree.below_of(function.id, Kind::Call).iter().copied().filter(|other| {
        tree.callee(*other).is_some_and(|callee| {
            matches!(callee.name, "release" | "unlock" | "Unlock")
                && callee.receiver.and_then(|receiver| tree.dotted(receiver)).as_deref()
                    == Some(lock.as_str())
        })
    });
    let is_sure = releases.clone().any(|release| is_deferred(file, release));
    let count = releases.count();
    let is_plain = tree.lang == Lang::Go && count > 0;
    (!is_sure && !is_plain)
        .then(|| draft(file, call, &format!("`{lock}` is taken, and an early way out keeps it")))
}

fn draft(file: &File<'_>, call: Id, message: &str) -> Draft {
    Draft::new(Rule::Unpaired, message.to_owned())
        .hint()
        .about("unpaired")
        .element(file.element(call, "begun here"))
}
