//! What each attempt did, to unfold: what the gates said, the end of the check's output, and the diff.

use std::fmt::{self, Write as _};

use super::super::{
    LONGEST_PATCH, Page, excerpt,
    plain::{html as plain, prose},
};
use crate::contest::{gates::GateOutcome, judgement::Standing};

pub(super) fn write(page: &Page, out: &mut String) -> fmt::Result {
    writeln!(out, "<h2>Attempt by attempt</h2><p>What the gates said, and the changes themselves.</p>")?;
    for fork in page.ranked() {
        let is_open = page.kept() == Some(fork.fork);
        let open = if is_open { " open" } else { "" };
        writeln!(
            out,
            "<details{open}><summary>Attempt {} <span class=\"t3\">{}</span></summary>",
            fork.fork,
            plain(&fork.status_said)
        )?;
        gates(fork, out)?;
        if let Some(attempt) = page.attempt(fork.fork) {
            if !attempt.check_tail.trim().is_empty() && !is_open {
                writeln!(
                    out,
                    "<ul class=\"plain\"><li class=\"t3\">The end of what the check printed</li></ul><pre class=\"tail\">{}</pre>",
                    plain(attempt.check_tail.trim_end())
                )?;
            }
            diff(&attempt.patch, out)?;
        }
        writeln!(out, "</details>")?;
    }
    Ok(())
}

fn gates(fork: &Standing, out: &mut String) -> fmt::Result {
    write!(out, "<ul class=\"plain\">")?;
    for gate in &fork.gates {
        let (class, mark) = match gate.result {
            GateOutcome::Passed => ("pass", "✓"),
            GateOutcome::Failed => ("fail", "✗"),
            GateOutcome::Unknown => ("unknown", "–"),
        };
        write!(
            out,
            "<li><span class=\"{class}\">{mark}</span> <span class=\"strong\">{}</span> <span class=\"t2\">{}</span> <span class=\"t3\">{}</span></li>",
            plain(&gate.name),
            prose(&gate.reason),
            gate.gate.code()
        )?;
    }
    for note in &fork.notes {
        write!(out, "<li class=\"t2\">Look at this: {}</li>", prose(note))?;
    }
    writeln!(out, "</ul>")
}

fn diff(patch: &str, out: &mut String) -> fmt::Result {
    if patch.trim().is_empty() {
        return Ok(());
    }
    let (shown, left) = excerpt(patch, LONGEST_PATCH);
    write!(out, "<pre class=\"diff\">")?;
    // Only above the first hunk of a file a line is about the file: below, `---` may be a removed `--`.
    let mut is_head = false;
    for line in shown.lines() {
        if let Some(files) = line.strip_prefix("diff --git ") {
            is_head = true;
            write!(out, "<span class=\"file\">{}</span>", plain(name(files)))?;
            continue;
        }
        is_head &= !line.starts_with("@@");
        if is_head && is_header(line) {
            continue;
        }
        let class = match line.chars().next() {
            Some('+') => "a",
            Some('-') => "d",
            Some('@') => "h",
            _ => "",
        };
        let safe = plain(line);
        write!(out, "<span class=\"{class}\">{}</span>", if safe.is_empty() { " " } else { &safe })?;
    }
    if left > 0 {
        write!(out, "<span class=\"h\">{left} lines more</span>")?;
    }
    writeln!(out, "</pre>")
}

/// `a/src/x.rs b/src/x.rs`: the name after the change.
fn name(files: &str) -> &str {
    files.rsplit_once(" b/").map_or(files, |(_, name)| name)
}

/// What the name above says already.
fn is_header(line: &str) -> bool {
    line.starts_with("index ") || line.starts_with("--- ") || line.starts_with("+++ ")
}
