//! One change as a patch, in the words of `git diff`.

use std::io::{self, Write};

use similar::DiffOp;

use super::{
    super::{
        content,
        names::{quoted, visible},
    },
    Look,
    delta::{Body, Delta, Lines},
};

const CONTEXT: usize = 3;
const RESET: &str = "\x1b[m";

/// What a line is, which decides its colour.
#[derive(Clone, Copy)]
enum Part {
    Header,
    Range,
    Context,
    Removed,
    Added,
}

impl Part {
    const fn colour(self) -> &'static str {
        match self {
            Self::Header => "\x1b[1m",
            Self::Range => "\x1b[36m",
            Self::Context => "",
            Self::Removed => "\x1b[31m",
            Self::Added => "\x1b[32m",
        }
    }
}

pub(super) fn write(delta: &Delta<'_>, out: &mut dyn Write, look: Look) -> io::Result<()> {
    let mut page = Page { out, look };
    for line in headers(delta) {
        page.line(Part::Header, &line)?;
    }
    let (old, new) = sides(delta);
    match &delta.body {
        Body::Same => Ok(()),
        Body::Blob(..) => page.line(Part::Header, &format!("Binary files {old} and {new} differ")),
        Body::Lines(lines) => {
            // A tab ends a name with a space in it, for readers that would end it at the space.
            let ended = |name: &str| if name.contains(' ') { format!("{name}\t") } else { name.to_owned() };
            page.line(Part::Header, &format!("--- {}", ended(&old)))?;
            page.line(Part::Header, &format!("+++ {}", ended(&new)))?;
            page.hunks(lines)
        }
    }
}

fn headers(delta: &Delta<'_>) -> Vec<String> {
    let mut headers = vec![format!("diff --git {} {}", quoted("a/", delta.old), quoted("b/", delta.new))];
    match (delta.old_mode, delta.new_mode) {
        (None, Some(new)) => headers.push(format!("new file mode {new:o}")),
        (Some(old), None) => headers.push(format!("deleted file mode {old:o}")),
        (Some(old), Some(new)) if old != new => {
            headers.extend([format!("old mode {old:o}"), format!("new mode {new:o}")]);
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
    if delta.is_rename() && delta.old_mode.is_some() {
        headers.push(format!("similarity index {}%", similarity(&delta.body)));
        headers.push(format!("rename from {}", quoted("", delta.old)));
        headers.push(format!("rename to {}", quoted("", delta.new)));
    }
    headers
}

fn similarity(body: &Body) -> usize {
    match body {
        Body::Same => 100,
        Body::Lines(lines) => content::similarity(&lines.old, &lines.new),
        Body::Blob(..) => 0,
    }
}

fn sides(delta: &Delta<'_>) -> (String, String) {
    let name = |mode: Option<u32>, prefix, path| match mode {
        Some(_) => quoted(prefix, path),
        None => "/dev/null".to_owned(),
    };
    (name(delta.old_mode, "a/", delta.old), name(delta.new_mode, "b/", delta.new))
}

struct Page<'a> {
    out: &'a mut dyn Write,
    look: Look,
}

impl Page<'_> {
    fn hunks(&mut self, lines: &Lines) -> io::Result<()> {
        let (old, new) = (content::lines(&lines.old), content::lines(&lines.new));
        for ops in similar::group_diff_ops(lines.ops.clone(), CONTEXT) {
            let (Some(first), Some(last)) = (ops.first(), ops.last()) else { continue };
            let old_range = range(first.old_range().start, last.old_range().end);
            let new_range = range(first.new_range().start, last.new_range().end);
            self.line(Part::Range, &format!("@@ -{old_range} +{new_range} @@"))?;
            for op in &ops {
                let removed = old.get(op.old_range()).unwrap_or_default();
                let added = new.get(op.new_range()).unwrap_or_default();
                if matches!(op, DiffOp::Equal { .. }) {
                    self.content(Part::Context, b' ', removed)?;
                } else {
                    self.content(Part::Removed, b'-', removed)?;
                    self.content(Part::Added, b'+', added)?;
                }
            }
        }
        Ok(())
    }

    fn content(&mut self, part: Part, sign: u8, lines: &[&[u8]]) -> io::Result<()> {
        for line in lines {
            let (text, ended) = match line.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (*line, false),
            };
            match self.look {
                Look::Patch => {
                    self.out.write_all(&[sign])?;
                    self.out.write_all(text)?;
                    self.out.write_all(b"\n")?;
                }
                Look::Terminal | Look::Colour => {
                    self.line(part, &format!("{}{}", char::from(sign), visible(text)))?;
                }
            }
            if !ended {
                self.line(Part::Context, "\\ No newline at end of file")?;
            }
        }
        Ok(())
    }

    fn line(&mut self, part: Part, text: &str) -> io::Result<()> {
        match (self.look, part.colour()) {
            (Look::Patch | Look::Terminal, _) | (Look::Colour, "") => writeln!(self.out, "{text}"),
            (Look::Colour, colour) => writeln!(self.out, "{colour}{text}{RESET}"),
        }
    }
}

/// A range as a patch counts: from one, the length left out if it is one, and an empty one named by the
/// line before it.
fn range(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => format!("{end}"),
        length => format!("{},{length}", start + 1),
    }
}
