//! Methods that fail unless another method ran first.

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    lang::Lang,
    outline::Function,
    rules::own_field,
    tree::{Field, Id, Kind},
};

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let mut found = Vec::new();
    for function in file.functions().filter(|function| function.owner.is_some() && !function.is_constructor) {
        let mut seen: Vec<&str> = Vec::new();
        for (guard, field) in guards(file, function) {
            if seen.contains(&field) {
                continue;
            }
            if let Some(draft) = draft(file, function, guard, field) {
                seen.push(field);
                found.push(draft);
            }
        }
    }
    found
}

fn draft(file: &File<'_>, function: &Function<'_>, guard: Id, field: &str) -> Option<Draft> {
    let owner = file.outline.owner(function)?;
    let others = file.outline.methods(owner).filter(|other| other.id != function.id && !other.is_constructor);
    let mut setters = others.filter(|other| is_reachable(file, other)).filter_map(|other| {
        let writes = file.writes(other);
        let sets = writes
            .iter()
            .find(|(written, _, value)| *written == field && value.is_none_or(|value| is_set(file, value)));
        sets.map(|(_, at, _)| (other, at))
    });
    let (setter, at) = setters.next()?;
    let message = format!("`{}` fails unless `{}` ran before it (`{field}`)", function.name, setter.name);
    Some(
        Draft::new(Rule::StateGuard, message)
            .about("guard")
            .element(file.element(guard, "fails while it is unset"))
            .element(file.element(*at, "set here")),
    )
}

/// Others can call it; in Rust, a whole module is one hand.
fn is_reachable(file: &File<'_>, function: &Function<'_>) -> bool {
    function.is_public || matches!(file.tree.lang, Lang::Rust | Lang::Go)
}

/// Conditions on a field being unset that end in a failure, with the field.
fn guards<'s>(file: &File<'s>, function: &Function<'s>) -> Vec<(Id, &'s str)> {
    let tree = &file.tree;
    let mut found = Vec::new();
    for id in tree.below_of(function.id, Kind::If).iter().copied() {
        let Some(condition) = tree.child(id, Field::Condition) else { continue };
        let then = tree.child(id, Field::Consequence);
        let otherwise = tree.child(id, Field::Alternative);
        let alternatives = terms(file, condition);
        for term in alternatives {
            if let Some(field) =
                unset(file, function, term).filter(|_| then.is_some_and(|block| fails(file, block)))
            {
                found.push((id, field));
            }
            if let Some(field) = plain_field(file, function, term)
                .filter(|_| otherwise.is_some_and(|block| fails(file, block)))
            {
                found.push((id, field));
            }
        }
    }
    // `let Some(x) = &self.x else { return Err(…) }`
    for id in tree.below_of(function.id, Kind::Declarator).iter().copied() {
        let failing = tree.child(id, Field::Alternative).filter(|block| fails(file, *block));
        let value = tree.child(id, Field::Value).filter(|_| failing.is_some());
        if let Some(field) = value.and_then(|value| receiver_field(file, function, value)) {
            found.push((id, field));
        }
    }
    for id in tree.below_of(function.id, Kind::Call).iter().copied() {
        if let Some(field) = demanded(file, function, id) {
            found.push((id, field));
        }
    }
    for id in tree.below_of(function.id, Kind::Switch).iter().copied() {
        if let Some(field) = matched(file, function, id) {
            found.push((id, field));
        }
    }
    found
}

/// The field of `self.x.as_ref().ok_or(…)` or `Objects.requireNonNull(x)`.
fn demanded<'s>(file: &File<'s>, function: &Function<'s>, call: Id) -> Option<&'s str> {
    let tree = &file.tree;
    let callee = tree.callee(call)?;
    match (tree.lang, callee.name) {
        (Lang::Rust, "ok_or" | "ok_or_else" | "expect") => receiver_field(file, function, callee.receiver?),
        (Lang::Java, "requireNonNull") => own_field(file, function, *tree.arguments(call).first()?),
        _ => None,
    }
}

/// The field of `match &self.x { None => Err(…), … }`.
fn matched<'s>(file: &File<'s>, function: &Function<'s>, switch: Id) -> Option<&'s str> {
    let tree = &file.tree;
    let field = receiver_field(file, function, tree.child(switch, Field::Value)?)?;
    let fails_unset = |case: &Id| {
        let is_none = tree.child(*case, Field::Pattern).is_some_and(|pattern| tree.text(pattern) == "None");
        let ends = |id: Id| tree.text(id).starts_with("Err(") || is_failure(file, id) || fails(file, id);
        is_none && tree.child(*case, Field::Value).is_some_and(ends)
    };
    let mut cases = tree.below_of(switch, Kind::Case).iter();
    cases.find(|case| tree.above(**case, &[Kind::Switch]) == Some(switch) && fails_unset(case)).map(|_| field)
}

/// Whether a node is itself a way to fail.
fn is_failure(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    match tree.kind(id) {
        Kind::Return => is_error(tree.text(id)),
        Kind::Macro | Kind::Call => {
            tree.callee(id).is_some_and(|callee| matches!(callee.name, "panic" | "bail" | "Fatal" | "Fatalf"))
        }
        _ => false,
    }
}

/// The parts of a condition that each can make it true.
fn terms(file: &File<'_>, condition: Id) -> Vec<Id> {
    let tree = &file.tree;
    let mut found = Vec::new();
    let mut open = vec![condition];
    while let Some(id) = open.pop() {
        let is_or = tree.is(id, Kind::Binary) && matches!(tree.operator(id), Some("or" | "||"));
        match tree.sides(id).filter(|_| is_or) {
            Some((left, right)) => open.extend([left, right]),
            None => found.push(id),
        }
    }
    found
}

/// The field a term says is unset.
fn unset<'s>(file: &File<'s>, function: &Function<'s>, term: Id) -> Option<&'s str> {
    let tree = &file.tree;
    match tree.kind(term) {
        Kind::Unary if matches!(tree.operator(term), Some("not" | "!")) => {
            let operand = tree.operand(term)?;
            if tree.is(operand, Kind::Call) {
                // `!self.conn.is_some()`, `!this.isOpen()`
                let callee = tree.callee(operand)?;
                return match callee.name {
                    "is_some" | "isPresent" | "get" | "load" => {
                        receiver_field(file, function, callee.receiver?)
                    }
                    _ => None,
                };
            }
            own_field(file, function, operand)
        }
        Kind::Compare | Kind::Binary => {
            let (left, right) = tree.sides(term)?;
            let operator = tree.operator(term)?;
            let is_empty = |id: Id| match tree.kind(id) {
                Kind::Null => true,
                Kind::Bool => matches!(tree.text(id), "false" | "False"),
                _ => false,
            };
            let (field, value) = if is_empty(right) { (left, right) } else { (right, left) };
            (matches!(operator, "==" | "===" | "is") && is_empty(value))
                .then(|| own_field(file, function, field))?
        }
        Kind::Call => {
            let callee = tree
                .callee(term)
                .filter(|callee| matches!(callee.name, "is_none" | "isEmpty" | "is_empty"))?;
            receiver_field(file, function, callee.receiver?).filter(|_| callee.name == "is_none")
        }
        _ => None,
    }
}

/// The field a term says is set.
fn plain_field<'s>(file: &File<'s>, function: &Function<'s>, term: Id) -> Option<&'s str> {
    own_field(file, function, term)
}

/// Calls that hand on what a field holds.
const HANDS_ON: [&str; 14] = [
    "as_ref",
    "as_mut",
    "as_deref",
    "as_deref_mut",
    "clone",
    "cloned",
    "copied",
    "take",
    "get",
    "borrow",
    "borrow_mut",
    "lock",
    "read",
    "unwrap",
];

/// The field at the root of `self.x.as_ref()`.
fn receiver_field<'s>(file: &File<'s>, function: &Function<'s>, id: Id) -> Option<&'s str> {
    let tree = &file.tree;
    let mut at = id;
    for _ in 0..4 {
        if let Some(field) = own_field(file, function, at) {
            return Some(field);
        }
        let callee = tree.callee(at).filter(|_| tree.is(at, Kind::Call))?;
        at = callee.receiver.filter(|_| HANDS_ON.contains(&callee.name))?;
    }
    None
}

/// Whether a branch ends in failure.
fn fails(file: &File<'_>, block: Id) -> bool {
    let tree = &file.tree;
    if tree.is(block, Kind::Throw) || !tree.below_of(block, Kind::Throw).is_empty() {
        return true;
    }
    match tree.lang {
        Lang::Go | Lang::Rust => {
            let ways = [Kind::Return, Kind::Macro, Kind::Call];
            ways.iter().any(|way| tree.below_of(block, *way).iter().any(|id| is_failure(file, *id)))
                || tree.lang == Lang::Rust
                    && tree.parts(block).last().is_some_and(|last| tree.text(last).starts_with("Err("))
        }
        _ => false,
    }
}

/// Whether a `return` hands back an error.
fn is_error(text: &str) -> bool {
    ["Err(", "errors.New", "fmt.Errorf", "Errorf("].iter().any(|mark| text.contains(mark))
        || text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word.starts_with("Err") || word.starts_with("err") && word.len() > 3)
}

/// Whether a value is something rather than nothing.
fn is_set(file: &File<'_>, value: Id) -> bool {
    match file.tree.kind(value) {
        Kind::Null => false,
        Kind::Bool => matches!(file.tree.text(value), "true" | "True"),
        _ => file.tree.text(value) != "None",
    }
}
