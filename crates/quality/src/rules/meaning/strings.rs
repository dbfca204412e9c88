//! Strings that stand for something, where no compiler knows which there are.

use super::Comparison;
use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    lang::Lang,
    tree::{Id, Kind},
};

/// A name-like string something is compared with. TypeScript's unions are checked by its compiler.
pub(super) fn compared(file: &File<'_>, comparison: &Comparison) -> Vec<Draft> {
    let tree = &file.tree;
    if !matches!(tree.lang, Lang::Python | Lang::JavaScript) || !comparison.is_equality {
        return Vec::new();
    }
    let is_equal = tree
        .children(comparison.id)
        .any(|child| tree.is(child, Kind::Token) && matches!(tree.text(child), "==" | "!=" | "===" | "!=="));
    let mut found = Vec::new();
    for (operand, other) in comparison.each().filter(|_| is_equal) {
        let Some(other) = other.filter(|_| tree.is(operand, Kind::Str)) else { continue };
        let text = tree.string(operand);
        if !is_name_like(text) || tree.kind(other).is_literal() || is_platform(file, other, text) {
            continue;
        }
        let message = format!("`{}`: \"{text}\" stands for something", file.quote(comparison.id));
        found.push(
            Draft::new(Rule::MagicStringEq, message)
                .sure(600)
                .about(format!("string {text}"))
                .literal(text)
                .element(file.element(operand, "compared here")),
        );
    }
    found
}

fn is_name_like(text: &str) -> bool {
    let mut letters = text.chars();
    text.len() > 1
        && letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
}

/// Words the platform fixed, not this program.
fn is_platform(file: &File<'_>, other: Id, text: &str) -> bool {
    let tree = &file.tree;
    let is_typeof = tree.is(other, Kind::Unary) && tree.text(other).starts_with("typeof");
    let name = tree.last_name(other).unwrap_or_default();
    let dotted = tree.dotted(other).unwrap_or_default();
    let is_verb = matches!(text, "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS")
        && name.ends_with("ethod");
    let is_host = matches!(name, "__name__" | "platform" | "NODE_ENV" | "byteorder") || dotted == "os.name";
    let is_page = matches!(name, "tagName" | "nodeName") || name == "key" && dotted.starts_with('e');
    let is_errno = name == "code"
        && text.starts_with('E')
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    is_errno || is_typeof || is_verb || is_host || is_page
}
