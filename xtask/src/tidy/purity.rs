//! Gate: pure crates touch nothing. Facts, time and randomness come in as data.
//!
//! Three independent locks: what they may depend on, what clippy is told to refuse, and what their text says.

use super::{
    finding::{Finding, Gate},
    lexer::{Source, Token},
    packages::{Kind, Package, short},
    scope,
};

/// The pure crates and the published crates each may use.
const PURE: [(&str, &[&str]); 4] = [
    ("domain", &["serde", "serde_json", "thiserror", "uuid"]),
    ("guardian", &["aho-corasick", "hmac", "serde", "serde_json", "sha2", "thiserror", "toml", "uuid"]),
    (
        "quality",
        &[
            "serde",
            "serde_json",
            "similar",
            "toml",
            "tree-sitter",
            "tree-sitter-go",
            "tree-sitter-java",
            "tree-sitter-javascript",
            "tree-sitter-python",
            "tree-sitter-rust",
            "tree-sitter-typescript",
        ],
    ),
    ("capture", &["hmac", "serde", "serde_json", "sha2", "thiserror", "uuid"]),
];

/// Parts of the standard library that reach the world. For address types there is `core::net`.
const WORLD: [&str; 4] = ["fs", "net", "process", "env"];
/// Calls that read a clock or roll dice, by type and function.
const UNREPEATABLE: [(&str, &str); 4] =
    [("SystemTime", "now"), ("Instant", "now"), ("Uuid", "now_v7"), ("Uuid", "new_v4")];
/// What the clippy.toml of a pure crate must refuse at least.
const REFUSED_BY_CLIPPY: [&str; 9] = [
    "disallowed-methods",
    "disallowed-types",
    "std::fs::read",
    "std::fs::File",
    "std::env::var",
    "std::process::Command",
    "std::net::TcpStream",
    "std::time::SystemTime::now",
    "std::time::Instant::now",
];

/// Judges what the pure crates depend on. Tests may use more.
pub(crate) fn dependencies(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let Some((name, allowed)) = PURE.iter().find(|(name, _)| *name == short(&package.name)) else {
            continue;
        };
        let used = package.dependencies.iter().filter(|used| !used.is_ours() && used.kind() != Kind::Dev);
        for used in used.filter(|used| !allowed.contains(&used.name.as_str())) {
            let message = format!("pure crate `{name}` must not use `{}`; it may use {allowed:?}", used.name);
            findings.push(Finding::error(Gate::Purity, &package.manifest, message));
        }
    }
    findings
}

/// Judges that each pure crate has both of its locks: `forbid(unsafe_code)` and its own clippy.toml.
pub(crate) fn locks<'t>(packages: &[Package], read: impl Fn(&str) -> Option<&'t str>) -> Vec<Finding> {
    let pure = packages.iter().filter(|package| PURE.iter().any(|(name, _)| *name == short(&package.name)));
    pure.flat_map(|package| {
        let root = format!("{}src/lib.rs", package.folder());
        let clippy = format!("{}clippy.toml", package.folder());
        let of_root = root_objection(read(&root).unwrap_or_default());
        let of_clippy = clippy_objection(read(&clippy).unwrap_or_default());
        let found = [(root, of_root), (clippy, of_clippy)].into_iter();
        found.filter_map(|(path, says)| says.map(|says| Finding::error(Gate::Purity, &path, says)))
    })
    .collect()
}

fn root_objection(text: &str) -> Option<String> {
    let source = Source::parse(text);
    let code: String = source.tokens().iter().map(|token| token.text).collect();
    let is_locked = code.contains("#![forbid(unsafe_code");
    (!is_locked).then(|| "a pure crate opens with `#![forbid(unsafe_code)]`".to_owned())
}

fn clippy_objection(text: &str) -> Option<String> {
    let rules: Vec<&str> = text.lines().map(|line| line.split('#').next().unwrap_or_default()).collect();
    let is_told = |entry: &str| {
        let quoted = format!("\"{entry}\"");
        rules.iter().any(|rule| rule.contains(&quoted) || rule.trim_start().starts_with(entry))
    };
    let silent: Vec<&str> = REFUSED_BY_CLIPPY.into_iter().filter(|entry| !is_told(entry)).collect();
    (!silent.is_empty()).then(|| format!("a pure crate's clippy.toml must also list {}", silent.join(", ")))
}

/// Judges the text of one file of a pure crate, test code aside.
pub(crate) fn text(path: &str, text: &str) -> Vec<Finding> {
    let is_pure = PURE.iter().any(|(name, _)| path.starts_with(&format!("crates/{name}/src/")));
    if !is_pure || !scope::is_rust(path) || scope::is_test_file(path) {
        return Vec::new();
    }
    let source = Source::parse(text);
    let tests = scope::test_regions(&source);
    let tokens: Vec<Token<'_>> = source
        .tokens()
        .into_iter()
        .filter(|token| !tests.iter().any(|lines| lines.contains(&token.line)))
        .collect();
    let mut found: Vec<(usize, String)> = mentions(&tokens)
        .into_iter()
        .filter_map(|(line, words)| worldly(&words).map(|what| (line, what)))
        .collect();
    found.dedup();
    let says = |what| format!("`{what}` in a pure crate; take what it would tell as data");
    found.into_iter().map(|(line, what)| Finding::error(Gate::Purity, path, says(what)).at(line)).collect()
}

/// What of the world a path reaches for, if anything.
fn worldly(path: &[&str]) -> Option<String> {
    match path {
        ["std", module, ..] if WORLD.contains(module) => return Some(format!("std::{module}")),
        // Another name for the whole library would hide every later use of it.
        ["std", "self" | "*"] | ["std"] => return Some(path.join("::")),
        _ => {}
    }
    if path.contains(&"tokio") {
        return Some("tokio".to_owned());
    }
    let calls = path.windows(2).find(|pair| UNREPEATABLE.iter().any(|(a, b)| *pair == [*a, *b]));
    calls.map(|pair| pair.join("::"))
}

/// Every path in the code with its line, `use` trees spelled out.
fn mentions<'s>(tokens: &[Token<'s>]) -> Vec<(usize, Vec<&'s str>)> {
    let mut found = Vec::new();
    let mut rest = tokens;
    while let [first, following @ ..] = rest {
        rest = match first.text {
            "use" if following.first().is_none_or(|next| next.text != "<") => {
                use_tree(following, &[], &mut found)
            }
            "crate" if following.first().is_some_and(|next| next.text == "std") => {
                use_tree(following, &[], &mut found)
            }
            "::" => following,
            _ => plain_path(rest, &mut found),
        };
    }
    found
}

/// One path outside of `use`; a lone word counts too, so that a bare `tokio` is seen.
fn plain_path<'t, 's>(tokens: &'t [Token<'s>], found: &mut Vec<(usize, Vec<&'s str>)>) -> &'t [Token<'s>] {
    let mut words = Vec::new();
    let mut rest = tokens;
    while let [word, following @ ..] = rest {
        words.push(word.text);
        rest = following;
        match following {
            [Token { text: "::", .. }, next, ..] if is_name(next) && is_name(word) => {
                rest = following.get(1..).unwrap_or_default();
            }
            _ => break,
        }
    }
    // A lone `std` outside of `use` is the name of something else.
    if let Some(first) = tokens.first().filter(|_| words != ["std"]) {
        found.push((first.line, words));
    }
    rest
}

fn is_name(token: &Token<'_>) -> bool {
    token.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Spells out one branch of a `use` tree below a prefix, and returns what follows it.
fn use_tree<'t, 's>(
    tokens: &'t [Token<'s>],
    prefix: &[&'s str],
    found: &mut Vec<(usize, Vec<&'s str>)>,
) -> &'t [Token<'s>] {
    let mut path = prefix.to_vec();
    let mut rest = tokens;
    loop {
        match rest {
            [Token { text: "{", .. }, inside @ ..] => {
                rest = inside;
                loop {
                    rest = match rest {
                        [] => return rest,
                        [Token { text: "}", .. }, after @ ..] => return after,
                        [Token { text: ",", .. }, after @ ..] => after,
                        _ => use_tree(rest, &path, found),
                    };
                }
            }
            [Token { text: "::", .. }, after @ ..] => rest = after,
            [word, after @ ..] if is_name(word) || word.text == "*" => {
                path.push(word.text);
                rest = after;
                if after.first().is_none_or(|next| next.text != "::") {
                    found.push((word.line, path));
                    return match after {
                        [Token { text: "as", .. }, _, after @ ..] => after,
                        _ => after,
                    };
                }
            }
            [_, after @ ..] => return after,
            [] => return rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::packages::samples::{package, theirs};
    use super::*;

    const LOCKED: &str = "//! Words.\n#![forbid(unsafe_code)]\n";

    fn full_clippy() -> String {
        REFUSED_BY_CLIPPY.iter().map(|entry| format!("{entry} = \"{entry}\"\n")).collect()
    }

    #[test]
    fn text_that_reaches_for_the_world_is_rejected() {
        for seed in [
            "use std::fs;",
            "use std::{fmt, fs::File};",
            "use std::{\n    fmt,\n    net::{self, TcpStream},\n};",
            "use std::{collections::{BTreeMap, BTreeSet}, process};",
            "fn a() { std::env::var(\"A\"); }",
            "fn a() { ::std::fs::read(\"a\"); }",
            "use ::std::{fs};",
            "use {std::{fmt, fs}};",
            "use std as other;",
            "use std::{self as other};",
            "use std::*;",
            "extern crate std as other;",
            "use tokio::sync::mpsc;",
            "#[tokio::main]\nfn a() {}",
            "fn a() { std::time::SystemTime::now(); }",
            "fn a() { Instant::now() }",
            "fn a() { uuid::Uuid::now_v7() }",
            "#[cfg(not(test))]\nmod a { use std::fs; }",
        ] {
            assert_eq!(text("crates/domain/src/a.rs", seed).len(), 1, "{seed}");
        }
        assert_eq!(text("crates/guardian/src/a/b.rs", "use std::env;").len(), 1);
        let found = text("crates/domain/src/a.rs", "use std::{\n    fmt,\n    fs,\n};");
        assert_eq!(found.first().and_then(|finding| finding.line), Some(3));
    }

    #[test]
    fn text_that_only_speaks_of_the_world_is_accepted() {
        for clean in [
            "// std::fs is not for us\nconst A: &str = \"std::fs::read\";",
            "use std::{fmt, path::Path, time::Duration};",
            "use core::net::IpAddr;",
            "fn a(b: &str) -> impl Fn() + use<'_> { b }",
            "fn now(process: Process, fs: Fs) { process::env(fs) }",
            "mod process;\nuse crate::process::Process;",
            "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n",
        ] {
            assert!(text("crates/domain/src/a.rs", clean).is_empty(), "{clean}");
        }
        assert!(text("crates/store/src/a.rs", "use std::fs;").is_empty(), "not a pure crate");
        assert!(text("crates/domain/src/a/tests.rs", "use std::fs;").is_empty());
    }

    #[test]
    fn a_dependency_on_the_world_is_rejected_except_in_tests() {
        let with =
            |name, kind| package("belljar-domain", vec![theirs("serde", Kind::Normal), theirs(name, kind)]);
        assert_eq!(dependencies(&[with("tokio", Kind::Normal)]).len(), 1);
        assert_eq!(dependencies(&[with("cc", Kind::Build)]).len(), 1);
        assert!(dependencies(&[with("serde_json", Kind::Dev)]).is_empty());
        assert!(dependencies(&[with("uuid", Kind::Normal)]).is_empty());
        assert!(dependencies(&[package("belljar-store", vec![theirs("tokio", Kind::Normal)])]).is_empty());
    }

    fn domain_of<'t>(root: &'t str, clippy: &'t str) -> impl Fn(&str) -> Option<&'t str> {
        move |path| match path {
            "crates/domain/src/lib.rs" => Some(root),
            "crates/domain/clippy.toml" => Some(clippy),
            _ => None,
        }
    }

    #[test]
    fn a_missing_lock_is_rejected() {
        let domain = [package("belljar-domain", Vec::new())];
        let clippy = full_clippy();
        assert!(locks(&domain, domain_of(LOCKED, &clippy)).is_empty());
        assert_eq!(locks(&domain, domain_of("// #![forbid(unsafe_code)]\n", &clippy)).len(), 1);
        assert_eq!(locks(&domain, domain_of(LOCKED, "")).len(), 1);
        assert_eq!(locks(&domain, |_| None).len(), 2);
        let partial = clippy.replace("std::fs::File", "std::fs::Other");
        let found = locks(&domain, domain_of(LOCKED, &partial));
        assert!(found[0].message.ends_with("must also list std::fs::File"), "{found:?}");
        let commented = clippy.replace("std::fs::File", "# std::fs::File");
        assert_eq!(locks(&domain, domain_of(LOCKED, &commented)).len(), 1);
        assert!(locks(&[package("belljar-store", Vec::new())], |_| None).is_empty());
    }
}
