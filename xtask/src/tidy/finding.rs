//! What a gate has to say about a place in the repository.

use std::fmt;

/// The rules of the repository, by the name a finding carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gate {
    /// Which crate may depend on which.
    Arrows,
    /// Pure crates touch nothing.
    Purity,
    /// Files stay readable in one sitting.
    Size,
    /// Where `unsafe` may be, and what must be said about it.
    Unsafe,
    /// A file opens by saying what it owns.
    Header,
    /// Nothing half-done is kept.
    Unfinished,
    /// Nothing points outside the repository.
    Paths,
    /// No crate without a subject.
    Names,
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arrows => "arrows",
            Self::Purity => "purity",
            Self::Size => "size",
            Self::Unsafe => "unsafe",
            Self::Header => "header",
            Self::Unfinished => "unfinished",
            Self::Paths => "paths",
            Self::Names => "names",
        })
    }
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Told, and the run goes on.
    Warning,
    /// The run fails.
    Error,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) gate: Gate,
    pub(crate) level: Level,
    /// Relative to the repository's root.
    pub(crate) path: String,
    /// Counted from one; none when the whole file is meant.
    pub(crate) line: Option<usize>,
    /// What is wrong and what to do about it.
    pub(crate) message: String,
}

impl Finding {
    /// An error about a whole file.
    pub(crate) fn error(gate: Gate, path: &str, message: impl Into<String>) -> Self {
        Self { gate, level: Level::Error, path: path.to_owned(), line: None, message: message.into() }
    }

    /// A warning about a whole file.
    pub(crate) fn warning(gate: Gate, path: &str, message: impl Into<String>) -> Self {
        Self { level: Level::Warning, ..Self::error(gate, path, message) }
    }

    /// The same finding at a line.
    pub(crate) fn at(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { gate, level, path, line, message } = self;
        match line {
            Some(line) => write!(f, "{level}[{gate}] {path}:{line}: {message}"),
            None => write!(f, "{level}[{gate}] {path}: {message}"),
        }
    }
}
