//! Which calls a rule is about, in the syntax users know: `Bash(git push:*)`, `Read(./.env)`, `WebFetch(domain:x)`,
//! `mcp__server__tool`, or a tool's bare name.

use super::{
    call::Call,
    commands,
    glob::{is_like, resolved},
};

/// A pattern that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    tool: String,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    Anything,
    /// Words, with stars, or just those a command begins with.
    Command {
        words: String,
        is_prefix: bool,
    },
    Path(String),
    Domain(String),
}

/// Why a pattern cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// There is nothing.
    #[error("a pattern is missing; write a tool's name, such as `Bash` or `Read(./.env)`")]
    Empty,
    /// A parenthesis is open.
    #[error("`{0}` lacks its closing parenthesis at the end")]
    Open(String),
    /// The tool has no such name.
    #[error("`{0}` is no tool's name; use letters, digits, `_`, `-` and `*`")]
    Tool(String),
    /// The parentheses are empty.
    #[error("`{0}` says nothing between its parentheses; leave them out for every call of the tool")]
    Nothing(String),
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let text = text.trim();
        let (tool, inside) = match text.split_once('(') {
            Some((tool, rest)) => {
                let inside = rest.strip_suffix(')').ok_or_else(|| PatternError::Open(text.to_owned()))?;
                (tool, Some(inside.trim()))
            }
            None => (text, None),
        };
        if tool.is_empty() {
            return Err(PatternError::Empty);
        }
        if !tool.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*' | '.' | ':')) {
            return Err(PatternError::Tool(tool.to_owned()));
        }
        let what = match inside {
            None => What::Anything,
            Some("") => return Err(PatternError::Nothing(text.to_owned())),
            Some(inside) => inside_of(tool, inside),
        };
        Ok(Self { tool: tool.to_owned(), what })
    }

    /// Says whether a call is one it is about.
    #[must_use]
    pub fn matches(&self, call: &Call<'_>) -> bool {
        self.is_tool(call)
            && match &self.what {
                What::Anything => true,
                What::Command { words, is_prefix } => {
                    call.command().is_some_and(|line| is_command(words, *is_prefix, &line))
                }
                What::Path(pattern) => call.paths().iter().any(|path| is_path(pattern, path, call)),
                What::Domain(domain) => call.host().is_some_and(|host| is_domain(domain, host)),
            }
    }

    /// Says whether it names files, and not only a tool or a command.
    pub(crate) const fn names_files(&self) -> bool {
        matches!(self.what, What::Path(_))
    }

    /// Says whether one command of a call's line is one it is about.
    pub(super) fn is_about(&self, call: &Call<'_>, words: &[String]) -> bool {
        self.is_tool(call)
            && match &self.what {
                What::Anything => true,
                What::Command { words: wanted, is_prefix } => is_simple(wanted, *is_prefix, words),
                What::Path(_) | What::Domain(_) => false,
            }
    }

    /// Says whether it is this very line.
    pub(super) fn is_line(&self, call: &Call<'_>, line: &str) -> bool {
        let is_same = |words: &str| !words.contains('*') && words.trim() == line.trim();
        self.is_tool(call)
            && matches!(&self.what, What::Command { words, is_prefix: false } if is_same(words))
    }

    fn is_tool(&self, call: &Call<'_>) -> bool {
        if self.tool.contains('*') {
            return is_like(&self.tool, call.tool, None);
        }
        // `mcp__server` is every tool of that server.
        let is_of_server = self.tool.starts_with("mcp__")
            && call.tool.strip_prefix(&self.tool).is_some_and(|rest| rest.starts_with("__"));
        // A rule about edits is one about files that are written, whichever tool does it.
        let is_written = self.tool == "Edit" && call.is_of("Write");
        call.is_of(&self.tool) || is_of_server || is_written
    }
}

fn inside_of(tool: &str, inside: &str) -> What {
    match (tool, inside.strip_prefix("domain:")) {
        (_, Some(domain)) => What::Domain(domain.trim().to_ascii_lowercase()),
        ("Bash" | "SandboxExec", None) => match inside.strip_suffix(":*") {
            Some(words) => What::Command { words: words.to_owned(), is_prefix: true },
            None => What::Command { words: inside.to_owned(), is_prefix: false },
        },
        (_, None) => What::Path(inside.to_owned()),
    }
}

fn is_command(words: &str, is_prefix: bool, line: &str) -> bool {
    is_like(words, line.trim(), None)
        || commands::simple(line).iter().any(|simple| is_simple(words, is_prefix, simple))
}

/// Says whether one command, taken apart, is as a rule wants it.
fn is_simple(wanted: &str, is_prefix: bool, words: &[String]) -> bool {
    let wanted = wanted.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = words.join(" ");
    if is_prefix {
        said.strip_prefix(&wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    } else {
        is_like(&wanted, &said, None)
            // `git push *` is also a bare `git push`.
            || wanted.strip_suffix(" *").is_some_and(|bare| bare == said)
    }
}

fn is_path(pattern: &str, path: &str, call: &Call<'_>) -> bool {
    let path = resolved(path, call.cwd, call.home);
    let beneath = |root: &str, rest: &str| format!("{}/{rest}", root.trim_end_matches('/'));
    let whole = if let Some(absolute) = pattern.strip_prefix("//") {
        format!("/{absolute}")
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        beneath(call.home.unwrap_or("~"), rest)
    } else if let Some(rest) = pattern.strip_prefix("./").or_else(|| pattern.strip_prefix('/')) {
        beneath(call.cwd.unwrap_or_default(), rest)
    } else if pattern.contains('/') {
        beneath(call.cwd.unwrap_or_default(), pattern)
    } else {
        // A bare name is meant wherever it is.
        format!("**/{pattern}")
    };
    is_like(&whole, &path, Some('/')) || is_like(&format!("{whole}/**"), &path, Some('/'))
}

fn is_domain(domain: &str, host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    match domain.strip_prefix("*.") {
        Some(parent) => host.strip_suffix(parent).is_some_and(|front| front.ends_with('.')),
        None => host == domain,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn matches(pattern: &str, tool: &str, input: &Value) -> bool {
        let call = Call { tool, input, cwd: Some("/w"), home: Some("/home/u") };
        Pattern::parse(pattern).unwrap().matches(&call)
    }

    #[test]
    fn commands() {
        for (pattern, line, like) in [
            ("Bash(git push:*)", "git push", true),
            ("Bash(git push:*)", "cd x && git push origin main", true),
            ("Bash(git push:*)", "git pushd", false),
            ("Bash(git push *)", "git push origin", true),
            ("Bash(git push *)", "git push", true),
            ("Bash(npm run test)", "npm run test", true),
            ("Bash(npm run test)", "npm run test:unit", false),
            ("Bash(rm:*)", "echo 'rm -rf /'", false),
            ("Bash(rm:*)", "sudo /bin/rm -rf /", true),
            ("Bash", "anything", true),
        ] {
            assert_eq!(matches(pattern, "Bash", &json!({ "command": line })), like, "{pattern} {line}");
        }
    }

    #[test]
    fn paths() {
        for (pattern, path, like) in [
            ("Read(./.env)", "/w/.env", true),
            ("Read(./.env)", ".env", true),
            ("Read(./.env)", "src/../.env", true),
            ("Read(./.env)", "/w/sub/.env", false),
            ("Read(.env)", "/w/sub/.env", true),
            ("Read(.env)", "/w/.environment", false),
            ("Read(~/.ssh/**)", "/home/u/.ssh/id_rsa", true),
            ("Read(~/.ssh)", "~/.ssh/id_rsa", true),
            ("Read(//etc/shadow)", "/etc/shadow", true),
            ("Read(/src/*.rs)", "/w/src/a.rs", true),
        ] {
            assert_eq!(matches(pattern, "Read", &json!({ "file_path": path })), like, "{pattern} {path}");
        }
        assert!(matches("Edit(*.lock)", "Write", &json!({ "file_path": "/w/Cargo.lock" })));
        assert!(!matches("Read(*.lock)", "Write", &json!({ "file_path": "/w/Cargo.lock" })));
    }

    #[test]
    fn other_tools() {
        assert!(matches("mcp__github", "mcp__github__create_issue", &json!({})));
        assert!(!matches("mcp__git", "mcp__github__create_issue", &json!({})));
        assert!(matches("mcp__*__delete_*", "mcp__db__delete_row", &json!({})));
        assert!(matches(
            "WebFetch(domain:*.example.com)",
            "WebFetch",
            &json!({ "url": "https://a.example.com/x" })
        ));
        assert!(!matches(
            "WebFetch(domain:example.com)",
            "WebFetch",
            &json!({ "url": "https://example.com.evil.test" })
        ));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for text in ["", "Bash(git", "Ba sh", "Read()", "(x)"] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }
}
