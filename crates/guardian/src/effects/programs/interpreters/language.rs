//! A language: how it is written, and what its names mean.
//!
//! Owns: the shape each language's file fills in. Refuses: any one language.

use super::grammar::Grammar;
use super::verb::Verb;

/// A language.
#[derive(Debug)]
pub(super) struct Language {
    /// As people call it.
    pub name: &'static str,
    pub grammar: Grammar,
    /// What a function of this full name does.
    pub function: fn(&str) -> Option<Verb>,
    /// What a method of this name does, whatever it is called on; the receiver is the first argument.
    pub method: fn(&str) -> Option<Verb>,
    /// What a method of this name does with its arguments, whatever it is called on: names nothing else has.
    pub telling: fn(&str) -> Option<Verb>,
    /// What a name is another name for.
    pub canonical: fn(&str) -> Option<&str>,
}
