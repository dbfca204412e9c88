//! A settings file with something changed in it, and every other byte as it was: order, layout and comments.
//!
//! Owns: which bytes change so that one document says what another does. What is added stands on lines of its own, indented
//! as what is beside it; what is removed takes its comma along.

use std::ops::Range;

use anyhow::{Result, ensure};

use super::{
    document::{Node, indentation, printed},
    scan::{Piece, Shape, comma_after},
};

/// A text that says `is`, made of one that says something else.
pub(super) fn spliced(text: &str, piece: &Piece, is: &Node, comments: bool) -> Result<String> {
    let mut splice = Splice { text, unit: indentation(text), edits: Vec::new() };
    splice.change(piece, is)?;
    splice.edits.sort_by_key(|(place, _)| (place.start, place.end));
    let (mut out, mut at) = (String::with_capacity(text.len() * 2), 0);
    for (place, words) in &splice.edits {
        out.push_str(text.get(at..place.start).unwrap_or_default());
        out.push_str(words);
        at = at.max(place.end);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    ensure!(Piece::read(&out, comments)?.node() == *is, "it cannot be changed without moving something else");
    Ok(out)
}

/// Whether what is there, less what goes and with the rest behind it, is in the order that is wanted.
fn is_in_order(pairs: &[(String, usize, Piece)], wanted: &[(String, Node)]) -> bool {
    let stays = |name: &&String| wanted.iter().any(|(other, _)| other == *name);
    let kept: Vec<&String> = pairs.iter().map(|(name, ..)| name).filter(stays).collect();
    kept.iter().zip(wanted).all(|(name, (other, _))| *name == other) && kept.len() <= wanted.len()
}

struct Splice<'t> {
    text: &'t str,
    unit: String,
    edits: Vec<(Range<usize>, String)>,
}

impl Splice<'_> {
    fn change(&mut self, piece: &Piece, is: &Node) -> Result<()> {
        if piece.node() == *is {
            return Ok(());
        }
        match (&piece.shape, is) {
            (Shape::Object(pairs), Node::Object(wanted)) if is_in_order(pairs, wanted) => {
                let mut used = vec![false; wanted.len()];
                let mut removed = Vec::new();
                for (name, _, value) in pairs {
                    let found =
                        wanted.iter().zip(&used).position(|((other, _), used)| other == name && !used);
                    removed.push(found.is_none());
                    if let Some((slot, (_, is))) = found.and_then(|at| used.get_mut(at).zip(wanted.get(at))) {
                        *slot = true;
                        self.change(value, is)?;
                    }
                }
                let places: Vec<_> = pairs.iter().map(|(_, start, value)| *start..value.place.end).collect();
                let inner = self.inner(piece, &places);
                let new = wanted.iter().zip(&used).filter(|(_, used)| !**used);
                let new = new.map(|((name, node), _)| {
                    Ok(format!("{}: {}", serde_json::to_string(name)?, self.laid_out(node, &inner)?))
                });
                let new = new.collect::<Result<Vec<_>>>()?;
                self.rearrange(piece, &places, &removed, &new);
            }
            (Shape::List(items), Node::List(wanted)) => {
                let nodes: Vec<Node> = items.iter().map(Piece::node).collect();
                let (mut at, mut removed) = (0, Vec::new());
                for (number, item) in items.iter().enumerate() {
                    let later = nodes.get(number + 1..).unwrap_or_default();
                    let is_kept = wanted.get(at).is_some_and(|is| {
                        let is_changed = !later.contains(is) && wanted.len() - at > later.len();
                        nodes.get(number) == Some(is) || is_changed
                    });
                    removed.push(!is_kept);
                    if let Some(is) = wanted.get(at).filter(|_| is_kept) {
                        self.change(item, is)?;
                        at += 1;
                    }
                }
                let places: Vec<_> = items.iter().map(|item| item.place.clone()).collect();
                let inner = self.inner(piece, &places);
                let new = wanted.get(at..).unwrap_or_default().iter().map(|node| self.laid_out(node, &inner));
                let new = new.collect::<Result<Vec<_>>>()?;
                self.rearrange(piece, &places, &removed, &new);
            }
            _ => {
                let words = self.laid_out(is, &self.indent(piece.place.start))?;
                self.edits.push((piece.place.clone(), words));
            }
        }
        Ok(())
    }

    /// Takes things out of brackets and adds others behind the rest.
    fn rearrange(&mut self, piece: &Piece, places: &[Range<usize>], removed: &[bool], new: &[String]) {
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let (inner, outer) = (self.inner(piece, places), self.indent(piece.place.start));
        let lines = new.join(&format!(",{newline}{inner}")).replace("\r\n", "\n").replace('\n', newline);
        let is_kept = |number: &usize| removed.get(*number) == Some(&false);
        let Some(last) = (0..places.len()).rev().find(is_kept) else {
            let inside = piece.place.start + 1..piece.place.end.saturating_sub(1);
            if !new.is_empty() {
                self.edits.push((inside, format!("{newline}{inner}{lines}{newline}{outer}")));
            } else if !places.is_empty() {
                self.edits.push((inside, String::new()));
            }
            return;
        };
        for (_, place) in places.iter().enumerate().filter(|(number, _)| !is_kept(number)) {
            let before = self.text.get(..place.start).unwrap_or_default();
            self.edits.push((before.trim_end().len()..place.end, String::new()));
            let comma = comma_after(self.text, place.end);
            self.edits.extend(comma.map(|comma| (comma..comma + 1, String::new())));
        }
        let end = places.get(last).map_or(0, |place| place.end);
        let comma = comma_after(self.text, end);
        if new.is_empty() {
            self.edits.extend(
                comma.map(|comma| (comma..comma + 1, String::new())).filter(|_| last + 1 < places.len()),
            );
            return;
        }
        if comma.is_none() {
            self.edits.push((end..end, ",".to_owned()));
        }
        let behind = self.line_end(comma.map_or(end, |comma| comma + 1));
        let is_inline = !self.text.get(end..piece.place.end).unwrap_or_default().contains('\n');
        let close = if is_inline { format!("{newline}{outer}") } else { String::new() };
        self.edits.push((behind..behind, format!("{newline}{inner}{lines}{close}")));
    }

    /// The end of the comment behind a place, if one is in the same line.
    fn line_end(&self, place: usize) -> usize {
        let line = self.text.get(place..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let said = line.trim();
        let is_comment = said.starts_with("//") || (said.starts_with("/*") && said.ends_with("*/"));
        if is_comment { place + line.trim_end().len() } else { place }
    }

    fn laid_out(&self, node: &Node, indent: &str) -> Result<String> {
        Ok(printed(node, &self.unit)?.replace('\n', &format!("\n{indent}")))
    }

    /// What things within brackets are indented with.
    fn inner(&self, piece: &Piece, places: &[Range<usize>]) -> String {
        let own_line = |place: &Range<usize>| {
            let before = self.text.get(..place.start).unwrap_or_default();
            before.trim_end_matches([' ', '\t']).ends_with('\n')
        };
        match places.iter().find(|place| own_line(place)) {
            Some(place) => self.indent(place.start),
            None => self.indent(piece.place.start) + &self.unit,
        }
    }

    /// What the line a place is in is indented with.
    fn indent(&self, place: usize) -> String {
        let line = self.text.get(..place).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
        line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changed(text: &str, change: impl Fn(&mut Node)) -> String {
        let mut node = Node::parse(text, true).unwrap();
        change(&mut node);
        node.print(text, true).unwrap()
    }

    fn put(node: &mut Node, key: &str) {
        node.at(key, Node::from(json!({"a": [1]}))).unwrap();
    }

    fn drop(node: &mut Node, key: &str) {
        node.pairs_mut().unwrap().retain(|(name, _)| name != key);
    }

    const TEXTS: [&str; 7] = [
        "{}",
        "{\n}\n",
        "{\"x\": [1,2 , 3], \"y\": 1e2}",
        "{\r\n\t\"x\": 1\r\n}\r\n",
        "{\n    // before\n    \"x\": 1 // behind\n    /* last */\n}\n",
        "\u{feff}{\n  \"x\": {\"z\": \"}, \\\" //\"}\n}",
        "{ \"x\": 1, // one\n  \"y\": 2 }\n",
    ];

    #[test]
    fn what_is_added_moves_nothing_and_what_is_removed_leaves_no_trace() {
        for text in TEXTS {
            let with = changed(text, |node| put(node, "hooks"));
            let bare = |text: &str| text.replace(',', "");
            let kept = |line: &str| bare(&with).contains(bare(line).trim_matches(|c| "{} \r".contains(c)));
            assert!(text.lines().all(kept), "{text:?} became {with:?}");
            let without = changed(&with, |node| drop(node, "hooks"));
            let plain = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(plain(&without), plain(text), "{with:?}");
            assert_eq!(changed(&with, |_| ()), with);
        }
        let with = changed(TEXTS[4], |node| put(node, "hooks"));
        assert!(
            with.starts_with(
                "{\n    // before\n    \"x\": 1, // behind\n    \"hooks\": {\n        \"a\": [\n"
            ),
            "{with}"
        );
        assert_eq!(changed(&with, |node| drop(node, "hooks")), TEXTS[4]);
        let with = changed(TEXTS[3], |node| put(node, "hooks"));
        assert!(
            !with.replace("\r\n", "").contains('\n') && with.contains("\r\n\t\"hooks\": {\r\n\t\t\"a\""),
            "{with:?}"
        );
    }

    #[test]
    fn whatever_is_taken_out_the_rest_is_read_as_it_was() {
        let text = "{\n  \"a\": 1, // a\n  \"b\": [1, 2, /* x */ 3],\n  \"c\": {\"d\": null}\n}\n";
        for mask in 0..8_u8 {
            let gone = |name: &str| mask & (1 << (name.as_bytes()[0] - b'a')) != 0;
            let left = changed(text, |node| node.pairs_mut().unwrap().retain(|(name, _)| !gone(name)));
            assert!(mask & 1 != 0 || left.contains("\"a\": 1"), "{left}");
            assert!(gone("c") || left.contains("\"c\": {\"d\": null}"), "{left}");
            let both = changed(text, |node| {
                node.pairs_mut().unwrap().retain(|(name, _)| !gone(name));
                put(node, "hooks");
                if let Some((_, list)) = node.pairs_mut().unwrap().iter_mut().find(|(name, _)| name == "b") {
                    list.items_mut().unwrap().remove(usize::from(mask % 3));
                    list.items_mut().unwrap().push(Node::from(json!("new")));
                }
            });
            assert!(Node::parse(&both, true).is_ok());
        }
    }
}
