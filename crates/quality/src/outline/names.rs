//! Names at the top of a file, names brought in, and names a function binds itself.

use std::collections::HashMap;

use crate::{
    lang::Lang,
    tree::{Field, Id, Kind, ROOT, Tree},
};

/// A name bound at the top of a file.
#[derive(Debug)]
pub(crate) struct TopName<'s> {
    pub(crate) id: Id,
    pub(crate) name: &'s str,
    pub(crate) value: Option<Id>,
    pub(crate) ty: Option<&'s str>,
    /// By its keyword it never gets another value.
    pub(crate) is_const: bool,
    pub(crate) is_exported: bool,
    pub(crate) is_static_mut: bool,
}

pub(super) fn top<'s>(tree: &Tree<'s>) -> Vec<TopName<'s>> {
    let mut found = Vec::new();
    for statement in tree.parts(ROOT) {
        let is_exported = tree.is(statement, Kind::Export);
        let inner = if is_exported { tree.parts(statement).next().unwrap_or(statement) } else { statement };
        let is_const_decl = tree.is(inner, Kind::Decl) && tree.text(inner).starts_with("const");
        let binders = [inner].into_iter().chain(tree.below(inner)).filter(|id| {
            matches!(tree.kind(*id), Kind::Declarator | Kind::Const | Kind::Static | Kind::Assign)
        });
        for id in binders.filter(|id| is_at_top(tree, *id)) {
            let target = tree.child(id, Field::Left).or_else(|| tree.child(id, Field::Name));
            let Some(target) = target.filter(|target| tree.is(*target, Kind::Ident)) else { continue };
            let kind = tree.kind(id);
            let name = tree.text(target);
            // `var _ Shape = (*Circle)(nil)` asks the compiler something, and binds nothing.
            if name == "_" {
                continue;
            }
            found.push(TopName {
                id,
                name,
                value: tree.child(id, Field::Right).or_else(|| tree.child(id, Field::Value)),
                ty: tree.child(id, Field::Type).map(|ty| tree.text(ty)),
                is_const: is_const_decl || kind == Kind::Const,
                is_exported: is_exported || tree.lang == Lang::Go && name.starts_with(char::is_uppercase),
                is_static_mut: kind == Kind::Static
                    && tree
                        .children(id)
                        .any(|child| tree.is(child, Kind::Modifiers) && tree.text(child) == "mut"),
            });
        }
    }
    found
}

/// Whether nothing but a declaration is between a binding and the file.
fn is_at_top(tree: &Tree<'_>, id: Id) -> bool {
    tree.ancestors(id).all(|up| {
        matches!(tree.kind(up), Kind::Module | Kind::Export | Kind::Decl | Kind::ExprStmt | Kind::Other)
    })
}

/// Names from other files, as used here and as declared there.
pub(super) fn imports<'s>(tree: &Tree<'s>) -> HashMap<&'s str, &'s str> {
    let mut found = HashMap::new();
    for import in tree.all(Kind::Import) {
        let names =
            tree.below(*import).filter(|id| tree.is(*id, Kind::Ident) && tree.field(*id) != Field::Source);
        for id in names {
            let text = tree.text(id);
            let renamed = tree
                .parent(id)
                .and_then(|parent| tree.child(parent, Field::Alias))
                .map(|alias| tree.text(alias));
            found.insert(renamed.unwrap_or(text), text);
        }
    }
    found
}

/// Names a function gives values to, with the value where there is one; not those of functions inside it.
pub(super) fn locals<'t, 's>(
    tree: &'t Tree<'s>,
    function: Id,
) -> impl Iterator<Item = (&'s str, Option<Id>)> + 't {
    let binders = [Kind::Declarator, Kind::Assign, Kind::Const];
    let ids = binders.into_iter().flat_map(move |kind| tree.below_of(function, kind).iter().copied());
    ids.flat_map(move |id| {
        let target = tree
            .child(id, Field::Left)
            .or_else(|| tree.child(id, Field::Name))
            .or_else(|| tree.child(id, Field::Pattern));
        let is_new =
            !tree.is(id, Kind::Assign) || tree.lang == Lang::Python || tree.operator(id) == Some(":=");
        let value = tree.child(id, Field::Right).or_else(|| tree.child(id, Field::Value));
        let names = target.filter(|_| is_new).into_iter().flat_map(move |target| {
            let own = Some(target).filter(|target| tree.is(*target, Kind::Ident));
            let inner = matches!(tree.kind(target), Kind::Pattern | Kind::Tuple).then(|| tree.parts(target));
            own.into_iter().chain(inner.into_iter().flatten())
        });
        names.filter(|name| tree.is(*name, Kind::Ident)).map(move |name| (tree.text(name), value))
    })
}
