//! Which program is speaking: the vendors whose hooks are understood, and any other by its name.

use std::{convert::Infallible, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The longest name of a program we do not know.
const MAX_NAME: usize = 64;

/// The program whose hook this is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Agent {
    /// Claude Code, and whatever is built with its SDK.
    ClaudeCode,
    /// The Codex command line.
    Codex,
    /// The Gemini command line.
    Gemini,
    /// Cursor.
    Cursor,
    /// opencode, through belljar's plugin.
    OpenCode,
    /// Some other program; its payload is read as Claude Code's, the shape others copy.
    Unknown(String),
}

impl Agent {
    /// Every vendor that is understood.
    pub const KNOWN: [Self; 5] = [Self::ClaudeCode, Self::Codex, Self::Gemini, Self::Cursor, Self::OpenCode];

    /// The name, as flags, addresses and records have it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::OpenCode => "opencode",
            Self::Unknown(name) => name,
        }
    }
}

impl From<&str> for Agent {
    fn from(text: &str) -> Self {
        let plain = text.trim().to_ascii_lowercase();
        match plain.as_str() {
            "claude-code" | "claude" | "claude_code" => Self::ClaudeCode,
            "codex" | "codex-cli" => Self::Codex,
            "gemini" | "gemini-cli" => Self::Gemini,
            "cursor" | "cursor-agent" => Self::Cursor,
            "opencode" => Self::OpenCode,
            other => Self::Unknown(tame(other)),
        }
    }
}

/// A name that can stand in an address: whoever chose it may mean harm.
fn tame(name: &str) -> String {
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' });
    let tamed: String = letters.take(MAX_NAME).collect();
    // Dots alone would be a way up.
    if tamed.chars().all(|c| c == '.') { "unknown".to_owned() } else { tamed }
}

impl FromStr for Agent {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::from(text))
    }
}

impl From<String> for Agent {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Agent> for String {
    fn from(agent: Agent) -> Self {
        agent.as_str().to_owned()
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_their_text() {
        for agent in Agent::KNOWN {
            assert_eq!(Agent::from(agent.as_str()), agent);
        }
        assert_eq!(Agent::from(" Claude "), Agent::ClaudeCode);
        assert_eq!(Agent::from("aider"), Agent::Unknown("aider".to_owned()));
    }

    #[test]
    fn a_name_cannot_lead_anywhere() {
        for (wild, tame) in [
            ("../../keys", "..-..-keys"),
            ("..", "unknown"),
            ("", "unknown"),
            ("a b\r\nX: y", "a-b--x--y"),
            ("ünï", "-n-"),
        ] {
            assert_eq!(Agent::from(wild).as_str(), tame);
        }
        assert_eq!(Agent::from("x".repeat(1000).as_str()).as_str().len(), MAX_NAME);
    }
}
