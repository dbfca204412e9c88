//! Gate: a crate is named after its subject. Names without one collect whatever is homeless.

use super::{
    finding::{Finding, Gate},
    packages::{Package, short},
};

/// Names that could hold anything, and so come to hold everything.
const REFUSED: [&str; 9] =
    ["core", "common", "util", "utils", "helper", "helpers", "manager", "misc", "shared"];

/// Judges the name of every crate.
pub(crate) fn check(packages: &[Package]) -> Vec<Finding> {
    let named = packages.iter().filter_map(|package| {
        let word = short(&package.name).split(['-', '_']).find(|word| REFUSED.contains(word))?;
        Some((package, word))
    });
    named
        .map(|(package, word)| {
            let message =
                format!("`{}`: a crate called `{word}` has no subject; name what it owns", package.name);
            Finding::error(Gate::Names, &package.manifest, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::packages::samples::package;
    use super::*;

    #[test]
    fn names_without_a_subject_are_rejected() {
        for seed in ["belljar-core", "common", "belljar-utils", "belljar-test-helpers", "belljar_manager"] {
            assert_eq!(check(&[package(seed, Vec::new())]).len(), 1, "{seed}");
        }
    }

    #[test]
    fn names_with_a_subject_are_accepted() {
        for clean in ["belljar", "belljar-domain", "belljar-score", "xtask"] {
            assert!(check(&[package(clean, Vec::new())]).is_empty(), "{clean}");
        }
    }
}
