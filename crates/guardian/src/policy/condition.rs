//! Which effects a rule is about: `{ kind = "delete", outside = ["workspace", "temp"], deep = true }`.
//!
//! Owns: the condition as a person writes it, and whether it can be met at all. All that is said must hold; of a list any
//! one, save that of `outside` all. Refuses: verdicts.

use serde::{Deserialize, Serialize};

use super::{
    one_or_many,
    words::{ChangeWord, CodeWord, DataWord, Kind, TrafficWord},
};

/// What an effect must be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Condition {
    /// What is done.
    #[serde(with = "one_or_many")]
    pub kind: Vec<Kind>,
    /// The path is in one of these places.
    #[serde(with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
    /// The path is in none of these places.
    #[serde(with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// The path is a directory that holds one of these places, or the place itself.
    #[serde(with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<String>,
    /// The path is one of these, in the syntax of Claude Code's rules; `!` takes out again.
    #[serde(with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// All below the path too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deep: Option<bool>,
    /// Only some of what is below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filtered: Option<bool>,
    /// What happens to what was in a file.
    #[serde(with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<ChangeWord>,
    /// What permissions or owners become.
    #[serde(with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub mode: Vec<String>,
    /// Which way traffic goes.
    #[serde(with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<TrafficWord>,
    /// The host it goes to; `!` takes out again.
    #[serde(with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub host: Vec<String>,
    /// What is sent along.
    #[serde(with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<DataWord>,
    /// Which code is run.
    #[serde(with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<CodeWord>,
    /// What is done, in its own words: `push --force*`, `terraform destroy`, `sudo`; `!` takes out again.
    #[serde(with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub operation: Vec<String>,
    /// The branch or remote.
    #[serde(with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub target: Vec<String>,
    /// The program or tool that does it.
    #[serde(with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// Names of packages.
    #[serde(with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub package: Vec<String>,
    /// Work or history can be lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loses: Option<bool>,
    /// Something is destroyed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destroys: Option<bool>,
    /// For the whole machine or user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global: Option<bool>,
    /// From a source of its own instead of the usual registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign: Option<bool>,
    /// The processes are the command's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<bool>,
}

/// Why a condition can never be met.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// It says no kind.
    #[error("its effect has no `kind`; say what is done, such as `kind = \"delete\"`")]
    Kindless,
    /// A part of it is about other kinds.
    #[error("`{part}` says nothing about {kinds}; it is for {belongs}")]
    Misplaced {
        /// The part.
        part: &'static str,
        /// What the condition is about.
        kinds: String,
        /// What the part is about.
        belongs: String,
    },
    /// There is no such place.
    #[error("there is no place `{0}`; there are {1}, and what `[places]` names")]
    Place(String, String),
}

impl Condition {
    /// Makes sure that it can be met.
    pub(super) fn check(&self, places: &[&str]) -> Result<(), ConditionError> {
        if self.kind.is_empty() {
            return Err(ConditionError::Kindless);
        }
        for (part, is_said, belongs) in self.parts() {
            if is_said && !self.kind.iter().all(|kind| belongs.contains(kind)) {
                return Err(ConditionError::Misplaced {
                    part,
                    kinds: listed(&self.kind),
                    belongs: listed(belongs),
                });
            }
        }
        let named = self.within.iter().chain(&self.outside).chain(&self.covers);
        match named.into_iter().find(|name| !places.contains(&name.as_str())) {
            Some(name) => Err(ConditionError::Place(name.clone(), places.join(", "))),
            None => Ok(()),
        }
    }

    /// What it says, and about which kinds that can be said.
    fn parts(&self) -> [(&'static str, bool, &'static [Kind]); 18] {
        use Kind::{
            Database, Delete, Disk, Git, Infrastructure, Look, Network, Package, Permit, Persist, Power,
            Privilege, Read, Reveal, Run, Signal, Spawn, Tamper, Tool, Unknown, Write,
        };
        const PATHS: &[Kind] = &[Read, Look, Write, Delete, Permit, Disk, Run];
        const WORDS: &[Kind] = &[
            Reveal,
            Signal,
            Power,
            Privilege,
            Run,
            Persist,
            Git,
            Infrastructure,
            Database,
            Package,
            Spawn,
            Tool,
            Tamper,
            Unknown,
        ];
        [
            ("within", !self.within.is_empty(), PATHS),
            ("outside", !self.outside.is_empty(), PATHS),
            ("covers", !self.covers.is_empty(), PATHS),
            ("path", !self.path.is_empty(), PATHS),
            ("deep", self.deep.is_some(), &[Read, Delete, Permit]),
            ("filtered", self.filtered.is_some(), &[Delete]),
            ("change", !self.change.is_empty(), &[Write]),
            ("mode", !self.mode.is_empty(), &[Permit]),
            ("traffic", !self.traffic.is_empty(), &[Network]),
            ("host", !self.host.is_empty(), &[Network]),
            ("data", !self.data.is_empty(), &[Network]),
            ("code", !self.code.is_empty(), &[Run]),
            ("operation", !self.operation.is_empty(), WORDS),
            ("target", !self.target.is_empty(), &[Git]),
            ("package", !self.package.is_empty(), &[Package]),
            ("loses", self.loses.is_some(), &[Git]),
            ("destroys", self.destroys.is_some(), &[Infrastructure, Database]),
            ("global", self.global.is_some() || self.foreign.is_some(), &[Package]),
        ]
    }
}

fn listed(kinds: &[Kind]) -> String {
    let words = kinds.iter().map(|kind| format!("{kind:?}").to_lowercase());
    words.collect::<Vec<_>>().join(", ")
}
