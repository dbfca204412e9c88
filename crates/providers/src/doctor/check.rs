//! One finding about the host, and what follows from it.

use belljar_jail::Remedy;
use serde::Serialize;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As it should be.
    Ok,
    /// Sandboxes run, with less than they could have.
    Degraded,
    /// Not to be had.
    Missing,
}

/// What depends on a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// Without it no sandbox runs.
    Needed,
    /// Without it a sandbox promises less.
    Wanted,
    /// Something beside sandboxes uses it, or a later version will.
    Optional,
}

/// A finding.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// What was looked at, as one word for programs.
    pub name: &'static str,
    /// The part of the host it belongs to.
    pub area: &'static str,
    /// How it came out.
    pub status: Status,
    /// What depends on it.
    pub weight: Weight,
    /// What was found.
    pub found: String,
    /// What to do about it, unless all is well.
    pub remedy: Option<Remedy>,
}

impl Check {
    /// All is well.
    pub(super) fn ok(
        area: &'static str,
        name: &'static str,
        weight: Weight,
        found: impl Into<String>,
    ) -> Self {
        Self { name, area, status: Status::Ok, weight, found: found.into(), remedy: None }
    }

    /// Something is not; the remedy comes with [`Check::with`].
    pub(super) fn failed(
        area: &'static str,
        name: &'static str,
        weight: Weight,
        status: Status,
        found: impl Into<String>,
    ) -> Self {
        Self { name, area, status, weight, found: found.into(), remedy: None }
    }

    /// Adds what to do about it.
    pub(super) fn with(self, remedy: impl Into<Option<Remedy>>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }
}
