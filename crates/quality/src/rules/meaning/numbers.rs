//! Bare numbers that decide, are computed with, or are returned.

use super::{Comparison, codes::is_coded, is_http, is_one_of, is_plain, is_unit, value_of};
use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    outline::Function,
    tree::{Field, Id, Kind},
    words::{has_word, is_upper, last_word},
};

/// Names of durations and sizes: a number multiplied by one is read with it.
const UNITS: [&str; 30] = [
    "second",
    "seconds",
    "sec",
    "secs",
    "minute",
    "minutes",
    "hour",
    "hours",
    "day",
    "days",
    "week",
    "weeks",
    "ms",
    "millis",
    "millisecond",
    "milliseconds",
    "microsecond",
    "microseconds",
    "nanosecond",
    "nanoseconds",
    "kb",
    "mb",
    "gb",
    "kib",
    "mib",
    "gib",
    "byte",
    "bytes",
    "duration",
    "pi",
];

const ARITHMETIC: [&str; 12] = ["+", "-", "*", "/", "%", "**", "//", "+=", "-=", "*=", "/=", "%="];

/// A number in a comparison.
pub(super) fn compared(file: &File<'_>, comparison: &Comparison) -> Vec<Draft> {
    let mut found = Vec::new();
    for (operand, other) in comparison.each() {
        let Some(value) = value_of(file, operand) else { continue };
        let Some(other) = other.filter(|other| !file.tree.kind(*other).is_literal()) else { continue };
        if is_plain(value) || is_unit(value) || is_known(file, other, value) || is_masked(file, other) {
            continue;
        }
        let message = format!("`{}`: why {}?", file.quote(comparison.id), file.quote(operand));
        found.push(
            Draft::new(Rule::MagicNumberCond, message)
                .about(format!("cond {value}"))
                .literal(format!("{value}"))
                .element(file.element(operand, "decided here")),
        );
    }
    found
}

/// Numbers that what they are compared with explains.
fn is_known(file: &File<'_>, other: Id, value: f64) -> bool {
    let tree = &file.tree;
    let name = tree.last_name(other).unwrap_or_default();
    let is_length = || has_word(name, &["len", "length", "size", "count"]);
    let is_answer = || is_http(value) && matches!(last_word(name).as_str(), "status" | "code");
    // `code / 100 == 5`
    let is_class = || {
        tree.is(other, Kind::Binary)
            && matches!(tree.operator(other), Some("/" | "//"))
            && tree
                .sides(other)
                .and_then(|(_, by)| value_of(file, by))
                .is_some_and(|by| is_one_of(by, &[100.0]))
    };
    is_answer() || is_class() || is_one_of(value, &[3.0, 5.0]) && is_length()
}

/// Bits taken out of a number.
fn is_masked(file: &File<'_>, other: Id) -> bool {
    file.tree.is(other, Kind::Binary)
        && matches!(file.tree.operator(other), Some("&" | "|" | "^" | "<<" | ">>"))
}

/// Numbers in arithmetic.
pub(super) fn computed(file: &File<'_>) -> Vec<Draft> {
    let tree = &file.tree;
    let operations = file.all(Kind::Binary).chain(file.all(Kind::AugAssign)).chain(file.all(Kind::Assign));
    let mut found = Vec::new();
    for id in operations {
        let is_arithmetic = tree.operator(id).is_some_and(|operator| ARITHMETIC.contains(&operator));
        let Some((left, right)) = tree.sides(id).filter(|_| is_arithmetic) else { continue };
        for (operand, other) in [(left, right), (right, left)] {
            let Some(value) = value_of(file, operand) else { continue };
            let is_conversion = is_one_of(value, &[86_400.0, 1e6, 1e9]);
            if is_plain(value) || is_unit(value) || is_conversion || is_explained(file, id, other) {
                continue;
            }
            let message = format!("`{}`: what is {}?", file.quote(id), file.quote(operand));
            found.push(
                Draft::new(Rule::MagicNumberArith, message)
                    .sure(800)
                    .about(format!("arith {value}"))
                    .literal(format!("{value}"))
                    .element(file.element(operand, "computed with here")),
            );
        }
    }
    found
}

/// Whether a calculation says itself what its numbers are.
fn is_explained(file: &File<'_>, operation: Id, other: Id) -> bool {
    let tree = &file.tree;
    if matches!(tree.kind(other), Kind::Str | Kind::Template) {
        return true;
    }
    let is_named_unit = tree.last_name(other).is_some_and(|name| has_word(name, &UNITS))
        || tree
            .below_of(other, Kind::Ident)
            .iter()
            .any(|id| has_word(tree.text(*id), &UNITS) && !tree.is(other, Kind::Call));
    if is_named_unit {
        return true;
    }
    let mut whole = operation;
    while let Some(up) = tree.parent(whole).filter(|up| matches!(tree.kind(*up), Kind::Binary | Kind::Unary))
    {
        whole = up;
    }
    let is_constant = !tree.below(whole).any(|id| {
        !matches!(tree.kind(id), Kind::Number | Kind::Binary | Kind::Unary | Kind::Token | Kind::Comment)
    });
    let is_bits = || {
        tree.below_of(whole, Kind::Binary)
            .iter()
            .chain([&whole])
            .any(|id| matches!(tree.operator(*id), Some("<<" | ">>" | "&" | "|" | "^")))
    };
    let is_hash = || {
        file.function_of(operation)
            .is_some_and(|function| has_word(function.name, &["hash", "checksum", "crc"]))
    };
    is_constant && tree.is(operation, Kind::Binary) || is_named(file, whole) || is_bits() || is_hash()
}

/// Whether a value has a name: a constant's, a member's, a parameter's default, an argument's keyword.
pub(super) fn is_named(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    let Some(parent) = tree.parent(id) else { return false };
    match tree.kind(parent) {
        Kind::Const | Kind::Static | Kind::EnumMember | Kind::DefaultParam | Kind::Keyword => true,
        Kind::Param => tree.child(parent, Field::Value) == Some(id),
        Kind::Declarator | Kind::Assign | Kind::Field => {
            let name = tree.binding(parent).and_then(|(target, _)| tree.last_name(target));
            let is_final = tree
                .ancestors(id)
                .take_while(|up| !matches!(tree.kind(*up), Kind::Block | Kind::Module))
                .any(|up| tree.is(up, Kind::Field) && tree.text(up).contains("final "));
            name.is_some_and(is_upper) || is_final
        }
        _ => false,
    }
}

/// Bare numbers handed back.
pub(super) fn returned(file: &File<'_>) -> Vec<Draft> {
    let tree = &file.tree;
    let mut found = Vec::new();
    for function in file.functions() {
        let values: Vec<(Id, f64)> = crate::rules::returned_values(file, function)
            .into_iter()
            .filter_map(|id| value_of(file, id).map(|value| (id, value)))
            .collect();
        let mut distinct: Vec<u64> = values.iter().map(|(_, value)| value.to_bits()).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let is_code = is_coded(function.name) && distinct.len() > 1;
        if values.is_empty() || is_constant(file, function) {
            continue;
        }
        for (id, value) in values {
            let is_answer = is_http(value) && value >= 200.0 && is_one_of(value, &HTTP);
            let is_magic = if is_code { value.fract() == 0.0 } else { !is_plain(value) && !is_unit(value) };
            if !is_magic || is_answer {
                continue;
            }
            let message = format!("`{}` returns {}; what does it stand for?", function.name, file.quote(id));
            found.push(
                Draft::new(Rule::MagicReturn, message)
                    .hint()
                    .about(format!("return {value}"))
                    .literal(tree.text(id))
                    .element(file.element(id, "returned here")),
            );
        }
    }
    found
}

/// What servers commonly answer.
const HTTP: [f64; 16] = [
    200.0, 201.0, 202.0, 204.0, 301.0, 302.0, 304.0, 400.0, 401.0, 403.0, 404.0, 409.0, 422.0, 429.0, 500.0,
    503.0,
];

/// A function that is nothing but a name for its value.
fn is_constant(file: &File<'_>, function: &Function<'_>) -> bool {
    function.body.is_some_and(|body| !file.tree.is(body, Kind::Block) || file.tree.parts(body).count() <= 1)
}
