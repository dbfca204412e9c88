//! Gate: nothing half-done is kept. What is not finished is an issue, not a mark in the code.

use super::{
    finding::{Finding, Gate},
    lexer::{self, Source, Token},
    scope,
};

/// Macros that stand for code not written, or forgotten from a search for a bug.
const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];
/// Words that mark a place as unfinished.
const MARKS: [&str; 2] = ["FIXME", "XXX"];
/// Text files besides Rust in which the marks are looked for. Prose may quote them.
const SCRIPTS: [&str; 12] =
    [".toml", ".sh", ".yml", ".yaml", ".py", ".ts", ".js", ".vue", ".css", ".html", ".sql", ".proto"];

/// Judges one file.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    let said = |line, what: String| Finding::error(Gate::Unfinished, path, what).at(line);
    if SCRIPTS.iter().any(|ending| path.ends_with(ending)) {
        let lines = text.lines().enumerate();
        return lines.filter_map(|(at, line)| mark_in(line).map(|mark| said(at + 1, left(mark)))).collect();
    }
    if !scope::is_rust(path) {
        return Vec::new();
    }
    let source = Source::parse(text);
    let tokens = source.tokens();
    let marks = (1..=source.line_count())
        .filter_map(|line| mark_in(source.comment(line)).map(|mark| said(line, left(mark))));
    let macros = tokens.windows(2).filter_map(|pair| match pair {
        [name, Token { text: "!", .. }] if MACROS.contains(&name.text) => {
            Some(said(name.line, format!("`{}!` is not for keeping", name.text)))
        }
        _ => None,
    });
    let ignored = ignored_tests(&tokens).into_iter().map(|line| {
        said(line, "a test that cannot run must say so and fail; `#[ignore]` hides it".to_owned())
    });
    marks.chain(macros).chain(ignored).collect()
}

fn left(mark: &str) -> String {
    format!("`{mark}` left behind; finish it, or open an issue and say why in a sentence")
}

/// A mark standing as a word of its own, so that `mktemp -t XXXXXX` is none.
fn mark_in(line: &str) -> Option<&'static str> {
    let mut words = line.split(|c| !lexer::is_word(c));
    words.find_map(|word| MARKS.into_iter().find(|mark| *mark == word))
}

/// Lines of attributes that name `ignore`, also through `cfg_attr`.
fn ignored_tests(tokens: &[Token<'_>]) -> Vec<usize> {
    let mut lines = Vec::new();
    let mut depth = 0_usize;
    let mut before = "";
    for token in tokens {
        depth = match (depth, before, token.text) {
            (0, "#" | "!", "[") => 1,
            (0, _, _) => 0,
            (depth, _, "[") => depth + 1,
            (depth, _, "]") => depth - 1,
            (depth, _, _) => depth,
        };
        if depth > 0 && token.text == "ignore" && matches!(before, "[" | ",") {
            lines.push(token.line);
        }
        before = token.text;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_rejected() {
        for seed in [
            "fn a() { todo!() }",
            "fn a() { unimplemented!(\"later\") }",
            "fn a() { dbg!(1); }",
            "// FIXME: later",
            "/* XXX */",
            "#[test]\n#[ignore]\nfn a() {}",
            "#[ignore = \"slow\"]\nfn a() {}",
            "#[cfg_attr(not(unix), ignore)]\nfn a() {}",
        ] {
            assert_eq!(check("crates/a/src/b.rs", seed).len(), 1, "{seed}");
            assert_eq!(check("crates/a/tests/b.rs", seed).len(), 1, "{seed}");
        }
        assert_eq!(check("deploy/unit.sh", "a\n# FIXME\n").first().and_then(|f| f.line), Some(2));
    }

    #[test]
    fn the_same_letters_elsewhere_are_accepted() {
        for clean in [
            "const A: &str = \"FIXME todo!( #[ignore\";",
            "fn todo() { dbg.print(); ignore(a[0], ignore) }",
            "#[arg(ignore_case = true)]\nfn a() {}",
            "#[serde(rename = \"ignore\")]\nfn a() {}",
            "// takes mktemp's XXXXXX",
        ] {
            assert!(check("crates/a/src/b.rs", clean).is_empty(), "{clean}");
        }
        assert!(check("deploy/unit.sh", "mktemp -t belljar.XXXXXX").is_empty());
        assert!(check("CONTRIBUTING.md", "no FIXME").is_empty());
    }
}
