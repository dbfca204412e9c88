//! Code as a tree, the same for all languages.
//!
//! Owns: the few shapes effects depend on. Refuses: everything else a language has; it is read over, never dropped: whatever
//! stands in it is in the tree somewhere.

use crate::shell::value::Why;
use std::rc::Rc;

/// A piece of code that has a value.
#[derive(Debug, Clone)]
pub(super) enum Expr {
    /// Nothing, or nothing of interest.
    Nothing,
    Number(i64),
    /// Text, some of it put in.
    Text(Vec<Self>),
    /// Bytes of a text.
    Known(Vec<u8>),
    /// What the shell put in.
    Hole(Why),
    /// A command in backquotes.
    Command(Vec<Self>),
    Name(String),
    Member(Box<Self>, String),
    Index(Box<Self>, Vec<Self>),
    Call(Box<Self>, Vec<Self>),
    /// An argument by its name, a pair of a table.
    Pair(Box<Self>, Box<Self>),
    List(Vec<Self>),
    Table(Vec<Self>),
    /// Statements that are done, perhaps, or again.
    Block(Vec<Self>, Repeat),
    Operation(String, Box<Self>, Box<Self>),
    Unary(String, Box<Self>),
    Assign(String, Box<Self>, Box<Self>),
    Either(Box<Self>, Box<Self>),
    Function(Rc<Function>),
    /// For each of something.
    Each(Box<Self>, Box<Self>, Vec<Self>),
    /// A name becomes a module or a member of one.
    Import(Vec<(String, String)>),
    Return(Box<Self>),
}

/// A function, named or not.
#[derive(Debug)]
pub(super) struct Function {
    pub name: Option<String>,
    pub params: Vec<Expr>,
    pub body: Vec<Expr>,
}

/// How often a block is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// Once or not at all.
    Perhaps,
    /// Again and again.
    Loop,
}
