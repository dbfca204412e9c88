//! Values next to telling names: `NAME=value`, `name: value`, `"name": "value"`, `--name value`, `<name>`.
//!
//! Owns: reading the name around an anchor, the sign between, and how far the value reaches in env files, shell,
//! JSON (also escaped within a string), YAML (also blocks), INI, XML and command lines.

use super::{
    bytes::{colours, from, is_blank, is_colour_end, is_token, is_word, run, run_back, run_within},
    marker,
    names::{self, Tells},
    scan::Found,
    value::{self, JUDGED},
};

/// No name is longer than this on either side of its anchor.
const NAME_LIMIT: usize = 64;

/// What stands between a name and its value, which decides how much the value must look like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// `=` without blanks, `--name value`, XML: nothing but a value can follow.
    Tight,
    /// `: ` or ` = `: prose and code look like this too.
    Loose,
    /// Only blanks: the value must be random.
    Near,
}

/// How the value is written.
#[derive(Debug, Clone, Copy)]
enum Form {
    Quoted {
        quote: u8,
        is_escaped: bool,
    },
    Bare,
    /// The indented lines below a YAML `|` or `>`.
    Block,
}

/// A name that tells, and where its value begins.
struct Named<'t> {
    name_start: usize,
    name: &'t [u8],
    tells: Tells,
    sign: Sign,
    form: Form,
    at: usize,
}

/// The name around an anchor, the sign after it and the form of its value.
fn named(text: &[u8], start: usize, end: usize) -> Option<Named<'_>> {
    let is_name = |byte: u8| is_word(byte) || byte == b'-' || byte == b'.';
    // An anchor may end with the sign that gave it away.
    let end = end - run_back(text.get(start..end)?, 1, |byte| byte == b'=');
    let before = run_back(text.get(..start)?, NAME_LIMIT, is_name);
    // The end of a change of colour is no part of a name.
    let coloured = (start - before..start).find(|at| is_colour_end(text, at + 1)).map(|at| at + 1);
    let name_start = coloured.unwrap_or(start - before);
    let name_end = end + run(from(text, end).get(..NAME_LIMIT).unwrap_or(from(text, end)), is_name);
    let name = text.get(name_start..name_end)?;
    let tells = names::tells(name)?;
    let (sign, at) = sign(text, name_start, name_end)?;
    let (form, at) = form(text, at, sign)?;
    Some(Named { name_start, name, tells, sign, form, at })
}

/// Where the value beside the name around this anchor begins, if it reaches the end of the text. A block says by itself
/// that more may come.
pub(super) fn growing(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let Named { sign, form, at, .. } = named(text, start, end)?;
    let rest = from(text, at);
    let length = extent(rest, form);
    let could_end = |byte: &u8| matches!(form, Form::Bare) && b")]}.,\\".contains(byte);
    let is_plain = |byte: &u8| is_token(*byte) || sign != Sign::Near || !matches!(form, Form::Bare);
    let grows =
        !matches!(form, Form::Block) && from(rest, length).iter().all(could_end) && rest.iter().all(is_plain);
    grows.then_some(at)
}

/// The value that belongs to the name around this anchor, if it is a secret.
pub(super) fn at(text: &[u8], start: usize, end: usize) -> Option<Found> {
    let Named { name_start, name, tells, sign, form, at } = named(text, start, end)?;
    let judged = from(text, at);
    let judged = judged.get(..JUDGED).unwrap_or(judged);
    let judged = judged.get(..extent(judged, form)).unwrap_or_default();
    let is_path = judged.starts_with(b"/") && name.to_ascii_lowercase().ends_with(b"pwd");
    let is_unended = |length: usize| from(text, at + length).trim_ascii().is_empty();
    let found = |end, is_open| Found { kind: tells.kind(), context: name_start, start: at, end, is_open };
    if is_path || !is_secret(judged, tells, sign, form) {
        // The lines of a block may yet come; until then nothing is replaced, but the name must not be let go.
        let is_awaited = matches!(form, Form::Block) && judged.len() < JUDGED && is_unended(judged.len());
        return is_awaited.then(|| found(at, true));
    }
    let length = extent(from(text, at), form);
    Some(found(at + length, matches!(form, Form::Block) && is_unended(length)))
}

/// The sign after a name and where it ends.
fn sign(text: &[u8], name_start: usize, name_end: usize) -> Option<(Sign, usize)> {
    let name_end = name_end + colours(text, name_end);
    let quotes = run_within(from(text, name_end), 5, |byte| b"\\\"'`]".contains(&byte));
    let after = name_end + quotes + colours(text, name_end + quotes);
    let blanks = run_within(from(text, after), NAME_LIMIT, is_blank);
    let at = after + blanks + colours(text, after + blanks);
    let rest = from(text, at);
    let is_flag = text.get(name_start..name_end)?.starts_with(b"--");
    let width = if rest.starts_with(b":=") || rest.starts_with(b"=>") { 2 } else { 1 };
    match rest.first()? {
        b'=' if rest.starts_with(b"==") => None,
        b'=' if blanks == 0 && width == 1 && !rest.get(1).is_some_and(|byte| is_blank(*byte)) => {
            Some((Sign::Tight, at + 1))
        }
        b':' if rest.starts_with(b"::") => None,
        b'=' | b':' => Some((Sign::Loose, at + width)),
        b'>' if blanks == 0 && name_start.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'<') => {
            Some((Sign::Tight, at + 1))
        }
        _ if blanks > 0 && is_flag && rest.first() != Some(&b'-') => Some((Sign::Tight, at)),
        _ if blanks > 0 && quotes == 0 => Some((Sign::Near, at)),
        _ => None,
    }
}

/// How the value after a sign is written and where it begins.
fn form(text: &[u8], at: usize, sign: Sign) -> Option<(Form, usize)> {
    let at = at + colours(text, at);
    let at = at + run_within(from(text, at), NAME_LIMIT, is_blank);
    let at = at + colours(text, at);
    let rest = from(text, at);
    let escapes = run_within(rest, 7, |byte| byte == b'\\');
    match rest.get(escapes) {
        Some(quote @ (b'"' | b'\'' | b'`')) => {
            Some((Form::Quoted { quote: *quote, is_escaped: escapes > 0 }, at + escapes + 1))
        }
        Some(b'|' | b'>') if sign == Sign::Loose && escapes == 0 => {
            let header = run(rest, |byte| byte.is_ascii_digit() || b"|>+-".contains(&byte));
            let breaks = run(from(rest, header), |byte| byte == b'\r' || byte == b'\n');
            let begins = at + header + breaks + run_within(from(rest, header + breaks), NAME_LIMIT, is_blank);
            let is_cut = begins == text.len();
            (breaks > 0 && (is_cut || begins > at + header + breaks)).then_some((Form::Block, begins))
        }
        Some(_) if escapes == 0 => Some((Form::Bare, at)),
        _ => None,
    }
}

/// How many bytes the value has.
fn extent(text: &[u8], form: Form) -> usize {
    match form {
        Form::Quoted { quote, is_escaped } => quoted(text, quote, is_escaped),
        Form::Bare => bare(text),
        Form::Block => block(text),
    }
}

fn quoted(text: &[u8], quote: u8, is_escaped: bool) -> usize {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match *byte {
            b'\n' | b'\r' => break,
            b'\\' if is_escaped && text.get(at + 1) == Some(&quote) => break,
            b'\\' => at += 1,
            byte if byte == quote => break,
            _ => {}
        }
        at += 1;
    }
    at.min(text.len())
}

fn bare(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let next = text.get(at + 1);
        let ends = match *byte {
            byte if byte.is_ascii_whitespace() || byte.is_ascii_control() => true,
            b'"' | b'\'' | b'`' | b';' | b'&' | b'<' | b'>' | b'|' => true,
            b',' => next.is_none_or(u8::is_ascii_whitespace),
            b'\\' => next.is_some_and(|next| b"nrt\"'\\".contains(next)),
            _ => false,
        };
        if ends {
            break;
        }
        at += 1;
    }
    let value = text.get(..at).unwrap_or_default();
    // What an earlier redaction left ends with a bracket that is its own.
    match marker::length_at(value, 0) {
        0 => at - run_back(value, 4, |byte| b")]}.,".contains(&byte)),
        marker => marker,
    }
}

/// Lines as deep as the first, which begins here.
fn block(text: &[u8]) -> usize {
    let mut length = 0;
    for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if number > 0 && !line.first().is_some_and(u8::is_ascii_whitespace) {
            break;
        }
        length += line.len();
    }
    text.get(..length).unwrap_or_default().trim_ascii_end().len()
}

fn is_secret(judged: &[u8], tells: Tells, sign: Sign, form: Form) -> bool {
    let is_bare = matches!(form, Form::Bare);
    if value::is_placeholder(judged) || value::is_reference(judged) || (is_bare && value::is_code(judged)) {
        return false;
    }
    let is_number = judged.iter().all(u8::is_ascii_digit);
    // `password=db_password` hands a variable on.
    let is_variable = is_bare
        && judged.iter().all(|byte| byte.is_ascii_alphabetic() || b"_.".contains(byte))
        && names::tells(judged).is_some();
    if is_variable {
        return false;
    }
    match (tells, sign) {
        (Tells::Maybe, Sign::Near) => false,
        (Tells::Maybe, _) => value::is_dense(judged, 20),
        // SQL and routers: `PASSWORD 'x'`.
        (Tells::Password, Sign::Near) if !is_bare => judged.len() >= 6 && !value::is_words(judged),
        (_, Sign::Near) => {
            !is_number && judged.iter().all(|byte| is_token(*byte)) && value::is_random(judged, 12)
        }
        (Tells::Token, _) => {
            judged.len() >= 8 && !is_number && (!value::is_words(judged) || judged.len() >= 32)
        }
        (Tells::Password, _) if !is_bare => judged.len() >= 3,
        (Tells::Password, Sign::Tight) => judged.len() >= 3,
        (Tells::Password, Sign::Loose) => judged.len() >= 6 && !value::is_words(judged),
    }
}
