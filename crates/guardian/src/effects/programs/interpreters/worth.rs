//! What code comes to, as far as it is known.
//!
//! Owns: values of all languages in one shape, and what they are made of. Refuses: types; a path is its text.

use std::rc::Rc;

use super::tree::Function;
use crate::effects::act::Datum;
use crate::shell::value::{Piece, Value, Why};

/// Alternatives that are kept.
const ALTERNATIVES: usize = 8;

/// A value and what it is made of.
#[derive(Debug, Clone, Default)]
pub(super) struct Worth {
    pub kind: Kind,
    pub data: Vec<Datum>,
}

/// What a value is.
#[derive(Debug, Clone, Default)]
pub(super) enum Kind {
    #[default]
    Nothing,
    Number(i64),
    /// Text, bytes, a path; unknown where it is not known.
    Text(Value),
    List(Vec<Worth>),
    Table(Vec<(String, Worth)>),
    /// Something by its name: a module, a function of the language, what one of them gives.
    Name(String),
    Function(Rc<Function>),
    /// An open file.
    File(Value),
    /// One of these.
    Any(Vec<Worth>),
}

impl Worth {
    pub(super) fn text(text: impl Into<Vec<u8>>) -> Self {
        Self::value(Value::known(text))
    }

    pub(super) fn value(value: Value) -> Self {
        Self { kind: Kind::Text(value), data: Vec::new() }
    }

    pub(super) fn name(name: impl Into<String>) -> Self {
        Self { kind: Kind::Name(name.into()), data: Vec::new() }
    }

    pub(super) fn number(number: i64) -> Self {
        Self { kind: Kind::Number(number), data: Vec::new() }
    }

    pub(super) fn list(all: Vec<Self>) -> Self {
        Self { kind: Kind::List(all), data: Vec::new() }
    }

    pub(super) fn unknown(why: Why) -> Self {
        Self::value(Value::unknown(why))
    }

    /// The same made of this too.
    pub(super) fn with(mut self, data: &[Datum]) -> Self {
        for datum in data {
            if !self.data.contains(datum) && self.data.len() < 32 {
                self.data.push(datum.clone());
            }
        }
        self
    }

    /// All it and its parts are made of.
    pub(super) fn flows(&self) -> Vec<Datum> {
        let mut all = Self::default().with(&self.data);
        match &self.kind {
            Kind::List(parts) | Kind::Any(parts) => {
                for part in parts.iter().take(64) {
                    all = all.with(&part.flows());
                }
            }
            Kind::Table(pairs) => {
                for (_, part) in pairs.iter().take(64) {
                    all = all.with(&part.flows());
                }
            }
            Kind::File(path) => all = all.with(&[Datum::File(path.clone())]),
            Kind::Nothing | Kind::Number(_) | Kind::Text(_) | Kind::Name(_) | Kind::Function(_) => {}
        }
        all.data
    }

    /// The text, if it is one that is known.
    pub(super) fn known(&self) -> Option<&[u8]> {
        match &self.kind {
            Kind::Text(value) => value.bytes(),
            _ => None,
        }
    }

    /// The text, if it is text and known.
    pub(super) fn str(&self) -> Option<&str> {
        self.known().and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// As text; what is none is unknown and says what it is.
    pub(super) fn as_text(&self, why: &dyn Fn(&str) -> Why) -> Value {
        match &self.kind {
            Kind::Text(value) | Kind::File(value) => value.clone(),
            Kind::Number(number) => Value::known(number.to_string()),
            Kind::Name(name) => Value::unknown(why(&format!("the value of {name}"))),
            Kind::List(_) => Value::unknown(why("a list")),
            Kind::Table(_) => Value::unknown(why("a table")),
            Kind::Function(_) => Value::unknown(why("a function")),
            Kind::Nothing => Value::unknown(why("a value that is computed")),
            Kind::Any(all) => match all.first() {
                Some(first) if all.len() == 1 => first.as_text(why),
                _ => Value::unknown(why("one of several values")),
            },
        }
    }

    /// One by one: the elements of a list, the alternatives, or the value itself.
    pub(super) fn elements(&self) -> Vec<Self> {
        match &self.kind {
            Kind::List(all) => all.clone(),
            Kind::Any(all) => all.iter().flat_map(Self::elements).take(64).collect(),
            Kind::Table(pairs) => pairs.iter().map(|(_, value)| value.clone()).collect(),
            Kind::Nothing => Vec::new(),
            _ => vec![self.clone()],
        }
    }

    /// The alternatives.
    pub(super) fn alternatives(&self) -> Vec<Self> {
        match &self.kind {
            Kind::Any(all) => all.iter().map(|one| one.clone().with(&self.data)).collect(),
            _ => vec![self.clone()],
        }
    }

    /// What is behind a key.
    pub(super) fn field(&self, key: &str) -> Option<Self> {
        match &self.kind {
            Kind::Table(pairs) => pairs
                .iter()
                .rev()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value.clone().with(&self.data)),
            Kind::Any(all) => all.iter().find_map(|one| one.field(key)),
            _ => None,
        }
    }

    /// Whether it is a list or one of lists.
    pub(super) fn is_list(&self) -> bool {
        match &self.kind {
            Kind::List(_) => true,
            Kind::Any(all) => all.iter().any(Self::is_list),
            _ => false,
        }
    }

    /// Either of two.
    pub(super) fn or(self, other: Self) -> Self {
        if self.same(&other) {
            return self;
        }
        let mut all = self.alternatives();
        let more = match other.kind {
            Kind::Any(more) if other.data.is_empty() => more,
            _ => other.alternatives(),
        };
        for one in more {
            if !all.iter().any(|kept| kept.same(&one)) && all.len() < ALTERNATIVES {
                all.push(one);
            }
        }
        Self { kind: Kind::Any(all), data: Vec::new() }
    }

    fn same(&self, other: &Self) -> bool {
        if self.data != other.data {
            return false;
        }
        match (&self.kind, &other.kind) {
            (Kind::Text(one), Kind::Text(two)) | (Kind::File(one), Kind::File(two)) => one == two,
            (Kind::Number(one), Kind::Number(two)) => one == two,
            (Kind::Name(one), Kind::Name(two)) => one == two,
            (Kind::Nothing, Kind::Nothing) => true,
            (Kind::Function(one), Kind::Function(two)) => Rc::ptr_eq(one, two),
            (Kind::List(one), Kind::List(two)) | (Kind::Any(one), Kind::Any(two)) => {
                one.len() == two.len()
                    && one.len() < 64
                    && one.iter().zip(two).all(|(one, two)| one.same(two))
            }
            _ => false,
        }
    }
}

/// A pattern as a value: its stars stand for what is there.
pub(super) fn globbed(pattern: &Value) -> Value {
    let mut value = Value::default();
    for piece in &pattern.pieces {
        match piece {
            Piece::Known(bytes) => {
                for part in bytes.split_inclusive(|byte| *byte == b'/') {
                    let wild = part.iter().any(|byte| matches!(byte, b'*' | b'?' | b'['));
                    let (name, slash) = match part.strip_suffix(b"/") {
                        Some(name) => (name, true),
                        None => (part, false),
                    };
                    if wild {
                        value.push(Piece::Glob(name.to_vec()));
                    } else {
                        value.push(Piece::Known(name.to_vec()));
                    }
                    if slash {
                        value.push(Piece::Known(b"/".to_vec()));
                    }
                }
            }
            other => value.push(other.clone()),
        }
    }
    value
}

/// Everything in a directory.
pub(super) fn inside(directory: &Value) -> Value {
    let mut value = directory.clone();
    if value.bytes().is_none_or(|bytes| !bytes.ends_with(b"/")) {
        value.push(Piece::Known(b"/".to_vec()));
    }
    value.push(Piece::Glob(b"*".to_vec()));
    value
}
