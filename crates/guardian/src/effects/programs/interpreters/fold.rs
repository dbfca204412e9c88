//! Values worked out: what operators and methods make of text, numbers and lists that are known.
//!
//! Owns: the tricks a command is pieced together with. Refuses: completeness; what is not worked out keeps what it is made of.

use super::super::decode;
use super::tree::Expr;
use super::walk::{Args, Walk};
use super::worth::{Kind, Worth};
use crate::shell::value::{Piece, Value};

/// Bytes of one text that are kept.
pub(super) const LARGEST: usize = 32 * 1024;

impl Walk<'_> {
    /// Two values side by side, as text.
    pub(super) fn joined(&self, left: &Worth, right: &Worth) -> Worth {
        if matches!(left.kind, Kind::Any(_)) || matches!(right.kind, Kind::Any(_)) {
            let mut found: Option<Worth> = None;
            for one in left.alternatives() {
                for other in right.alternatives() {
                    let both = self.joined(&one, &other);
                    found = Some(match found {
                        Some(before) => before.or(both),
                        None => both,
                    });
                }
            }
            return found.unwrap_or_default();
        }
        let data = right.flows();
        match (&left.kind, &right.kind) {
            (Kind::Number(one), Kind::Number(two)) => Worth::number(one.wrapping_add(*two)),
            (Kind::List(one), Kind::List(two)) if one.len() + two.len() < 4096 => {
                Worth::list(one.iter().chain(two).cloned().collect()).with(&left.data).with(&right.data)
            }
            _ => {
                let why = |what: &str| self.why(what);
                let mut text = left.as_text(&why);
                let other = right.as_text(&why);
                let size = |value: &Value| -> usize {
                    value
                        .pieces
                        .iter()
                        .map(|piece| match piece {
                            Piece::Known(bytes) | Piece::Glob(bytes) => bytes.len(),
                            Piece::Unknown(_) => 64,
                        })
                        .sum()
                };
                if size(&text) + size(&other) > LARGEST {
                    return Worth::unknown(self.why("a very long text")).with(&left.flows()).with(&data);
                }
                text.append(other);
                Worth::value(text).with(&left.flows()).with(&data)
            }
        }
    }

    /// An operator.
    pub(super) fn operated(&mut self, sign: &str, left: &Expr, right: &Expr) -> Worth {
        let one = self.eval(left);
        let two = self.eval(right);
        if matches!(sign, "|" | "|&" | ">" | ">>" | "<") && self.language.name == "awk" {
            return self.awk_redirected(sign, left, &one, right, &two);
        }
        if sign == "|>" {
            return self.invoke(&two, &Args::of(one));
        }
        if sign == self.language.grammar.joins || sign == "+" {
            return self.joined(&one, &two);
        }
        match (sign, &one.kind, &two.kind) {
            ("or" | "||" | "??" | "and" | "&&", ..) => one.or(two),
            // Paths put together.
            ("/", Kind::Text(_) | Kind::Any(_) | Kind::Name(_), Kind::Text(_) | Kind::Any(_)) => {
                self.path_joined(&[one, two])
            }
            ("*" | "x" | "**", Kind::Text(text), Kind::Number(count)) => {
                match (text.bytes(), usize::try_from(*count)) {
                    (Some(bytes), Ok(count)) if bytes.len().saturating_mul(count) < LARGEST => {
                        Worth::text(bytes.repeat(count)).with(&one.data)
                    }
                    _ => Worth::unknown(self.why("a very long text")).with(&one.data),
                }
            }
            ("%", Kind::Text(_), _) => {
                let parts = if two.is_list() { two.elements() } else { vec![two] };
                self.formatted(&one, &parts)
            }
            ("*", Kind::Number(one), Kind::Number(two)) => Worth::number(one.wrapping_mul(*two)),
            ("-", Kind::Number(one), Kind::Number(two)) => Worth::number(one.wrapping_sub(*two)),
            ("/" | "//", Kind::Number(one), Kind::Number(two)) => {
                Worth::number(one.checked_div(*two).unwrap_or(0))
            }
            ("%", Kind::Number(one), Kind::Number(two)) => Worth::number(one.checked_rem(*two).unwrap_or(0)),
            ("^", Kind::Number(one), Kind::Number(two)) => Worth::number(one ^ two),
            ("&", Kind::Number(one), Kind::Number(two)) => Worth::number(one & two),
            ("|", Kind::Number(one), Kind::Number(two)) => Worth::number(one | two),
            ("..", Kind::Number(one), Kind::Number(two)) if two.saturating_sub(*one) < 256 => {
                Worth::list((*one..=*two).map(Worth::number).collect())
            }
            ("<<" | "<>", Kind::Text(_) | Kind::List(_), _) => self.joined(&one, &two),
            // `file << text` writes.
            ("<<", Kind::File(_), _) => self.invoke_member(&one, "write", Args::of(two)),
            _ => Worth::default().with(&one.flows()).with(&two.flows()),
        }
    }

    /// `%s`, `{}` and `{0}` with what is put in.
    pub(super) fn formatted(&self, format: &Worth, parts: &[Worth]) -> Worth {
        let data: Vec<_> = parts.iter().flat_map(Worth::flows).collect();
        let Some(text) = format.known().map(<[u8]>::to_vec) else {
            return Worth::unknown(self.why("a text that is put together")).with(&format.flows()).with(&data);
        };
        let why = |what: &str| self.why(what);
        let mut value = Value::default();
        let (mut at, mut next) = (0, 0);
        while let Some(byte) = text.get(at) {
            let rest = text.get(at..).unwrap_or_default();
            if *byte == b'%' && rest.len() > 1 {
                let length = rest
                    .iter()
                    .skip(1)
                    .take_while(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'#'))
                    .count()
                    + 2;
                match rest.get(length - 1) {
                    Some(b'%') => value.push(Piece::Known(b"%".to_vec())),
                    Some(b'c') => {
                        let letter = match parts.get(next).map(|part| &part.kind) {
                            Some(Kind::Number(number)) => {
                                u8::try_from(*number).ok().map(|byte| Value::known(vec![byte]))
                            }
                            _ => parts.get(next).map(|part| part.as_text(&why)),
                        };
                        value.append(letter.unwrap_or_default());
                        next += 1;
                    }
                    _ => {
                        value.append(parts.get(next).map(|part| part.as_text(&why)).unwrap_or_default());
                        next += 1;
                    }
                }
                at += length;
            } else if *byte == b'{' && rest.get(1) != Some(&b'{') {
                let length = rest.iter().position(|byte| *byte == b'}').map_or(rest.len(), |end| end + 1);
                let inside = rest.get(1..length.saturating_sub(1)).unwrap_or_default();
                let number: Option<usize> = std::str::from_utf8(inside)
                    .ok()
                    .and_then(|text| text.split([':', '!']).next()?.parse().ok());
                let part = parts.get(number.unwrap_or(next));
                value.append(part.map_or_else(
                    || Value::unknown(why("a text that is put together")),
                    |part| part.as_text(&why),
                ));
                next += 1;
                at += length;
            } else {
                value.push(Piece::Known(vec![*byte]));
                at += 1;
            }
        }
        Worth::value(value).with(&format.data).with(&data)
    }

    /// Paths put together; one that is absolute begins anew.
    pub(super) fn path_joined(&self, parts: &[Worth]) -> Worth {
        if let Some(place) = parts.iter().position(|part| matches!(part.kind, Kind::Any(_))) {
            let mut found: Option<Worth> = None;
            for one in parts.get(place).map(Worth::alternatives).unwrap_or_default() {
                let mut chosen = parts.to_vec();
                if let Some(part) = chosen.get_mut(place) {
                    *part = one;
                }
                let value = self.path_joined(&chosen);
                found = Some(match found {
                    Some(before) => before.or(value),
                    None => value,
                });
            }
            return found.unwrap_or_default();
        }
        let why = |what: &str| self.why(what);
        let mut path = Value::default();
        let mut data = Vec::new();
        for part in
            parts.iter().flat_map(|part| if part.is_list() { part.elements() } else { vec![part.clone()] })
        {
            let text = part.as_text(&why);
            data.extend(part.flows());
            let anew = text.prefix().first() == Some(&b'/') && self.language.name == "python";
            if anew || path.pieces.is_empty() {
                path = text;
            } else {
                path.push(Piece::Known(b"/".to_vec()));
                path.append(text);
            }
        }
        Worth::value(path).with(&data)
    }
}

/// A part of a text or a list: `[1:]`, `[::-1]`.
pub(super) fn slice(object: &Worth, keys: &[Worth]) -> Option<Worth> {
    let numbers: Vec<Option<i64>> = keys
        .iter()
        .map(|key| match key.kind {
            Kind::Number(number) => Some(number),
            _ => None,
        })
        .collect();
    let turned = numbers.last() == Some(&Some(-1))
        && numbers.len() >= 2
        && keys.len() - numbers.iter().flatten().count() >= 2;
    match &object.kind {
        Kind::Text(text) => {
            let bytes = text.bytes()?;
            if turned {
                return Some(
                    Worth::text(bytes.iter().rev().copied().collect::<Vec<u8>>()).with(&object.data),
                );
            }
            if let [Some(place)] = numbers.as_slice() {
                let length = i64::try_from(bytes.len()).ok()?;
                let place = usize::try_from(if *place < 0 { length + place } else { *place }).ok()?;
                return Some(Worth::text(vec![*bytes.get(place)?]).with(&object.data));
            }
            let (from, to) = bounds(keys, bytes.len())?;
            Some(Worth::text(bytes.get(from..to)?.to_vec()).with(&object.data))
        }
        Kind::List(all) => {
            if turned {
                return Some(Worth::list(all.iter().rev().cloned().collect()).with(&object.data));
            }
            let (from, to) = bounds(keys, all.len())?;
            Some(Worth::list(all.get(from..to)?.to_vec()).with(&object.data))
        }
        _ => None,
    }
}

/// Where a slice begins and ends: what was between colons, colons being nothing.
fn bounds(keys: &[Worth], length: usize) -> Option<(usize, usize)> {
    let place = |number: i64| -> Option<usize> {
        let length = i64::try_from(length).ok()?;
        usize::try_from(if number < 0 { length + number } else { number }.clamp(0, length)).ok()
    };
    let kinds: Vec<Option<i64>> = keys
        .iter()
        .map(|key| match key.kind {
            Kind::Number(number) => Some(number),
            _ => None,
        })
        .collect();
    match kinds.as_slice() {
        [Some(from), None] => Some((place(*from)?, length)),
        [None, Some(to)] => Some((0, place(*to)?)),
        [Some(from), None, Some(to)] => {
            let (from, to) = (place(*from)?, place(*to)?);
            (from <= to).then_some((from, to))
        }
        [None] => Some((0, length)),
        _ => None,
    }
}

pub(super) fn join(walk: &Walk<'_>, between: &Worth, list: &Worth) -> Worth {
    let mut whole = Worth::value(Value::default());
    for (place, part) in list.elements().iter().enumerate() {
        if place > 0 {
            whole = walk.joined(&whole, between);
        }
        let part = match part.kind {
            Kind::Number(_) => Worth::value(part.as_text(&|what| walk.why(what))),
            _ => part.clone(),
        };
        whole = walk.joined(&whole, &part);
    }
    whole.with(&list.data)
}

/// Text of the numbers of its letters.
pub(super) fn letters(all: &[Worth]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for one in all.iter().take(LARGEST) {
        match &one.kind {
            Kind::Number(number) => {
                text.extend(char::from_u32(u32::try_from(*number).ok()?)?.to_string().into_bytes());
            }
            Kind::Text(value) => text.extend(value.bytes()?),
            _ => return None,
        }
    }
    Some(text)
}

pub(super) fn rot13(worth: &Worth) -> Worth {
    let turn = |byte: &u8| match byte {
        b'a'..=b'z' => (byte - b'a' + 13) % 26 + b'a',
        b'A'..=b'Z' => (byte - b'A' + 13) % 26 + b'A',
        other => *other,
    };
    worth
        .known()
        .map_or_else(|| worth.clone(), |bytes| Worth::text(bytes.iter().map(turn).collect::<Vec<u8>>()))
}

pub(super) fn decoded(worth: &Worth, how: &str) -> Worth {
    let found = worth.known().and_then(|bytes| match how {
        "hex" => decode::hexadecimal(bytes),
        _ => decode::base64(bytes),
    });
    found.map_or_else(|| worth.clone(), |bytes| Worth::text(bytes).with(&worth.data))
}
