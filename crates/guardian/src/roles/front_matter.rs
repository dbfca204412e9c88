//! The head of an agent's file, between two lines of `---`: the part of YAML such heads are written in.
//!
//! Owns: maps by indentation, lists with `-` or in brackets, quoted and plain text, folded and literal blocks. Refuses:
//! anchors, tags and flow maps; what it cannot read it says, and nothing is guessed.

use serde_json::{Map, Value};

/// The most lines of a head.
const LONGEST: usize = 2_000;
/// How deep maps may be.
const DEEPEST: usize = 8;

/// Finds the head of a file and reads it; `None` when the file has none.
pub(super) fn read(text: &str) -> Option<Result<Map<String, Value>, String>> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    if lines.next()?.trim_end() != "---" {
        return None;
    }
    let mut head = Vec::new();
    for (number, line) in (2..).zip(lines) {
        if line.trim_end() == "---" {
            return Some(Reader { lines: head, at: 0 }.map(0, 0));
        }
        if head.len() >= LONGEST {
            return Some(Err(format!("its head has more than {LONGEST} lines")));
        }
        head.push((number, line));
    }
    Some(Err("its head has no end; write a line of `---` after it".to_owned()))
}

struct Reader<'t> {
    lines: Vec<(usize, &'t str)>,
    at: usize,
}

impl<'t> Reader<'t> {
    /// The next line that says something: its number, its indentation, its text.
    fn peek(&mut self) -> Option<(usize, usize, &'t str)> {
        loop {
            let (number, line) = *self.lines.get(self.at)?;
            let text = line.trim_start_matches(' ');
            if !text.trim().is_empty() && !text.starts_with('#') {
                return Some((number, line.len() - text.len(), text.trim_end()));
            }
            self.at += 1;
        }
    }

    fn map(&mut self, indent: usize, depth: usize) -> Result<Map<String, Value>, String> {
        let mut fields = Map::new();
        if depth > DEEPEST {
            return Err(format!("its head is nested deeper than {DEEPEST}"));
        }
        while let Some((number, found, text)) = self.peek() {
            if found < indent {
                break;
            }
            if found > indent || text.starts_with('\t') {
                return Err(format!("line {number}: the indentation fits nothing above it"));
            }
            let (name, rest) =
                key(text).ok_or_else(|| format!("line {number}: `NAME: VALUE` is expected"))?;
            self.at += 1;
            let value = self.value(rest, indent, depth, number)?;
            if fields.insert(name.clone(), value).is_some() {
                return Err(format!("line {number}: `{name}` is there twice"));
            }
        }
        Ok(fields)
    }

    fn value(&mut self, rest: &str, indent: usize, depth: usize, number: usize) -> Result<Value, String> {
        match rest {
            "" => match self.peek() {
                Some((_, found, text)) if text.starts_with("- ") || text == "-" => {
                    // A list may stand as far left as its name.
                    if found >= indent { self.list(found) } else { Ok(Value::Null) }
                }
                Some((_, found, _)) if found > indent => self.map(found, depth + 1).map(Value::Object),
                _ => Ok(Value::Null),
            },
            "|" | "|-" | ">" | ">-" | "|+" | ">+" => {
                Ok(Value::String(self.block(indent, rest.starts_with('>'))))
            }
            text => scalar(text).map_err(|why| format!("line {number}: {why}")),
        }
    }

    fn list(&mut self, indent: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        while let Some((number, found, text)) = self.peek() {
            let item = if text == "-" { Some("") } else { text.strip_prefix("- ") };
            let Some(item) = item.filter(|_| found == indent) else { break };
            self.at += 1;
            items.push(scalar(item.trim()).map_err(|why| format!("line {number}: {why}"))?);
        }
        Ok(Value::Array(items))
    }

    /// Lines deeper than a name, put together.
    fn block(&mut self, indent: usize, folded: bool) -> String {
        let mut text: Vec<&str> = Vec::new();
        while let Some((_, line)) = self.lines.get(self.at) {
            let is_inside = line.len() - line.trim_start_matches(' ').len() > indent;
            if !is_inside && !line.trim().is_empty() {
                break;
            }
            text.push(line.trim());
            self.at += 1;
        }
        text.join(if folded { " " } else { "\n" }).trim().to_owned()
    }
}

/// A name and what follows it.
fn key(text: &str) -> Option<(String, &str)> {
    let (name, rest) = text.split_once(':')?;
    let name = name.trim().trim_matches(['"', '\'']);
    let is_name =
        !name.is_empty() && !name.contains(char::is_whitespace) && (rest.is_empty() || rest.starts_with(' '));
    is_name.then(|| (name.to_owned(), rest.trim()))
}

fn scalar(text: &str) -> Result<Value, String> {
    if let Some(inside) = text.strip_prefix('[') {
        let inside = inside.strip_suffix(']').ok_or("a bracket is not closed")?;
        return pieces(inside).iter().map(|item| scalar(item)).collect::<Result<_, _>>().map(Value::Array);
    }
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            let end = rest.rfind(quote).ok_or("a quotation mark is not closed")?;
            return Ok(Value::String(
                rest.get(..end).unwrap_or_default().replace("\\n", "\n").replace("\\\"", "\""),
            ));
        }
    }
    if text.starts_with(['&', '!', '{', '%', '@', '`']) {
        return Err(format!("`{text}` is written in a way that is not read here"));
    }
    let plain = text.split_once(" #").map_or(text, |(value, _)| value.trim_end());
    Ok(match plain {
        "true" | "True" => Value::Bool(true),
        "false" | "False" => Value::Bool(false),
        "null" | "~" | "" => Value::Null,
        number => serde_json::from_str(number).ok().filter(Value::is_number).unwrap_or_else(|| number.into()),
    })
}

/// What is between commas, quoted ones left alone.
fn pieces(text: &str) -> Vec<String> {
    let (mut pieces, mut quote) = (vec![String::new()], None);
    for c in text.chars() {
        match quote {
            None if c == ',' => {
                pieces.push(String::new());
                continue;
            }
            None if c == '"' || c == '\'' => quote = Some(c),
            Some(open) if open == c => quote = None,
            _ => {}
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(c);
        }
    }
    pieces.into_iter().map(|piece| piece.trim().to_owned()).filter(|piece| !piece.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_head_is_read_as_it_is_written() {
        let text = "---\nname: api-dev\ndescription: >\n  Builds APIs,\n  carefully.\ntools: Read, Write\nx-rbac:\n  denied_tools:\n    - Bash # never\n  path_scopes: [\"src/**\", 'a,b']\n  requires_approval: true\nx-budget:\n  max_cost_per_day: 12.5\n# a remark\nempty:\n---\nbody: not read\n";
        let head = Value::Object(read(text).unwrap().unwrap());
        assert_eq!(
            head,
            json!({
                "name": "api-dev", "description": "Builds APIs, carefully.", "tools": "Read, Write",
                "x-rbac": {"denied_tools": ["Bash"], "path_scopes": ["src/**", "a,b"], "requires_approval": true},
                "x-budget": {"max_cost_per_day": 12.5}, "empty": null,
            })
        );
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_line() {
        assert!(read("no head").is_none());
        for (text, says) in [
            ("---\nname: x\n", "no end"),
            ("---\nname x\n---\n", "line 2"),
            ("---\na: 1\n   b: 2\n---\n", "line 3"),
            ("---\na: &x 1\n---\n", "line 2"),
            ("---\na: [1\n---\n", "line 2"),
            ("---\na: 1\na: 2\n---\n", "twice"),
        ] {
            let error = read(text).unwrap().unwrap_err();
            assert!(error.contains(says), "{text:?}: {error}");
        }
    }
}
