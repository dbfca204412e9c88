//! Connascence of value: values that must change together, within one file. Across files it is in `project`.

use std::collections::BTreeMap;

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    outline::Function,
    tree::{Field, Id, Kind},
    words::{canonical, is_upper, number, words},
};

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let mut found = shadowed(file);
    found.extend(together(file));
    found
}

/// Words too general to tie a number to a constant.
const GENERAL: [&str; 24] = [
    "max", "min", "default", "config", "get", "set", "value", "number", "num", "the", "of", "to", "is", "in",
    "my", "new", "total", "maximum", "minimum", "allowed", "limit", "per", "for", "self",
];

/// A named constant and its value.
struct Constant<'s> {
    name: &'s str,
    value: String,
    id: Id,
    literal: Id,
}

/// Literals equal to a constant of the file whose name shares a word with where they are used.
fn shadowed(file: &File<'_>) -> Vec<Draft> {
    let tree = &file.tree;
    let constants = constants(file);
    let mut found = Vec::new();
    if constants.is_empty() {
        return found;
    }
    for id in file.all(Kind::Number).chain(file.all(Kind::Str)) {
        let value = value(file, id);
        let Some(constant) =
            constants.iter().find(|constant| constant.value == value && constant.literal != id)
        else {
            continue;
        };
        let Some(name) = used_as(file, id) else { continue };
        // Beside the constant itself it is another number that happens to be as large.
        if name == constant.name || !shares_word(constant.name, name) {
            continue;
        }
        let message = format!("{} is `{}` written out again", tree.text(id), constant.name);
        found.push(
            Draft::new(Rule::ShadowedConstant, message)
                .about(format!("shadow {value}"))
                .element(file.element(id, "written out here"))
                .element(file.element(constant.id, "the constant")),
        );
    }
    found
}

fn value(file: &File<'_>, id: Id) -> String {
    if file.tree.is(id, Kind::Number) {
        canonical(file.tree.text(id))
    } else {
        format!("\"{}\"", file.tree.string(id))
    }
}

fn constants<'s>(file: &File<'s>) -> Vec<Constant<'s>> {
    let tree = &file.tree;
    let tops = file
        .outline
        .top
        .iter()
        .filter(|top| top.is_const || is_upper(top.name) || tree.is(top.id, Kind::Static));
    let tops = tops.filter_map(|top| top.value.map(|value| (top.name, top.id, value)));
    let fields = file.outline.types.iter().flat_map(|owner| owner.fields.iter());
    let fields = fields.filter(|field| field.is_static && (field.is_final || is_upper(field.name)));
    let fields = fields.filter_map(|field| field.value.map(|value| (field.name, field.id, value)));
    tops.chain(fields)
        .filter(|(_, _, literal)| is_telling(file, *literal))
        .map(|(name, id, literal)| Constant { name, value: value(file, literal), id, literal })
        .collect()
}

/// Values that are not everywhere anyway.
fn is_telling(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    match tree.kind(id) {
        Kind::Number => number(tree.text(id)).is_some_and(|value| {
            ![0.0, 1.0, 2.0, 60.0, 24.0, 365.0, 1024.0, 3600.0]
                .iter()
                .any(|known| (value - known).abs() < f64::EPSILON)
        }),
        Kind::Str => tree.string(id).len() >= 3 && !tree.string(id).contains(char::is_whitespace),
        _ => false,
    }
}

/// The name a literal is used under: an argument's keyword, a key, what it is compared or computed with, who is called.
fn used_as<'s>(file: &File<'s>, id: Id) -> Option<&'s str> {
    let tree = &file.tree;
    let parent = tree.parent(id)?;
    match tree.kind(parent) {
        Kind::Keyword | Kind::DefaultParam | Kind::Param => tree
            .child(parent, Field::Name)
            .or_else(|| tree.child(parent, Field::Pattern))
            .map(|name| tree.text(name)),
        Kind::Pair if tree.field(id) == Field::Value => {
            let key = tree.child(parent, Field::Key).or_else(|| tree.child(parent, Field::Member))?;
            Some(if tree.is(key, Kind::Str) { tree.string(key) } else { tree.text(key) })
        }
        Kind::Binary | Kind::Compare => {
            let (left, right) = tree.sides(parent)?;
            tree.last_name(if left == id { right } else { left })
        }
        Kind::Args => tree.callee(tree.parent(parent)?).map(|callee| callee.name),
        _ => None,
    }
}

fn shares_word(one: &str, two: &str) -> bool {
    let stem = |word: String| word.strip_suffix('s').map_or(word.clone(), str::to_owned);
    let telling = |name: &str| -> Vec<String> {
        words(name)
            .into_iter()
            .filter(|word| word.len() > 2 && !GENERAL.contains(&word.as_str()))
            .map(stem)
            .collect()
    };
    let other = telling(two);
    telling(one).iter().any(|word| other.contains(word))
}

/// Fields that methods always set together.
fn together(file: &File<'_>) -> Vec<Draft> {
    let mut found = Vec::new();
    for owner in &file.outline.types {
        let mut pairs: BTreeMap<(&str, &str), Vec<&Function<'_>>> = BTreeMap::new();
        for method in file.outline.methods(owner) {
            let mut fields: Vec<&str> = file.writes(method).iter().map(|(field, _, _)| *field).collect();
            fields.sort_unstable();
            fields.dedup();
            for (at, one) in fields.iter().enumerate() {
                for two in fields.iter().skip(at + 1) {
                    pairs.entry((one, two)).or_default().push(method);
                }
            }
        }
        // The pair set together most often stands for its group.
        let often = pairs.into_iter().filter(|(_, methods)| methods.len() >= 3);
        let Some(((one, two), methods)) =
            often.max_by_key(|(fields, methods)| (methods.len(), std::cmp::Reverse(*fields)))
        else {
            continue;
        };
        let message =
            format!("`{one}` and `{two}` of `{}` are set together in {} methods", owner.name, methods.len());
        let places = methods.iter().map(|method| file.function_element(method, "sets both"));
        found.push(
            Draft::new(Rule::CoAssigned, message).hint().about("together").scaled(1000).elements(places),
        );
    }
    found
}
