//! Quoted text in code: what it says, and what is put into it.
//!
//! Owns: prefixes, quotes by a word, patterns and here-documents. Refuses: evaluating what is put in; that stays code.

use super::grammar::{Inside, Operators};
use super::inside::{braces, parts, raw_parts};
use super::lexer::{Lexer, Token, find};
use crate::shell::value::Why;

/// A piece of quoted text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    Known(Vec<u8>),
    /// Code whose value is put in.
    Code(Vec<u8>),
    /// What the shell put in.
    Hole(Why),
}

/// Reads a literal, if one begins here.
pub(super) fn literal(lexer: &mut Lexer<'_>) -> bool {
    if lexer.grammar.prefixed && prefixed(lexer) {
        return true;
    }
    if lexer.grammar.documents && document(lexer) {
        return true;
    }
    let operators = lexer.grammar.operators;
    let quoted = match operators {
        Operators::Words => by_word(lexer),
        Operators::Percent => by_percent(lexer),
        Operators::None => false,
    };
    if quoted {
        return true;
    }
    let quote = lexer.peek(0);
    if let Some((_, inside)) = lexer.grammar.quotes.iter().find(|(other, _)| *other == quote) {
        // A lone quote of a transposition or a label is no text: `A'`.
        let (inside, tripled) = (*inside, lexer.grammar.tripled && lexer.rest().starts_with(&[quote; 3]));
        let end: &[u8] = if tripled { &[quote; 3] } else { &[quote] };
        lexer.at += end.len();
        let body = until(lexer, end);
        let parts = parts(lexer, &body, inside);
        let command = quote == b'`' && lexer.grammar.backquotes;
        lexer.tokens.push(if command { Token::Command(parts) } else { Token::Text(parts) });
        return true;
    }
    // `[[…]]` of Lua.
    if lexer.grammar.joins == ".." && lexer.rest().starts_with(b"[[") {
        lexer.at += 2;
        let body = until_plain(lexer, b"]]");
        let parts = parts(lexer, &body, Inside::Nothing);
        lexer.tokens.push(Token::Text(parts));
        return true;
    }
    if quote == b'/' && lexer.grammar.patterns && !after_value(lexer) {
        return pattern(lexer);
    }
    // Symbols of Ruby and Elixir are names as text.
    let is_symbol = lexer.grammar.members.contains(&"&.")
        && quote == b':'
        && lexer.peek(1) != b':'
        && (lexer.peek(1).is_ascii_alphabetic() || lexer.peek(1) == b'_')
        && !lexer.text.get(..lexer.at).is_some_and(|before| before.ends_with(b":"));
    if is_symbol {
        lexer.at += 1;
        let length = (0..).take_while(|ahead| lexer.is_letter(lexer.peek(*ahead))).count();
        let name = lexer.rest().get(..length).unwrap_or_default().to_vec();
        lexer.at += length;
        lexer.tokens.push(Token::Text(vec![Part::Known(name)]));
        return true;
    }
    false
}

/// Whether what stands before is a value, so that `/` divides.
fn after_value(lexer: &Lexer<'_>) -> bool {
    match lexer.tokens.last() {
        Some(Token::Word(word)) => !matches!(
            word.as_str(),
            "return"
                | "if"
                | "unless"
                | "and"
                | "or"
                | "not"
                | "when"
                | "split"
                | "grep"
                | "in"
                | "typeof"
                | "case"
                | "while"
                | "print"
                | "puts"
                | "elsif"
                | "until"
        ),
        Some(Token::Number(_) | Token::Text(_) | Token::Close(b')' | b']') | Token::Hole(_)) => true,
        _ => false,
    }
}

/// `r'…'`, `b"…"`, `f'''…'''`.
fn prefixed(lexer: &mut Lexer<'_>) -> bool {
    let length = lexer.rest().iter().take_while(|byte| b"rRbBfFuU".contains(byte)).count();
    let quote = lexer.peek(length);
    if length > 2 || !matches!(quote, b'\'' | b'"') {
        return false;
    }
    let letters = lexer.rest().get(..length).unwrap_or_default().to_ascii_lowercase();
    let tripled = lexer.rest().get(length..).unwrap_or_default().starts_with(&[quote; 3]);
    let end: &[u8] = if tripled { &[quote; 3] } else { &[quote] };
    lexer.at += length + end.len();
    let body = until(lexer, end);
    let raw = letters.contains(&b'r');
    let formatted = if letters.contains(&b'f') {
        braces(lexer, &body, raw)
    } else if raw {
        raw_parts(lexer, &body)
    } else {
        parts(lexer, &body, Inside::Escapes)
    };
    lexer.tokens.push(Token::Text(formatted));
    true
}

/// The text up to its end, a backslash keeping what follows it.
fn until(lexer: &mut Lexer<'_>, end: &[u8]) -> Vec<u8> {
    let begin = lexer.at;
    while lexer.at < lexer.text.len() && !lexer.rest().starts_with(end) {
        lexer.at += if lexer.peek(0) == b'\\' { 2 } else { 1 };
    }
    lexer.at = lexer.at.min(lexer.text.len());
    let body = lexer.text.get(begin..lexer.at).unwrap_or_default().to_vec();
    lexer.at = (lexer.at + end.len()).min(lexer.text.len());
    body
}

fn until_plain(lexer: &mut Lexer<'_>, end: &[u8]) -> Vec<u8> {
    let length = find(lexer.rest(), end).unwrap_or(lexer.rest().len());
    let body = lexer.rest().get(..length).unwrap_or_default().to_vec();
    lexer.at = (lexer.at + length + end.len()).min(lexer.text.len());
    body
}

/// What is between a sign and its counterpart.
fn delimited(lexer: &mut Lexer<'_>) -> Vec<u8> {
    let open = lexer.peek(0);
    let close = match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        other => other,
    };
    lexer.at += 1;
    let (begin, mut depth) = (lexer.at, 0usize);
    while lexer.at < lexer.text.len() {
        let byte = lexer.peek(0);
        if byte == b'\\' {
            lexer.at += 1;
        } else if byte == close && depth == 0 {
            break;
        } else if byte == close {
            depth -= 1;
        } else if byte == open {
            depth += 1;
        }
        lexer.at += 1;
    }
    lexer.at = lexer.at.min(lexer.text.len());
    let body = lexer.text.get(begin..lexer.at).unwrap_or_default().to_vec();
    lexer.at = (lexer.at + 1).min(lexer.text.len());
    body
}

fn pattern(lexer: &mut Lexer<'_>) -> bool {
    // A pattern ends on its line.
    let line = lexer.rest().iter().position(|byte| *byte == b'\n').unwrap_or(lexer.rest().len());
    let mut end = 1;
    let mut bracket = false;
    while end < line {
        match lexer.peek(end) {
            b'\\' => end += 1,
            b'[' => bracket = true,
            b']' => bracket = false,
            b'/' if !bracket => break,
            _ => {}
        }
        end += 1;
    }
    if end >= line {
        return false;
    }
    lexer.at += end + 1;
    while lexer.peek(0).is_ascii_alphabetic() {
        lexer.at += 1;
    }
    lexer.tokens.push(Token::Text(Vec::new()));
    true
}

fn by_word(lexer: &mut Lexer<'_>) -> bool {
    if matches!(lexer.tokens.last(), Some(Token::Sign(sign)) if sign == "->" || sign == "::") {
        return false;
    }
    let length =
        lexer.rest().iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let word = String::from_utf8_lossy(lexer.rest().get(..length).unwrap_or_default()).into_owned();
    if !matches!(word.as_str(), "q" | "qq" | "qw" | "qx" | "qr" | "m" | "s" | "tr" | "y") {
        return false;
    }
    let blanks = lexer.rest().iter().skip(length).take_while(|byte| byte.is_ascii_whitespace()).count();
    let open = lexer.peek(length + blanks);
    if open == 0
        || open.is_ascii_alphanumeric()
        || matches!(open, b'_' | b',' | b';' | b')' | b'=' | b'.')
        || (blanks > 0 && matches!(open, b'#' | b'-' | b'+' | b'<' | b'>' | b'*'))
    {
        return false;
    }
    lexer.at += length + blanks;
    let body = delimited(lexer);
    match word.as_str() {
        "q" => {
            let parts = parts(lexer, &body, Inside::Nothing);
            lexer.tokens.push(Token::Text(parts));
        }
        "qw" => lexer.tokens.push(Token::Words(split(&body))),
        "qx" | "qq" => {
            let parts = parts(lexer, &body, Inside::Variables);
            lexer.tokens.push(if word == "qx" { Token::Command(parts) } else { Token::Text(parts) });
        }
        "s" | "tr" | "y" => {
            let paired = matches!(open, b'(' | b'[' | b'{' | b'<');
            if paired {
                lexer.at += lexer.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            } else {
                lexer.at -= 1;
            }
            let with = delimited(lexer);
            let flags = flags(lexer);
            if word == "s" && flags.contains(&b'e') {
                lexer.tokens.push(Token::Code(with));
            } else {
                lexer.tokens.push(Token::Text(Vec::new()));
            }
        }
        _ => {
            flags(lexer);
            // `(?{ … })` in a pattern is code.
            let code = find(&body, b"(?{").map(|at| body.get(at + 3..).unwrap_or_default().to_vec());
            lexer.tokens.push(code.map_or(Token::Text(Vec::new()), Token::Code));
        }
    }
    true
}

fn flags(lexer: &mut Lexer<'_>) -> Vec<u8> {
    let length = lexer.rest().iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let flags = lexer.rest().get(..length).unwrap_or_default().to_vec();
    lexer.at += length;
    flags
}

fn by_percent(lexer: &mut Lexer<'_>) -> bool {
    if lexer.peek(0) != b'%' || after_value(lexer) && lexer.peek(1) == b' ' {
        return false;
    }
    let (kind, open) = if lexer.peek(1).is_ascii_alphabetic() {
        (lexer.peek(1), lexer.peek(2))
    } else {
        (b'Q', lexer.peek(1))
    };
    let plain = !lexer.peek(1).is_ascii_alphabetic();
    if !b"qQwWiIxrs".contains(&kind)
        || !(matches!(open, b'(' | b'[' | b'{' | b'<' | b'|' | b'!' | b'/') && (!plain || open != b'<'))
        || plain && after_value(lexer)
    {
        return false;
    }
    lexer.at += if plain { 1 } else { 2 };
    let body = delimited(lexer);
    let token = match kind {
        b'w' | b'W' | b'i' | b'I' => Token::Words(split(&body)),
        b'x' => Token::Command(parts(lexer, &body, Inside::Hash)),
        b'q' | b's' => Token::Text(parts(lexer, &body, Inside::Nothing)),
        b'r' => {
            flags(lexer);
            Token::Text(Vec::new())
        }
        _ => Token::Text(parts(lexer, &body, Inside::Hash)),
    };
    lexer.tokens.push(token);
    true
}

fn split(body: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(body).split_whitespace().map(str::to_owned).collect()
}

/// `<<EOF`, `<<~'EOF'`, `<<<EOT`.
fn document(lexer: &mut Lexer<'_>) -> bool {
    if !lexer.rest().starts_with(b"<<") {
        return false;
    }
    let mut at = 2;
    while matches!(lexer.peek(at), b'<' | b'~' | b'-') {
        at += 1;
    }
    let quote = lexer.peek(at);
    let quoted = matches!(quote, b'"' | b'\'' | b'`');
    at += usize::from(quoted);
    let name: Vec<u8> = lexer
        .rest()
        .get(at..)
        .unwrap_or_default()
        .iter()
        .copied()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        .collect();
    if name.is_empty() || !(quoted || name.first().is_some_and(u8::is_ascii_uppercase)) {
        return false;
    }
    at += name.len() + usize::from(quoted);
    lexer.at += at;
    let inside = match (quote, lexer.grammar.operators) {
        (b'\'', _) => Inside::Nothing,
        (_, Operators::Percent) => Inside::Hash,
        _ => Inside::Variables,
    };
    lexer.documents.push((lexer.tokens.len(), name, inside));
    lexer.tokens.push(if quote == b'`' { Token::Command(Vec::new()) } else { Token::Text(Vec::new()) });
    true
}

/// The bodies of the here-documents of the line that has ended.
pub(super) fn bodies(lexer: &mut Lexer<'_>) {
    for (place, name, inside) in std::mem::take(&mut lexer.documents) {
        let mut body = Vec::new();
        while lexer.at < lexer.text.len() {
            let length =
                lexer.rest().iter().position(|byte| *byte == b'\n').map_or(lexer.rest().len(), |at| at + 1);
            let line = lexer.rest().get(..length).unwrap_or_default();
            let is_end = line.trim_ascii().strip_suffix(b";").unwrap_or(line.trim_ascii()) == name;
            if !is_end {
                body.extend_from_slice(line);
            }
            lexer.at += length;
            if is_end {
                break;
            }
        }
        let found = parts(lexer, &body, inside);
        if let Some(Token::Text(parts) | Token::Command(parts)) = lexer.tokens.get_mut(place) {
            *parts = found;
        }
    }
}
