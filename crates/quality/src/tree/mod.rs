//! Source text as a flat tree in one vocabulary.
//!
//! Owns: the nodes, in the order of the text, and how to move among them. Refuses: meaning; rules give it.

mod build;
mod kind;
mod read;

use std::ops::Range;

pub(crate) use build::{Unreadable, parse};
pub(crate) use kind::{Field, Kind};

use crate::lang::Lang;

/// A node, by its place in the order of the text.
pub(crate) type Id = u32;

/// The root of every tree.
pub(crate) const ROOT: Id = 0;

#[derive(Debug, Clone, Copy)]
struct Node {
    kind: Kind,
    field: Field,
    start: u32,
    end: u32,
    line: u32,
    parent: Id,
    /// The first node behind this one and all below it.
    after: Id,
}

/// What a place outside of the tree looks like.
const NOWHERE: Node =
    Node { kind: Kind::Other, field: Field::None, start: 0, end: 0, line: 0, parent: ROOT, after: ROOT };

/// One file's syntax.
#[derive(Debug)]
pub(crate) struct Tree<'s> {
    text: &'s str,
    pub(crate) lang: Lang,
    nodes: Vec<Node>,
    /// The nodes of each kind, in the order of the text.
    by_kind: Vec<Vec<Id>>,
}

impl<'s> Tree<'s> {
    fn node(&self, id: Id) -> &Node {
        self.nodes.get(id as usize).unwrap_or(&NOWHERE)
    }

    pub(crate) fn kind(&self, id: Id) -> Kind {
        self.node(id).kind
    }

    pub(crate) fn is(&self, id: Id, kind: Kind) -> bool {
        self.node(id).kind == kind
    }

    pub(crate) fn field(&self, id: Id) -> Field {
        self.node(id).field
    }

    pub(crate) fn text(&self, id: Id) -> &'s str {
        let node = self.node(id);
        self.text.get(node.start as usize..node.end as usize).unwrap_or_default()
    }

    /// Where it begins, in bytes.
    pub(crate) fn offset(&self, id: Id) -> usize {
        self.node(id).start as usize
    }

    /// Counted from one.
    pub(crate) fn line(&self, id: Id) -> u32 {
        self.node(id).line + 1
    }

    /// The line its last character is on.
    pub(crate) fn last_line(&self, id: Id) -> u32 {
        let lines = self.text(id).bytes().filter(|byte| *byte == b'\n').count();
        self.line(id) + u32::try_from(lines).unwrap_or(u32::MAX)
    }

    pub(crate) fn parent(&self, id: Id) -> Option<Id> {
        (id != ROOT).then(|| self.node(id).parent)
    }

    /// From the parent to the root.
    pub(crate) fn ancestors(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(self.parent(id), |up| self.parent(*up))
    }

    /// Everything below, in the order of the text.
    pub(crate) fn below(&self, id: Id) -> Range<Id> {
        id + 1..self.node(id).after.max(id + 1)
    }

    /// Everything below of one kind.
    pub(crate) fn below_of(&self, id: Id, kind: Kind) -> &[Id] {
        let range = self.below(id);
        let all = self.all(kind);
        let from = all.partition_point(|found| *found < range.start);
        let to = all.partition_point(|found| *found < range.end);
        all.get(from..to).unwrap_or_default()
    }

    /// Every node of one kind.
    pub(crate) fn all(&self, kind: Kind) -> &[Id] {
        self.by_kind.get(kind as usize).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn contains(&self, outer: Id, inner: Id) -> bool {
        outer == inner || self.below(outer).contains(&inner)
    }

    /// Its children, tokens and comments included.
    pub(crate) fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let end = self.below(id).end;
        let first = Some(id + 1).filter(|child| *child < end);
        std::iter::successors(first, move |child| Some(self.node(*child).after).filter(|next| *next < end))
    }

    /// Its children without tokens and comments.
    pub(crate) fn parts(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        self.children(id).filter(|child| !matches!(self.kind(*child), Kind::Token | Kind::Comment))
    }

    /// Its child in a role.
    pub(crate) fn child(&self, id: Id, field: Field) -> Option<Id> {
        self.children(id).find(|child| self.field(*child) == field)
    }

    /// The nearest node above that is of one of these kinds.
    pub(crate) fn above(&self, id: Id, kinds: &[Kind]) -> Option<Id> {
        self.ancestors(id).find(|up| kinds.contains(&self.kind(*up)))
    }

    fn index(&mut self) {
        let mut by_kind = vec![Vec::new(); Kind::COUNT];
        for (id, node) in (0..).zip(&self.nodes) {
            if let Some(list) = by_kind.get_mut(node.kind as usize) {
                list.push(id);
            }
        }
        self.by_kind = by_kind;
    }
}
