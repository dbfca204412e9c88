//! What is put into quoted text, and its escapes.
//!
//! Owns: a body taken apart. Refuses: evaluating what is put in; that stays code.

use super::grammar::Inside;
use super::lexer::{Lexer, MARK};
use super::quoted::Part;

pub(super) fn raw_parts(lexer: &Lexer<'_>, body: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = body;
    while let Some(first) = rest.first() {
        let (part, length) = match lexer.source.hole(rest) {
            Some((why, length)) if *first == MARK => (Part::Hole(why), length),
            _ => (Part::Known(vec![*first]), 1),
        };
        push(&mut parts, part);
        rest = rest.get(length..).unwrap_or_default();
    }
    parts
}

fn push(parts: &mut Vec<Part>, part: Part) {
    match (parts.last_mut(), part) {
        (Some(Part::Known(before)), Part::Known(bytes)) => before.extend(bytes),
        (_, part) => parts.push(part),
    }
}

/// The body of an f-string.
pub(super) fn braces(lexer: &Lexer<'_>, body: &[u8], raw: bool) -> Vec<Part> {
    let mut all = Vec::new();
    let mut rest = body;
    while let Some(open) = rest.iter().position(|byte| matches!(byte, b'{' | b'}')) {
        let (before, from) = rest.split_at(open);
        let known = if raw { raw_parts(lexer, before) } else { parts(lexer, before, Inside::Escapes) };
        known.into_iter().for_each(|part| push(&mut all, part));
        if from.starts_with(b"{{") || from.starts_with(b"}}") {
            push(&mut all, Part::Known(from.get(..1).unwrap_or_default().to_vec()));
            rest = from.get(2..).unwrap_or_default();
            continue;
        }
        let length = closing(from);
        let inside = from.get(1..length.saturating_sub(1)).unwrap_or_default();
        // What is behind `!r`, `:>10` or a last `=` is about looks.
        let mut depth = 0i32;
        let end = inside.iter().enumerate().position(|(place, byte)| {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                _ => {}
            }
            depth == 0 && (*byte == b':' || *byte == b'!' && inside.get(place + 1) != Some(&b'='))
        });
        let code = inside.get(..end.unwrap_or(inside.len())).unwrap_or_default();
        push(&mut all, Part::Code(code.to_vec()));
        rest = from.get(length..).unwrap_or_default();
    }
    let known = if raw { raw_parts(lexer, rest) } else { parts(lexer, rest, Inside::Escapes) };
    known.into_iter().for_each(|part| push(&mut all, part));
    all
}

/// How long a group in braces is, the braces with it.
fn closing(text: &[u8]) -> usize {
    let mut depth = 0usize;
    for (place, byte) in text.iter().enumerate() {
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return place + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// A body with its escapes undone and what is put in told apart.
pub(super) fn parts(lexer: &Lexer<'_>, body: &[u8], inside: Inside) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = body;
    while let Some(first) = rest.first() {
        let (part, length) = match first {
            &MARK => match lexer.source.hole(rest) {
                Some((why, length)) => (Part::Hole(why), length),
                None => (Part::Known(vec![MARK]), 1),
            },
            b'\\' => escape(rest, inside),
            b'$' if inside == Inside::Dollar && rest.get(1) == Some(&b'{')
                || *first == b'#' && inside == Inside::Hash && rest.get(1) == Some(&b'{') =>
            {
                group(rest)
            }
            b'#' if inside == Inside::Hash && rest.get(1) == Some(&b'{') => group(rest),
            b'$' | b'@' if inside == Inside::Variables => variable(rest),
            b'{' if inside == Inside::Variables && rest.get(1) == Some(&b'$') => {
                let length = closing(rest);
                (Part::Code(rest.get(1..length.saturating_sub(1)).unwrap_or_default().to_vec()), length)
            }
            byte => (Part::Known(vec![*byte]), 1),
        };
        push(&mut parts, part);
        rest = rest.get(length.max(1)..).unwrap_or_default();
    }
    parts
}

fn group(rest: &[u8]) -> (Part, usize) {
    let length = 1 + closing(rest.get(1..).unwrap_or_default());
    (Part::Code(rest.get(2..length.saturating_sub(1)).unwrap_or_default().to_vec()), length)
}

/// `$name`, `$name[0]`, `${name}`, `@{[ … ]}`, `$(…)` of Julia.
fn variable(rest: &[u8]) -> (Part, usize) {
    let sigil = rest.first().copied().unwrap_or(b'$');
    match rest.get(1) {
        Some(b'{') => {
            let length = 1 + closing(rest.get(1..).unwrap_or_default());
            let inside = rest.get(2..length.saturating_sub(1)).unwrap_or_default();
            let is_name = inside.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
            let code = if is_name { [&[sigil], inside].concat() } else { inside.to_vec() };
            (Part::Code(code), length)
        }
        Some(b'(') if sigil == b'$' => group(rest),
        Some(next) if next.is_ascii_alphabetic() || *next == b'_' || (*next == b'$' && sigil == b'$') => {
            let name = 1 + rest
                .iter()
                .skip(1)
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
                .count();
            let mut length = name;
            loop {
                let tail = rest.get(length..).unwrap_or_default();
                if tail.starts_with(b"[") || tail.starts_with(b"{") {
                    length += closing(tail);
                } else if tail.starts_with(b"->[") || tail.starts_with(b"->{") {
                    length += 2 + closing(tail.get(2..).unwrap_or_default());
                } else {
                    break;
                }
            }
            (Part::Code(rest.get(..length).unwrap_or_default().to_vec()), length)
        }
        _ => (Part::Known(vec![sigil]), 1),
    }
}

fn escape(rest: &[u8], inside: Inside) -> (Part, usize) {
    let next = rest.get(1).copied().unwrap_or(b'\\');
    let known = |bytes: Vec<u8>, length: usize| (Part::Known(bytes), length);
    if inside == Inside::Nothing {
        return match next {
            b'\\' | b'\'' => known(vec![next], 2),
            _ => known(vec![b'\\'], 1),
        };
    }
    let digits = |from: usize, most: usize, radix: u32| -> Option<(u32, usize)> {
        let digits: String = rest
            .get(from..)?
            .iter()
            .take(most)
            .map(|byte| char::from(*byte))
            .take_while(|letter| letter.is_digit(radix))
            .collect();
        Some((u32::from_str_radix(&digits, radix).ok()?, digits.len()))
    };
    let letter = |code: u32| -> Vec<u8> {
        char::from_u32(code).map_or_else(Vec::new, |letter| letter.to_string().into_bytes())
    };
    match next {
        b'n' => known(vec![b'\n'], 2),
        b't' => known(vec![b'\t'], 2),
        b'r' => known(vec![b'\r'], 2),
        b'0' if !rest.get(2).is_some_and(u8::is_ascii_digit) => known(vec![0], 2),
        b'e' => known(vec![27], 2),
        b'a' => known(vec![7], 2),
        b'\n' => known(Vec::new(), 2),
        b'x' | b'u' | b'U' if rest.get(2) == Some(&b'{') => match digits(3, 8, 16) {
            Some((code, length)) => known(letter(code), 4 + length),
            None => known(vec![next], 2),
        },
        b'x' => match digits(2, 2, 16) {
            Some((code, length)) => known(letter(code), 2 + length),
            None => known(vec![next], 2),
        },
        b'u' | b'U' => match digits(2, if next == b'u' { 4 } else { 8 }, 16) {
            Some((code, length)) => known(letter(code), 2 + length),
            None => known(vec![next], 2),
        },
        b'0'..=b'7' => match digits(1, 3, 8) {
            Some((code, length)) => known(letter(code), 1 + length),
            None => known(vec![next], 2),
        },
        other => known(vec![other], 2),
    }
}
