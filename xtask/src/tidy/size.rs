//! Gate: a file is read in one sitting. Test code does not count.

use super::{
    finding::{Finding, Gate},
    lexer::Source,
    scope,
};

/// Beyond this a file should be split soon.
const SOFT_LIMIT: usize = 400;
/// Beyond this it must be.
const HARD_LIMIT: usize = 600;

/// Files that may be longer, each with the reason. Uniform catalogues qualify, logic does not.
const EXCEPTIONS: [(&str, &str); 0] = [];

/// Judges one file.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    check_with(path, text, &EXCEPTIONS)
}

fn check_with(path: &str, text: &str, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let is_exempt = exceptions.iter().any(|(exempt, _)| *exempt == path);
    if !scope::is_rust(path) || scope::is_test_file(path) || is_exempt {
        return Vec::new();
    }
    let source = Source::parse(text);
    let tests: usize = scope::test_regions(&source).into_iter().map(Iterator::count).sum();
    match source.line_count().saturating_sub(tests) {
        lines if lines > HARD_LIMIT => {
            let message =
                format!("{lines} lines without tests, the limit is {HARD_LIMIT}; split it by subject");
            vec![Finding::error(Gate::Size, path, message)]
        }
        lines if lines > SOFT_LIMIT => {
            let message = format!("{lines} lines without tests; beyond {SOFT_LIMIT} look for a seam");
            vec![Finding::warning(Gate::Size, path, message)]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    fn level(path: &str, text: &str) -> Option<Level> {
        check(path, text).first().map(|finding| finding.level)
    }

    #[test]
    fn long_files_are_rejected_and_longish_ones_noted() {
        assert_eq!(level("crates/a/src/b.rs", &"fn a() {}\n".repeat(601)), Some(Level::Error));
        assert_eq!(level("crates/a/src/b.rs", &"fn a() {}\n".repeat(600)), Some(Level::Warning));
        assert_eq!(level("crates/a/src/b.rs", &"fn a() {}\n".repeat(400)), None);
    }

    #[test]
    fn tests_do_not_count() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "fn a() {}\n".repeat(900));
        assert_eq!(level("crates/a/src/b.rs", &format!("fn a() {{}}\n{tests}")), None);
        assert_eq!(level("crates/a/tests/b.rs", &"fn a() {}\n".repeat(900)), None);
        assert_eq!(level("docs/long.md", &"words\n".repeat(900)), None);
    }

    #[test]
    fn an_exception_is_honoured() {
        let long = "fn a() {}\n".repeat(900);
        assert!(check_with("crates/a/src/b.rs", &long, &[("crates/a/src/b.rs", "a catalogue")]).is_empty());
        assert!(!check_with("crates/a/src/c.rs", &long, &[("crates/a/src/b.rs", "a catalogue")]).is_empty());
    }
}
