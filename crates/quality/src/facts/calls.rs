//! Who can be called with what, and calls that pass bare literals.

use crate::{
    facts::place,
    file::File,
    finding::Element,
    lang::Lang,
    outline::{Function, Param},
    tree::{Field, Id, Kind},
};

/// Something that can be called, under the name a call uses: `area`, `Time`, `Time.of`.
#[derive(Debug)]
pub(crate) struct Maker {
    pub(crate) key: String,
    pub(crate) at: Element,
    pub(crate) params: Vec<(String, Option<String>)>,
}

/// A call with literals by their place.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) key: String,
    pub(crate) at: Element,
    pub(crate) text: String,
    pub(crate) arguments: Vec<Argument>,
}

/// What is passed at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argument {
    Number,
    Text,
    Truth,
    /// Not a literal.
    Other,
}

pub(crate) fn makers(file: &File<'_>) -> Vec<Maker> {
    let mut found: Vec<Maker> = file.functions().filter_map(|function| maker(file, function)).collect();
    found.extend(records(file));
    found
}

fn maker(file: &File<'_>, function: &Function<'_>) -> Option<Maker> {
    let owner = file.outline.owner(function).map(|owner| owner.name);
    let key = match owner {
        Some(owner) if function.is_constructor && file.tree.lang != Lang::Rust => owner.to_owned(),
        Some(owner) => format!("{owner}.{}", function.name),
        None => function.name.to_owned(),
    };
    let params = function.params.iter().map(named).collect();
    (!function.params.is_empty()).then(|| Maker { key, at: place(file, function.id), params })
}

fn named(param: &Param<'_>) -> (String, Option<String>) {
    (param.name.to_owned(), param.ty.clone())
}

/// Types whose fields are what they are made of: Java's records, Rust's tuple structs, Python's data classes.
fn records(file: &File<'_>) -> Vec<Maker> {
    let tree = &file.tree;
    let mut found = Vec::new();
    for owner in &file.outline.types {
        let Some(id) = owner.ids.first().copied().filter(|id| tree.is(*id, Kind::Class)) else { continue };
        let params: Vec<(String, Option<String>)> = match tree.lang {
            Lang::Java => crate::outline::params_of(tree, id).iter().map(named).collect(),
            Lang::Rust => {
                let body = tree.child(id, Field::Body).filter(|body| tree.text(*body).starts_with('('));
                let fields = body.map(|body| {
                    tree.children(body).filter(|child| tree.field(*child) == Field::Type).collect::<Vec<_>>()
                });
                let fields = fields.unwrap_or_default().into_iter().enumerate();
                fields.map(|(at, ty)| (at.to_string(), Some(tree.text(ty).to_owned()))).collect()
            }
            Lang::Python => {
                let decorated = tree.parent(id).filter(|up| tree.is(*up, Kind::Decorated));
                let marks = decorated
                    .into_iter()
                    .flat_map(|up| tree.parts(up).filter(|part| tree.is(*part, Kind::Decorator)));
                let is_data = marks.into_iter().any(|mark| {
                    tree.text(mark).contains("dataclass") && !tree.text(mark).contains("kw_only")
                });
                let fields = owner.fields.iter().filter(|field| is_data && field.ty.is_some());
                fields.map(|field| (field.name.to_owned(), field.ty.map(str::to_owned))).collect()
            }
            _ => Vec::new(),
        };
        if !params.is_empty() {
            found.push(Maker { key: owner.name.to_owned(), at: place(file, id), params });
        }
    }
    found
}

pub(crate) fn all(file: &File<'_>) -> Vec<Call> {
    let tree = &file.tree;
    let calls = file.all(Kind::Call).chain(file.all(Kind::New));
    calls
        .filter_map(|id| {
            let arguments: Vec<Argument> = tree
                .arguments(id)
                .into_iter()
                .take_while(|argument| !matches!(tree.kind(*argument), Kind::Keyword | Kind::Spread))
                .map(|argument| sort(file, argument))
                .collect();
            let is_bare = arguments.iter().any(|argument| *argument != Argument::Other);
            let key = key(file, id).filter(|_| is_bare)?;
            Some(Call { key, at: place(file, id), text: file.quote(id), arguments })
        })
        .collect()
}

fn sort(file: &File<'_>, id: Id) -> Argument {
    match file.tree.kind(id) {
        Kind::Str => Argument::Text,
        Kind::Bool => Argument::Truth,
        _ if file.tree.signed(id).is_some() => Argument::Number,
        _ => Argument::Other,
    }
}

/// The name a call reaches something under, if that can be known.
pub(crate) fn key(file: &File<'_>, call: Id) -> Option<String> {
    let tree = &file.tree;
    let callee = tree.callee(call)?;
    let Some(receiver) = callee.receiver else {
        // In Java a bare name is a method of the class around it.
        let own = file.function_of(call).filter(|_| tree.lang == Lang::Java && tree.is(call, Kind::Call));
        if let Some(owner) = own.and_then(|function| file.outline.owner(function)) {
            return Some(format!("{}.{}", owner.name, callee.name));
        }
        return Some(file.outline.imports.get(callee.name).copied().unwrap_or(callee.name).to_owned());
    };
    let of = tree.text(receiver);
    let function = file.function_of(call);
    let is_self =
        tree.is(receiver, Kind::SelfRef) || function.is_some_and(|function| function.receiver == Some(of));
    if is_self || of == "Self" {
        let owner = file.outline.owner(function?)?;
        return Some(format!("{}.{}", owner.name, callee.name));
    }
    if !tree.is(receiver, Kind::Ident) {
        return None;
    }
    // A type's own function, or a function of an imported module.
    if of.starts_with(char::is_uppercase) {
        return Some(format!("{of}.{}", callee.name));
    }
    file.outline.imports.contains_key(of).then(|| callee.name.to_owned())
}
