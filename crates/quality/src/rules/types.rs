//! Connascence of type: signatures and casts that leave the type to memory.

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    lang::Lang,
    outline::Function,
    tree::{Field, Id, Kind},
};

/// Methods whose signature an interface of the standard library fixes.
const FIXED: [&str; 12] = [
    "Scan",
    "Push",
    "Pop",
    "Value",
    "As",
    "Is",
    "equals",
    "compareTo",
    "as_any",
    "as_any_mut",
    "into_any",
    "downcast",
];

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    if file.tree.lang == Lang::JavaScript {
        return Vec::new();
    }
    let mut found: Vec<Draft> = file.functions().filter_map(|function| anything(file, function)).collect();
    found.extend(casts(file));
    found.extend(untyped(file));
    if file.tree.lang == Lang::Python {
        found.extend(file.functions().filter_map(|function| mixed(file, function)));
    }
    found
}

/// A signature with a type that says nothing.
fn anything(file: &File<'_>, function: &Function<'_>) -> Option<Draft> {
    let tree = &file.tree;
    let lang = tree.lang;
    let is_callback = tree.is(function.id, Kind::Lambda)
        && tree.parent(function.id).is_some_and(|up| tree.is(up, Kind::Pair) || tree.is(up, Kind::Args));
    if !function.is_public || function.is_dictated || is_callback || FIXED.contains(&function.name) {
        return None;
    }
    if is_behind_overloads(file, function) {
        return None;
    }
    let taken = function.params.iter().filter(|param| !param.is_variadic);
    let taken = taken.filter_map(|param| {
        param.ty.as_deref().filter(|ty| says_nothing(lang, ty)).map(|ty| (param.name, ty))
    });
    let result = tree
        .child(function.id, Field::Result)
        .or_else(|| if lang == Lang::Java { tree.child(function.id, Field::Type) } else { None });
    let given: Option<String> =
        result.map(|ty| tree.text(ty).trim_start_matches(':').split_whitespace().collect());
    let given = given.as_deref().filter(|ty| says_nothing(lang, ty));
    let first = taken.map(|(name, ty)| format!("takes `{name}` as `{ty}`")).next();
    let what = first.or_else(|| given.map(|ty| format!("returns `{ty}`")))?;
    let message = format!("`{}` {what}", function.name);
    let draft = Draft::new(Rule::AnyType, message)
        .about("any")
        .element(file.function_element(function, "the signature"));
    Some(if lang == Lang::Python { draft.hint() } else { draft })
}

/// Whether callers of it see other signatures than its own: TypeScript's overloads.
fn is_behind_overloads(file: &File<'_>, function: &Function<'_>) -> bool {
    let is_body = matches!(file.tree.lang, Lang::TypeScript | Lang::Tsx) && function.body.is_some();
    is_body
        && file.functions().any(|other| {
            other.body.is_none()
                && (other.name, other.owner) == (function.name, function.owner)
                && other.id < function.id
        })
}

fn says_nothing(lang: Lang, ty: &str) -> bool {
    match lang {
        Lang::TypeScript | Lang::Tsx => {
            ty.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "any")
        }
        Lang::Go => matches!(ty, "any" | "interface{}" | "[]any" | "[]interface{}"),
        Lang::Java => ty == "Object",
        Lang::Rust => ty.contains("dynAny") || ty.contains("dynstd::any::Any"),
        Lang::Python => matches!(ty, "Any" | "typing.Any" | "object"),
        Lang::JavaScript => false,
    }
}

/// Casts nothing checks.
fn casts(file: &File<'_>) -> Vec<Draft> {
    let tree = &file.tree;
    let mut places: Vec<Id> = Vec::new();
    match tree.lang {
        Lang::TypeScript | Lang::Tsx => {
            places.extend(file.all(Kind::Cast).filter(|id| is_unchecked(file, *id)));
            let silenced = |text: &str| {
                ["@ts-ignore", "@ts-nocheck", "@ts-expect-error"].iter().any(|mark| text.contains(mark))
            };
            places.extend(file.all(Kind::Comment).filter(|id| silenced(tree.text(*id))));
        }
        Lang::Python => {
            let is_ignore = |text: &str| {
                text.trim_start_matches(['#', ' ']).starts_with("type: ignore")
                    || text.contains("# type: ignore")
            };
            places.extend(file.all(Kind::Comment).filter(|id| is_ignore(tree.text(*id))));
        }
        Lang::Rust => {
            let is_transmute = |id: &Id| {
                tree.callee(*id).is_some_and(|callee| matches!(callee.name, "transmute" | "transmute_copy"))
            };
            places.extend(file.all(Kind::Call).filter(is_transmute));
        }
        Lang::Java => {
            let modifiers = file.all(Kind::Modifiers);
            places.extend(modifiers.filter(|id| tree.text(*id).contains("SuppressWarnings(\"unchecked\")")));
        }
        Lang::Go | Lang::JavaScript => {}
    }
    let draft = |id: Id| {
        Draft::new(Rule::UncheckedCast, format!("`{}` switches checking off", file.quote(id)))
            .about("cast")
            .element(file.element(id, "unchecked here"))
    };
    places.into_iter().map(draft).collect()
}

/// `as any`, `<any>x`, `as unknown as T`; of the last, the outer one.
fn is_unchecked(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    let text = tree.text(id);
    let is_nested =
        tree.parent(id).is_some_and(|up| tree.is(up, Kind::Cast) && is_unchecked_text(tree.text(up)));
    !is_nested && is_unchecked_text(text)
}

fn is_unchecked_text(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let ends_in_any = matches!(words.as_slice(), [.., "as", to] if matches!(*to, "any" | "any[]"));
    let through_unknown = words.windows(3).any(|three| matches!(three, ["as", "unknown", "as"]));
    ends_in_any || through_unknown || text.starts_with("<any>")
}

/// Parameters without a type where most have one.
fn untyped(file: &File<'_>) -> Vec<Draft> {
    let is_open = matches!(file.tree.lang, Lang::Python | Lang::TypeScript | Lang::Tsx);
    if !is_open {
        return Vec::new();
    }
    let declared =
        |function: &&Function<'_>| file.tree.is(function.id, Kind::Function) && !function.params.is_empty();
    let functions: Vec<&Function<'_>> = file.functions().filter(declared).collect();
    let typed = functions.iter().filter(|function| lacks(function).is_none()).count();
    if typed < 2 || typed * 2 < functions.len() {
        return Vec::new();
    }
    let draft = |function: &&Function<'_>| {
        let name = lacks(function)?;
        let message =
            format!("`{}` does not say what `{name}` is, and the file around it does", function.name);
        let element = file.function_element(function, "without a type");
        Some(Draft::new(Rule::UntypedParameter, message).hint().about("untyped").element(element))
    };
    functions.iter().filter_map(draft).collect()
}

/// The first parameter without a type.
fn lacks<'s>(function: &Function<'s>) -> Option<&'s str> {
    let bare = function
        .params
        .iter()
        .find(|param| param.ty.is_none() && !param.is_variadic && param.default.is_none());
    bare.map(|param| param.name)
}

/// Literals of unrelated types on different paths.
fn mixed(file: &File<'_>, function: &Function<'_>) -> Option<Draft> {
    let values = super::returned_values(file, function);
    let literals: Vec<(Id, Sort)> =
        values.into_iter().filter_map(|id| sort(file, id).map(|sort| (id, sort))).collect();
    let (first, of) = *literals.first()?;
    let (other, _) = *literals.iter().find(|(_, sort)| *sort != of)?;
    let message = format!(
        "`{}` returns {} on one path and {} on another",
        function.name,
        file.quote(first),
        file.quote(other)
    );
    Some(
        Draft::new(Rule::MixedReturns, message)
            .hint()
            .about("mixed")
            .element(file.element(first, "one type"))
            .element(file.element(other, "another type")),
    )
}

/// What sort of value a literal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Number,
    Text,
    Truth,
    List,
    Map,
}

fn sort(file: &File<'_>, id: Id) -> Option<Sort> {
    match file.tree.kind(id) {
        Kind::Number => Some(Sort::Number),
        Kind::Str | Kind::Template => Some(Sort::Text),
        Kind::Bool => Some(Sort::Truth),
        Kind::List => Some(Sort::List),
        Kind::Dict => Some(Sort::Map),
        _ => file.tree.signed(id).map(|_| Sort::Number),
    }
}
