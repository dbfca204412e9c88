//! Fields one method leaves for the next one to pick up.

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    lang::Lang,
    outline::{Function, Type},
    rules::{own_field, sequences, statement_call},
    tree::{Field, Id, Kind},
};

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let pairs = handoffs(file);
    if pairs.is_empty() {
        return Vec::new();
    }
    let tree = &file.tree;
    let mut found = Vec::new();
    let mut seen: Vec<usize> = Vec::new();
    for sequence in sequences(file) {
        for (at, statement) in sequence.iter().enumerate() {
            // A result that is kept and passed on is the way out.
            let silent = statement_call(file, *statement).filter(|_| tree.is(*statement, Kind::ExprStmt));
            let Some((first, on)) = silent.and_then(|call| Some((call, object(file, call)?))) else {
                continue;
            };
            // A constructor is the one place that knows the order.
            if file.function_of(first).is_some_and(|function| function.is_constructor) {
                continue;
            }
            let Some(setter) = tree.callee(first).map(|callee| callee.name) else { continue };
            let later =
                sequence.iter().skip(at + 1).flat_map(|next| tree.below_of(*next, Kind::Call)).copied();
            for second in later.filter(|call| object(file, *call).is_some_and(|other| other == on)) {
                let reader = tree.callee(second).map_or("", |callee| callee.name);
                let pair = pairs.iter().position(|pair| pair.setter == setter && pair.reader == reader);
                let Some(index) = pair.filter(|pair| !seen.contains(pair)) else { continue };
                seen.push(index);
                found.extend(pairs.get(index).map(|pair| draft(file, pair, first, second)));
            }
        }
    }
    found
}

/// What a method is called on; in Java, nothing is the object itself.
fn object(file: &File<'_>, call: Id) -> Option<String> {
    let receiver = file.tree.callee(call)?.receiver;
    match receiver {
        Some(receiver) => file.tree.dotted(receiver),
        None => (file.tree.lang == Lang::Java).then(|| "this".to_owned()),
    }
}

/// A method that sets a field that begins empty, and another that reads it.
struct Handoff<'s> {
    field: &'s str,
    setter: &'s str,
    reader: &'s str,
    set_at: Id,
    read_at: Id,
}

fn draft(file: &File<'_>, pair: &Handoff<'_>, first: Id, second: Id) -> Draft {
    let message = format!("`{}` leaves `{}` for `{}` to pick up", pair.setter, pair.field, pair.reader);
    Draft::new(Rule::FieldHandoff, message)
        .about("handoff")
        .scaled(1000)
        .element(file.element(second, "works only after the call before it"))
        .element(file.element(first, "has to come first"))
        .element(file.element(pair.set_at, "left here"))
        .element(file.element(pair.read_at, "picked up here"))
}

fn handoffs<'s>(file: &File<'s>) -> Vec<Handoff<'s>> {
    let mut found = Vec::new();
    for owner in &file.outline.types {
        let empty = empty_fields(file, owner);
        if empty.is_empty() {
            continue;
        }
        let methods: Vec<&Function<'_>> =
            file.outline.methods(owner).filter(|method| !method.is_constructor).collect();
        for field in empty {
            let set = methods.iter().filter_map(|method| {
                let write = file.writes(method).iter().find(|(name, _, _)| *name == field)?;
                Some((*method, write.1))
            });
            for (setter, set_at) in set {
                let readers = methods.iter().filter(|method| method.id != setter.id);
                found.extend(readers.filter_map(|reader| {
                    let read_at = reads(file, reader, field)?;
                    Some(Handoff { field, setter: setter.name, reader: reader.name, set_at, read_at })
                }));
            }
        }
    }
    found
}

/// Fields that begin as nothing.
fn empty_fields<'s>(file: &File<'s>, owner: &Type<'s>) -> Vec<&'s str> {
    let tree = &file.tree;
    let is_nothing = |value: Id| tree.is(value, Kind::Null) || tree.text(value) == "None";
    let declared =
        owner.fields.iter().filter(|field| !field.is_static || field.value.is_some_and(is_nothing));
    let declared = declared.filter(|field| match field.value {
        Some(value) => is_nothing(value),
        // A field without a value begins as nothing; so does an optional one.
        None => field
            .ty
            .is_some_and(|ty| ty.starts_with("Option<") || ty.starts_with('*') || is_reference(file, ty)),
    });
    let mut found: Vec<&str> = declared.map(|field| field.name).collect();
    for constructor in file.outline.methods(owner).filter(|method| method.is_constructor) {
        let writes = file.writes(constructor);
        found.extend(
            writes.iter().filter(|(_, _, value)| value.is_some_and(is_nothing)).map(|(name, _, _)| *name),
        );
        let set: Vec<&str> = writes
            .iter()
            .filter(|(_, _, value)| value.is_some_and(|value| !is_nothing(value)))
            .map(|(name, _, _)| *name)
            .collect();
        found.retain(|name| !set.contains(name));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Java's fields of class types begin as null.
fn is_reference(file: &File<'_>, ty: &str) -> bool {
    file.tree.lang == Lang::Java && ty.starts_with(char::is_uppercase)
}

/// Where a method reads a field, if it does not set it first.
fn reads(file: &File<'_>, method: &Function<'_>, field: &str) -> Option<Id> {
    let tree = &file.tree;
    let is_written = file.writes(method).iter().any(|(name, _, _)| *name == field);
    let names =
        tree.below_of(method.id, Kind::Member).iter().chain(tree.below_of(method.id, Kind::Ident)).copied();
    let mut uses = names.filter(|id| own_field(file, method, *id) == Some(field));
    uses.find(|id| !is_written && tree.field(*id) != Field::Left)
}
