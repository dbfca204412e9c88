//! `echo` and `printf`: what they write, byte for byte where it is known.
//!
//! Owns: escapes and formats. Refuses: guesses about formats it does not know; those are unknown text.

use super::super::items::unnamed;
use super::super::machine::Machine;
use super::super::operation::quoted;
use super::super::simple::Job;
use super::super::state::{FAILED, State};
use crate::effects::Stream;
use crate::shell::ast::Span;
use crate::shell::value::{Piece, Value, Why};

/// Which escapes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Escapes {
    /// `echo -e` and `%b`: `\0nnn`, and `\c` ends it all.
    Echo,
    /// The format of `printf`: `\nnn`.
    Format,
    /// `$'…'`
    Ansi,
}

impl Machine<'_> {
    pub(super) fn run_echo(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let mut newline = true;
        let mut escapes = state.options.xpg_echo;
        let mut at = 1;
        while let Some(bytes) = job.argv.get(at).and_then(Value::bytes) {
            let Some(flags) = bytes.strip_prefix(b"-").filter(|flags| !flags.is_empty()) else { break };
            if !flags.iter().all(|flag| matches!(flag, b'n' | b'e' | b'E')) {
                break;
            }
            for flag in flags {
                match flag {
                    b'n' => newline = false,
                    b'e' => escapes = true,
                    _ => escapes = false,
                }
            }
            at += 1;
        }
        let mut text = Value::default();
        for (place, argument) in job.argv.iter().skip(at).enumerate() {
            if place > 0 {
                text.push(Piece::Known(b" ".to_vec()));
            }
            text.append(argument.clone());
        }
        if escapes {
            let mut decoded = Value::default();
            let mut stopped = false;
            for piece in text.pieces {
                match piece {
                    Piece::Known(bytes) if !stopped => {
                        let (bytes, stop) = unescaped(&bytes, Escapes::Echo);
                        decoded.push(Piece::Known(bytes));
                        stopped = stop;
                    }
                    _ if stopped => break,
                    other => decoded.push(other),
                }
            }
            newline &= !stopped;
            text = decoded;
        }
        if newline {
            text.push(Piece::Known(b"\n".to_vec()));
        }
        let text = if job.more.is_some() { Value::unknown(unknown_text("echo", job.span)) } else { text };
        self.write(state, 1, Stream { text: Some(text), data: job.flows.clone() }, "echo", job.span);
        Some(0)
    }

    pub(super) fn run_printf(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let mut arguments = job.argv.get(1..).unwrap_or_default();
        let mut target = None;
        loop {
            arguments = match arguments {
                [flag, name, rest @ ..] if flag.bytes() == Some(b"-v") => {
                    target = Some(name.clone());
                    rest
                }
                [flag, rest @ ..]
                    if flag.bytes().is_some_and(|flag| flag.starts_with(b"-v") && flag.len() > 2) =>
                {
                    target = flag.bytes().and_then(|flag| flag.get(2..)).map(Value::known);
                    rest
                }
                [flag, rest @ ..] if flag.bytes() == Some(b"--") => {
                    arguments = rest;
                    break;
                }
                // Without a name it is told to be wrong, and so is an option it does not know.
                [flag, ..] if flag.bytes().is_some_and(|flag| flag.starts_with(b"-") && flag.len() > 1) => {
                    return Some(2);
                }
                _ => break,
            };
        }
        let text = match arguments {
            [] => return Some(2),
            [format, values @ ..] if job.more.is_none() => formatted(format, values, job.span),
            _ => Value::unknown(unknown_text("printf", job.span)),
        };
        let status = arguments.first().and_then(Value::bytes).filter(|format| is_plain(format)).map(|_| 0);
        match target {
            Some(name) => {
                self.flows.clone_from(&job.flows);
                let taken = self.set_named(&name, unnamed(text), job.span, state);
                self.flows.clear();
                if !taken {
                    return Some(FAILED);
                }
            }
            None => {
                self.write(
                    state,
                    1,
                    Stream { text: Some(text), data: job.flows.clone() },
                    "printf",
                    job.span,
                );
            }
        }
        status
    }
}

fn unknown_text(by: &str, span: Span) -> Why {
    Why { construct: format!("the output of {by}"), span }
}

/// Whether a format takes whatever it is given: of others bash may say that it is wrong, or that a number is none.
fn is_plain(format: &[u8]) -> bool {
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        if *byte == b'%' && !bytes.next().is_some_and(|letter| b"%sbqc".contains(letter)) {
            return false;
        }
    }
    true
}

/// A format with its arguments, used again until none is left.
fn formatted(format: &Value, values: &[Value], span: Span) -> Value {
    let Some(format) = format.bytes() else {
        // The format itself is not known, or only in part: it may be anything, but what is known of it is still there.
        let mut whole = format.clone();
        whole.push(Piece::Unknown(unknown_text("printf", span)));
        return whole;
    };
    let mut out = Value::default();
    let mut rest = values;
    for _ in 0..512 {
        let before = rest.len();
        if !once(format, &mut rest, &mut out, span) || rest.is_empty() || rest.len() == before {
            return out;
        }
    }
    Value::unknown(unknown_text("printf", span))
}

/// One pass over a format; says whether to go on.
fn once(format: &[u8], values: &mut &[Value], out: &mut Value, span: Span) -> bool {
    let mut rest = format;
    while let Some(place) = rest.iter().position(|byte| *byte == b'%') {
        let (before, from) = rest.split_at(place);
        let (text, stop) = unescaped(before, Escapes::Format);
        out.push(Piece::Known(text));
        if stop {
            return false;
        }
        let from = from.get(1..).unwrap_or_default();
        if from.first() == Some(&b'%') {
            out.push(Piece::Known(b"%".to_vec()));
            rest = from.get(1..).unwrap_or_default();
            continue;
        }
        let flags = from
            .iter()
            .position(|byte| !matches!(byte, b'-' | b'+' | b' ' | b'0'..=b'9' | b'.' | b'#' | b'\''))
            .unwrap_or(from.len());
        let (spec, after) = from.split_at(flags);
        let Some((letter, after)) = after.split_first() else { return false };
        let starred =
            *letter == b'*' || *letter == b'(' || matches!(letter, b'l' | b'h' | b'q' | b'j' | b'z' | b'L');
        if starred && *letter != b'q' {
            out.push(Piece::Unknown(unknown_text("printf", span)));
            return false;
        }
        let value = values.split_first().map(|(first, others)| {
            *values = others;
            first.clone()
        });
        if !conversion(*letter, spec, &value.unwrap_or_default(), out, span) {
            return false;
        }
        rest = after;
    }
    let (text, stop) = unescaped(rest, Escapes::Format);
    out.push(Piece::Known(text));
    !stop
}

fn conversion(letter: u8, spec: &[u8], value: &Value, out: &mut Value, span: Span) -> bool {
    let known = match (letter, value.bytes()) {
        (b's', None) if spec.is_empty() => {
            out.append(value.clone());
            return true;
        }
        (_, None) => {
            let numeric = matches!(letter, b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'e' | b'f' | b'g');
            let construct = if numeric {
                "a number that is printed".to_owned()
            } else {
                "what printf makes of its arguments".to_owned()
            };
            out.push(Piece::Unknown(Why { construct, span }));
            return true;
        }
        (_, Some(bytes)) => bytes,
    };
    let text = match letter {
        b's' => known.to_vec(),
        b'b' => {
            let (text, stop) = unescaped(known, Escapes::Echo);
            if stop {
                out.push(Piece::Known(text));
                return false;
            }
            text
        }
        b'c' => known.iter().take(1).copied().collect(),
        b'q' if !known.is_ascii() => {
            out.push(Piece::Unknown(unknown_text("printf", span)));
            return true;
        }
        b'q' => backslashed(known),
        b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => match integer(known) {
            Some(number) => match letter {
                b'x' => format!("{number:x}"),
                b'X' => format!("{number:X}"),
                b'o' => format!("{number:o}"),
                _ => number.to_string(),
            }
            .into_bytes(),
            None => b"0".to_vec(),
        },
        _ => {
            out.push(Piece::Unknown(Why { construct: "a number that is printed".to_owned(), span }));
            return true;
        }
    };
    match padded(text, spec, matches!(letter, b's' | b'b')) {
        Some(text) => out.push(Piece::Known(text)),
        None => out.push(Piece::Unknown(unknown_text("printf", span))),
    }
    true
}

/// Width, precision and `-`.
fn padded(mut text: Vec<u8>, spec: &[u8], is_text: bool) -> Option<Vec<u8>> {
    let spec = std::str::from_utf8(spec).ok()?;
    let left = spec.contains('-');
    let rest = spec.trim_start_matches(['-', '+', ' ', '#', '\'']);
    if spec.contains(['+', ' ', '#']) {
        return None;
    }
    let zero = rest.starts_with('0') && !is_text && !left;
    let (width, precision) = match rest.split_once('.') {
        Some((width, precision)) => (width, Some(precision)),
        None => (rest, None),
    };
    if let Some(precision) = precision {
        let precision: usize = if precision.is_empty() { 0 } else { precision.parse().ok()? };
        if is_text {
            text.truncate(precision);
        } else {
            while text.len() < precision.min(1024) {
                text.insert(0, b'0');
            }
        }
    }
    let width: usize = if width.is_empty() { 0 } else { width.parse().ok()? };
    if width > 4096 {
        return None;
    }
    while text.len() < width {
        match (left, zero) {
            (true, _) => text.push(b' '),
            (false, true) => text.insert(usize::from(text.first() == Some(&b'-')), b'0'),
            (false, false) => text.insert(0, b' '),
        }
    }
    Some(text)
}

/// A number as `printf` reads one: `0x41`, `065`, `'A`.
fn integer(text: &[u8]) -> Option<i64> {
    if let [b'\'' | b'"', letter, ..] = text {
        return letter.is_ascii().then(|| i64::from(*letter));
    }
    let text = std::str::from_utf8(text).ok()?.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        i64::from_str_radix(hex, 16).ok()?
    } else if digits.len() > 1 && digits.starts_with('0') {
        i64::from_str_radix(digits, 8).ok()?
    } else {
        digits.parse().ok()?
    };
    Some(if negative { -value } else { value })
}

/// Text with its escapes read, and whether `\c` ended it.
pub(in super::super) fn unescaped(text: &[u8], escapes: Escapes) -> (Vec<u8>, bool) {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let Some((letter, after)) = rest.split_first() else {
            out.push(b'\\');
            break;
        };
        rest = after;
        match letter {
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'e' | b'E' => out.push(27),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'\\' => out.push(b'\\'),
            b'"' if escapes != Escapes::Echo => out.push(b'"'),
            b'\'' | b'?' if escapes != Escapes::Echo => out.push(*letter),
            b'c' if escapes == Escapes::Echo => return (out, true),
            b'x' => {
                let (value, after) = digits(rest, 16, 2);
                rest = after;
                match value {
                    Some(value) => out.push(u8::try_from(value & 0xff).unwrap_or_default()),
                    None => out.extend(b"\\x"),
                }
            }
            b'u' | b'U' => {
                let (value, after) = digits(rest, 16, if *letter == b'u' { 4 } else { 8 });
                rest = after;
                match value.and_then(char::from_u32) {
                    Some(character) => out.extend(character.to_string().bytes()),
                    None => out.extend([b'\\', *letter]),
                }
            }
            b'0' if escapes == Escapes::Echo => {
                let (value, after) = digits(rest, 8, 3);
                rest = after;
                out.push(u8::try_from(value.unwrap_or(0) & 0xff).unwrap_or_default());
            }
            b'0'..=b'7' => {
                let mut with = vec![*letter];
                with.extend(rest);
                let (value, _) = digits(&with, 8, 3);
                let taken = with.iter().take(3).take_while(|digit| matches!(digit, b'0'..=b'7')).count();
                rest = rest.get(taken - 1..).unwrap_or_default();
                out.push(u8::try_from(value.unwrap_or(0) & 0xff).unwrap_or_default());
            }
            other => out.extend([b'\\', *other]),
        }
    }
    (out, false)
}

/// As `%q` writes it: only what a shell would not take as it is gets a backslash; what cannot be seen is written by number.
fn backslashed(bytes: &[u8]) -> Vec<u8> {
    if bytes.is_empty() {
        return b"''".to_vec();
    }
    if bytes.iter().any(u8::is_ascii_control) {
        return quoted(bytes);
    }
    let mut text = Vec::with_capacity(bytes.len());
    for (place, byte) in bytes.iter().enumerate() {
        if b" '\"\\|&;()<>!{}*[]?^$`,".contains(byte) || place == 0 && matches!(byte, b'#' | b'~') {
            text.push(b'\\');
        }
        text.push(*byte);
    }
    text
}

fn digits(text: &[u8], base: u32, most: usize) -> (Option<u32>, &[u8]) {
    let count = text.iter().take(most).take_while(|byte| char::from(**byte).is_digit(base)).count();
    let (digits, rest) = text.split_at(count);
    let value = digits
        .iter()
        .try_fold(0_u32, |sum, digit| Some(sum.wrapping_mul(base) + char::from(*digit).to_digit(base)?));
    (if count == 0 { None } else { value }, rest)
}
