//! Connascence of meaning: values that stand for something nobody wrote down.

mod codes;
mod numbers;
mod strings;

use crate::{
    file::File,
    finding::Draft,
    tree::{Field, Id, Kind},
    words::number,
};

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let mut found = Vec::new();
    for id in file.all(Kind::Binary).chain(file.all(Kind::Compare)) {
        let Some(comparison) = Comparison::of(file, id) else { continue };
        let coded = codes::compared(file, &comparison);
        if coded.is_empty() {
            found.extend(numbers::compared(file, &comparison));
            found.extend(strings::compared(file, &comparison));
        } else {
            found.extend(coded);
        }
    }
    found.extend(codes::written(file));
    found.extend(numbers::computed(file));
    found.extend(numbers::returned(file));
    found
}

/// Things compared with each other.
struct Comparison {
    id: Id,
    operands: Vec<Id>,
    /// Equal, not equal, in, not in; otherwise less or more.
    is_equality: bool,
}

impl Comparison {
    fn of(file: &File<'_>, id: Id) -> Option<Self> {
        let tree = &file.tree;
        let operators: Vec<&str> = match tree.kind(id) {
            Kind::Binary => vec![tree.operator(id)?],
            _ => tree
                .children(id)
                .filter(|c| tree.field(*c) == Field::Operator)
                .map(|c| tree.text(c))
                .collect(),
        };
        let equal = ["==", "!=", "===", "!==", "in", "not in"];
        let order = ["<", ">", "<=", ">="];
        if !operators.iter().all(|operator| equal.contains(operator) || order.contains(operator)) {
            return None;
        }
        let operands = tree.parts(id).filter(|part| tree.field(*part) != Field::Operator).collect();
        let is_equality = operators.iter().any(|operator| equal.contains(operator));
        Some(Self { id, operands, is_equality })
    }

    /// Each operand with the others.
    fn each(&self) -> impl Iterator<Item = (Id, Option<Id>)> + '_ {
        self.operands
            .iter()
            .map(|operand| (*operand, self.operands.iter().copied().find(|other| other != operand)))
    }
}

/// The value of a number, with its sign.
fn value_of(file: &File<'_>, id: Id) -> Option<f64> {
    let (literal, is_negative) = file.tree.signed(id)?;
    let value = number(file.tree.text(literal))?;
    Some(if is_negative { -value } else { value })
}

/// Whether a value is one of these, exactly.
fn is_one_of(value: f64, any: &[f64]) -> bool {
    any.iter().any(|known| (value - known).abs() < f64::EPSILON)
}

/// Numbers that say nothing beyond themselves.
fn is_plain(value: f64) -> bool {
    is_one_of(value.abs(), &[0.0, 1.0, 2.0, 10.0, 100.0, 1000.0])
}

/// Numbers everybody knows as parts of a duration or a size.
fn is_unit(value: f64) -> bool {
    is_one_of(value, &[60.0, 24.0, 365.0, 1024.0, 3600.0])
}

/// What HTTP calls its answers.
fn is_http(value: f64) -> bool {
    (100.0..600.0).contains(&value)
}
