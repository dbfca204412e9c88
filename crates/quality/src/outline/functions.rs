//! Functions: their names, where they belong, what they take.

use super::params::{self, Param};
use crate::{
    lang::Lang,
    tree::{Field, Id, Kind, Tree},
};

/// A function with a name: declared, or bound to one.
#[derive(Debug)]
pub(crate) struct Function<'s> {
    pub(crate) id: Id,
    pub(crate) name: &'s str,
    /// Its type's place in the outline.
    pub(crate) owner: Option<usize>,
    pub(crate) params: Vec<Param<'s>>,
    pub(crate) body: Option<Id>,
    pub(crate) is_async: bool,
    pub(crate) is_constructor: bool,
    /// Others may call it.
    pub(crate) is_public: bool,
    /// Its signature is somebody else's choice: a trait's, an overridden method's.
    pub(crate) is_dictated: bool,
    pub(crate) is_test: bool,
    /// Declared without a body.
    pub(crate) is_signature: bool,
    /// What its own object is called inside.
    pub(crate) receiver: Option<&'s str>,
    /// Decorators, attributes and modifiers, as written.
    pub(crate) marks: Vec<&'s str>,
}

impl Function<'_> {
    pub(crate) fn has_mark(&self, part: &str) -> bool {
        self.marks.iter().any(|mark| mark.contains(part))
    }
}

pub(super) fn all<'s>(tree: &Tree<'s>) -> Vec<Function<'s>> {
    let kinds = [Kind::Function, Kind::Signature, Kind::Lambda];
    let mut ids: Vec<Id> = kinds.iter().flat_map(|kind| tree.all(*kind).iter().copied()).collect();
    ids.sort_unstable();
    ids.into_iter().filter_map(|id| function(tree, id)).collect()
}

fn function<'s>(tree: &Tree<'s>, id: Id) -> Option<Function<'s>> {
    let name = name(tree, id)?;
    let lang = tree.lang;
    let marks = marks(tree, id);
    let params = params::of(tree, id);
    let is_constructor = match lang {
        Lang::Python => matches!(name, "__init__" | "__new__" | "__post_init__"),
        Lang::JavaScript | Lang::TypeScript | Lang::Tsx => name == "constructor",
        Lang::Rust => name == "new" && !tree.children(id).any(|c| tree.is(c, Kind::SelfParam)),
        Lang::Go => false,
        Lang::Java => tree.child(id, Field::Type).is_none(),
    };
    let head = head(tree, id);
    let in_trait_impl = lang == Lang::Rust
        && tree.above(id, &[Kind::Impl]).is_some_and(|block| tree.child(block, Field::Trait).is_some());
    let has = |word: &str| marks.iter().any(|mark| mark.contains(word));
    let is_test = match lang {
        Lang::Rust => has("test"),
        Lang::Java => has("@Test"),
        Lang::Python => is_python_test(name),
        Lang::Go => {
            name.starts_with("Test") && params.iter().any(|param| param.ty.as_deref() == Some("*testing.T"))
        }
        _ => false,
    };
    Some(Function {
        id,
        name,
        owner: None,
        receiver: receiver(tree, id),
        body: tree.child(id, Field::Body),
        is_async: head.split_whitespace().any(|word| word == "async") || returns_promise(tree, id),
        is_constructor,
        is_public: is_public(tree, id, name, &marks),
        is_dictated: in_trait_impl || has("@Override") || has("@override") || has("override"),
        is_test,
        is_signature: tree.is(id, Kind::Signature) || tree.child(id, Field::Body).is_none(),
        params,
        marks,
    })
}

/// `test_sum`, `testSum`: what runners look for, and what is no word of its own, such as `testimony`.
fn is_python_test(name: &str) -> bool {
    let rest = name.strip_prefix("test");
    rest.is_some_and(|rest| {
        rest.starts_with(|next: char| next == '_' || next.is_uppercase() || next.is_ascii_digit())
    })
}

/// The text before the body.
fn head<'s>(tree: &Tree<'s>, id: Id) -> &'s str {
    let text = tree.text(id);
    let params = tree.children(id).find(|child| tree.is(*child, Kind::Params));
    let length = params.map(|params| tree.offset(params).saturating_sub(tree.offset(id)));
    length.and_then(|length| text.get(..length)).unwrap_or_else(|| text.lines().next().unwrap_or_default())
}

fn returns_promise(tree: &Tree<'_>, id: Id) -> bool {
    tree.lang.is_typescript()
        && tree
            .child(id, Field::Result)
            .is_some_and(|ty| tree.text(ty).trim_start_matches(':').trim().starts_with("Promise<"))
}

/// The name it is declared with, or the name it is bound to.
fn name<'s>(tree: &Tree<'s>, id: Id) -> Option<&'s str> {
    if !tree.is(id, Kind::Lambda) {
        return tree.child(id, Field::Name).map(|name| tree.text(name));
    }
    let parent = tree.parent(id)?;
    let bound = match tree.kind(parent) {
        Kind::Declarator | Kind::Field | Kind::Assign => tree.binding(parent).map(|(target, _)| target),
        Kind::Pair => tree.child(parent, Field::Key),
        _ => None,
    }?;
    // `module.exports.open = function () {}` is called `open`.
    tree.last_name(bound).filter(|_| !tree.is(bound, Kind::Pattern))
}

fn receiver<'s>(tree: &Tree<'s>, id: Id) -> Option<&'s str> {
    match tree.lang {
        Lang::Go => {
            let list = tree.child(id, Field::Receiver)?;
            let one = tree.parts(list).next()?;
            tree.child(one, Field::Name).map(|name| tree.text(name))
        }
        Lang::Python => {
            let class = tree.above(id, &[Kind::Class, Kind::Function])?;
            if !tree.is(class, Kind::Class) {
                return None;
            }
            let list = tree.children(id).find(|child| tree.is(*child, Kind::Params))?;
            let first = tree.parts(list).next().filter(|first| tree.is(*first, Kind::Ident))?;
            Some(tree.text(first)).filter(|first| matches!(*first, "self" | "cls"))
        }
        Lang::Rust => Some("self"),
        _ => Some("this"),
    }
}

fn marks<'s>(tree: &Tree<'s>, id: Id) -> Vec<&'s str> {
    let own =
        tree.children(id).filter(|child| matches!(tree.kind(*child), Kind::Modifiers | Kind::Decorator));
    let mut marks: Vec<&str> = own.map(|mark| tree.text(mark)).collect();
    if let Some(parent) = tree.parent(id) {
        if tree.is(parent, Kind::Decorated) {
            marks.extend(
                tree.parts(parent).filter(|part| tree.is(*part, Kind::Decorator)).map(|d| tree.text(d)),
            );
        }
        if tree.lang == Lang::Rust {
            let before = tree.children(parent).take_while(|child| *child < id);
            let mut attributes: Vec<&str> = Vec::new();
            for child in before {
                match tree.kind(child) {
                    Kind::Attribute => attributes.push(tree.text(child)),
                    Kind::Comment => {}
                    _ => attributes.clear(),
                }
            }
            marks.extend(attributes);
        }
    }
    // `static` and `get` are bare words in the grammar of JavaScript.
    let words = tree.children(id).filter(|child| tree.is(*child, Kind::Token));
    marks.extend(
        words
            .map(|word| tree.text(word))
            .filter(|word| matches!(*word, "static" | "get" | "set" | "abstract")),
    );
    marks
}

fn is_public(tree: &Tree<'_>, id: Id, name: &str, marks: &[&str]) -> bool {
    match tree.lang {
        Lang::Python => !name.starts_with('_') || name.starts_with("__"),
        Lang::JavaScript => !name.starts_with(['_', '#']),
        Lang::TypeScript | Lang::Tsx => !name.starts_with('#') && !marks.contains(&"private"),
        Lang::Rust => marks.iter().any(|mark| mark.starts_with("pub")),
        Lang::Go => name.starts_with(char::is_uppercase),
        Lang::Java => {
            let in_interface = || {
                tree.above(id, &[Kind::Class, Kind::Interface]).is_some_and(|up| tree.is(up, Kind::Interface))
            };
            !marks.iter().any(|mark| mark.contains("private")) || in_interface()
        }
    }
}
