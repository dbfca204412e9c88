//! Comparing which object it is where what it says was meant.

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    lang::Lang,
    tree::{Field, Id, Kind},
};

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let found: Vec<Id> = match file.tree.lang {
        Lang::Python => file.all(Kind::Compare).filter(|id| is_python(file, *id)).collect(),
        Lang::Java => file.all(Kind::Binary).filter(|id| is_java(file, *id)).collect(),
        _ => Vec::new(),
    };
    let draft = |id: Id| {
        let message = format!("`{}` asks whether they are the same object", file.quote(id));
        Draft::new(Rule::LiteralIdentity, message)
            .about("identity")
            .element(file.element(id, "compared here"))
    };
    found.into_iter().map(draft).collect()
}

/// `x is "open"`
fn is_python(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    let is_identity = tree
        .children(id)
        .any(|child| tree.field(child) == Field::Operator && matches!(tree.text(child), "is" | "is not"));
    is_identity
        && tree.parts(id).any(|part| {
            matches!(
                tree.kind(part),
                Kind::Str | Kind::Number | Kind::Template | Kind::List | Kind::Dict | Kind::Tuple
            )
        })
}

/// `name == "open"`, and two boxed values.
fn is_java(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    if !matches!(tree.operator(id), Some("==" | "!=")) {
        return false;
    }
    let Some((left, right)) = tree.sides(id) else { return false };
    let either = [left, right];
    either.iter().any(|side| tree.is(*side, Kind::Str)) || either.iter().all(|side| is_boxed(file, *side))
}

/// A name declared with a type whose values are objects.
fn is_boxed(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    let Some(function) = file.function_of(id).filter(|_| tree.is(id, Kind::Ident)) else { return false };
    let name = tree.text(id);
    let param = function.params.iter().find(|param| param.name == name).and_then(|param| param.ty.clone());
    let local = || {
        let declarators = tree.below_of(function.id, Kind::Declarator).iter().copied();
        let mut named =
            declarators.filter(|id| tree.child(*id, Field::Name).is_some_and(|at| tree.text(at) == name));
        let declaration = named.next().and_then(|id| tree.parent(id))?;
        tree.child(declaration, Field::Type).map(|ty| tree.text(ty).to_owned())
    };
    param.or_else(local).is_some_and(|ty| {
        matches!(
            ty.as_str(),
            "String"
                | "Integer"
                | "Long"
                | "Double"
                | "Float"
                | "Short"
                | "Byte"
                | "Character"
                | "Boolean"
                | "BigDecimal"
        )
    })
}
