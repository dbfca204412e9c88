//! Attributes: names with values, asked by name.
//!
//! Owns: being lenient where exporters are: numbers arrive as numbers and as text, booleans too.

use std::collections::BTreeMap;

use serde_json::Value;

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyValue {
    /// Text; bytes too, as they were spelled.
    Text(String),
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Double(f64),
    /// Several values.
    List(Vec<Self>),
    /// Values with names.
    Map(BTreeMap<String, Self>),
    /// Present and empty.
    Empty,
}

/// The attributes of a record, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attributes(pub BTreeMap<String, AnyValue>);

impl AnyValue {
    /// As JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(text.as_str()),
            Self::Bool(flag) => Value::from(*flag),
            Self::Int(number) => Value::from(*number),
            Self::Double(number) => Value::from(*number),
            Self::List(items) => items.iter().map(Self::json).collect(),
            Self::Map(pairs) => pairs.iter().map(|(name, value)| (name.clone(), value.json())).collect(),
            Self::Empty => Value::Null,
        }
    }
}

impl Attributes {
    /// All of them but those of these names, as a JSON object.
    #[must_use]
    pub fn json_without(&self, names: &[&str]) -> Value {
        let kept = self.0.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        kept.map(|(name, value)| (name.clone(), value.json())).collect()
    }

    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&AnyValue> {
        self.0.get(name)
    }

    /// Its text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            AnyValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Its text, owned and not empty.
    pub fn owned(&self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// A count: a whole number that is not negative, written as number or text.
    pub fn count(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            AnyValue::Int(number) => u64::try_from(*number).ok(),
            AnyValue::Text(text) => text.parse().ok(),
            AnyValue::Double(number) => whole(*number),
            _ => None,
        }
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<f64> {
        let number = match self.get(name)? {
            AnyValue::Double(number) => *number,
            AnyValue::Text(text) => text.parse().ok()?,
            AnyValue::Int(_) => return self.text_of_int(name)?.parse().ok(),
            _ => return None,
        };
        number.is_finite().then_some(number)
    }

    /// A yes or no, written as boolean or text.
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            AnyValue::Bool(flag) => Some(*flag),
            AnyValue::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    fn text_of_int(&self, name: &str) -> Option<String> {
        match self.get(name)? {
            AnyValue::Int(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

/// A double that is a whole number within what doubles count exactly.
fn whole(number: f64) -> Option<u64> {
    let is_whole = number.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&number);
    is_whole.then(|| format!("{number:.0}").parse().ok()).flatten()
}
