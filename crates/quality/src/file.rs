//! A file as rules see it: its tree, its declarations, and which parts of it are tests.

use std::{collections::HashMap, ops::Range};

use crate::{
    finding::Element,
    lang::Lang,
    outline::{Function, Outline},
    rules::find_writes,
    tree::{Id, Kind, Tree, Unreadable, parse},
};

#[derive(Debug)]
pub(crate) struct File<'s> {
    pub(crate) path: &'s str,
    pub(crate) tree: Tree<'s>,
    pub(crate) outline: Outline<'s>,
    pub(crate) is_test: bool,
    /// Tests inside of a file that is none, in the order of the text.
    tests: Vec<Range<Id>>,
    writes: HashMap<Id, Vec<Write<'s>>>,
}

/// A field of its own object that a function assigns: the field, the place, the value.
pub(crate) type Write<'s> = (&'s str, Id, Option<Id>);

impl<'s> File<'s> {
    pub(crate) fn read(lang: Lang, path: &'s str, text: &'s str, is_test: bool) -> Result<Self, Unreadable> {
        let tree = parse(lang, text)?;
        let outline = Outline::of(&tree);
        let tests = if lang == Lang::Rust { tests(&tree, &outline) } else { Vec::new() };
        let mut file = Self { path, tree, outline, is_test, tests, writes: HashMap::new() };
        let methods = file.outline.functions.iter().filter(|function| function.owner.is_some());
        file.writes = methods.map(|function| (function.id, find_writes(&file, function))).collect();
        Ok(file)
    }

    /// Whether a place is part of a test.
    pub(crate) fn in_test(&self, id: Id) -> bool {
        let before = self.tests.partition_point(|range| range.start <= id);
        let last = before.checked_sub(1).and_then(|at| self.tests.get(at));
        self.is_test || last.is_some_and(|range| range.contains(&id))
    }

    /// The fields of its own object a function assigns.
    pub(crate) fn writes(&self, function: &Function<'s>) -> &[Write<'s>] {
        self.writes.get(&function.id).map_or(&[], Vec::as_slice)
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

/// Modules of tests and tests themselves, none inside another.
fn tests(tree: &Tree<'_>, outline: &Outline<'_>) -> Vec<Range<Id>> {
    let single = outline.functions.iter().filter(|function| function.is_test);
    let mut all: Vec<Range<Id>> = single.map(|function| function.id..tree.below(function.id).end).collect();
    all.extend(test_modules(tree));
    all.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut outer: Vec<Range<Id>> = Vec::new();
    for range in all {
        if outer.last().is_none_or(|last| last.end <= range.start) {
            outer.push(range);
        }
    }
    outer
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
