//! The name of a project, to which everything made under it belongs.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The most characters of a name.
const LONGEST: usize = 63;

/// The tenant, by its name: small letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProjectId(String);

/// Why a text is not the name of a project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` cannot name a project; use up to {LONGEST} small letters, digits, `-` and `_`, a letter or digit first"
)]
pub struct ProjectIdError(String);

impl ProjectId {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The project of those who have not made one.
impl Default for ProjectId {
    fn default() -> Self {
        Self("default".to_owned())
    }
}

impl FromStr for ProjectId {
    type Err = ProjectIdError;

    fn from_str(text: &str) -> Result<Self, ProjectIdError> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let begins = text.bytes().next().is_some_and(plain);
        let is_name =
            begins && text.len() <= LONGEST && text.bytes().all(|byte| plain(byte) || b"-_".contains(&byte));
        is_name.then(|| Self(text.to_owned())).ok_or_else(|| ProjectIdError(text.chars().take(80).collect()))
    }
}

impl TryFrom<String> for ProjectId {
    type Error = ProjectIdError;

    fn try_from(text: String) -> Result<Self, ProjectIdError> {
        text.parse()
    }
}

impl From<ProjectId> for String {
    fn from(project: ProjectId) -> Self {
        project.0
    }
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_words() {
        for text in ["default", "team-7", "0x", "a_b"] {
            assert_eq!(text.parse::<ProjectId>().unwrap().as_str(), text);
        }
        for text in ["", "-a", "Team", "a/b", "a b", &"a".repeat(64)] {
            assert!(text.parse::<ProjectId>().is_err(), "{text}");
        }
    }
}
