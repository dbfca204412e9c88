//! Gate: every module opens by saying what it owns.

use super::{
    finding::{Finding, Gate},
    scope,
};

/// Fewer words than this name nothing.
const FEWEST_WORDS: usize = 3;

/// Judges one file.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !is_module(path) {
        return Vec::new();
    }
    let says = match text.lines().next().and_then(|first| first.strip_prefix("//!")) {
        None => "does not open with `//!`; say on the first line what this module owns",
        Some(opening) if opening.split_whitespace().count() < FEWEST_WORDS => {
            "opens with `//!` but says nothing; name what this module owns"
        }
        Some(_) => return Vec::new(),
    };
    vec![Finding::error(Gate::Header, path, says).at(1)]
}

/// Sources of crates and of xtask.
fn is_module(path: &str) -> bool {
    let is_source = path.starts_with("xtask/src/") || (path.starts_with("crates/") && path.contains("/src/"));
    is_source && scope::is_rust(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_does_not_introduce_itself_is_rejected() {
        for seed in
            ["fn main() {}", "\n//! Late words are no opening.", "// A plain comment here.", "//! x", ""]
        {
            assert_eq!(check("crates/a/src/lib.rs", seed).len(), 1, "{seed:?}");
        }
        assert_eq!(check("crates/jail/init/src/main.rs", "fn main() {}").len(), 1);
        assert_eq!(check("xtask/src/tidy/mod.rs", "fn main() {}").len(), 1);
    }

    #[test]
    fn introduced_modules_and_other_files_are_accepted() {
        assert!(check("crates/a/src/b.rs", "//! How much network a sandbox has.\n").is_empty());
        assert!(check("crates/a/build.rs", "fn main() {}").is_empty());
        assert!(check("crates/a/src/schema.sql", "select 1").is_empty());
    }
}
