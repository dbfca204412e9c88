//! The tests a file holds: what each is called, whether it is skipped, and what it asserts.

use crate::{
    file::File,
    lang::Lang,
    outline::Function,
    tree::{Id, Kind, ROOT, Tree},
};

/// The longest file that is read.
const LONGEST: usize = 1_000_000;

/// One test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) line: u32,
    pub(super) is_skipped: bool,
    /// Runs instead of all others.
    pub(super) is_focused: bool,
    /// What it asserts, without blanks.
    pub(super) assertions: Vec<String>,
}

/// What a file of tests holds.
#[derive(Debug, Default)]
pub(super) struct Suite {
    pub(super) cases: Vec<Case>,
    /// The whole file is skipped.
    pub(super) is_skipped: bool,
    /// Calls that end the program.
    pub(super) exits: usize,
    /// Functions a runner calls by their names.
    pub(super) hooks: Vec<String>,
}

/// Reads a file. Nothing if its language is not known or nothing of it parses.
pub(super) fn read(path: &str, text: &str, is_test: bool) -> Option<Suite> {
    let lang = Lang::of(path).filter(|_| text.len() <= LONGEST)?;
    let file = File::read(lang, path, text, is_test).ok()?;
    let cases = if lang.is_script() { calls(&file) } else { functions(&file) };
    Some(Suite { is_skipped: skips_all(&file), exits: exits(&file), hooks: hooks(&file), cases })
}

fn functions(file: &File<'_>) -> Vec<Case> {
    let is_test = |function: &&Function<'_>| function.is_test || is_of_junit_three(file, function);
    let tests = file.outline.functions.iter().filter(is_test).filter(|function| is_case(file, function));
    tests
        .map(|function| {
            let tree = &file.tree;
            let said = code(tree, function.id);
            let marks = ["skip", "xfail", "ignore", "Disabled", "Ignore", "cfg(any())"];
            let is_marked =
                marks.iter().any(|mark| function.has_mark(mark)) || is_class_skipped(file, function);
            Case {
                name: file.outline.title(function),
                line: tree.line(function.id),
                is_skipped: is_marked || skips(&said),
                is_focused: false,
                assertions: assertions(tree, function.id, function.has_mark("should_panic")),
            }
        })
        .collect()
}

/// `public void testSum()`: before annotations, the name was all there was.
fn is_of_junit_three(file: &File<'_>, function: &Function<'_>) -> bool {
    let rest = function.name.strip_prefix("test").filter(|_| file.tree.lang == Lang::Java && file.is_test);
    rest.is_some_and(|rest| rest.starts_with(char::is_uppercase)) && function.params.is_empty()
}

/// Marks of Rust say `test` in many words; `#[cfg(test)]` on a helper is no test.
fn is_case(file: &File<'_>, function: &Function<'_>) -> bool {
    file.tree.lang != Lang::Rust
        || function.marks.iter().any(|mark| {
            let inner = mark.trim_start_matches("#[").split(['(', ']']).next().unwrap_or_default();
            inner == "test" || inner.ends_with("::test") || inner == "rstest" || inner.ends_with("test_case")
        })
}

fn is_class_skipped(file: &File<'_>, function: &Function<'_>) -> bool {
    let tree = &file.tree;
    let class = tree.above(function.id, &[Kind::Class]);
    let decorated = class.and_then(|class| tree.parent(class)).filter(|up| tree.is(*up, Kind::Decorated));
    let marked = decorated.is_some_and(|up| {
        tree.parts(up).any(|part| tree.is(part, Kind::Decorator) && tree.text(part).contains("skip"))
    });
    let modified = class.is_some_and(|class| {
        let marks = tree.children(class).filter(|child| tree.is(*child, Kind::Modifiers));
        marks.map(|mark| tree.text(mark)).any(|mark| mark.contains("@Disabled") || mark.contains("@Ignore"))
    });
    marked || modified
}

/// Whether a test gives up before it begins: among its first words.
fn skips(code: &str) -> bool {
    let calls =
        ["pytest.skip(", "pytest.xfail(", ".skipTest(", "SkipTest(", "t.Skip(", "t.SkipNow(", "t.Skipf("];
    let assumed = ["Assumptions.assumeTrue(false", "assumeTrue(false"];
    calls.iter().chain(&assumed).any(|call| code.contains(call))
}

/// `it("adds", …)` inside of `describe("cart", …)`.
fn calls(file: &File<'_>) -> Vec<Case> {
    let tree = &file.tree;
    let found = tree.all(Kind::Call).iter().filter_map(|id| {
        let (word, how) = starter(tree, *id)?;
        let name = title(tree, *id)?;
        matches!(word, "it" | "test" | "specify" | "xit" | "xtest" | "fit").then_some((*id, word, how, name))
    });
    found
        .map(|(id, word, how, name)| {
            let groups: Vec<(Id, &str, Option<&str>)> = tree
                .ancestors(id)
                .filter(|up| tree.is(*up, Kind::Call))
                .filter_map(|up| starter(tree, up).map(|(word, how)| (up, word, how)))
                .filter(|(_, word, _)| {
                    matches!(*word, "describe" | "suite" | "context" | "xdescribe" | "fdescribe")
                })
                .collect();
            let mut path: Vec<String> = groups.iter().rev().filter_map(|(up, ..)| title(tree, *up)).collect();
            path.push(name);
            let marks = || groups.iter().map(|(_, word, how)| (*word, *how)).chain([(word, how)]);
            let is_off =
                |how: Option<&str>| matches!(how, Some("skip" | "todo" | "fixme" | "failing" | "fails"));
            Case {
                name: path.join(" > "),
                line: tree.line(id),
                is_skipped: marks().any(|(word, how)| word.starts_with('x') || is_off(how)),
                is_focused: marks()
                    .any(|(word, how)| matches!(word, "fit" | "fdescribe") || how == Some("only")),
                assertions: assertions(tree, id, false),
            }
        })
        .collect()
}

/// Of `it(…)`, `it.skip(…)` and `it.each(…)(…)`: `it`, and how.
fn starter<'s>(tree: &Tree<'s>, call: Id) -> Option<(&'s str, Option<&'s str>)> {
    let head = tree.text(call).split(['(', '`']).next()?.trim();
    let mut words = head.split('.');
    let (word, how) = (words.next()?, words.next());
    let known = [
        "it",
        "test",
        "specify",
        "xit",
        "xtest",
        "fit",
        "describe",
        "suite",
        "context",
        "xdescribe",
        "fdescribe",
    ];
    (known.contains(&word) && words.next().is_none_or(|third| third == "each")).then_some((word, how))
}

fn title(tree: &Tree<'_>, call: Id) -> Option<String> {
    let first = *tree.arguments(call).first()?;
    match tree.kind(first) {
        Kind::Str | Kind::Template => Some(tree.string(first).to_owned()),
        Kind::Ident => Some(tree.text(first).to_owned()),
        _ => None,
    }
}

/// What a test asserts, outermost calls only.
fn assertions(tree: &Tree<'_>, test: Id, is_panic_wanted: bool) -> Vec<String> {
    let mut found: Vec<String> =
        if is_panic_wanted { vec!["#[should_panic]".to_owned()] } else { Vec::new() };
    let mut until = 0;
    for id in tree.below(test) {
        if id >= until && is_assertion(tree, id) {
            until = tree.below(id).end;
            // Words stay apart, layout does not count.
            let said = code(tree, id).replacen("assert ", "assert:", 1);
            found.push(said.split_whitespace().collect());
        }
    }
    found
}

fn is_assertion(tree: &Tree<'_>, id: Id) -> bool {
    let text = tree.text(id);
    match tree.kind(id) {
        Kind::Other => {
            tree.lang == Lang::Python && (text.starts_with("assert ") || text.starts_with("assert("))
        }
        Kind::Macro => {
            let name = text.split('!').next().unwrap_or_default();
            name.contains("assert") || matches!(name, "panic" | "unreachable")
        }
        Kind::Call => {
            let head: String = text.chars().take(80).collect();
            let called = tree.callee(id).map_or("", |callee| callee.name);
            let by_name = ["assert", "expect", "verify", "raises", "warns", "fail", "should"];
            let of_go = ["t.Error", "t.Fatal", "t.Fail", "b.Error", "b.Fatal", "assert.", "require.", "is."];
            by_name.iter().any(|start| called.starts_with(start))
                || head.starts_with("expect(")
                || head.starts_with("assert")
                || tree.lang == Lang::Go && of_go.iter().any(|start| head.starts_with(start))
        }
        _ => false,
    }
}

/// Whether an assertion says nothing: nothing in it but what is written out.
pub(super) fn is_trivial(assertion: &str) -> bool {
    let words = assertion.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    let is_empty = |word: &str| {
        let said = [
            "self", "True", "true", "t", "not", "False", "false", "None", "null", "expect", "to", "be", "ok",
            "equal",
        ];
        word.starts_with("assert")
            || word.starts_with("toBe")
            || word.starts_with("toEqual")
            || said.contains(&word)
            || word.bytes().all(|byte| byte.is_ascii_digit())
    };
    words.into_iter().all(is_empty)
}

/// A node's text without comments.
fn code(tree: &Tree<'_>, id: Id) -> String {
    let text = tree.text(id);
    let start = tree.offset(id);
    let mut plain = String::with_capacity(text.len());
    let mut at = 0;
    for comment in tree.below_of(id, Kind::Comment) {
        let from = tree.offset(*comment).saturating_sub(start);
        plain.push_str(text.get(at..from).unwrap_or_default());
        at = from + tree.text(*comment).len();
    }
    plain.push_str(text.get(at..).unwrap_or_default());
    plain
}

fn skips_all(file: &File<'_>) -> bool {
    let whole = code(&file.tree, ROOT);
    let mut lines = whole.lines().filter(|line| !line.starts_with([' ', '\t']));
    match file.tree.lang {
        Lang::Python => lines.any(|line| {
            let is_mark = line.starts_with("pytestmark") && (line.contains("skip") || line.contains("xfail"));
            is_mark
                || line.contains("allow_module_level")
                || line.starts_with("raise unittest.SkipTest")
                || line.starts_with("collect_ignore")
                || line.starts_with("__test__ = False")
        }),
        Lang::Rust => lines.any(|line| line.starts_with("#![cfg(") && !line.contains("feature")),
        Lang::Go => file.tree.text(ROOT).lines().take(10).any(|line| line.starts_with("//go:build")),
        _ => false,
    }
}

/// Calls that end the program, outside of what runs only when a file is started by hand.
fn exits(file: &File<'_>) -> usize {
    let tree = &file.tree;
    let by_hand = tree.all(Kind::If).iter().find(|id| tree.text(**id).contains("__main__")).copied();
    let calls =
        tree.all(Kind::Call).iter().filter(|id| by_hand.is_none_or(|main| !tree.contains(main, **id)));
    calls
        .filter(|id| {
            let head: String = tree.text(**id).chars().filter(|c| !c.is_whitespace()).take(60).collect();
            let ends = [
                "os._exit(",
                "sys.exit(",
                "exit(",
                "quit(",
                "process.exit(",
                "os.Exit(",
                "System.exit(",
                "std::process::exit(",
                "pytest.exit(",
                "os.abort(",
                "os.kill(",
                "syscall.Exit(",
            ];
            // What `TestMain` is for.
            ends.iter().any(|end| head.starts_with(end))
                && !head.contains("m.Run()")
                && !head.starts_with("os.Exit(code")
        })
        .count()
}

fn hooks(file: &File<'_>) -> Vec<String> {
    let named = file.outline.functions.iter().filter(|function| function.name.starts_with("pytest_"));
    named.map(|function| function.name.to_owned()).collect()
}
