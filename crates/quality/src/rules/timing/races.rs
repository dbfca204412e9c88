//! Reading, waiting and writing back; checking and then using.

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    outline::Function,
    rules::{is_locked, own_field, timing::is_sleep},
    tree::{Field, Id, Kind},
};

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let mut found = Vec::new();
    for function in file.functions() {
        found.extend(written_back(file, function));
        found.extend(checked_first(file, function));
    }
    found
}

/// A field that is read, then something is waited for, then it is written from what was read.
fn written_back(file: &File<'_>, function: &Function<'_>) -> Vec<Draft> {
    let tree = &file.tree;
    let own = |id: &Id| file.function_of(*id).is_some_and(|of| of.id == function.id);
    let mut waits: Vec<Id> = tree.below_of(function.id, Kind::Await).iter().copied().filter(own).collect();
    waits.extend(tree.below_of(function.id, Kind::Call).iter().copied().filter(|call| is_sleep(file, *call)));
    if waits.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<Draft> = Vec::new();
    let writes = [Kind::Assign, Kind::AugAssign]
        .into_iter()
        .flat_map(|kind| tree.below_of(function.id, kind).iter().copied());
    for write in writes {
        let Some((target, value)) = tree.binding(write) else { continue };
        let Some(field) = shared(file, function, target) else { continue };
        let Some((read, wait)) = stale_read(file, function, &waits, write, value, &field) else { continue };
        if is_locked(file, write) {
            continue;
        }
        let message =
            format!("`{field}` is read, then `{}` waits, then it is written back", file.quote(wait));
        found.push(
            Draft::new(Rule::RmwAcrossAwait, message)
                .about("rmw")
                .open_ended()
                .element(file.element(write, "written back here"))
                .element(file.element(read, "read here"))
                .element(file.element(wait, "others run here"))
                .scaled(1000),
        );
    }
    found
}

/// The old value a write rests on, and the wait in between.
fn stale_read(
    file: &File<'_>,
    function: &Function<'_>,
    waits: &[Id],
    write: Id,
    value: Id,
    field: &str,
) -> Option<(Id, Id)> {
    let tree = &file.tree;
    // `this.total = this.total + await price()`, `self.total += await price()`
    let inside = waits.iter().copied().find(|wait| tree.contains(value, *wait));
    if let Some(wait) = inside {
        let read = tree
            .below(value)
            .chain([value])
            .find(|id| *id < wait && shared(file, function, *id).as_deref() == Some(field));
        return read.or_else(|| tree.is_augmented(write).then_some(write)).map(|read| (read, wait));
    }
    // `const now = this.total; await pause(); this.total = now + 1`
    let used: Vec<&str> = tree
        .below(value)
        .chain([value])
        .filter(|id| tree.is(*id, Kind::Ident))
        .map(|id| tree.text(id))
        .collect();
    let binders = [Kind::Declarator, Kind::Assign]
        .into_iter()
        .flat_map(|kind| tree.below_of(function.id, kind).iter().copied());
    let kept = binders.filter(|id| *id < write).find_map(|id| {
        let (name, from) = tree.binding(id)?;
        let reads =
            tree.below(from).chain([from]).any(|id| shared(file, function, id).as_deref() == Some(field));
        (reads && tree.is(name, Kind::Ident) && used.contains(&tree.text(name))).then_some(id)
    });
    // `if self.total >= amount: await pay(); self.total -= amount`
    let checks = || {
        let rests_on_itself = tree.is_augmented(write)
            || tree.below(value).any(|id| shared(file, function, id).as_deref() == Some(field));
        let conditions = tree
            .ancestors(write)
            .filter(|up| tree.is(*up, Kind::If))
            .filter_map(|up| tree.child(up, Field::Condition));
        conditions.filter(|_| rests_on_itself).find(|condition| {
            tree.below(*condition)
                .chain([*condition])
                .any(|id| shared(file, function, id).as_deref() == Some(field))
        })
    };
    let read = kept.or_else(checks)?;
    let wait =
        waits.iter().copied().find(|wait| *wait > tree.below(read).end.saturating_sub(1) && *wait < write)?;
    Some((read, wait))
}

/// State others can reach: a field of the object, or a name of the file.
fn shared(file: &File<'_>, function: &Function<'_>, id: Id) -> Option<String> {
    let tree = &file.tree;
    if let Some(field) = own_field(file, function, id) {
        return Some(field.to_owned());
    }
    let name = Some(tree.text(id)).filter(|_| tree.is(id, Kind::Ident) && tree.field(id) != Field::Member)?;
    let is_global = file.outline.top.iter().any(|top| top.name == name && !top.is_const);
    let declared = tree.lang != crate::lang::Lang::Python
        || tree
            .below_of(function.id, Kind::Global)
            .iter()
            .any(|global| tree.parts(*global).any(|part| tree.text(part) == name));
    (is_global && declared).then(|| name.to_owned())
}

const CHECKS: [&str; 8] =
    ["exists", "existsSync", "isfile", "isdir", "is_file", "Stat", "access", "accessSync"];
const USES: [&str; 26] = [
    "open",
    "Open",
    "OpenFile",
    "read",
    "ReadFile",
    "readFile",
    "readFileSync",
    "writeFile",
    "writeFileSync",
    "read_to_string",
    "read_text",
    "read_bytes",
    "write_text",
    "remove",
    "Remove",
    "unlink",
    "unlinkSync",
    "rmtree",
    "remove_file",
    "delete",
    "create",
    "newInputStream",
    "readAllBytes",
    "readString",
    "mkdirSync",
    "write",
];

/// Whether something is there, asked before it is used.
fn checked_first(file: &File<'_>, function: &Function<'_>) -> Option<Draft> {
    let tree = &file.tree;
    let calls = tree.below_of(function.id, Kind::Call);
    let check = calls.iter().copied().find_map(|call| {
        let callee = tree.callee(call).filter(|callee| CHECKS.contains(&callee.name))?;
        subject(file, call, callee.receiver).map(|name| (call, name))
    });
    let (check, name) = check?;
    let used = calls.iter().copied().filter(|call| *call > check).find(|call| {
        tree.callee(*call).is_some_and(|callee| {
            USES.contains(&callee.name)
                && subject(file, *call, callee.receiver).is_some_and(|other| other == name)
        })
    })?;
    let message = format!("`{name}` is checked, then used; it can change in between");
    Some(
        Draft::new(Rule::Toctou, message)
            .hint()
            .about("toctou")
            .element(file.element(check, "checked here"))
            .element(file.element(used, "used here")),
    )
}

/// What a call is about: its first argument, or what it is called on.
fn subject(file: &File<'_>, call: Id, receiver: Option<Id>) -> Option<String> {
    let tree = &file.tree;
    let argument = tree.arguments(call).first().and_then(|argument| tree.dotted(*argument));
    argument.or_else(|| receiver.and_then(|receiver| tree.dotted(receiver)))
}
