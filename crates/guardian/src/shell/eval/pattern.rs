//! Patterns: `*`, `?`, `[…]` and the extended ones, matched against text that is known.
//!
//! Owns: matching. Refuses: endless work and letters of more than one byte; then the answer is that nobody knows.

use super::items::{Item, Origin};

/// Comparisons before it is too much.
const BUDGET: u32 = 50_000;
/// Bytes of text that are matched.
const LARGEST: usize = 8192;

/// A pattern, when all of it is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Pattern {
    tokens: Vec<Token>,
}

#[derive(Debug, Clone)]
enum Token {
    Byte(u8),
    Any,
    One,
    Class { negated: bool, members: Vec<Member> },
    Group(u8, Vec<Vec<Self>>),
}

#[derive(Debug, Clone, Copy)]
enum Member {
    Range(u8, u8),
    Kind(fn(&u8) -> bool),
}

impl Pattern {
    /// The pattern a word's items make; none when some of it is not known.
    pub(super) fn new(items: &[Item], extended: bool) -> Option<Self> {
        Some(Self { tokens: tokens_of(items, extended)? })
    }

    /// The text, when there is nothing but text.
    pub(super) fn literal(&self) -> Option<Vec<u8>> {
        self.tokens
            .iter()
            .map(|token| match token {
                Token::Byte(byte) => Some(*byte),
                Token::Any | Token::One | Token::Class { .. } | Token::Group(..) => None,
            })
            .collect()
    }

    /// Whether it is exactly `*/`, which takes all directories away.
    pub(super) fn is_directories(&self) -> bool {
        matches!(self.tokens.as_slice(), [Token::Any, Token::Byte(b'/')])
    }

    /// Whether `@(…)` or its kin is in it.
    pub(super) fn has_groups(&self) -> bool {
        self.tokens.iter().any(|token| matches!(token, Token::Group(..)))
    }

    /// Whether it matches everything.
    pub(super) fn is_all(&self) -> bool {
        matches!(self.tokens.as_slice(), [Token::Any])
    }

    /// Whether it matches a text; none when that is too much to say.
    pub(super) fn matches(&self, text: &[u8]) -> Option<bool> {
        if text.len() > LARGEST
            || (!text.is_ascii()
                && self.tokens.iter().any(|token| !matches!(token, Token::Byte(_) | Token::Any)))
        {
            return None;
        }
        let mut budget = BUDGET;
        matches(&self.tokens, text, &mut budget)
    }

    /// The same for letters of either case.
    pub(super) fn lowered(mut self) -> Self {
        lower(&mut self.tokens);
        self
    }

    /// The shortest or longest beginning that matches.
    pub(super) fn prefix(&self, text: &[u8], longest: bool) -> Option<Option<usize>> {
        let lengths: Vec<usize> =
            if longest { (0..=text.len()).rev().collect() } else { (0..=text.len()).collect() };
        self.first(lengths, |length| text.get(..length))
    }

    /// Where the shortest or longest end that matches begins.
    pub(super) fn suffix(&self, text: &[u8], longest: bool) -> Option<Option<usize>> {
        let starts: Vec<usize> =
            if longest { (0..=text.len()).collect() } else { (0..=text.len()).rev().collect() };
        self.first(starts, |start| text.get(start..))
    }

    fn first<'t>(
        &self,
        places: Vec<usize>,
        part: impl Fn(usize) -> Option<&'t [u8]>,
    ) -> Option<Option<usize>> {
        let mut budget = BUDGET;
        for place in places {
            let Some(text) = part(place) else { continue };
            if text.len() > LARGEST || !text.is_ascii() {
                return None;
            }
            if matches(&self.tokens, text, &mut budget)? {
                return Some(Some(place));
            }
        }
        Some(None)
    }
}

fn lower(tokens: &mut [Token]) {
    for token in tokens {
        match token {
            Token::Byte(byte) => *byte = byte.to_ascii_lowercase(),
            Token::Group(_, alternatives) => alternatives.iter_mut().for_each(|inner| lower(inner)),
            Token::Any | Token::One | Token::Class { .. } => {}
        }
    }
}

fn tokens_of(items: &[Item], extended: bool) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    // A bracket may be put together of several parts, so that they are read as one text.
    let mut text = Vec::new();
    for item in items {
        match item {
            Item::Text(bytes, Origin::Quoted) => text.extend(bytes.iter().flat_map(|byte| [b'\\', *byte])),
            Item::Text(bytes, Origin::Written | Origin::Expanded) | Item::Glob(bytes, Origin::Written) => {
                text.extend_from_slice(bytes);
            }
            Item::Glob(_, Origin::Quoted | Origin::Expanded) | Item::Unknown(..) | Item::Any(_) => {
                return None;
            }
            Item::Ext(operator, alternatives) => {
                active(&std::mem::take(&mut text), extended, &mut tokens)?;
                let inner: Option<Vec<_>> =
                    alternatives.iter().map(|items| tokens_of(items, extended)).collect();
                tokens.push(Token::Group(*operator, inner?));
            }
            Item::Break(between) => text.extend_from_slice(between),
        }
    }
    active(&text, extended, &mut tokens)?;
    Some(tokens)
}

/// Text in which every glob is one. Extended patterns out of variables are more than is read here.
fn active(text: &[u8], extended: bool, tokens: &mut Vec<Token>) -> Option<()> {
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        if extended && matches!(byte, b'@' | b'?' | b'*' | b'+' | b'!') && after.first() == Some(&b'(') {
            return None;
        }
        rest = after;
        match byte {
            b'*' => tokens.push(Token::Any),
            b'?' => tokens.push(Token::One),
            b'\\' => {
                let Some((next, after)) = rest.split_first() else {
                    tokens.push(Token::Byte(b'\\'));
                    break;
                };
                tokens.push(Token::Byte(*next));
                rest = after;
            }
            b'[' => {
                let whole = [b"[".as_slice(), rest].concat();
                match bracket_length(&whole) {
                    Some(length) => {
                        tokens.push(class(whole.get(1..length - 1).unwrap_or_default())?);
                        rest = rest.get(length - 1..).unwrap_or_default();
                    }
                    None => tokens.push(Token::Byte(b'[')),
                }
            }
            other => tokens.push(Token::Byte(*other)),
        }
    }
    Some(())
}

/// How long a bracket expression is, if it is one; what `[:alpha:]` and its kin hold does not end it.
pub(super) fn bracket_length(text: &[u8]) -> Option<usize> {
    let mut at = match text.get(1) {
        Some(b'!' | b'^') => 2,
        _ => 1,
    };
    let first = at;
    loop {
        match (text.get(at)?, text.get(at + 1)) {
            (b']', _) if at > first => return Some(at + 1),
            (b'\\', Some(_)) => at += 2,
            (b'[', Some(kind @ (b':' | b'.' | b'='))) => {
                let rest = text.get(at + 2..)?;
                match rest.windows(2).position(|pair| pair == [*kind, b']']) {
                    Some(length) => at += length + 4,
                    None => at += 1,
                }
            }
            _ => at += 1,
        }
    }
}

fn class(inner: &[u8]) -> Option<Token> {
    let (negated, mut rest) = match inner.split_first() {
        Some((b'!' | b'^', rest)) => (true, rest),
        _ => (false, inner),
    };
    let mut members = Vec::new();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'[' && matches!(rest.first(), Some(b':' | b'.' | b'=')) {
            let name = rest.strip_prefix(b":")?;
            let length = name.windows(2).position(|pair| pair == b":]")?;
            members.push(Member::Kind(kind(name.get(..length)?)?));
            rest = name.get(length + 2..)?;
            continue;
        }
        let first = if *first == b'\\' && !rest.is_empty() {
            let (escaped, after) = rest.split_first()?;
            rest = after;
            *escaped
        } else {
            *first
        };
        match rest {
            [b'-', b'\\', last, after @ ..] | [b'-', last, after @ ..] => {
                members.push(Member::Range(first, *last));
                rest = after;
            }
            _ => members.push(Member::Range(first, first)),
        }
    }
    Some(Token::Class { negated, members })
}

fn kind(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alpha" => u8::is_ascii_alphabetic,
        b"digit" => u8::is_ascii_digit,
        b"alnum" => u8::is_ascii_alphanumeric,
        b"upper" => u8::is_ascii_uppercase,
        b"lower" => u8::is_ascii_lowercase,
        b"punct" => u8::is_ascii_punctuation,
        b"xdigit" => u8::is_ascii_hexdigit,
        b"cntrl" => u8::is_ascii_control,
        b"space" => |byte| matches!(byte, b' ' | b'\t'..=b'\r'),
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"word" => |byte| byte.is_ascii_alphanumeric() || *byte == b'_',
        b"graph" => u8::is_ascii_graphic,
        b"print" => |byte| byte.is_ascii_graphic() || *byte == b' ',
        _ => return None,
    })
}

fn matches(tokens: &[Token], text: &[u8], budget: &mut u32) -> Option<bool> {
    *budget = budget.checked_sub(1)?;
    let Some((token, rest)) = tokens.split_first() else { return Some(text.is_empty()) };
    match token {
        Token::Byte(byte) => match text.split_first() {
            Some((first, after)) if first == byte => matches(rest, after, budget),
            _ => Some(false),
        },
        Token::One => match text.split_first() {
            Some((_, after)) => matches(rest, after, budget),
            None => Some(false),
        },
        Token::Class { negated, members } => match text.split_first() {
            Some((first, after)) if members.iter().any(|member| member.holds(*first)) != *negated => {
                matches(rest, after, budget)
            }
            _ => Some(false),
        },
        Token::Any => {
            if rest.is_empty() {
                return Some(true);
            }
            for start in 0..=text.len() {
                if matches(rest, text.get(start..)?, budget)? {
                    return Some(true);
                }
            }
            Some(false)
        }
        Token::Group(operator, alternatives) => group(*operator, alternatives, tokens, rest, text, budget),
    }
}

fn group(
    operator: u8,
    alternatives: &[Vec<Token>],
    all: &[Token],
    rest: &[Token],
    text: &[u8],
    budget: &mut u32,
) -> Option<bool> {
    if matches!(operator, b'?' | b'*') && matches(rest, text, budget)? {
        return Some(true);
    }
    for length in 0..=text.len() {
        let (head, tail) = text.split_at(length);
        let mut any = false;
        for alternative in alternatives {
            any |= matches(alternative, head, budget)?;
        }
        let fits = any != (operator == b'!');
        if !fits {
            continue;
        }
        if matches(rest, tail, budget)? {
            return Some(true);
        }
        if matches!(operator, b'*' | b'+') && length > 0 && matches(all, tail, budget)? {
            return Some(true);
        }
    }
    Some(false)
}

impl Member {
    fn holds(self, byte: u8) -> bool {
        match self {
            Self::Range(first, last) => (first..=last).contains(&byte),
            Self::Kind(kind) => kind(&byte),
        }
    }
}
