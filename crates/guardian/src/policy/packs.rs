//! The packs that are shipped: rules and places, written as TOML in `policies/` and carried in the binary.
//!
//! Owns: which there are, and reading them once. Refuses: to be wrong quietly; a test reads them all and checks every
//! example, so what is carried can be read.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{place::Places, rule::Rule};

/// A pack of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pack {
    /// Its name, as `[packs]` of a policy says it.
    pub name: &'static str,
    /// Its rules.
    pub rules: Vec<Rule>,
}

/// Everything that is shipped.
#[derive(Debug)]
pub(super) struct Shipped {
    pub(super) packs: Vec<Pack>,
    /// What is ordinary: allowed where everything else has to be.
    pub(super) ordinary: Vec<Rule>,
    pub(super) places: Places,
}

/// A pack as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default, rename = "rule")]
    rules: Vec<Rule>,
    #[serde(default)]
    places: std::collections::BTreeMap<String, Vec<String>>,
}

macro_rules! policy {
    ($name:literal) => {
        ($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../policies/", $name, ".toml")))
    };
}

const PACKS: [(&str, &str); 9] = [
    policy!("files"),
    policy!("machine"),
    policy!("git"),
    policy!("secrets"),
    policy!("network"),
    policy!("packages"),
    policy!("cloud-and-database"),
    policy!("persistence"),
    policy!("guard"),
];
const PLACES: (&str, &str) = policy!("places");
const ORDINARY: (&str, &str) = policy!("ordinary");

/// Reads a pack.
fn read((name, text): (&'static str, &str)) -> Result<(&'static str, Written), String> {
    toml::from_str(text).map(|written| (name, written)).map_err(|error| format!("{name}.toml: {error}"))
}

fn read_all() -> Result<Shipped, String> {
    let packs = PACKS.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let packs = packs.into_iter().map(|(name, written)| Pack { name, rules: written.rules }).collect();
    let mut places = Places::default();
    for (name, patterns) in &read(PLACES)?.1.places {
        places.extend(name, patterns.iter().map(String::as_str));
    }
    Ok(Shipped { packs, ordinary: read(ORDINARY)?.1.rules, places })
}

/// What is shipped, read once.
pub(super) fn shipped() -> &'static Shipped {
    static SHIPPED: LazyLock<Shipped> = LazyLock::new(|| {
        // The text is part of the binary and a test reads it; if it were wrong, nothing may pass for allowed.
        read_all().unwrap_or_else(|_wrong| Shipped {
            packs: vec![Pack { name: "files", rules: vec![closed()] }],
            ordinary: Vec::new(),
            places: Places::default(),
        })
    });
    &SHIPPED
}

/// The rule that is left when none can be read: everything is asked about.
fn closed() -> Rule {
    Rule {
        name: "unreadable-packs".to_owned(),
        patterns: vec!["*".to_owned()],
        effect: Vec::new(),
        verdict: belljar_domain::Verdict::Ask,
        perhaps: None,
        risk: None,
        reason: Some("The rules that are shipped cannot be read.".to_owned()),
        instead: None,
        contained: None,
        despite: Vec::new(),
        tags: Vec::new(),
        examples: super::Examples::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shipped_can_be_read() {
        assert_eq!(read_all().map(|shipped| shipped.packs.len()), Ok(PACKS.len()));
    }
}
