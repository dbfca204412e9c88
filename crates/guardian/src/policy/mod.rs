//! Policy: rules that say of a call whether it may be made.
//!
//! Owns: reading a policy so that a wrong one is refused with the place that is wrong, and the ruling on a call: by its
//! words (`match`), and by what it would do (`effect`), whichever tool does it. Refuses: files and clocks; whoever loads a
//! policy keeps the last good one. What users read of this is docs/guardian.md.

mod asking;
mod call;
mod certainty;
mod commands;
mod condition;
mod describe;
mod examples;
mod findings;
mod glob;
mod judge;
mod limits;
mod lint;
mod matching;
mod one_or_many;
mod packs;
mod pattern;
mod place;
mod rule;
mod scene;
mod settings;
mod suggest;
mod target;
mod words;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use asking::{Asking, Unanswered, Unwatched};
pub use call::Call;
pub use certainty::Certainty;
pub use condition::{Condition, ConditionError};
pub use describe::described;
pub use findings::{Fate, Finding};
pub(crate) use glob::{is_like, resolved};
pub use judge::Explanation;
pub(crate) use judge::is_covered;
pub use packs::Pack;
pub use pattern::{Pattern, PatternError};
pub use rule::{Examples, Rule, RuleError};
pub use scene::{Reach, Scene, Walls};
pub use settings::{Access, Acl, Listed};
pub use words::{Boundary, ChangeWord, CodeWord, DataWord, Kind, Override, Switch, TrafficWord};

/// How much a policy may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Rulings are written down and nobody is held up.
    Observe,
    /// What a rule refuses is refused; what no rule names is left to the agent.
    #[default]
    Guard,
    /// What no rule allows is asked about, and what nobody can say is refused.
    Enforce,
}

/// A policy as a person writes it. None at all is a good one: the packs hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// How much it may do.
    #[serde(default)]
    pub mode: Mode,
    /// Packs that are switched off.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub packs: BTreeMap<String, Switch>,
    /// What shipped rules say instead, by name.
    #[serde(default, rename = "override", skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, Override>,
    /// What belongs to a place beside what is shipped, and places of its own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<String, Vec<String>>,
    /// Directories that are given or kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acl: Vec<Acl>,
    /// Packages that may be installed; others ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packages: Option<Listed>,
    /// Hosts that may be reached; others ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress: Option<Listed>,
    /// How a person is asked.
    #[serde(default, skip_serializing_if = "Asking::is_default")]
    pub approval: Asking,
    /// Its rules.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
}

/// What is wrong with a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A rule.
    #[error("rule {place} (`{name}`): {error}")]
    Rule {
        /// Which rule, from 1.
        place: usize,
        /// Its name.
        name: String,
        /// What is wrong with it.
        error: RuleError,
    },
    /// A pack that does not exist.
    #[error("`[packs]`: there is no pack `{0}`; there are {1}")]
    Pack(String, String),
    /// A rule that does not exist.
    #[error("`[override]`: no shipped rule is called `{0}`; `belljar guardian rules` lists them")]
    Override(String),
    /// A directory.
    #[error("`[[acl]]`: {0}")]
    Acl(String),
}

impl Policy {
    /// Makes sure that every rule can be read and says of its examples what it promises.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), PolicyError> {
        let places = self.all_places();
        for (place, rule) in (1..).zip(&self.rules) {
            let names: Vec<&str> = places.names().collect();
            let checked = rule.check(&names).and_then(|()| examples::check(rule, &places));
            checked.map_err(|error| PolicyError::Rule { place, name: rule.name.clone(), error })?;
        }
        if let Some(name) =
            self.packs.keys().find(|name| !Self::packs().iter().any(|pack| pack.name == **name))
        {
            let there: Vec<&str> = Self::packs().iter().map(|pack| pack.name).collect();
            return Err(PolicyError::Pack(name.clone(), there.join(", ")));
        }
        let is_shipped =
            |name: &&String| Self::packs().iter().any(|p| p.rules.iter().any(|r| r.name == **name));
        if let Some(name) = self.overrides.keys().find(|name| !is_shipped(name)) {
            return Err(PolicyError::Override(name.clone()));
        }
        match self.acl.iter().find_map(Acl::fault) {
            Some(fault) => Err(PolicyError::Acl(fault)),
            None => Ok(()),
        }
    }

    /// The packs that are shipped.
    #[must_use]
    pub fn packs() -> &'static [Pack] {
        &packs::shipped().packs
    }

    /// Makes sure that what is shipped says of its examples what it promises: each rule that does not, with its pack.
    #[must_use]
    pub fn check_packs() -> Vec<(&'static str, String, RuleError)> {
        let shipped = packs::shipped();
        let of_packs =
            shipped.packs.iter().flat_map(|pack| pack.rules.iter().map(move |rule| (pack.name, rule)));
        let all = of_packs.chain(shipped.ordinary.iter().map(|rule| ("ordinary", rule)));
        let names: Vec<&str> = shipped.places.names().collect();
        all.filter_map(|(pack, rule)| {
            let checked = rule.check(&names).and_then(|()| examples::check(rule, &shipped.places));
            checked.err().map(|error| (pack, rule.name.clone(), error))
        })
        .collect()
    }
}

#[cfg(test)]
mod tests;
