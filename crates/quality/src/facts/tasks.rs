//! Functions other files can call, and calls of such functions that nobody waits for.

use crate::{
    facts::place,
    file::File,
    finding::Element,
    tree::{Field, Kind},
};

/// A function at the top of a file.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) is_async: bool,
    pub(crate) at: Element,
}

/// A call of an imported name that is a statement by itself.
#[derive(Debug)]
pub(crate) struct Loose {
    /// As it is called where it is declared.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) at: Element,
}

pub(crate) fn named(file: &File<'_>) -> Vec<Named> {
    let top = file.functions().filter(|function| function.owner.is_none());
    let named = top.map(|function| Named {
        name: function.name.to_owned(),
        is_async: function.is_async,
        at: place(file, function.id),
    });
    named.collect()
}

pub(crate) fn loose(file: &File<'_>) -> Vec<Loose> {
    let tree = &file.tree;
    let mut found = Vec::new();
    for statement in file.all(Kind::ExprStmt) {
        let Some(call) = tree.parts(statement).next().filter(|call| tree.is(*call, Kind::Call)) else {
            continue;
        };
        let Some(name) = tree.child(call, Field::Function).filter(|name| tree.is(*name, Kind::Ident)) else {
            continue;
        };
        if let Some(imported) = file.outline.imports.get(tree.text(name)) {
            found.push(Loose { name: (*imported).to_owned(), text: file.quote(call), at: place(file, call) });
        }
    }
    found
}
