//! Other people's text, made harmless: for HTML, and for Markdown.

use std::borrow::Cow;

/// Characters that are not seen or turn around what is seen: shown by their number instead.
fn is_tricky(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e007f}')
        || (c.is_control() && c != '\n' && c != '\t')
}

/// Text for HTML, in elements and in attributes.
pub(super) fn html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if is_tricky(c) => safe.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => safe.push(c),
        }
    }
    safe
}

/// A sentence for HTML: what stands between backticks is code.
pub(super) fn prose(text: &str) -> String {
    let safe = html(text);
    let parts: Vec<&str> = safe.split('`').collect();
    // A backtick without another is one.
    if parts.len().is_multiple_of(2) {
        return safe;
    }
    let mut shown = String::with_capacity(safe.len() + 16);
    for (at, part) in parts.into_iter().enumerate() {
        if at % 2 == 1 {
            shown.push_str(&format!("<code>{part}</code>"));
        } else {
            shown.push_str(part);
        }
    }
    shown
}

/// Text for a line of Markdown: no structure, no links, no HTML, no new row of a table.
pub(super) fn markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\t' => safe.push(' '),
            '<' => safe.push_str("&lt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' => {
                safe.push('\\');
                safe.push(c);
            }
            c if is_tricky(c) => safe.push_str(&format!("\\\\u{{{:x}}}", u32::from(c))),
            c => safe.push(c),
        }
    }
    safe
}

/// Text for Markdown as code, on one line.
pub(super) fn code(text: &str) -> String {
    let shown = |c: char| {
        if c == '`' {
            '\''
        } else if c == '\n' || c == '\t' || is_tricky(c) {
            ' '
        } else {
            c
        }
    };
    format!("`{}`", text.chars().map(shown).collect::<String>())
}

/// A text between fences no line of it can end.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let safe: Cow<'_, str> = if text.chars().any(is_tricky) {
        text.chars().map(|c| if is_tricky(c) { '\u{fffd}' } else { c }).collect::<String>().into()
    } else {
        text.into()
    };
    let end = if safe.ends_with('\n') || safe.is_empty() { "" } else { "\n" };
    format!("{fence}{language}\n{safe}{end}{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_its_place() {
        assert_eq!(html("<b a='\"'>&\u{202e}\u{7}"), "&lt;b a=&#39;&quot;&#39;&gt;&amp;\\u{202e}\\u{7}");
        assert_eq!(markdown("a|b\n<i>[x](y)`"), "a\\|b &lt;i>\\[x\\](y)\\`");
        assert_eq!(prose("`a<b` is"), "<code>a&lt;b</code> is");
        assert_eq!(prose("`a"), "`a");
        assert!(fenced("diff", "a\n```\nb").starts_with("````diff\n"));
    }
}
