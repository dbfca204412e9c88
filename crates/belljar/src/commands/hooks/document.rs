//! A settings file as its owner wrote it: JSON whose keys stay in their order.
//!
//! Owns: reading it, finding places in it, writing it with the same indentation. Refuses: to guess; what is not JSON, or
//! has something else where hooks belong, is left alone with a word on what is wrong.

use std::fmt;

use anyhow::{Context as _, Result, bail};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
    ser::{SerializeMap as _, SerializeSeq as _},
};
use serde_json::Value;

/// One value of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Object(Vec<(String, Self)>),
    List(Vec<Self>),
    Leaf(Value),
}

impl Node {
    pub(super) fn parse(text: &str) -> Result<Self> {
        // A file somebody made and left empty has no settings.
        if text.trim().is_empty() {
            return Ok(Self::Object(Vec::new()));
        }
        let node: Self =
            serde_json::from_str(text).context("it is not valid JSON; mend it first, nothing was changed")?;
        if !matches!(node, Self::Object(_)) {
            bail!("it is not a JSON object; nothing was changed");
        }
        Ok(node)
    }

    /// The text, indented as the text it came from.
    pub(super) fn print(&self, like: &str) -> Result<String> {
        let indent = indentation(like);
        let mut out = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
        self.serialize(&mut serde_json::Serializer::with_formatter(&mut out, formatter))?;
        if like.is_empty() || like.ends_with('\n') {
            out.push(b'\n');
        }
        Ok(String::from_utf8(out)?)
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

/// What the first indented line is indented with.
fn indentation(text: &str) -> String {
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

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Node::Object(pairs))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf(Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_indentation_survive() {
        let text = "{\n\t\"z\": 1,\n\t\"a\": {\n\t\t\"y\": [\n\t\t\t1.5,\n\t\t\tnull\n\t\t],\n\t\t\"b\": \"x\"\n\t}\n}\n";
        assert_eq!(Node::parse(text).unwrap().print(text).unwrap(), text);
    }

    #[test]
    fn what_is_not_an_object_is_refused() {
        for text in ["{", "[]", "// note\n{}", "{\"a\": 1,}", "7"] {
            assert!(Node::parse(text).is_err(), "{text}");
        }
        assert_eq!(Node::parse(" \n").unwrap(), Node::Object(Vec::new()));
    }
}
