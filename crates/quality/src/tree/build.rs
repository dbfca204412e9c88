//! From text to a tree: parses, flattens, and takes out what does not parse.

use std::cell::RefCell;

use tree_sitter::{Parser, TreeCursor};

use super::{Field, Id, Kind, Node, ROOT, Tree};
use crate::lang::{Lang, Vocabulary};

/// Why a file has no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable;

thread_local! {
    /// A parser costs more to make than a small file takes to parse.
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// Parses a file. Broken functions are in the tree as nodes no rule looks at.
pub(crate) fn parse(lang: Lang, text: &str) -> Result<Tree<'_>, Unreadable> {
    let parsed = PARSER.with_borrow_mut(|parser| {
        parser.set_language(&lang.grammar()).ok().ok_or(Unreadable)?;
        parser.parse(text, None).ok_or(Unreadable)
    })?;
    let root = parsed.root_node();
    if root.is_error() {
        return Err(Unreadable);
    }
    let mut builder = Builder {
        tree: Tree { text, lang, nodes: Vec::with_capacity(root.descendant_count()), by_kind: Vec::new() },
        vocabulary: lang.vocabulary(),
        broken: Vec::new(),
    };
    builder.walk(&mut root.walk());
    let broken = std::mem::take(&mut builder.broken);
    let mut tree = builder.tree;
    for id in broken {
        bury(&mut tree, id);
    }
    tree.index();
    Ok(tree)
}

struct Builder<'s> {
    tree: Tree<'s>,
    vocabulary: &'static Vocabulary,
    broken: Vec<Id>,
}

/// A node on the way down: where its children go, and which role they inherit.
struct Frame {
    /// Not there for a transparent node.
    own: Option<Id>,
    parent: Id,
    inherited: Field,
}

impl Builder<'_> {
    /// One pass over the parsed tree, without recursion: depth is in the hands of whoever wrote the file.
    fn walk(&mut self, cursor: &mut TreeCursor<'_>) {
        let mut stack: Vec<Frame> = Vec::new();
        loop {
            let (frame, descend) = self.enter(cursor, stack.last());
            let has_child = descend && cursor.goto_first_child();
            if has_child {
                stack.push(frame);
                continue;
            }
            self.leave(&frame);
            while !cursor.goto_next_sibling() {
                let Some(done) = stack.pop() else { return };
                self.leave(&done);
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    fn enter(&mut self, cursor: &TreeCursor<'_>, above: Option<&Frame>) -> (Frame, bool) {
        let node = cursor.node();
        let (parent, inherited) = above.map_or((ROOT, Field::None), |frame| (frame.parent, frame.inherited));
        let inside_transparent = above.is_some_and(|frame| frame.own.is_none());
        let own_field = cursor.field_id().map_or(Field::None, |id| self.vocabulary.field(id.get()));
        let is_named = node.is_named();
        let field =
            if inside_transparent && is_named && own_field == Field::None { inherited } else { own_field };
        let kind = self.kind(&node);
        if kind == Kind::Transparent {
            return (Frame { own: None, parent, inherited: field }, true);
        }
        // Punctuation of what is not kept is not kept either; of operators and keywords there is none.
        let is_idle =
            inside_transparent && kind == Kind::Token && matches!(node.kind(), "(" | ")" | "{" | "}");
        if is_idle {
            return (Frame { own: None, parent, inherited: Field::None }, false);
        }
        let id = Id::try_from(self.tree.nodes.len()).unwrap_or(Id::MAX);
        if node.is_error() || node.is_missing() {
            self.broken.push(id);
        }
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.tree.nodes.push(Node {
            kind,
            field,
            start: place(node.start_byte()),
            end: place(node.end_byte()),
            line: place(node.start_position().row),
            parent,
            after: id + 1,
        });
        let is_leaf = matches!(
            kind,
            Kind::Str | Kind::Comment | Kind::Number | Kind::Modifiers | Kind::Attribute | Kind::Token
        );
        (Frame { own: Some(id), parent: id, inherited: Field::None }, !is_leaf)
    }

    fn leave(&mut self, frame: &Frame) {
        let after = Id::try_from(self.tree.nodes.len()).unwrap_or(Id::MAX);
        if let Some(node) = frame.own.and_then(|id| self.tree.nodes.get_mut(id as usize)) {
            node.after = after;
        }
    }

    fn kind(&self, node: &tree_sitter::Node<'_>) -> Kind {
        if node.is_error() {
            return Kind::Broken;
        }
        let kind = self.vocabulary.kind(node.kind_id());
        match (self.tree.lang, kind) {
            // One value is a value, several are a tuple.
            (Lang::Go, Kind::Tuple) if node.named_child_count() == 1 => Kind::Transparent,
            (Lang::Go, Kind::Dict) if self.begins(node, "[") => Kind::List,
            (Lang::Python, Kind::Str) if has_child(node, "interpolation") => Kind::Template,
            (_, Kind::Template)
                if self.tree.lang.is_script() && !has_child(node, "template_substitution") =>
            {
                Kind::Str
            }
            (_, kind) => kind,
        }
    }

    fn begins(&self, node: &tree_sitter::Node<'_>, with: &str) -> bool {
        self.tree.text.get(node.byte_range()).is_some_and(|text| text.starts_with(with))
    }
}

fn has_child(node: &tree_sitter::Node<'_>, kind: &str) -> bool {
    (0..node.named_child_count())
        .filter_map(|at| node.named_child(u32::try_from(at).unwrap_or(u32::MAX)))
        .any(|child| child.kind() == kind)
}

/// Hides the function a broken node is in, or the node itself where it is in none.
fn bury(tree: &mut Tree<'_>, id: Id) {
    let function = tree.ancestors(id).find(|up| matches!(tree.kind(*up), Kind::Function | Kind::Broken));
    let grave = function.unwrap_or(id);
    if grave == ROOT {
        return;
    }
    let range = grave as usize..tree.below(grave).end as usize;
    for node in tree.nodes.get_mut(range).unwrap_or_default() {
        node.kind = Kind::Broken;
    }
}
