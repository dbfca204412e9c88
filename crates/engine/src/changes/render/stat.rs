//! The changes in one line each, and their sum.

use belljar_ports::Changes;

use super::{
    super::names::quoted,
    Look, RenderError,
    delta::{self, Body, Delta},
    workspace,
};

const WIDTH: usize = 80;
/// Around the name and the number: ` name | 12 ++`.
const FRAME: usize = 6;
const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";
const RESET: &str = "\x1b[m";

struct Row {
    name: String,
    added: usize,
    removed: usize,
    blob: Option<(u64, u64)>,
}

/// Returns the summary that `git diff --stat` would give.
///
/// # Errors
/// When either side cannot be read.
pub fn stat(changes: &Changes, look: Look) -> Result<String, RenderError> {
    let (root, until) = (workspace(changes)?, delta::deadline());
    let mut rows = Vec::new();
    for change in &changes.changes {
        let deltas = delta::of(change, &root, changes.files.as_ref(), until)?;
        if let Some(row) = deltas.iter().map(row).reduce(|one, two| joined(one, &two)) {
            rows.push(row);
        }
    }
    Ok(table(&rows, look))
}

fn row(delta: &Delta<'_>) -> Row {
    let (added, removed) = delta.counts().unwrap_or_default();
    let blob = match delta.body {
        Body::Blob(old, new) => Some((old, new)),
        Body::Same | Body::Lines(_) => None,
    };
    let name = match delta.is_rename() {
        true => format!("{} => {}", quoted("", delta.old), quoted("", delta.new)),
        false => quoted("", delta.new),
    };
    Row { name, added, removed, blob }
}

/// The two halves of a change of type.
fn joined(one: Row, two: &Row) -> Row {
    Row {
        added: one.added + two.added,
        removed: one.removed + two.removed,
        blob: one.blob.or(two.blob),
        name: one.name,
    }
}

fn table(rows: &[Row], look: Look) -> String {
    let most = rows.iter().map(|row| row.added + row.removed).max().unwrap_or(0);
    let blobs = rows.iter().any(|row| row.blob.is_some());
    let digits = most.to_string().len().max(if blobs { 3 } else { 0 });
    let longest = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let (name_width, graph_width) = widths(longest, digits, most);
    let mut table = String::new();
    for row in rows {
        let name = shortened(&row.name, name_width);
        let end = match row.blob {
            Some((old, new)) => format!("{:>digits$} {old} -> {new} bytes", "Bin"),
            None => {
                let total = row.added + row.removed;
                let graph = graph(row, most, graph_width, look);
                format!("{total:>digits$} {graph}").trim_end().to_owned()
            }
        };
        table.push_str(&format!(" {name:<name_width$} | {end}\n"));
    }
    table.push_str(&totals(rows));
    table
}

/// The name gets what it needs unless the graph would get less than three eighths of the line.
fn widths(longest: usize, digits: usize, most: usize) -> (usize, usize) {
    let free = WIDTH.saturating_sub(digits + FRAME);
    if longest + most <= free {
        return (longest, most);
    }
    let fair = (WIDTH * 3 / 8).saturating_sub(digits + FRAME).max(6);
    let graph = most.min(fair.max(free.saturating_sub(longest)));
    (longest.min(free - graph), graph)
}

fn shortened(name: &str, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    let kept: String = name.chars().skip(length - width.saturating_sub(3)).collect();
    // A name that starts at a slash reads better than one that starts in the middle of a word.
    format!("...{}", kept.find('/').and_then(|slash| kept.get(slash..)).unwrap_or(&kept))
}

fn graph(row: &Row, most: usize, width: usize, look: Look) -> String {
    let scaled = |count: usize| match count {
        0 => 0,
        count if most <= width => count,
        count => 1 + count * width.saturating_sub(1) / most,
    };
    let total =
        scaled(row.added + row.removed).max(usize::from(row.added > 0) + usize::from(row.removed > 0));
    let fewer = scaled(row.added.min(row.removed)).min(total);
    let (added, removed) =
        if row.added < row.removed { (fewer, total - fewer) } else { (total - fewer, fewer) };
    let (added, removed) = ("+".repeat(added), "-".repeat(removed));
    match look {
        Look::Patch | Look::Terminal => added + &removed,
        Look::Colour => {
            let painted = |colour, text: &str| match text {
                "" => String::new(),
                text => format!("{colour}{text}{RESET}"),
            };
            painted(GREEN, &added) + &painted(RED, &removed)
        }
    }
}

fn totals(rows: &[Row]) -> String {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let (added, removed) = rows.iter().fold((0, 0), |(a, r), row| (a + row.added, r + row.removed));
    let mut line = format!(" {} file{} changed", rows.len(), plural(rows.len()));
    if added > 0 || removed == 0 {
        line.push_str(&format!(", {added} insertion{}(+)", plural(added)));
    }
    if removed > 0 || added == 0 {
        line.push_str(&format!(", {removed} deletion{}(-)", plural(removed)));
    }
    line.push('\n');
    line
}
