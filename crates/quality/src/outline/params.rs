//! Parameters: what a caller has to give, in which order, of which type.

use crate::{
    lang::Lang,
    tree::{Field, Id, Kind, Tree},
};

/// One parameter, its own object left out.
#[derive(Debug, Clone)]
pub(crate) struct Param<'s> {
    pub(crate) id: Id,
    /// Empty for one taken apart at once.
    pub(crate) name: &'s str,
    /// Its declared type, without blanks.
    pub(crate) ty: Option<String>,
    pub(crate) default: Option<Id>,
    /// Given by its place, and not to be left out.
    pub(crate) is_required: bool,
    pub(crate) is_variadic: bool,
}

/// The parameters of a function, a lambda or a record.
pub(crate) fn of<'s>(tree: &Tree<'s>, function: Id) -> Vec<Param<'s>> {
    let list = tree.child(function, Field::Parameters);
    let Some(list) = list.or_else(|| tree.children(function).find(|child| tree.is(*child, Kind::Params)))
    else {
        return Vec::new();
    };
    // `x => x` has its one parameter without a list.
    if !tree.is(list, Kind::Params) {
        return single(tree, list).into_iter().collect();
    }
    let mut found = Vec::new();
    let mut by_place = true;
    let is_method = tree.lang == Lang::Python
        && tree.above(function, &[Kind::Class, Kind::Function]).is_some_and(|up| tree.is(up, Kind::Class));
    for (at, id) in tree.parts(list).enumerate() {
        match tree.kind(id) {
            Kind::KeywordMark => by_place = false,
            Kind::SelfParam => {}
            Kind::Ident if is_method && at == 0 && matches!(tree.text(id), "self" | "cls") => {}
            Kind::Param | Kind::DefaultParam if tree.lang == Lang::Go => found.extend(go(tree, id)),
            Kind::Ident
            | Kind::Param
            | Kind::DefaultParam
            | Kind::SplatParam
            | Kind::Pattern
            | Kind::Assign
            | Kind::Other => {
                let Some(mut param) = single(tree, id) else { continue };
                param.is_required &= by_place;
                // What follows `*args` can be given by name alone.
                by_place &= !(param.is_variadic && tree.lang == Lang::Python);
                found.push(param);
            }
            _ => {}
        }
    }
    found
}

fn go<'s>(tree: &Tree<'s>, id: Id) -> Vec<Param<'s>> {
    let ty = tree.child(id, Field::Type).map(|ty| squeeze(tree.text(ty)));
    let names = tree.children(id).filter(|child| tree.field(*child) == Field::Name);
    let param =
        |name| Param { id, name, ty: ty.clone(), default: None, is_required: true, is_variadic: false };
    names.map(|name| param(tree.text(name))).collect()
}

fn single<'s>(tree: &Tree<'s>, id: Id) -> Option<Param<'s>> {
    let text = tree.text(id);
    let kind = tree.kind(id);
    let ty = tree.child(id, Field::Type).map(|ty| squeeze(tree.text(ty).trim_start_matches(':')));
    let named = tree.child(id, Field::Name).or_else(|| tree.child(id, Field::Pattern));
    let inner = match kind {
        Kind::Ident | Kind::Pattern => id,
        Kind::Assign => tree.child(id, Field::Left)?,
        // JavaScript's `assignment_pattern` has no kind of its own.
        Kind::Other => tree.child(id, Field::Left)?,
        _ => named.or_else(|| tree.parts(id).next())?,
    };
    let is_variadic = kind == Kind::SplatParam || tree.is(inner, Kind::SplatParam);
    let default = tree.child(id, Field::Value).or_else(|| tree.child(id, Field::Right));
    let is_optional =
        default.is_some() || kind == Kind::DefaultParam || text.contains('?') && is_question(tree, id);
    let is_name = tree.is(inner, Kind::Ident);
    // What is taken apart by its keys has names at the call.
    let is_by_key = tree.is(inner, Kind::Pattern) && tree.text(inner).starts_with('{');
    Some(Param {
        id,
        name: if is_name { tree.text(inner) } else { "" },
        ty,
        default,
        is_required: !is_variadic && !is_optional && !is_by_key,
        is_variadic,
    })
}

/// Whether TypeScript's mark of what may be left out is there.
fn is_question(tree: &Tree<'_>, id: Id) -> bool {
    tree.children(id).any(|child| tree.is(child, Kind::Token) && tree.text(child) == "?")
}

fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
