//! A session in Markdown. What agents and people said stands in fences and code spans, where nothing has a meaning.

use super::story::{Deed, Step, Story, What};

pub(super) fn write(story: &Story) -> String {
    let mut text = format!("# {}\n\nSession {}\n\n", escaped(&story.title), span(&story.id));
    for (name, value) in &story.facts {
        text.push_str(&format!("- {name}: {}\n", escaped(value)));
    }
    if !story.agents.is_empty() {
        text.push_str("\n## Who worked\n\n");
    }
    for (depth, agent) in &story.agents {
        text.push_str(&format!("{}- {}\n", "  ".repeat((*depth).min(20)), escaped(agent)));
    }
    text.push_str("\n## What happened\n\n");
    for step in &story.steps {
        text.push_str(&tell(step));
        text.push('\n');
    }
    if story.steps.is_empty() {
        text.push_str("Nothing that was told.\n");
    }
    text
}

fn tell(step: &Step) -> String {
    let agent = step.agent.as_deref().map(|agent| format!(" ({})", span(agent))).unwrap_or_default();
    let time = &step.time;
    match &step.what {
        What::Said { by, text } => format!("**{time} {by}**{agent}\n\n{}", fenced(text)),
        What::Did(deed) => {
            let Deed { tool, input, error, .. } = deed;
            let input = if input.is_empty() { String::new() } else { format!(" {}", span(input)) };
            let line = format!("{time} {}{input}{agent}: {}\n", span(tool), escaped(&deed.result()));
            error.as_ref().map_or_else(|| line.clone(), |error| format!("{line}\n{}", fenced(error)))
        }
        What::Moment(what) => format!("{time} {}{agent}\n", escaped(what)),
    }
}

/// A block that ends nowhere but at its end.
fn fenced(text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// A few words as they are.
fn span(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let ticks = "`".repeat(longest_run(&line) + 1);
    // Spaces at both ends are not shown, and keep ticks of the text apart from ours.
    if line.starts_with('`') || line.ends_with('`') || line.is_empty() {
        format!("{ticks} {line} {ticks}")
    } else {
        format!("{ticks}{line}{ticks}")
    }
}

fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

/// A line in which nothing has a meaning.
fn escaped(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        if "\\`*_[]<>#&|~!".contains(letter) {
            line.push('\\');
        }
        line.push(if letter == '\n' { ' ' } else { letter });
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_cannot_become_markdown() {
        assert_eq!(fenced("a\n```\n<b>"), "````text\na\n```\n<b>\n````\n");
        assert_eq!(span("a `b`"), "`` a `b` ``");
        assert_eq!(span("ls\n-l"), "`ls -l`");
        assert_eq!(escaped("<b> [x](y)\n# z"), "\\<b\\> \\[x\\](y) \\# z");
    }
}
