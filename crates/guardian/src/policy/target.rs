//! A path an effect is about, as rules meet it: names between slashes, each known, a glob, or with holes.
//!
//! Owns: what is left of a path when what is not known is nothing. Refuses: places and verdicts.

use crate::shell::value::{Piece, Value};

/// Stands where something is not known. No path on any machine has it.
pub(super) const HOLE: char = '\u{1}';
/// The same where it is at least not nothing: whoever wrote `${x:-build}` or `${x:?}` thought of that.
pub(super) const FILLED: char = '\u{2}';

/// A path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// Its names, in order.
    pub(super) names: Vec<Name>,
    /// Its first name is one of the root's.
    pub(super) is_absolute: bool,
    /// A slash stands in it.
    pub(super) is_slashed: bool,
    /// Something in it is not known; kept, for every pattern of every place asks.
    pub(super) is_open: bool,
}

/// One name of a path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Name {
    /// As it is written, [`HOLE`] where it is not known.
    pub(super) text: String,
    /// Stars and brackets in it stand for what is there.
    pub(super) is_glob: bool,
}

impl Name {
    /// Something in it is not known.
    pub(super) fn is_open(&self) -> bool {
        self.text.bytes().any(|byte| char::from(byte) == HOLE || char::from(byte) == FILLED)
    }

    /// It stands for all hidden names.
    pub(super) fn is_hidden(&self) -> bool {
        self.is_glob && matches!(self.text.as_str(), ".*" | ".[!.]*" | ".??*" | ".?*" | ".[a-z]*" | ".[^.]*")
    }

    /// It stands for every name there is, or for all hidden ones.
    fn is_everything(&self) -> bool {
        self.is_glob && matches!(self.text.as_str(), "*" | "**" | ".*" | ".[!.]*" | "[!.]*" | ".??*" | "?*")
    }
}

impl Target {
    /// A path as it was resolved.
    pub(super) fn of(value: &Value) -> Self {
        let mut names = vec![Name::default()];
        let mut is_slashed = false;
        for piece in &value.pieces {
            let (text, is_glob) = match piece {
                Piece::Known(bytes) => (String::from_utf8_lossy(bytes).into_owned(), false),
                Piece::Glob(bytes) => (String::from_utf8_lossy(bytes).into_owned(), true),
                Piece::Unknown(why) if why.may_be_empty() => (HOLE.to_string(), false),
                Piece::Unknown(_) => (FILLED.to_string(), false),
            };
            for (place, part) in text.split('/').enumerate() {
                if place > 0 {
                    names.push(Name::default());
                    is_slashed = true;
                }
                if let Some(name) = names.last_mut() {
                    name.text.push_str(part);
                    name.is_glob |= is_glob && !part.is_empty();
                }
            }
        }
        let is_absolute = value.prefix().first() == Some(&b'/');
        let names = worked_out(names);
        let is_open = names.iter().any(Name::is_open);
        Self { names, is_absolute, is_slashed, is_open }
    }

    /// A path that is known.
    pub(super) fn known(path: &str) -> Self {
        Self::of(&Value::known(path.as_bytes()))
    }

    /// The names before the first that is not known; none of a path that may begin anywhere.
    pub(super) fn front(&self) -> &[Name] {
        if !self.is_open && self.is_absolute {
            return &self.names;
        }
        let end = self.names.iter().position(Name::is_open).unwrap_or(self.names.len());
        if self.is_absolute { self.names.get(..end).unwrap_or_default() } else { &[] }
    }

    /// Nothing of its beginning is known, save that it was thought of. That is taken to be what its writer meant.
    pub(super) fn is_meant(&self) -> bool {
        !self.is_absolute && self.names.first().is_some_and(|name| name.text.starts_with(FILLED))
    }

    /// What is left when all that is not known is nothing: that is what an unset variable is. None when nothing at all
    /// is left, for no program takes an empty path.
    pub(super) fn unset(&self) -> Option<Self> {
        if !self.is_slashed {
            return None;
        }
        let filled = self.names.iter().map(|name| Name { text: name.text.replace(HOLE, ""), ..*name });
        let names = worked_out(filled.collect());
        let is_open = names.iter().any(Name::is_open);
        Some(Self { names, is_absolute: true, is_slashed: true, is_open })
    }

    /// The names without those at the end that stand for everything in a directory.
    pub(super) fn emptied(&self) -> &[Name] {
        let kept = self.names.iter().rposition(|name| !name.is_everything()).map_or(0, |last| last + 1);
        self.names.get(..kept).unwrap_or_default()
    }
}

/// Without empty names, `.` and `..`.
fn worked_out(names: Vec<Name>) -> Vec<Name> {
    let mut kept: Vec<Name> = Vec::with_capacity(names.len());
    for name in names {
        match name.text.as_str() {
            "" | "." => {}
            ".." => drop(kept.pop()),
            _ => kept.push(name),
        }
    }
    kept
}

/// Says whether a name is as a pattern of a shell wants it: `*`, `?`, `[a-z]`; a leading dot must be written.
pub(super) fn is_expansion(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    is_wild(pattern, name)
}

/// Says whether a text is as a pattern wants it: `*`, `?`, `[a-z]`.
pub(super) fn is_wild(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    fits(&pattern, &text)
}

fn fits(pattern: &[char], name: &[char]) -> bool {
    let (mut pattern, mut name) = (pattern, name);
    let mut again: Option<(&[char], &[char])> = None;
    loop {
        let stepped = match (pattern, name) {
            (['*', rest @ ..], _) => {
                again = Some((rest, name));
                pattern = rest;
                continue;
            }
            ([], []) => return true,
            (['?', rest @ ..], [_, left @ ..]) => Some((rest, left)),
            (['[', inside @ ..], [c, left @ ..]) => match bracket(inside, *c) {
                Some((true, rest)) => Some((rest, left)),
                Some((false, _)) => None,
                None => (*c == '[').then_some((inside, left)),
            },
            (['\\', wanted, rest @ ..], [c, left @ ..]) | ([wanted, rest @ ..], [c, left @ ..]) => {
                (wanted == c).then_some((rest, left))
            }
            _ => None,
        };
        match (stepped, again) {
            (Some((rest, left)), _) => (pattern, name) = (rest, left),
            (None, Some((rest, [_, left @ ..]))) => {
                again = Some((rest, left));
                (pattern, name) = (rest, left);
            }
            (None, _) => return false,
        }
    }
}

/// Whether a character is among those between brackets, and what follows them.
fn bracket(inside: &[char], c: char) -> Option<(bool, &[char])> {
    let end = inside.iter().skip(1).position(|c| *c == ']')? + 1;
    let (set, rest) = (inside.get(..end)?, inside.get(end + 1..)?);
    let (is_negated, set) = match set {
        ['!' | '^', set @ ..] => (true, set),
        set => (false, set),
    };
    let is_among = set.windows(3).any(|three| matches!(three, [a, '-', b] if (*a..=*b).contains(&c)));
    Some(((is_among || set.contains(&c)) != is_negated, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::ast::Span;
    use crate::shell::value::Why;

    fn open(before: &str, after: &str) -> Target {
        let mut value = Value::known(before);
        value.push(Piece::Unknown(Why { construct: "x".to_owned(), span: Span::default() }));
        value.push(Piece::Known(after.as_bytes().to_vec()));
        Target::of(&value)
    }

    fn texts(names: &[Name]) -> Vec<&str> {
        names.iter().map(|name| name.text.as_str()).collect()
    }

    #[test]
    fn an_unset_variable_leaves_what_stands_around_it() {
        assert_eq!(open("", "/").unset().map(|left| left.names.len()), Some(0));
        assert_eq!(open("", "").unset(), None);
        assert_eq!(texts(&open("/etc/", "/x").unset().unwrap().names), ["etc", "x"]);
        assert_eq!(texts(open("/etc/", "/x").front()), ["etc"]);
        assert!(open("", "/x").front().is_empty());
    }

    #[test]
    fn globs_stand_for_names() {
        for (pattern, name, like) in [
            ("*", "a", true),
            ("*", ".a", false),
            (".*", ".a", true),
            ("h*", "home", true),
            ("[a-z]*", "etc", true),
            ("[!a-z]*", "etc", false),
            ("sh?dow", "shadow", true),
            ("*.pem", "a.pem", true),
            ("*.pem", "a.pem2", false),
            ("[", "[", true),
        ] {
            assert_eq!(is_expansion(pattern, name), like, "{pattern} {name}");
        }
    }
}
