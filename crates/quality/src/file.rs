//! A file as rules see it: its tree, its declarations, and which parts of it are tests.

use std::ops::Range;

use crate::{
    finding::Element,
    lang::Lang,
    outline::{Function, Outline},
    tree::{Id, Kind, Tree, Unreadable, parse},
};

#[derive(Debug)]
pub(crate) struct File<'s> {
    pub(crate) path: &'s str,
    pub(crate) tree: Tree<'s>,
    pub(crate) outline: Outline<'s>,
    pub(crate) is_test: bool,
    /// Tests inside of a file that is none.
    tests: Vec<Range<Id>>,
}

impl<'s> File<'s> {
    pub(crate) fn read(lang: Lang, path: &'s str, text: &'s str, is_test: bool) -> Result<Self, Unreadable> {
        let tree = parse(lang, text)?;
        let outline = Outline::of(&tree);
        let tests = if lang == Lang::Rust { test_modules(&tree) } else { Vec::new() };
        Ok(Self { path, tree, outline, is_test, tests })
    }

    /// Whether a place is part of a test.
    pub(crate) fn in_test(&self, id: Id) -> bool {
        self.is_test
            || self.tests.iter().any(|range| range.contains(&id))
            || self.tree.lang == Lang::Rust && self.function_of(id).is_some_and(|function| function.is_test)
    }

    /// The named function a place is in.
    pub(crate) fn function_of(&self, id: Id) -> Option<&Function<'s>> {
        self.outline.function_of(&self.tree, id)
    }

    /// Functions that are no tests, in the order of the text.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &Function<'s>> {
        self.outline.functions.iter().filter(|function| !self.in_test(function.id) && !function.is_test)
    }

    /// Every node of one kind that is in no test.
    pub(crate) fn all(&self, kind: Kind) -> impl Iterator<Item = Id> + '_ {
        self.tree.all(kind).iter().copied().filter(|id| !self.in_test(*id))
    }

    /// A place of a finding.
    pub(crate) fn element(&self, id: Id, role: &str) -> Element {
        Element {
            file: self.path.to_owned(),
            line: self.tree.line(id),
            symbol: self.outline.symbol(&self.tree, id),
            role: role.to_owned(),
        }
    }

    /// A function, at the line of its name.
    pub(crate) fn function_element(&self, function: &Function<'s>, role: &str) -> Element {
        self.element(function.id, role)
    }

    /// A piece of code on one line, for a sentence.
    pub(crate) fn quote(&self, id: Id) -> String {
        let text = self.tree.text(id).split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().count() <= 60 { text } else { text.chars().take(57).collect::<String>() + "…" }
    }
}

/// What follows `#[cfg(test)]`.
fn test_modules(tree: &Tree<'_>) -> Vec<Range<Id>> {
    let marks = tree.all(Kind::Attribute).iter().copied().filter(|id| tree.text(*id).contains("cfg(test)"));
    marks
        .filter_map(|mark| {
            let siblings = tree.children(tree.parent(mark)?);
            let next = siblings
                .skip_while(|child| *child <= mark)
                .find(|child| !matches!(tree.kind(*child), Kind::Attribute | Kind::Comment))?;
            Some(next..tree.below(next).end)
        })
        .collect()
}
