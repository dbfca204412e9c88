//! Which files and which lines are test code, and which path says what.

use std::ops::RangeInclusive;

use super::lexer::{Source, Token};

/// Words that open an item; after `#[cfg(test)]` only an item is a region of its own.
const ITEM_WORDS: [&str; 15] = [
    "mod",
    "fn",
    "use",
    "impl",
    "struct",
    "enum",
    "const",
    "static",
    "pub",
    "type",
    "trait",
    "extern",
    "async",
    "unsafe",
    "macro_rules",
];

/// Says whether a path is Rust.
pub(crate) fn is_rust(path: &str) -> bool {
    path.ends_with(".rs")
}

/// Says whether a whole file exists for tests: integration tests, benches, `tests.rs` beside a module.
pub(crate) fn is_test_file(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let below_tests = folders.split('/').any(|folder| folder == "tests" || folder == "benches");
    below_tests || name == "tests.rs" || name.ends_with("_tests.rs")
}

/// The lines under `#[cfg(test)]`, each region from its attribute to its closing brace or semicolon.
pub(crate) fn test_regions(source: &Source) -> Vec<RangeInclusive<usize>> {
    let tokens = source.tokens();
    let mut regions: Vec<RangeInclusive<usize>> = Vec::new();
    let mut rest = tokens.as_slice();
    while let [first, following @ ..] = rest {
        rest = match after_test_attribute(rest) {
            Some(item) => {
                let (end, after) = end_of_item(skip_attributes(item), first.line);
                regions.push(first.line..=end);
                after
            }
            None => following,
        };
    }
    if tokens.windows(7).any(|window| words(window) == ["#", "!", "[", "cfg", "(", "test", ")"]) {
        return vec![1..=source.line_count()];
    }
    regions
}

/// What follows `#[cfg(test)]` or `#[cfg(all(test, …))]`, if the tokens begin with it.
fn after_test_attribute<'t, 's>(tokens: &'t [Token<'s>]) -> Option<&'t [Token<'s>]> {
    tokens.first().filter(|token| token.text == "#")?;
    let opening = words(tokens.get(..7).unwrap_or(tokens));
    let is_test = opening.starts_with(&["#", "[", "cfg", "(", "test", ")", "]"])
        || opening == ["#", "[", "cfg", "(", "all", "(", "test"];
    let item = is_test.then(|| skip_attributes(tokens))?;
    item.first().filter(|token| ITEM_WORDS.contains(&token.text)).map(|_| item)
}

fn words<'s>(tokens: &[Token<'s>]) -> Vec<&'s str> {
    tokens.iter().map(|token| token.text).collect()
}

fn skip_attributes<'t, 's>(mut tokens: &'t [Token<'s>]) -> &'t [Token<'s>] {
    while let [Token { text: "#", .. }, Token { text: "[", .. }, ..] = tokens {
        let mut depth = 0_usize;
        let closing = tokens.iter().position(|token| {
            depth = match token.text {
                "[" => depth + 1,
                "]" => depth.saturating_sub(1),
                _ => depth,
            };
            token.text == "]" && depth == 0
        });
        tokens = closing.and_then(|at| tokens.get(at + 1..)).unwrap_or_default();
    }
    tokens
}

/// The line an item ends on, and what follows it. An item ends with its outermost `}`, with `;`, or where the
/// block around it ends.
fn end_of_item<'t, 's>(tokens: &'t [Token<'s>], start: usize) -> (usize, &'t [Token<'s>]) {
    let mut depth = 0_usize;
    let mut last = start;
    for (at, token) in tokens.iter().enumerate() {
        last = token.line;
        let ends = match token.text {
            "{" | "(" | "[" => {
                depth += 1;
                false
            }
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                token.text == "}" && depth == 0
            }
            ";" => depth == 0,
            _ => false,
        };
        if ends {
            return (last, tokens.get(at + 1..).unwrap_or_default());
        }
    }
    (last, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions(text: &str) -> Vec<RangeInclusive<usize>> {
        test_regions(&Source::parse(text))
    }

    #[test]
    fn test_modules_and_items_are_regions() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { let c = \"}\"; }\n}\nfn d() {}\n";
        assert_eq!(regions(text), [2..=5]);
        assert_eq!(regions("#[cfg(test)]\nmod tests;\nfn a() {}"), [1..=2]);
        assert_eq!(
            regions("#[cfg(test)]\n#[expect(x)]\nconst A: [u8; 2] =\n    [0; 2];\nfn a() {}"),
            [1..=4]
        );
        assert_eq!(regions("#[cfg(all(test, unix))]\nmod a {\n}\n"), [1..=3]);
        assert_eq!(regions("#![cfg(test)]\nfn a() {}\n"), [1..=2]);
    }

    #[test]
    fn other_code_is_no_region() {
        assert!(regions("#[cfg(not(test))]\nmod a {\n}\n").is_empty());
        assert!(regions("struct A {\n    #[cfg(test)]\n    b: u8,\n    c: u8,\n}\n").is_empty());
        assert!(regions("// #[cfg(test)]\nmod a {\n}\n").is_empty());
    }

    #[test]
    fn test_files_are_known_by_place_and_name() {
        assert!(is_test_file("crates/jail/tests/escape.rs"));
        assert!(is_test_file("crates/jail/src/plan/tests.rs"));
        assert!(is_test_file("crates/jail/src/plan_tests.rs"));
        assert!(!is_test_file("crates/jail/src/tester.rs"));
        assert!(!is_test_file("xtask/src/test.rs"));
    }
}
