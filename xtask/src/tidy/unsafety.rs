//! Gate: `unsafe` lives in the jail alone, and each use argues for itself.

use super::{
    finding::{Finding, Gate},
    lexer::{Source, Token},
    scope,
};

/// The only folder whose crates may hold `unsafe`: the jail, its init and its probe.
const HOME: &str = "crates/jail/";
/// Shorter arguments have never named a contract.
const SHORTEST_ARGUMENT: usize = 25;
/// Phrases that claim safety instead of arguing for it.
const BOILERPLATE: [&str; 6] = [
    "valid parameters",
    "parameters are valid",
    "valid arguments",
    "arguments are valid",
    "this is safe",
    "known to be safe",
];

/// Judges one file.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !scope::is_rust(path) {
        return Vec::new();
    }
    let source = Source::parse(text);
    let tokens = source.tokens();
    let uses = tokens.iter().enumerate().filter(|(_, token)| token.text == "unsafe");
    if !path.starts_with(HOME) {
        let message = format!("`unsafe` outside {HOME}; use a safe wrapper, or write one there");
        return uses.map(|(_, token)| Finding::error(Gate::Unsafe, path, &*message).at(token.line)).collect();
    }
    uses.filter(|(at, _)| needs_argument(tokens.get(at + 1)))
        .filter_map(|(_, token)| objection(&argument(&source, token.line)).map(|says| (token.line, says)))
        .map(|(line, says)| Finding::error(Gate::Unsafe, path, says).at(line))
        .collect()
}

/// Blocks and impls promise something; `unsafe fn` asks for a promise and needs none itself.
fn needs_argument(next: Option<&Token<'_>>) -> bool {
    next.is_some_and(|token| token.text == "{" || token.text == "impl")
}

/// The comment directly above the statement that holds this line, as one text.
fn argument(source: &Source, line: usize) -> String {
    let mut above = line.saturating_sub(1);
    while is_continued(source.code(above)) {
        above = above.saturating_sub(1);
    }
    let mut lines = Vec::new();
    while source.code(above).is_empty() && !source.comment(above).is_empty() {
        lines.push(source.comment(above));
        above = above.saturating_sub(1);
    }
    lines.reverse();
    lines.join(" ")
}

/// Says whether a statement that began on this line goes on in the next one.
fn is_continued(code: &str) -> bool {
    !code.is_empty() && !code.ends_with([';', '{', '}', ','])
}

/// What is wrong with an argument; nothing if it stands.
fn objection(comment: &str) -> Option<String> {
    let Some((_, argument)) = comment.split_once("SAFETY:") else {
        return Some("no `// SAFETY:` comment directly above".to_owned());
    };
    let lower = argument.to_lowercase();
    if let Some(phrase) = BOILERPLATE.iter().find(|phrase| lower.contains(*phrase)) {
        return Some(format!("\"{phrase}\" proves nothing: name the call's contract and what upholds it"));
    }
    if argument.trim().chars().count() < SHORTEST_ARGUMENT {
        return Some("the SAFETY comment is too short to name a contract and what upholds it".to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const JAIL: &str = "crates/jail/src/mounts.rs";
    const GOOD: &str = "// SAFETY: `fd` is open: it is borrowed from an OwnedFd that outlives the call.\n";

    fn lines(path: &str, text: &str) -> Vec<Option<usize>> {
        check(path, text).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn unsafe_outside_the_jail_is_rejected_in_every_form() {
        for seed in [
            "fn a() { unsafe { b() } }",
            "unsafe fn a() {}",
            "unsafe impl Send for A {}",
            "#[unsafe(no_mangle)] fn a() {}",
        ] {
            assert_eq!(lines("crates/engine/src/lib.rs", seed), [Some(1)], "{seed}");
            assert_eq!(lines("crates/jailer/src/lib.rs", seed), [Some(1)], "{seed}");
        }
        let argued = format!("{GOOD}unsafe {{ close(fd) }};");
        assert_eq!(lines("crates/engine/src/lib.rs", &argued), [Some(2)], "an argument does not help there");
    }

    #[test]
    fn the_word_in_text_is_no_use() {
        let text = "#![forbid(unsafe_code)]\n// unsafe { }\nconst A: &str = \"unsafe {\";\nconst B: &str = r#\"unsafe impl\"#;\n";
        assert!(check("crates/engine/src/lib.rs", text).is_empty());
        assert!(check(JAIL, text).is_empty());
        assert!(check("docs/unsafe.md", "unsafe {").is_empty());
    }

    #[test]
    fn in_the_jail_an_unargued_block_is_rejected() {
        for seed in [
            "unsafe { close(fd) };",
            "// closes it\nunsafe { close(fd) };",
            "// SAFETY: fine.\nunsafe { close(fd) };",
            "// SAFETY: called with valid parameters, as the man page of close demands.\nunsafe { close(fd) };",
            "// SAFETY: This is safe because the descriptor is open by now.\nunsafe { close(fd) };",
            "// SAFETY: all parameters are valid for the whole of this call.\nunsafe { close(fd) };",
            "unsafe impl Send for A {}",
        ] {
            assert_eq!(check(JAIL, seed).len(), 1, "{seed}");
        }
        let distant = format!("{GOOD}let a = 1;\nunsafe {{ close(fd) }};");
        assert_eq!(lines(JAIL, &distant), [Some(3)], "the comment belongs to another statement");
        let gap = format!("{GOOD}\nunsafe {{ close(fd) }};");
        assert_eq!(lines(JAIL, &gap), [Some(3)], "an empty line parts comment and block");
    }

    #[test]
    fn in_the_jail_an_argued_block_is_accepted() {
        for tail in [
            "unsafe { close(fd) };",
            "let code =\n    unsafe { close(fd) };",
            "#[expect(clippy::x, reason = \"y\")]\nunsafe impl Send for A {}",
            "let code = match unsafe { close(fd) } {\n};",
        ] {
            assert!(check(JAIL, &format!("{GOOD}{tail}")).is_empty(), "{tail}");
        }
        let long =
            "// SAFETY: the child was\n// cloned with its own stack and runs alone.\nunsafe { run() };";
        assert!(check("crates/jail/init/src/main.rs", long).is_empty());
        assert!(check(JAIL, "/// # Safety\n/// Call once.\nunsafe fn a() {}").is_empty());
    }
}
