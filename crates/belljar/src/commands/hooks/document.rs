//! A settings file as its owner wrote it: JSON whose keys stay in their order.
//!
//! Owns: reading it, finding places in it, writing it with everything else where it was. Refuses: to guess; what is not JSON, or
//! has something else where hooks belong, is left alone with a word on what is wrong.

use anyhow::{Context as _, Result, bail};
use serde::{
    Serialize, Serializer,
    ser::{SerializeMap as _, SerializeSeq as _},
};
use serde_json::Value;

use super::{
    scan::{Piece, Shape},
    splice,
};

/// What some editors put before everything else.
pub(super) const MARK: char = '\u{feff}';

/// One value of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Object(Vec<(String, Self)>),
    List(Vec<Self>),
    Leaf(Value),
}

impl Node {
    /// A file somebody made and left empty has no settings.
    pub(super) fn parse(text: &str, comments: bool) -> Result<Self> {
        match whole(text, comments)? {
            Some(piece) => Ok(piece.node()),
            None => Ok(Self::Object(Vec::new())),
        }
    }

    /// The text of a file that says this, with all that is as it was in the text it comes from.
    pub(super) fn print(&self, like: &str, comments: bool) -> Result<String> {
        match whole(like, comments)? {
            Some(piece) => splice::spliced(like, &piece, self, comments),
            None => Ok(printed(self, "  ")? + "\n"),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(pairs) => pairs.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            Self::List(_) | Self::Leaf(_) => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Leaf(Value::String(text)) => Some(text),
            Self::Leaf(_) | Self::Object(_) | Self::List(_) => None,
        }
    }

    pub(super) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            Self::Object(_) | Self::Leaf(_) => &[],
        }
    }

    pub(super) fn pairs_mut(&mut self) -> Option<&mut Vec<(String, Self)>> {
        match self {
            Self::Object(pairs) => Some(pairs),
            Self::List(_) | Self::Leaf(_) => None,
        }
    }

    pub(super) fn items_mut(&mut self) -> Option<&mut Vec<Self>> {
        match self {
            Self::List(items) => Some(items),
            Self::Object(_) | Self::Leaf(_) => None,
        }
    }

    /// What is at a key, put there if nothing is.
    pub(super) fn at(&mut self, key: &str, otherwise: Self) -> Result<&mut Self> {
        let Some(pairs) = self.pairs_mut() else { bail!("there is no object where `{key}` belongs") };
        let place = match pairs.iter().position(|(name, _)| name == key) {
            Some(place) => place,
            None => {
                pairs.push((key.to_owned(), otherwise));
                pairs.len() - 1
            }
        };
        pairs.get_mut(place).map(|(_, node)| node).context("a key that was just found is there")
    }
}

/// What is in a file; nothing if it is empty.
fn whole(text: &str, comments: bool) -> Result<Option<Piece>> {
    if text.trim_matches(|c: char| c.is_whitespace() || c == MARK).is_empty() {
        return Ok(None);
    }
    let piece =
        Piece::read(text, comments).context("it is not valid JSON; mend it first, nothing was changed")?;
    if !matches!(piece.shape, Shape::Object(_)) {
        bail!("it is not a JSON object; nothing was changed");
    }
    Ok(Some(piece))
}

/// A value laid out from the left margin.
pub(super) fn printed(node: &Node, indent: &str) -> Result<String> {
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    node.serialize(&mut serde_json::Serializer::with_formatter(&mut out, formatter))?;
    Ok(String::from_utf8(out)?)
}

/// What the first indented line is indented with.
pub(super) fn indentation(text: &str) -> String {
    let blank = |line: &str| line.chars().take_while(|c| *c == ' ' || *c == '\t').collect::<String>();
    let first = text.lines().map(blank).find(|blank| !blank.is_empty() && blank.len() <= 8);
    first.unwrap_or_else(|| "  ".to_owned())
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        match value {
            Value::Object(map) => {
                Self::Object(map.into_iter().map(|(name, value)| (name, value.into())).collect())
            }
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            leaf => Self::Leaf(leaf),
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Object(pairs) => {
                let mut map = to.serialize_map(Some(pairs.len()))?;
                pairs.iter().try_for_each(|(name, node)| map.serialize_entry(name, node))?;
                map.end()
            }
            Self::List(items) => {
                let mut list = to.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|node| list.serialize_element(node))?;
                list.end()
            }
            Self::Leaf(value) => value.serialize(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_an_object_is_refused() {
        for text in
            ["{", "[]", "// note\n{}", "{\"a\": 1,}", "7", "{\"a\" 1}", "{\"a\": nul}", "{} {}", "{\"a"]
        {
            assert!(Node::parse(text, false).is_err(), "{text}");
        }
        assert_eq!(Node::parse(" \n", false).unwrap(), Node::Object(Vec::new()));
        assert!(Node::parse("// note\n{} /* end */", true).is_ok());
        assert!(Node::parse(&"[".repeat(100_000), true).is_err(), "however deep");
    }

    #[test]
    fn the_line_that_is_wrong_is_named() {
        let wrong = format!("{:#}", Node::parse("{\n  // mine\n}", false).unwrap_err());
        assert!(wrong.contains("comment") && wrong.ends_with("in line 2"), "{wrong}");
    }
}
