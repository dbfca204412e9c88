//! Codes: integers that stand for a state, a kind, a role.

use super::{Comparison, is_http, value_of};
use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    tree::{Field, Id, Kind},
    words::{is_upper, words},
};

/// What something is called whose values are codes.
const CODED: [&str; 12] = [
    "status", "state", "code", "kind", "type", "mode", "role", "level", "flag", "category", "phase", "action",
];

/// Comparisons of something coded with an integer, or with a list of them.
pub(super) fn compared(file: &File<'_>, comparison: &Comparison) -> Vec<Draft> {
    if !comparison.is_equality {
        return Vec::new();
    }
    let tree = &file.tree;
    let mut found = Vec::new();
    for (operand, other) in comparison.each() {
        let Some(subject) = other.and_then(|other| coded_name(file, other)) else { continue };
        let values: Vec<Id> = match tree.kind(operand) {
            Kind::List | Kind::Tuple | Kind::Set => tree.elements(operand),
            _ => vec![operand],
        };
        let is_code = !values.is_empty() && values.iter().all(|value| is_code(file, &subject, *value));
        if is_code {
            found.push(draft(file, comparison.id, &subject, operand));
        }
    }
    found
}

/// Codes in other forms: `switch`, membership by method, and values in a record.
pub(super) fn written(file: &File<'_>) -> Vec<Draft> {
    let mut found: Vec<Draft> = file.all(Kind::Switch).filter_map(|id| switched(file, id)).collect();
    found.extend(file.all(Kind::Call).filter_map(|id| contained(file, id)));
    found.extend(file.all(Kind::Pair).filter_map(|id| recorded(file, id)));
    found.extend(file.all(Kind::Dict).chain(file.all(Kind::Call)).filter_map(|id| keyed(file, id)));
    found
}

/// `error_codes = {1: "fatal", 2: "not so fatal"}`, `Map.of(1, "fatal", 2, "not so fatal")`
fn keyed(file: &File<'_>, id: Id) -> Option<Draft> {
    let tree = &file.tree;
    let (target, _) = tree.parent(id).and_then(|up| tree.binding(up)).filter(|(_, value)| *value == id)?;
    let name = tree.last_name(target).filter(|name| !is_upper(name))?;
    let is_of =
        |word: &str, coded: &str| word.strip_prefix(coded).is_some_and(|end| matches!(end, "" | "s" | "es"));
    let subject = words(name).iter().find_map(|word| CODED.into_iter().find(|coded| is_of(word, coded)))?;
    let keys: Vec<Id> = if tree.is(id, Kind::Dict) {
        tree.parts(id).map(|pair| tree.child(pair, Field::Key)).collect::<Option<_>>()?
    } else {
        tree.callee(id).filter(|callee| {
            callee.name == "of" && callee.receiver.is_some_and(|map| tree.text(map) == "Map")
        })?;
        tree.arguments(id).into_iter().step_by(2).collect()
    };
    let is_code = keys.len() > 1 && keys.iter().all(|key| is_code(file, subject, *key));
    let first = *keys.first().filter(|_| is_code)?;
    let message =
        format!("`{name}` says what {} codes mean; wherever they are used, nothing does", keys.len());
    Some(
        Draft::new(Rule::CodedValue, message)
            .about("keyed")
            .literal(tree.text(first))
            .element(file.element(id, "the codes")),
    )
}

fn switched(file: &File<'_>, id: Id) -> Option<Draft> {
    let tree = &file.tree;
    let subject = tree.child(id, Field::Value).or_else(|| tree.child(id, Field::Condition))?;
    let name = coded_name(file, subject)?;
    let labels = tree.below_of(id, Kind::Label).iter().copied();
    // Where cases have no labels of their own, their value is what they are compared with.
    let cases = tree
        .below_of(id, Kind::Case)
        .iter()
        .filter(|case| !tree.children(**case).any(|child| tree.is(child, Kind::Label)));
    let values = cases.filter_map(|case| tree.child(*case, Field::Value));
    let numbers: Vec<Id> = labels
        .chain(values)
        .filter(|label| tree.above(*label, &[Kind::Switch]) == Some(id) && !tree.is(*label, Kind::Block))
        .flat_map(|label| {
            // `n if n > 9`: what comes after the pattern is another question.
            let guard = tree.child(label, Field::Condition);
            let numbers = tree.below_of(label, Kind::Number).iter().copied().chain([label]);
            numbers.filter(move |number| {
                !guard.is_some_and(|guard| tree.contains(guard, *number) || guard == *number)
            })
        })
        .filter(|number| tree.is(*number, Kind::Number) && is_code(file, &name, *number))
        .collect();
    // Turning codes into names is the way out, and has to be done somewhere.
    let is_way_out = file.function_of(id).is_some_and(|function| {
        let first = words(function.name).into_iter().next().unwrap_or_default();
        ["from", "try", "parse", "decode", "of", "to"].contains(&first.as_str())
    });
    let first = *numbers.first().filter(|_| !is_way_out)?;
    let listed: Vec<&str> = numbers.iter().take(4).map(|number| tree.text(*number)).collect();
    let message = format!("`{name}` is told apart by the numbers {}", listed.join(", "));
    let cases = numbers.iter().skip(1).map(|number| file.element(*number, "another code"));
    let essence = format!("switch {}", listed.join(","));
    Some(
        Draft::new(Rule::CodedValue, message)
            .about(essence)
            .literal(tree.text(first))
            .element(file.element(id, "told apart here"))
            .element(file.element(first, "a code"))
            .elements(cases)
            .scaled(1000)
            .open_ended(),
    )
}

/// `[1, 2].includes(order.status)`
fn contained(file: &File<'_>, id: Id) -> Option<Draft> {
    let tree = &file.tree;
    let callee = tree.callee(id).filter(|callee| matches!(callee.name, "includes" | "contains"))?;
    let list = callee.receiver.filter(|list| tree.is(*list, Kind::List))?;
    let subject = coded_name(file, *tree.arguments(id).first()?)?;
    let values = tree.elements(list);
    let is_code = !values.is_empty() && values.iter().all(|value| is_code(file, &subject, *value));
    is_code.then(|| draft(file, id, &subject, list))
}

/// `{status: 0}`
fn recorded(file: &File<'_>, id: Id) -> Option<Draft> {
    let tree = &file.tree;
    let key = tree
        .child(id, Field::Key)
        .or_else(|| tree.child(id, Field::Member))
        .or_else(|| tree.child(id, Field::Name))?;
    let value = tree.child(id, Field::Value)?;
    let name = if tree.is(key, Kind::Str) { tree.string(key) } else { tree.last_name(key)? };
    let is_constant = tree.ancestors(id).any(|up| match tree.kind(up) {
        Kind::Const | Kind::Static | Kind::EnumMember | Kind::DefaultParam => true,
        Kind::Declarator | Kind::Assign => {
            tree.binding(up).and_then(|(target, _)| tree.last_name(target)).is_some_and(is_upper)
        }
        _ => false,
    });
    let subject = Some(name.to_owned()).filter(|name| is_coded(name) && !is_constant)?;
    is_code(file, &subject, value).then(|| draft(file, id, &subject, value))
}

fn draft(file: &File<'_>, id: Id, subject: &str, value: Id) -> Draft {
    let message =
        format!("`{}`: what {} means for `{subject}` is written nowhere", file.quote(id), file.quote(value));
    Draft::new(Rule::CodedValue, message)
        .about(format!("code {}", file.quote(value)))
        .literal(file.tree.text(value))
        .element(file.element(id, "the code"))
}

/// The name of something whose values are codes.
fn coded_name(file: &File<'_>, id: Id) -> Option<String> {
    let name = file.tree.last_name(id)?;
    is_coded(name).then(|| name.to_owned())
}

pub(super) fn is_coded(name: &str) -> bool {
    words(name).last().is_some_and(|word| CODED.contains(&word.as_str()))
}

/// Whether a value is an integer that stands for something, and not one everybody knows.
fn is_code(file: &File<'_>, subject: &str, value: Id) -> bool {
    let Some(number) = value_of(file, value) else { return false };
    let all = words(subject);
    let (last, before) = match all.as_slice() {
        [.., before, last] => (last.as_str(), before.as_str()),
        [last] => (last.as_str(), ""),
        [] => return false,
    };
    let is_answer = matches!(last, "status" | "code") && is_http(number);
    // What a program hands back when all went well.
    let is_exit = matches!(last, "status" | "code") && matches!(before, "exit" | "return") && number == 0.0;
    let is_permission = last == "mode" && file.tree.text(value).starts_with("0o");
    number.fract() == 0.0 && !is_answer && !is_exit && !is_permission
}
