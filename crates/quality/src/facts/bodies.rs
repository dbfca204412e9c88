//! Bodies of functions as streams of tokens, so that copies can be found whatever they are named.

use std::collections::HashMap;

use crate::{
    facts::place,
    file::File,
    finding::Element,
    fingerprint::Hash,
    lang::Lang,
    outline::Function,
    rules::twins,
    tree::{Field, Id, Kind, Tree},
    words::{canonical, has_word},
};

/// What is left of a body when names do not count.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) at: Element,
    pub(crate) name: String,
    pub(crate) tokens: usize,
    pub(crate) statements: usize,
    pub(crate) is_async: bool,
    /// Its signature is a trait's, and many types have one like it.
    pub(crate) is_boilerplate: bool,
    /// Names do not count.
    pub(crate) renamed: u64,
    /// Names of variables do not count; what is called does.
    pub(crate) called: u64,
    /// Names, literals and signs do not count.
    pub(crate) abstracted: u64,
    /// Names of functions from elsewhere that it calls.
    pub(crate) callees: Vec<u64>,
}

pub(crate) fn all(file: &File<'_>) -> Vec<Body> {
    let functions = file.functions().filter(|function| !is_nested(file, function));
    functions.filter_map(|function| body(file, function)).collect()
}

fn is_nested(file: &File<'_>, function: &Function<'_>) -> bool {
    file.tree.ancestors(function.id).any(|up| file.outline.function_at(up).is_some())
}

fn body(file: &File<'_>, function: &Function<'_>) -> Option<Body> {
    let tree = &file.tree;
    let body = function.body?;
    let skipped = docstring(tree, body);
    let stream = Stream::of(tree, body);
    let mut callees: Vec<u64> =
        tree.below_of(body, Kind::Call).iter().filter_map(|call| callee_hash(tree, *call)).collect();
    callees.sort_unstable();
    callees.dedup();
    Some(Body {
        at: place(file, function.id),
        name: function.name.to_owned(),
        tokens: stream.count,
        statements: statements(tree, body, skipped),
        is_async: function.is_async,
        is_boilerplate: is_boilerplate(file, function),
        renamed: stream.renamed.value(),
        called: stream.called.value(),
        abstracted: stream.abstracted.value(),
        callees,
    })
}

/// What a body says, whatever its names and its layout.
pub(crate) fn code(tree: &Tree<'_>, body: Id) -> u64 {
    Stream::of(tree, body).renamed.value()
}

/// Constructors that only keep what they are given, and methods a language asks every type for.
fn is_boilerplate(file: &File<'_>, function: &Function<'_>) -> bool {
    let tree = &file.tree;
    let is_keeping = || {
        function.body.is_some_and(|body| {
            tree.parts(body).all(|statement| {
                let inner = tree.parts(statement).next().unwrap_or(statement);
                tree.binding(inner).is_some_and(|(target, value)| {
                    tree.is(target, Kind::Member)
                        && (tree.is(value, Kind::Ident) || tree.kind(value).is_literal())
                }) || tree.text(statement).starts_with("super")
            })
        })
    };
    let is_asked_for = matches!(
        function.name,
        "equals" | "hashCode" | "toString" | "__eq__" | "__hash__" | "__repr__" | "String" | "Error"
    );
    // A few calls in a row are a list, not an algorithm.
    let decides = [
        Kind::If,
        Kind::Loop,
        Kind::Return,
        Kind::Throw,
        Kind::Assign,
        Kind::Declarator,
        Kind::AugAssign,
        Kind::Switch,
    ];
    let is_list =
        || function.body.is_some_and(|body| decides.iter().all(|kind| tree.below_of(body, *kind).is_empty()));
    is_asked_for || tree.lang == Lang::Rust && function.is_dictated || is_keeping() || is_list()
}

fn docstring(tree: &Tree<'_>, body: Id) -> Option<Id> {
    let first = tree
        .parts(body)
        .next()
        .filter(|first| tree.lang == Lang::Python && tree.is(*first, Kind::ExprStmt))?;
    tree.parts(first).next().filter(|inner| tree.is(*inner, Kind::Str)).map(|_| first)
}

/// Statements at any depth.
fn statements(tree: &Tree<'_>, body: Id, skipped: Option<Id>) -> usize {
    let blocks = tree.below_of(body, Kind::Block).iter().copied().chain([body]);
    let count: usize = blocks.map(|block| tree.parts(block).count()).sum();
    // `if (!user) return false;`
    let bare = tree.below_of(body, Kind::If).iter().filter(|branch| {
        tree.child(**branch, Field::Consequence).is_some_and(|then| !tree.is(then, Kind::Block))
    });
    count + bare.count() - usize::from(skipped.is_some())
}

/// Three hashes of one stream of tokens.
#[derive(Debug)]
struct Stream<'s> {
    count: usize,
    /// A variable and a member of one name are two names.
    names: HashMap<(&'s str, bool), u64>,
    renamed: Hash,
    called: Hash,
    abstracted: Hash,
}

impl Default for Stream<'_> {
    fn default() -> Self {
        let empty = Hash::new();
        Self { count: 0, names: HashMap::new(), renamed: empty, called: empty, abstracted: empty }
    }
}

impl<'s> Stream<'s> {
    fn of(tree: &Tree<'s>, body: Id) -> Self {
        let mut stream = Self::default();
        let skipped = docstring(tree, body);
        let leaves = tree.below(body).chain(tree.below(body).is_empty().then_some(body));
        for leaf in leaves
            .filter(|id| tree.below(*id).is_empty() && !skipped.is_some_and(|doc| tree.contains(doc, *id)))
        {
            stream.push(tree, leaf);
        }
        stream
    }

    fn push(&mut self, tree: &Tree<'s>, leaf: Id) {
        let text = tree.text(leaf);
        match tree.kind(leaf) {
            Kind::Comment => return,
            // Layout, and what tells a waiting copy from one that does not wait.
            Kind::Token if matches!(text, "," | ";" | "async" | "await") => return,
            Kind::Ident => {
                let next = self.names.len() as u64;
                let number = *self.names.entry((text, is_outside(tree, leaf))).or_insert(next);
                self.renamed.text("name").number(number);
                self.abstracted.text("name").number(number);
                if is_outside(tree, leaf) {
                    self.called.text(text);
                } else {
                    self.called.text("name").number(number);
                }
            }
            Kind::Number => self.literal(&canonical(text)),
            Kind::Str => self.literal(tree.string(leaf)),
            Kind::Bool | Kind::Null => self.literal(text),
            _ => {
                self.renamed.text(text);
                self.called.text(text);
                let is_sign = tree.is(leaf, Kind::Token) && matches!(text, "+" | "-" | "+=" | "-=");
                let is_unary = tree.parent(leaf).is_some_and(|up| tree.is(up, Kind::Unary));
                if is_sign && !is_unary {
                    self.abstracted.text(if text.len() > 1 { "±=" } else { "±" });
                } else if !is_sign {
                    self.abstracted.text(text);
                }
            }
        }
        self.count += 1;
    }

    fn literal(&mut self, value: &str) {
        self.renamed.text(value);
        self.called.text(value);
        self.abstracted.text("literal");
    }
}

/// Whether a name is declared elsewhere: a member, a function that is called, a type.
fn is_outside(tree: &Tree<'_>, id: Id) -> bool {
    let is_called = || {
        tree.field(id) == Field::Name
            && tree.parent(id).is_some_and(|up| matches!(tree.kind(up), Kind::Call | Kind::Member))
    };
    matches!(tree.field(id), Field::Member | Field::Function | Field::Type) || is_called()
}

/// Halves of a format: which pair, which half, and the algorithm's names and literals in it.
#[derive(Debug)]
pub(crate) struct Codec {
    pub(crate) at: Element,
    pub(crate) name: String,
    pub(crate) pair: usize,
    pub(crate) is_second: bool,
    pub(crate) literals: Vec<String>,
}

/// Names of algorithms that are not strings.
const ALGORITHMS: [&str; 12] = [
    "md5",
    "sha1",
    "sha256",
    "sha512",
    "blake2b",
    "hmac",
    "crc32",
    "aes",
    "base64",
    "b64encode",
    "b64decode",
    "zlib",
];

pub(crate) fn codecs(file: &File<'_>) -> Vec<Codec> {
    let tree = &file.tree;
    let mut found = Vec::new();
    for function in file.functions() {
        for (pair, is_second) in twins(function.name) {
            let Some(body) = function.body else { continue };
            let skipped = docstring(tree, body);
            let strings = tree
                .below_of(body, Kind::Str)
                .iter()
                .copied()
                .filter(|id| !skipped.is_some_and(|doc| tree.contains(doc, *id)));
            let mut literals: Vec<String> = strings
                .map(|id| tree.string(id).to_owned())
                .filter(|text| text.len() >= 3 && text.len() <= 40 && !text.contains(char::is_whitespace))
                .collect();
            let names = tree.below_of(body, Kind::Ident).iter().map(|id| tree.text(*id));
            literals.extend(
                names.filter(|name| ALGORITHMS.contains(&name.to_lowercase().as_str())).map(str::to_owned),
            );
            if !literals.is_empty() {
                found.push(Codec {
                    at: place(file, function.id),
                    name: function.name.to_owned(),
                    pair,
                    is_second,
                    literals,
                });
            }
        }
    }
    found
}

/// What a test computes to compare with, and what it calls.
#[derive(Debug)]
pub(crate) struct Expectation {
    pub(crate) at: Element,
    /// The function the expected value is computed with.
    pub(crate) by: String,
    pub(crate) by_hash: u64,
    /// Everything else the test calls.
    pub(crate) calls: Vec<String>,
}

/// Calls that compute nothing.
const TRIVIAL: [&str; 26] = [
    "len",
    "str",
    "int",
    "float",
    "list",
    "dict",
    "set",
    "tuple",
    "sorted",
    "range",
    "bool",
    "repr",
    "String",
    "Number",
    "format",
    "join",
    "map",
    "filter",
    "Object",
    "Array",
    "new",
    "from",
    "of",
    "append",
    "get",
    "to_string",
];

pub(crate) fn expectations(file: &File<'_>) -> Vec<Expectation> {
    let tree = &file.tree;
    let mut found = Vec::new();
    for binder in [Kind::Assign, Kind::Declarator].into_iter().flat_map(|kind| tree.all(kind).iter().copied())
    {
        let Some((target, value)) = tree.binding(binder) else { continue };
        let is_expected = tree
            .last_name(target)
            .is_some_and(|name| has_word(name, &["expected", "want", "wanted", "expect"]));
        let Some(function) = file.function_of(binder).filter(|_| is_expected) else { continue };
        let calls: Vec<String> = tree
            .below_of(function.id, Kind::Call)
            .iter()
            .filter_map(|call| tree.callee(*call))
            .map(|callee| callee.name.to_owned())
            .collect();
        let inner = tree
            .below_of(value, Kind::Call)
            .iter()
            .copied()
            .chain([value])
            .filter(|id| tree.is(*id, Kind::Call));
        let by = inner.filter_map(|call| Some((tree.callee(call)?.name, callee_hash(tree, call)?))).next();
        if let Some((by, by_hash)) = by {
            found.push(Expectation { at: place(file, binder), by: by.to_owned(), by_hash, calls });
        }
    }
    found
}

fn callee_hash(tree: &Tree<'_>, call: Id) -> Option<u64> {
    let name = tree.callee(call)?.name;
    (!TRIVIAL.contains(&name)).then(|| Hash::new().text(name).value())
}
