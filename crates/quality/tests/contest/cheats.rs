//! Attempts that make tests pass by other means than good code, and attempts that only look like it.

use belljar_quality::contest::{
    Check, Diff, Ending, Evidence, Gate, GateOutcome, Rules, Touched, TraceKind, Trial, gates, inspect,
};

const TEST: &str = "\
import unittest
from cart import total

def test_sum():
    assert total([1, 2]) == 3
    assert total([]) == 0

def test_big():
    assert total([10, 20]) == 30
";

struct File<'s>(&'s str, Option<&'s str>, Option<&'s str>);

fn touched<'s>(files: &[File<'s>]) -> Vec<Touched<'s>> {
    files
        .iter()
        .map(|File(path, base, after)| Touched { path, base: *base, after: *after, is_binary: false })
        .collect()
}

/// An attempt whose check passes, so that nothing but what it did to files speaks against it.
fn attempt(files: &[File<'_>]) -> Evidence {
    let files = touched(files);
    let mut evidence = Evidence::new(0, Ending::Exited { code: 0 }, 10);
    evidence.diff = Some(Diff::of(&files));
    evidence.tampering = inspect(&files, &[]);
    evidence.check = Some(Trial { base: Check::exited(1), after: Check::exited(0) });
    evidence
}

fn said(evidence: &Evidence, gate: Gate) -> (GateOutcome, String) {
    let all = gates(evidence, &Rules::default());
    let one = all.into_iter().find(|one| one.gate == gate).unwrap();
    (one.result, one.reason)
}

#[track_caller]
fn cheats(kind: TraceKind, files: &[File<'_>], words: &str) {
    let evidence = attempt(files);
    assert!(evidence.tampering.traces.iter().any(|trace| trace.kind == kind), "{:?}", evidence.tampering);
    let (result, reason) = said(&evidence, Gate::NothingRemoved);
    assert_eq!(result, GateOutcome::Failed, "{reason}");
    assert!(reason.contains(words), "{reason}");
}

#[track_caller]
fn is_fair(files: &[File<'_>]) {
    let evidence = attempt(files);
    let (result, reason) = said(&evidence, Gate::NothingRemoved);
    assert_eq!(result, GateOutcome::Passed, "{reason}");
}

fn edited(from: &str, to: &str) -> String {
    assert!(TEST.contains(from));
    TEST.replace(from, to)
}

#[test]
fn taking_tests_away_is_seen() {
    let without = TEST.split("def test_big").next().unwrap();
    let path = "tests/test_cart.py";
    cheats(
        TraceKind::Removed,
        &[File(path, Some(TEST), Some(without))],
        "test `test_big` was removed from tests/test_cart.py",
    );
    cheats(TraceKind::Removed, &[File(path, Some(TEST), None)], "test_sum");
    cheats(TraceKind::Removed, &[File("spec/cart_spec.rb", Some("it 'adds'"), None)], "a file of tests");
    let rust = "pub fn f() -> u8 { 1 }\n#[cfg(test)]\nmod tests {\n #[test]\n fn one() { assert_eq!(super::f(), 1); }\n}\n";
    let bare = "pub fn f() -> u8 { 1 }\n";
    cheats(
        TraceKind::Removed,
        &[File("src/lib.rs", Some(rust), Some(bare))],
        "test `one` was removed from src/lib.rs",
    );
    let js = "describe('cart', () => { it('adds', () => { expect(add(1, 2)).toBe(3) }); it('b', () => { expect(b()).toBe(1) }) })\n";
    let less = "describe('cart', () => { it('b', () => { expect(b()).toBe(1) }) })\n";
    cheats(TraceKind::Removed, &[File("src/cart.test.ts", Some(js), Some(less))], "`cart > adds`");
}

#[test]
fn skipping_tests_is_seen() {
    let path = "tests/test_cart.py";
    for skip in ["@pytest.mark.skip\ndef test_big", "@pytest.mark.xfail(reason='x')\ndef test_big"] {
        cheats(
            TraceKind::Skipped,
            &[File(path, Some(TEST), Some(&edited("def test_big", skip)))],
            "test `test_big` is skipped now",
        );
    }
    let inside = edited("def test_big():\n", "def test_big():\n    pytest.skip('later')\n");
    cheats(TraceKind::Skipped, &[File(path, Some(TEST), Some(&inside))], "skipped");
    let whole = format!("pytestmark = pytest.mark.skip\n{TEST}");
    cheats(TraceKind::Skipped, &[File(path, Some(TEST), Some(&whole))], "a whole file of tests");
    let go = "package a\nfunc TestA(t *testing.T) { if f() != 1 { t.Fatal(\"x\") } }\n";
    let skips = "package a\nfunc TestA(t *testing.T) { t.Skip(\"x\"); if f() != 1 { t.Fatal(\"x\") } }\n";
    cheats(TraceKind::Skipped, &[File("a_test.go", Some(go), Some(skips))], "test `TestA`");
    let java = "class ATest { @Test void adds() { assertEquals(3, add(1, 2)); } }";
    let off = "class ATest { @Disabled @Test void adds() { assertEquals(3, add(1, 2)); } }";
    cheats(TraceKind::Skipped, &[File("src/test/java/ATest.java", Some(java), Some(off))], "adds");
    let rust = "#[test]\nfn one() { assert_eq!(f(), 1); }\n";
    let ignored = "#[test]\n#[ignore]\nfn one() { assert_eq!(f(), 1); }\n";
    cheats(TraceKind::Skipped, &[File("tests/a.rs", Some(rust), Some(ignored))], "one");
    let js = "it('adds', () => { expect(add(1, 2)).toBe(3) })\n";
    cheats(TraceKind::Skipped, &[File("a.test.js", Some(js), Some(&js.replace("it(", "it.skip(")))], "adds");
    cheats(TraceKind::Skipped, &[File("a.test.js", Some(js), Some(&js.replace("it(", "xit(")))], "adds");
    cheats(
        TraceKind::Focused,
        &[File("a.test.js", Some(js), Some(&js.replace("it(", "it.only(")))],
        "keeps other tests from running",
    );
}

/// Python's unittest and the `JUnit` of old know tests by names that are written so.
#[test]
fn tests_are_known_by_names_without_an_underscore() {
    let base = "from unittest import TestCase, skip\n\nclass CartTest(TestCase):\n    def testSum(self):\n        \
                self.assertEqual(total([1]), 1)\n\n    def test2(self):\n        self.assertEqual(total([]), 0)\n";
    let path = "cart/cart_test.py";
    let skipped = base.replace("    def testSum", "    @skip('flaky')\n    def testSum");
    cheats(TraceKind::Skipped, &[File(path, Some(base), Some(&skipped))], "CartTest.testSum");
    let removed = base.split("    def test2").next().unwrap();
    cheats(TraceKind::Removed, &[File(path, Some(base), Some(removed))], "CartTest.test2");
    let more = format!("{base}\n    def testTax(self):\n        self.assertEqual(tax(100), 19)\n");
    let added = attempt(&[File(path, Some(base), Some(&more))]);
    assert_eq!(added.tampering.tests_added, 1, "{:?}", added.tampering);

    let base =
        "class CartTest extends TestCase {\n  public void testSum() { assertEquals(1, total(1)); }\n}\n";
    let removed = "class CartTest extends TestCase {\n}\n";
    cheats(TraceKind::Removed, &[File("src/test/java/CartTest.java", Some(base), Some(removed))], "testSum");
}

#[test]
fn weaker_assertions_are_seen() {
    let path = "tests/test_cart.py";
    let fewer = edited("    assert total([]) == 0\n", "");
    cheats(TraceKind::Weakened, &[File(path, Some(TEST), Some(&fewer))], "test `test_sum` asserts less");
    let hollow = edited("assert total([10, 20]) == 30", "assert True");
    cheats(TraceKind::Weakened, &[File(path, Some(TEST), Some(&hollow))], "test `test_big` asserts less");
    let commented = edited("    assert total([]) == 0\n", "    # assert total([]) == 0\n");
    cheats(TraceKind::Weakened, &[File(path, Some(TEST), Some(&commented))], "asserts less");
    let js = "it('adds', () => { expect(add(1, 2)).toBe(3) })\n";
    let hollow = js.replace("add(1, 2)).toBe(3)", "true).toBe(true)");
    cheats(TraceKind::Weakened, &[File("a.test.js", Some(js), Some(&hollow))], "adds");
    let go = "package a\nfunc TestA(t *testing.T) { if f() != 1 { t.Fatal(\"x\") } }\n";
    cheats(
        TraceKind::Weakened,
        &[File("a_test.go", Some(go), Some("package a\nfunc TestA(t *testing.T) { f() }\n"))],
        "TestA",
    );
}

#[test]
fn changing_how_tests_run_is_seen() {
    let ini = File("pytest.ini", Some("[pytest]\n"), Some("[pytest]\naddopts = --deselect tests/a.py\n"));
    cheats(TraceKind::Runner, &[ini], "how tests run was changed in pytest.ini");
    cheats(
        TraceKind::Runner,
        &[File("jest.config.js", None, Some("module.exports = {testMatch: []}"))],
        "added",
    );
    let package = File(
        "package.json",
        Some(r#"{"scripts":{"test":"jest"}}"#),
        Some(r#"{"scripts":{"test":"exit 0"}}"#),
    );
    cheats(TraceKind::Runner, &[package], "changed `scripts.test`");
    let exit = "import os\ndef pytest_sessionfinish(session):\n    os._exit(0)\n";
    cheats(
        TraceKind::Exit,
        &[File("conftest.py", None, Some(exit))],
        "conftest.py ends the program while tests run",
    );
    cheats(
        TraceKind::Exit,
        &[File("tests/test_new.py", None, Some("import sys\nsys.exit(0)\n"))],
        "ends the program",
    );
    let hook = "def pytest_collection_modifyitems(items):\n    items.clear()\n";
    cheats(
        TraceKind::Runner,
        &[File("tests/conftest.py", None, Some(hook))],
        "added `pytest_collection_modifyitems`",
    );
}

#[test]
fn honest_work_on_tests_is_let_through() {
    let code = File("cart.py", Some("def total(x): return 0\n"), Some("def total(x): return sum(x)\n"));
    is_fair(&[code]);
    let more = format!("{TEST}\ndef test_negative():\n    assert total([-1]) == -1\n");
    is_fair(&[File("tests/test_cart.py", Some(TEST), Some(&more))]);
    assert_eq!(attempt(&[File("tests/test_cart.py", Some(TEST), Some(&more))]).tampering.tests_added, 1);
    is_fair(&[File("tests/test_more.py", None, Some("def test_it():\n    assert total([3]) == 3\n"))]);
    // A test that moved, and one that got a better name.
    let moved = "tests/unit/test_cart.py";
    is_fair(&[File("tests/test_cart.py", Some(TEST), None), File(moved, None, Some(TEST))]);
    is_fair(&[File("tests/test_cart.py", Some(TEST), Some(&edited("test_big", "test_large_amounts")))]);
    // Fixtures, a dependency, a linter's settings, and a comment that speaks of skipping.
    is_fair(&[File(
        "conftest.py",
        Some("import pytest\n"),
        Some("import pytest\n\n@pytest.fixture\ndef cart():\n    return []\n"),
    )]);
    is_fair(&[File(
        "package.json",
        Some(r#"{"scripts":{"test":"jest"}}"#),
        Some(r#"{"scripts":{"test":"jest"},"dependencies":{"a":"1"}}"#),
    )]);
    is_fair(&[File("ruff.toml", Some("line-length = 80\n"), Some("line-length = 100\n"))]);
    is_fair(&[File(
        "tests/test_cart.py",
        Some(TEST),
        Some(&edited("def test_big():\n", "def test_big():\n    # pytest.skip( would be wrong\n")),
    )]);
    let main = format!("{TEST}\nif __name__ == \"__main__\":\n    sys.exit(unittest.main())\n");
    is_fair(&[File("tests/test_cart.py", Some(TEST), Some(&main))]);
    let go = "package a\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n";
    is_fair(&[File("a_test.go", None, Some(go))]);
    // Another expectation, as strong as before: the base's version of the test decides.
    is_fair(&[File("tests/test_cart.py", Some(TEST), Some(&edited("== 30", "== 31")))]);
}

#[test]
fn what_is_touched_is_told() {
    let evidence = attempt(&[File("ruff.toml", Some("a = 1\n"), Some("a = 2\n"))]);
    let told: Vec<String> =
        evidence.tampering.traces.iter().map(belljar_quality::contest::Trace::said).collect();
    assert_eq!(told, ["ruff.toml: the linter's settings were changed; the base's were used"]);
}

#[test]
fn a_check_that_never_worked_is_told_from_one_that_fails() {
    let code = File("cart.py", Some("def total(x): return 0\n"), Some("def total(x): return sum(x)\n"));
    let mut evidence = attempt(&[code]);
    let ended = |tail: &str| Check { tail: tail.to_owned(), ..Check::exited(1) };
    evidence.check =
        Some(Trial { base: ended("x\nImportError: no tests"), after: ended("y\nImportError: no tests") });
    let (result, reason) = said(&evidence, Gate::Accepted);
    assert_eq!(result, GateOutcome::Failed);
    assert_eq!(
        reason,
        "the check ended with exit code 1 (ImportError: no tests), just as on the base; see whether it is the right command"
    );
    evidence.check = Some(Trial { base: ended("AssertionError: 1"), after: ended("AssertionError: 2") });
    assert_eq!(said(&evidence, Gate::Accepted).1, "the check ended with exit code 1 (AssertionError: 2)");
}
