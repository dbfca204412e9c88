//! Things opened or locked that nothing in the function closes.

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    lang::Lang,
    rules::{is_deferred, is_lock_name},
    tree::{Field, Id, Kind},
};

/// What Java's library opens as it is made.
const OPENED: [&str; 6] =
    ["FileReader", "FileWriter", "FileInputStream", "FileOutputStream", "RandomAccessFile", "Socket"];

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let made = file.all(Kind::New).filter_map(|id| opened(file, id));
    let called = file.all(Kind::Call).filter_map(|call| opened(file, call).or_else(|| locked(file, call)));
    made.chain(called).collect()
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
        Lang::Java => tree.is(call, Kind::New) && OPENED.contains(&callee.name),
        Lang::Rust => false,
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
            let closes = match tree.kind(up) {
                Kind::Member => {
                    tree.member(up).is_some_and(|member| matches!(tree.text(member), "close" | "Close"))
                }
                // Java's calls have no member of their own.
                Kind::Call => tree
                    .callee(up)
                    .is_some_and(|callee| callee.receiver == Some(id) && callee.name == "close"),
                _ => false,
            };
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
    let function = file
        .function_of(call)
        .filter(|function| !matches!(function.name, "lock" | "Lock" | "acquire" | "__enter__"))?;
    let is_lock_type = |ty: &str| ty.ends_with("Mutex") || ty.ends_with("Lock");
    let is_lock = |name: &str| {
        let mut params = function.params.iter().filter(|param| param.name == name);
        is_lock_name(name) || params.any(|param| param.ty.as_deref().is_some_and(is_lock_type))
    };
    let lock = tree.dotted(callee.receiver?).filter(|lock| is_lock(lock))?;
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
