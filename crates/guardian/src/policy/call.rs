//! A call as rules see it: the same questions for every agent's tools.

use serde_json::Value;

/// A tool, what it is given, and where.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The tool, as its vendor calls it.
    pub tool: &'a str,
    /// What it is given.
    pub input: &'a Value,
    /// Where the agent is.
    pub cwd: Option<&'a str>,
    /// The home of whoever runs the agent.
    pub home: Option<&'a str>,
}

/// What tools are, whatever their vendors call them. The names of Claude Code are those rules are written with.
const SAME: [(&str, &[&str]); 6] = [
    (
        "Bash",
        &[
            "shell",
            "local_shell",
            "exec_command",
            "run_shell_command",
            "run_terminal_cmd",
            "bash",
            "PowerShell",
        ],
    ),
    ("Read", &["read_file", "read_many_files", "read", "view", "NotebookRead"]),
    ("Edit", &["MultiEdit", "NotebookEdit", "replace", "edit", "edit_file", "apply_patch", "str_replace"]),
    ("Write", &["write_file", "write", "create_file"]),
    ("WebFetch", &["web_fetch", "webfetch", "fetch"]),
    ("Grep", &["search_file_content", "grep", "grep_search", "Glob", "glob", "LS", "list_directory", "list"]),
];

impl Call<'_> {
    /// Says whether a rule's tool is the one that is called.
    pub(crate) fn is_of(&self, tool: &str) -> bool {
        tool == self.tool || SAME.iter().any(|(name, others)| *name == tool && others.contains(&self.tool))
    }

    /// The command line, of a tool that runs one.
    pub(crate) fn command(&self) -> Option<String> {
        match self.input.get("command").or_else(|| self.input.get("cmd"))? {
            Value::String(line) => Some(line.clone()),
            // Some vendors give words; a shell's own words are what it is asked to run.
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                match words.as_slice() {
                    ["bash" | "sh" | "zsh" | "/bin/bash" | "/bin/sh", flag, line, ..]
                        if flag.starts_with('-') && flag.ends_with('c') =>
                    {
                        Some((*line).to_owned())
                    }
                    _ => Some(words.join(" ")),
                }
            }
            _ => None,
        }
    }

    /// The files it names.
    pub(crate) fn paths(&self) -> Vec<&str> {
        const FIELDS: [&str; 6] =
            ["file_path", "path", "notebook_path", "absolute_path", "filePath", "target_file"];
        FIELDS.iter().filter_map(|field| self.input.get(field)?.as_str()).collect()
    }

    /// The host it reaches.
    pub(super) fn host(&self) -> Option<&str> {
        let rest = self.input.get("url")?.as_str()?;
        let rest = rest.split_once("://").map_or(rest, |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#', '\\']).next()?;
        let host = authority.rsplit('@').next()?;
        Some(host.split(':').next().unwrap_or(host))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_host_is_what_is_connected_to() {
        for (url, host) in [
            ("https://example.com/a", "example.com"),
            ("https://example.com:8443", "example.com"),
            ("https://example.com@evil.test/", "evil.test"),
            ("example.com/x", "example.com"),
            ("http://evil.test\\@example.com", "evil.test"),
        ] {
            let input = json!({ "url": url });
            assert_eq!(Call { tool: "WebFetch", input: &input, cwd: None, home: None }.host(), Some(host));
        }
    }

    #[test]
    fn words_given_to_a_shell_are_its_command_line() {
        for (words, line) in
            [(json!(["bash", "-lc", "git push"]), "git push"), (json!(["git", "push"]), "git push")]
        {
            let input = json!({ "command": words });
            let call = Call { tool: "shell", input: &input, cwd: None, home: None };
            assert_eq!(call.command().as_deref(), Some(line));
            assert!(call.is_of("Bash"));
        }
    }
}
