//! What a word comes to, as far as it can be known without running anything.
//!
//! Owns: values that keep what is known beside what is not. Refuses: guesses; `/etc/$x` still begins with `/etc/`, and
//! says what it does not know.

use super::ast::Span;

/// One field: pieces that are known and pieces that are not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Value {
    /// The pieces, in order; two known ones never stand side by side.
    pub pieces: Vec<Piece>,
}

/// A piece of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// These bytes.
    Known(Vec<u8>),
    /// Any bytes at all, slashes and `..` too; one field still, unless [`Fields::Some`] says otherwise.
    Unknown(Why),
    /// What a glob written here would match: the pattern as it is written.
    Glob(Vec<u8>),
}

/// Why a piece is not known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Why {
    /// The construct, in words for a reason: `the variable TARGET`, `the output of curl`.
    pub construct: String,
    /// Where it stands.
    pub span: Span,
}

/// What a word comes to: fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fields {
    /// Exactly these.
    These(Vec<Value>),
    /// Any number of any.
    Some(Why),
}

/// Bytes side by side that are followed; no script is longer.
const LONGEST: usize = 256 * 1024;
/// Pieces of a value that are followed.
const MOST: usize = 4096;
/// What is said of what is longer.
const TOO_LONG: &str = "text that grows too long";

/// What a [`Why`] ends with when what it names is at least not empty.
const FILLED: &str = ", which is not empty";

impl Why {
    /// The same, known not to be empty: `"${x:?}"/*` never is `/*`.
    #[must_use]
    pub fn filled(mut self) -> Self {
        if self.may_be_empty() {
            self.construct.push_str(FILLED);
        }
        self
    }

    /// Whether there may be nothing at all, so that what stands behind it is all there is.
    #[must_use]
    pub fn may_be_empty(&self) -> bool {
        !self.construct.ends_with(FILLED) && !self.is_number()
    }

    /// Whether it is some number.
    #[must_use]
    pub fn is_number(&self) -> bool {
        self.construct.starts_with("a number")
    }
}

impl Value {
    /// A value that is known.
    #[must_use]
    pub fn known(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self { pieces: if bytes.is_empty() { Vec::new() } else { vec![Piece::Known(bytes)] } }
    }

    /// A value of which nothing is known.
    #[must_use]
    pub fn unknown(why: Why) -> Self {
        Self { pieces: vec![Piece::Unknown(why)] }
    }

    /// The bytes, when all are known.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [] => Some(&[]),
            [Piece::Known(bytes)] => Some(bytes),
            _ => None,
        }
    }

    /// The text, when all is known and is text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// What it begins with for certain.
    #[must_use]
    pub fn prefix(&self) -> &[u8] {
        match self.pieces.first() {
            Some(Piece::Known(bytes)) => bytes,
            Some(Piece::Unknown(_) | Piece::Glob(_)) | None => &[],
        }
    }

    /// Why it is not wholly known; none when it is. A glob counts as known text here.
    #[must_use]
    pub fn why(&self) -> Option<&Why> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Unknown(why) => Some(why),
            Piece::Known(_) | Piece::Glob(_) => None,
        })
    }

    /// Whether a pattern is in it, so that it may be any number of names.
    #[must_use]
    pub fn has_glob(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)))
    }

    /// Puts a whole value behind it.
    pub fn append(&mut self, other: Self) {
        for piece in other.pieces {
            self.push(piece);
        }
    }

    /// How many bytes are known.
    #[must_use]
    pub fn len_known(&self) -> usize {
        let length = |piece: &Piece| match piece {
            Piece::Known(bytes) | Piece::Glob(bytes) => bytes.len(),
            Piece::Unknown(_) => 0,
        };
        self.pieces.iter().map(length).sum()
    }

    /// Puts another piece behind it. What gets too long ends in something unknown, and takes no more.
    pub fn push(&mut self, piece: Piece) {
        let is_full = self.pieces.len() > MOST;
        match (self.pieces.last_mut(), piece) {
            (_, Piece::Known(bytes)) if bytes.is_empty() => {}
            (Some(Piece::Unknown(why)), _) if why.construct == TOO_LONG => {}
            (Some(Piece::Known(before)), Piece::Known(bytes)) if before.len() + bytes.len() <= LONGEST => {
                before.extend(bytes);
            }
            (Some(Piece::Known(_)), Piece::Known(_)) => self.pieces.push(too_long()),
            (_, _) if is_full => self.pieces.push(too_long()),
            (_, piece) => self.pieces.push(piece),
        }
    }
}

fn too_long() -> Piece {
    Piece::Unknown(Why { construct: TOO_LONG.to_owned(), span: Span::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why() -> Why {
        Why { construct: "the variable x".to_owned(), span: Span::default() }
    }

    #[test]
    fn what_is_known_stays_known_beside_what_is_not() {
        let mut value = Value::known("/etc");
        value.push(Piece::Known(b"/".to_vec()));
        assert_eq!(value.text(), Some("/etc/"));
        value.push(Piece::Unknown(why()));
        assert_eq!((value.text(), value.prefix(), value.why()), (None, b"/etc/".as_slice(), Some(&why())));
    }

    #[test]
    fn what_grows_too_long_is_not_known_to_its_end() {
        let mut value = Value::known("/etc/");
        for _ in 0..40 {
            value.append(value.clone());
        }
        assert!(value.len_known() <= LONGEST && value.pieces.len() == 2);
        assert_eq!(value.why().map(|why| why.construct.as_str()), Some(TOO_LONG));
        assert!(value.prefix().starts_with(b"/etc/"));
    }

    #[test]
    fn nothing_is_known_too() {
        assert_eq!(Value::known("").text(), Some(""));
        assert_eq!(Value::default().bytes(), Some(b"".as_slice()));
    }
}
