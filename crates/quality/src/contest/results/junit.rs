//! `JUnit`'s XML: `<testcase classname name>` with `<failure>`, `<error>` or `<skipped>` inside.
//!
//! Not a reader of XML: tags and attributes of one shape, one pass, no entities but the five and numbers, no includes.

use super::{Format, Outcome, Results, Tally};

pub(super) fn read(text: &str) -> Option<Results> {
    let head = text.trim_start_matches('\u{feff}').trim_start();
    if !head.starts_with('<') || !(text.contains("<testsuite") || text.contains("<testsuites")) {
        return None;
    }
    let mut tally = Tally::default();
    let mut open: Option<(String, Outcome)> = None;
    for tag in (Tags { rest: text }) {
        match tag.name {
            "testcase" => {
                settle(&mut tally, open.take());
                open = Some((identity(&tag), Outcome::Passed)).filter(|_| !tag.is_closed);
                if tag.is_closed {
                    tally.add(&identity(&tag), Outcome::Passed);
                }
            }
            "/testcase" => settle(&mut tally, open.take()),
            "failure" | "error" => worsen(&mut open, Outcome::Failed),
            "skipped" => worsen(&mut open, Outcome::Skipped),
            _ => {}
        }
    }
    settle(&mut tally, open);
    Some(tally.finish(Format::Junit))
}

fn settle(tally: &mut Tally, open: Option<(String, Outcome)>) {
    if let Some((id, outcome)) = open {
        tally.add(&id, outcome);
    }
}

fn worsen(open: &mut Option<(String, Outcome)>, outcome: Outcome) {
    if let Some((_, known)) = open {
        *known = outcome.max(*known);
    }
}

fn identity(tag: &Tag<'_>) -> String {
    let name = tag.attribute("name").unwrap_or_default();
    match tag.attribute("classname").filter(|class| !class.is_empty()) {
        Some(class) => format!("{class}::{name}"),
        None => name,
    }
}

struct Tag<'s> {
    name: &'s str,
    attributes: &'s str,
    is_closed: bool,
}

impl Tag<'_> {
    fn attribute(&self, wanted: &str) -> Option<String> {
        let mut rest = self.attributes;
        loop {
            let (name, after) = rest.split_once('=')?;
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let (value, next) = after.get(1..)?.split_once(quote)?;
            if name.trim() == wanted {
                return Some(unescaped(value));
            }
            rest = next;
        }
    }
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain.push_str(before);
        let Some((entity, next)) = after.split_once(';').filter(|(entity, _)| entity.len() <= 8) else {
            plain.push('&');
            rest = after;
            continue;
        };
        let number = entity.strip_prefix("#x").map(|hex| u32::from_str_radix(hex, 16));
        let number = number.or_else(|| entity.strip_prefix('#').map(str::parse));
        match (entity, number) {
            ("lt", _) => plain.push('<'),
            ("gt", _) => plain.push('>'),
            ("amp", _) => plain.push('&'),
            ("quot", _) => plain.push('"'),
            ("apos", _) => plain.push('\''),
            (_, Some(Ok(code))) => plain.push(char::from_u32(code).unwrap_or('\u{fffd}')),
            _ => plain.push('\u{fffd}'),
        }
        rest = next;
    }
    plain.push_str(rest);
    plain
}

/// The tags of a text; what is between them, comments and `CDATA` are passed over.
struct Tags<'s> {
    rest: &'s str,
}

impl<'s> Iterator for Tags<'s> {
    type Item = Tag<'s>;

    fn next(&mut self) -> Option<Tag<'s>> {
        loop {
            let at = self.rest.find('<')?;
            let inside = self.rest.get(at + 1..)?;
            let passed_over = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>"), ("!", ">")];
            if let Some((_, end)) = passed_over.into_iter().find(|(start, _)| inside.starts_with(start)) {
                self.rest = inside.split_once(end).map_or("", |(_, rest)| rest);
                continue;
            }
            let end = end_of_tag(inside)?;
            let (tag, rest) = inside.split_at(end);
            self.rest = rest.get(1..).unwrap_or_default();
            let is_closed = tag.ends_with('/');
            let tag = tag.trim_end_matches('/');
            let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
            return Some(Tag { name, attributes, is_closed });
        }
    }
}

/// Where a tag ends: at the first `>` outside of quotes.
fn end_of_tag(inside: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in inside.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}
