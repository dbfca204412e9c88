//! What is made of a parameter's value: `${#x}`, `${x#p}`, `${x/p/r}`, `${x:o:l}`, `${x^^}`, `${x@Q}`.
//!
//! Owns: the operations on values that are known. Refuses: guessing; of a value that is not known only what is certain stays.

use super::items::globbed;
use super::machine::Machine;
use super::parameter::{Found, Use};
use super::pattern::Pattern;
use super::state::{Content, State};
use super::variables::number;
use crate::shell::ast::{Operation, Span, Word};
use crate::shell::value::{Piece, Value, Why};

impl Machine<'_> {
    /// Applies an operation to all that was found.
    pub(super) fn operate(&mut self, used: &Use<'_>, found: Found, state: &mut State) -> Found {
        match used.operation {
            Operation::Length => Found::One(length(&found)),
            Operation::Slice(offset, count) => self.slice(used, found, offset, count.as_deref(), state),
            Operation::WithoutPrefix(word, longest) => {
                let pattern = self.pattern(word, state);
                each(found, |value| without_prefix(value, pattern.as_ref(), *longest))
            }
            Operation::WithoutSuffix(word, longest) => {
                let pattern = self.pattern(word, state);
                each(found, |value| without_suffix(value, pattern.as_ref(), *longest))
            }
            Operation::Replace(..) if matches!(found, Found::Unset) => Found::One(Value::default()),
            Operation::Replace(word, with, mode) => {
                let pattern = self.pattern(word, state);
                let with = with.as_ref().map(|word| self.single(word, state)).unwrap_or_default();
                // Where letters are all the same to bash, only what has no large ones is as it seems.
                let pattern = if state.options.nocasematch { pattern.map(Pattern::lowered) } else { pattern };
                let is_unsure = |value: &Value| {
                    let bytes = value.bytes().unwrap_or_default();
                    state.options.nocasematch && bytes.iter().any(u8::is_ascii_uppercase)
                };
                each(found, |value| match is_unsure(&value) {
                    true => opaque(&value, "what is made of"),
                    false => replaced(&value, pattern.as_ref(), &with, *mode),
                })
            }
            Operation::Case(operator, word) => {
                let pattern = match word {
                    Some(word) => self.pattern(word, state).map(Some),
                    None => Some(None),
                };
                each(found, |value| cased(&value, operator, pattern.as_ref()))
            }
            Operation::Transform(letter) => self.transform(used, found, *letter, state),
            Operation::Plain
            | Operation::Indirect(_)
            | Operation::Names
            | Operation::Default(..)
            | Operation::Assign(..)
            | Operation::Require(..)
            | Operation::Alternative(..) => found,
        }
    }

    /// The pattern a word makes; none when some of it is not known.
    pub(super) fn pattern(&mut self, word: &Word, state: &mut State) -> Option<Pattern> {
        let items = self.items(word, state);
        Pattern::new(&items, state.options.extglob)
    }

    fn slice(
        &mut self,
        used: &Use<'_>,
        found: Found,
        offset: &Word,
        count: Option<&Word>,
        state: &mut State,
    ) -> Found {
        let offset = self.single(offset, state);
        let offset = self.number_within(&offset, used.span, state);
        let count = count.map(|word| {
            let text = self.single(word, state);
            self.number_within(&text, used.span, state)
        });
        let (Some(offset), true) = (offset, count != Some(None)) else {
            return each(found, |value| opaque(&value, "a part of"));
        };
        let count = count.flatten();
        if self.is_negative(used, &found, offset, count, state) {
            self.give_up(state);
        }
        let indexes = self.indexes(used.name, state);
        match found {
            Found::Many { values, .. } if values.iter().any(Value::has_glob) => {
                Found::Any(Why { construct: "a part of what a glob stands for".to_owned(), span: used.span })
            }
            Found::Many { values, joined } if indexes.is_some() => {
                let keys = indexes.unwrap_or_default();
                // Elements are counted from the one whose index is the first that is large enough.
                let least = if offset < 0 { keys.last().map_or(0, |last| last + 1) + offset } else { offset };
                let start = keys.iter().filter(|key| **key < least).count();
                let end = count
                    .and_then(|count| usize::try_from(count).ok())
                    .map_or(values.len(), |count| start + count);
                let values = if least < 0 {
                    &[]
                } else {
                    values.get(start..end.min(values.len())).unwrap_or_default()
                };
                Found::Many { values: values.to_vec(), joined }
            }
            Found::Many { mut values, joined } => {
                if matches!(used.name, b"@" | b"*") {
                    values.insert(0, Value::clone(&state.zero));
                }
                let (start, end) = bounds(values.len(), offset, count);
                Found::Many { values: values.get(start..end).unwrap_or_default().to_vec(), joined }
            }
            other => each(other, |value| match value.bytes() {
                Some(bytes) if bytes.is_ascii() => {
                    let (start, end) = bounds(bytes.len(), offset, count);
                    Value::known(bytes.get(start..end).unwrap_or_default())
                }
                _ => {
                    // The beginning of a path is known even when its end is not.
                    let prefix = value.prefix();
                    match (usize::try_from(offset), count.map(usize::try_from)) {
                        (Ok(start), Some(Ok(count)))
                            if prefix.is_ascii() && start + count <= prefix.len() =>
                        {
                            Value::known(prefix.get(start..start + count).unwrap_or_default())
                        }
                        _ => opaque(&value, "a part of"),
                    }
                }
            }),
        }
    }

    /// Whether bash refuses a slice: it ends before it begins, or an array's is counted from the end.
    fn is_negative(
        &mut self,
        used: &Use<'_>,
        found: &Found,
        offset: i64,
        count: Option<i64>,
        state: &mut State,
    ) -> bool {
        let Some(count) = count.filter(|count| *count < 0) else { return false };
        let (length, is_array) = match found {
            Found::One(value) | Found::Perhaps(value) => match value.bytes() {
                Some(bytes) => (bytes.len(), false),
                None => return false,
            },
            Found::Many { .. } if self.content(state, used.name).0 == Content::Unset => return false,
            Found::Many { .. } if matches!(used.name, b"@" | b"*") => (state.positional.len() + 1, true),
            Found::Many { .. } => match self.indexes(used.name, state) {
                Some(keys) => (keys.last().map_or(0, |last| usize::try_from(last + 1).unwrap_or(0)), true),
                None => return false,
            },
            Found::Unset | Found::Any(_) => return false,
        };
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let start = if offset < 0 { length.saturating_add(offset) } else { offset };
        (0..=length).contains(&start) && (is_array || length.saturating_add(count) < start)
    }

    /// The indexes of an array, in their order.
    fn indexes(&mut self, name: &[u8], state: &mut State) -> Option<Vec<i64>> {
        match self.content(state, name).0 {
            Content::Indexed(map) => Some(map.keys().copied().collect()),
            _ => None,
        }
    }

    fn transform(&mut self, used: &Use<'_>, found: Found, letter: u8, state: &mut State) -> Found {
        match letter {
            b'U' => each(found, |value| cased(&value, b"^^", Some(&None))),
            b'L' => each(found, |value| cased(&value, b",,", Some(&None))),
            b'u' => each(found, |value| cased(&value, b"^", Some(&None))),
            b'P' => {
                // A prompt is expanded once more, commands in it too.
                let values = match found {
                    Found::One(value) | Found::Perhaps(value) => vec![value],
                    Found::Many { values, .. } => values,
                    Found::Unset => Vec::new(),
                    Found::Any(why) => vec![Value::unknown(why)],
                };
                let values = values.into_iter().map(|value| self.prompt(&value, used.span, state)).collect();
                Found::Many { values, joined: false }
            }
            b'E' => each(found, |value| match value.bytes() {
                Some(bytes) if !bytes.contains(&b'\\') => value,
                Some(bytes) => Value::known(
                    super::builtin::print::unescaped(bytes, super::builtin::print::Escapes::Ansi).0,
                ),
                None => opaque(&value, "what is made of"),
            }),
            b'Q' => each(found, |value| match value.bytes() {
                Some(bytes) if bytes.is_ascii() => Value::known(quoted(bytes)),
                _ => opaque(&value, "what is made of"),
            }),
            // Written as it would be declared, an array is several words, also one that is empty.
            _ if matches!(found, Found::Many { .. }) => {
                Found::Any(Why { construct: "an array as it is declared".to_owned(), span: used.span })
            }
            _ => each(found, |value| opaque(&value, "what is made of")),
        }
    }

    /// What stands before a command that `set -x` shows is expanded each time, commands in it too.
    pub(super) fn traced(&mut self, span: Span, state: &mut State) {
        if state.options.xtrace
            && let Some(prompt) = state.variables.get(b"PS4".as_slice())
            && let Some(prompt) = super::variables::scalar_of(prompt.content.clone())
        {
            state.options.xtrace = false;
            self.prompt(&prompt, span, state);
            state.options.xtrace = true;
        }
    }

    fn prompt(&mut self, value: &Value, span: Span, state: &mut State) -> Value {
        match value.bytes() {
            Some(bytes) => {
                let bytes = bytes.to_vec();
                self.expanded_text(&bytes, span, state)
            }
            None => {
                self.unknown("a prompt that is expanded and not known", span);
                opaque(value, "what is made of")
            }
        }
    }
}

/// Quoted so that a shell would read it back.
pub(super) fn quoted(bytes: &[u8]) -> Vec<u8> {
    let has_controls = bytes.iter().any(u8::is_ascii_control);
    let mut text = if has_controls { b"$'".to_vec() } else { vec![b'\''] };
    for byte in bytes {
        match (byte, has_controls) {
            (b'\'', false) => text.extend(b"'\\''"),
            (_, false) => text.push(*byte),
            (b'\'' | b'\\', true) => text.extend([b'\\', *byte]),
            (b'\n', true) => text.extend(b"\\n"),
            (b'\t', true) => text.extend(b"\\t"),
            (b'\r', true) => text.extend(b"\\r"),
            (7, true) => text.extend(b"\\a"),
            (8, true) => text.extend(b"\\b"),
            (11, true) => text.extend(b"\\v"),
            (12, true) => text.extend(b"\\f"),
            (27, true) => text.extend(b"\\E"),
            (byte, true) if byte.is_ascii_control() => text.extend(format!("\\{byte:03o}").bytes()),
            (_, true) => text.push(*byte),
        }
    }
    text.push(b'\'');
    text
}

fn each(found: Found, mut change: impl FnMut(Value) -> Value) -> Found {
    match found {
        Found::Unset => Found::One(change(Value::default())),
        Found::One(value) | Found::Perhaps(value) => Found::One(change(value)),
        Found::Many { values, joined } => {
            let globs = |values: &[Value]| values.iter().filter(|value| value.has_glob()).count();
            let before = globs(&values);
            let values: Vec<Value> = values.into_iter().map(change).collect();
            // What is made of a glob is made of each name it stands for.
            if globs(&values) < before { Found::Any(globbed()) } else { Found::Many { values, joined } }
        }
        any @ Found::Any(_) => any,
    }
}

/// A value made of another that is not known.
pub(super) fn opaque(value: &Value, made: &str) -> Value {
    let mut why = value.why().cloned().unwrap_or_else(globbed);
    if !why.construct.starts_with(made) && !why.is_number() {
        why.construct = format!("{made} {}", why.construct.trim_end_matches(", which is not empty"));
    }
    Value::unknown(why)
}

fn length(found: &Found) -> Value {
    match found {
        Found::Unset => Value::known("0"),
        Found::One(value) | Found::Perhaps(value) => match value.bytes() {
            Some(bytes) if bytes.is_ascii() => Value::known(bytes.len().to_string()),
            _ => Value::unknown(number(b"a length")),
        },
        Found::Many { values, .. } if values.iter().any(Value::has_glob) => {
            Value::unknown(number(b"of elements"))
        }
        Found::Many { values, .. } => Value::known(values.len().to_string()),
        Found::Any(_) => Value::unknown(number(b"of elements")),
    }
}

fn bounds(length: usize, offset: i64, count: Option<i64>) -> (usize, usize) {
    let whole = i64::try_from(length).unwrap_or(i64::MAX);
    let start = if offset < 0 { whole.saturating_add(offset) } else { offset };
    if start < 0 || start > whole {
        return (0, 0);
    }
    let end = match count {
        None => whole,
        Some(count) if count < 0 => whole.saturating_add(count),
        Some(count) => start.saturating_add(count).min(whole),
    };
    let start = usize::try_from(start).unwrap_or(0);
    (start, usize::try_from(end).unwrap_or(0).max(start))
}

fn without_prefix(value: Value, pattern: Option<&Pattern>, longest: bool) -> Value {
    let Some(pattern) = pattern else { return opaque(&value, "a part of") };
    if let Some(bytes) = value.bytes() {
        return match pattern.prefix(bytes, longest) {
            Some(Some(length)) => Value::known(bytes.get(length..).unwrap_or_default()),
            Some(None) => value,
            None => opaque(&value, "a part of"),
        };
    }
    if let (Some(literal), [Piece::Known(first), rest @ ..]) = (pattern.literal(), value.pieces.as_slice())
        && let Some(after) = first.strip_prefix(literal.as_slice())
    {
        let mut kept = Value::known(after);
        rest.iter().for_each(|piece| kept.push(piece.clone()));
        return kept;
    }
    if let (true, true, Some(Piece::Known(last))) = (longest, pattern.is_directories(), value.pieces.last())
        && let Some(slash) = last.iter().rposition(|byte| *byte == b'/')
    {
        return Value::known(last.get(slash + 1..).unwrap_or_default());
    }
    opaque(&value, "a part of")
}

fn without_suffix(value: Value, pattern: Option<&Pattern>, longest: bool) -> Value {
    let Some(pattern) = pattern else { return opaque(&value, "a part of") };
    if let Some(bytes) = value.bytes() {
        return match pattern.suffix(bytes, longest) {
            Some(Some(start)) => Value::known(bytes.get(..start).unwrap_or_default()),
            Some(None) => value,
            None => opaque(&value, "a part of"),
        };
    }
    if let (Some(literal), Some(Piece::Known(last))) = (pattern.literal(), value.pieces.last())
        && let Some(before) = last.strip_suffix(literal.as_slice())
    {
        let mut kept = value.clone();
        kept.pieces.pop();
        kept.push(Piece::Known(before.to_vec()));
        return kept;
    }
    opaque(&value, "a part of")
}

fn replaced(value: &Value, pattern: Option<&Pattern>, with: &Value, mode: Option<u8>) -> Value {
    let (Some(pattern), Some(bytes)) = (pattern, value.bytes()) else {
        return opaque(value, "what is made of");
    };
    if !bytes.is_ascii() || bytes.len() > 2048 || with.bytes().is_some_and(|with| with.contains(&b'&')) {
        return opaque(value, "what is made of");
    }
    // What may be nothing is found in nothing, unless a group says so: then bash has rules of its own.
    if (bytes.is_empty() || pattern.has_groups()) && pattern.matches(b"") != Some(false) {
        return match (mode, pattern.has_groups()) {
            (_, true) => opaque(value, "what is made of"),
            (Some(b'#' | b'%'), false) => with.clone(),
            _ if pattern.literal().is_none() => with.clone(),
            _ => value.clone(),
        };
    }
    let mut out = Value::default();
    let mut at = 0;
    let mut copied = 0;
    while at <= bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = match mode {
            Some(b'%') => match pattern.matches(rest) {
                Some(true) => Some(rest.len()),
                Some(false) => None,
                None => return opaque(value, "what is made of"),
            },
            _ => match pattern.prefix(rest, true) {
                Some(found) => found.filter(|length| *length > 0 || (mode == Some(b'#') && at == 0)),
                None => return opaque(value, "what is made of"),
            },
        };
        if let Some(length) = length {
            out.push(Piece::Known(bytes.get(copied..at).unwrap_or_default().to_vec()));
            out.append(with.clone());
            at += length;
            copied = at;
            if mode != Some(b'/') || length == 0 {
                break;
            }
        } else if mode == Some(b'#') {
            break;
        } else {
            at += 1;
        }
    }
    out.push(Piece::Known(bytes.get(copied..).unwrap_or_default().to_vec()));
    out
}

fn cased(value: &Value, operator: &[u8], pattern: Option<&Option<Pattern>>) -> Value {
    let (Some(pattern), Some(bytes)) = (pattern, value.bytes()) else {
        return opaque(value, "what is made of");
    };
    if !bytes.is_ascii() {
        return opaque(value, "what is made of");
    }
    let all = operator.len() > 1;
    let mut out = Vec::with_capacity(bytes.len());
    for (place, byte) in bytes.iter().enumerate() {
        let fits = match pattern {
            None => true,
            Some(pattern) => match pattern.matches(&[*byte]) {
                Some(fits) => fits,
                None => return opaque(value, "what is made of"),
            },
        };
        out.push(match operator.first() {
            Some(b'^') if fits && (all || place == 0) => byte.to_ascii_uppercase(),
            Some(b',') if fits && (all || place == 0) => byte.to_ascii_lowercase(),
            Some(b'~') if fits && (all || place == 0) && byte.is_ascii_lowercase() => {
                byte.to_ascii_uppercase()
            }
            Some(b'~') if fits && (all || place == 0) => byte.to_ascii_lowercase(),
            _ => *byte,
        });
    }
    Value::known(out)
}
