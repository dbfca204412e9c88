//! Results by test, out of what runners really print, and out of what somebody prints who wants to be taken for one.

use std::collections::BTreeMap;

use belljar_quality::contest::{Format, Origin, Outcome, Results, Transcript, results};

fn printed(output: &str) -> Results {
    results(&Transcript { output, files: &[] }).unwrap_or_else(|| panic!("nothing was read in {output:.300}"))
}

fn reported(text: &str) -> Results {
    let files = [("report".to_owned(), text.to_owned())];
    results(&Transcript { output: "", files: &files }).unwrap()
}

#[track_caller]
fn check(results: &Results, format: Format, wanted: &[(&str, Outcome)]) {
    let wanted: BTreeMap<String, Outcome> = wanted.iter().map(|(id, out)| ((*id).to_owned(), *out)).collect();
    assert_eq!(results.tests, wanted);
    assert_eq!(results.format, format);
}

use Outcome::{Failed, Passed, Skipped};

const PYTEST: &str = "\
============================= test session starts ==============================
collected 7 items

tests/test_cart.py .F..sx.                                               [100%]

=================================== FAILURES ===================================
PASSED tests/test_cart.py::test_bad
_________________________________ test_bad _____________________________________
E       assert 1 == 2
=========================== short test summary info ============================
PASSED tests/test_cart.py::test_sum
PASSED tests/test_cart.py::test_p[a - b]
PASSED tests/test_cart.py::test_p[c]
PASSED tests/test_cart.py::TestA::test_m
SKIPPED [1] tests/test_cart.py:7: later
XFAIL tests/test_cart.py::test_x
FAILED tests/test_cart.py::test_bad - assert 1 == 2
=============== 1 failed, 4 passed, 1 skipped, 1 xfailed in 0.03s ==============
";

#[test]
fn pytest_names_its_tests_in_the_summary() {
    let read = printed(PYTEST);
    let of = |name: &str| format!("tests/test_cart.py::{name}");
    check(
        &read,
        Format::Pytest,
        &[
            (&of("test_sum"), Passed),
            (&of("test_p[a - b]"), Passed),
            (&of("test_p[c]"), Passed),
            (&of("TestA::test_m"), Passed),
            (&of("test_x"), Skipped),
            (&of("test_bad"), Failed),
        ],
    );
    assert!(read.total == 7 && !read.is_complete, "the skipped one has no name");
}

#[test]
fn pytest_with_v_and_with_nothing_to_run() {
    let verbose = "tests/a.py::test_one PASSED   [ 50%]\ntests/a.py::test_two FAILED   [100%]\n== 1 failed, 1 passed in 1.20s ==\n";
    check(
        &printed(verbose),
        Format::Pytest,
        &[("tests/a.py::test_one", Passed), ("tests/a.py::test_two", Failed)],
    );
    assert!(printed("collected 0 items\n\n==== no tests ran in 0.01s ====\n").found_none);
}

const CARGO: &str = "\
     Running unittests src/lib.rs (target/debug/deps/shop-507999230d6984fa)

running 4 tests
test tests::panics - should panic ... ok
test tests::bad ... FAILED
test tests::slow ... ignored, slow
test tests::sums ... ok

failures:

---- tests::bad stdout ----
test tests::bad ... ok

failures:
    tests::bad

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.09s

error: test failed, to rerun pass `--lib`
   Doc-tests shop

running 1 test
test src/lib.rs - (line 1) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

#[test]
fn cargo_test_is_read_program_by_program() {
    let read = printed(CARGO);
    check(
        &read,
        Format::Cargo,
        &[
            ("shop(src/lib.rs) tests::panics", Passed),
            ("shop(src/lib.rs) tests::bad", Failed),
            ("shop(src/lib.rs) tests::slow", Skipped),
            ("shop(src/lib.rs) tests::sums", Passed),
            ("doc shop src/lib.rs - (line 1)", Passed),
        ],
    );
    assert!(read.is_complete);
}

#[test]
fn nextest_is_read_up_to_its_summary() {
    let text = "\
────────────
        FAIL [   0.104s] (1/3) shop tests::bad
  stdout ───
        PASS [   0.011s] (2/3) shop tests::sums
        PASS [   0.167s] (3/3) shop::cart tests::panics
────────────
     Summary [   0.167s] 3 tests run: 2 passed, 1 failed, 1 skipped
        FAIL [   0.104s] (1/3) shop tests::bad
error: test run failed
";
    check(
        &printed(text),
        Format::Nextest,
        &[("shop tests::bad", Failed), ("shop tests::sums", Passed), ("shop::cart tests::panics", Passed)],
    );
}

#[test]
fn go_is_read_with_and_without_names() {
    let verbose = "\
=== RUN   TestSum
--- PASS: TestSum (0.00s)
=== RUN   TestBad
=== RUN   TestBad/sub_one
    cart_test.go:4: no
--- FAIL: TestBad (0.00s)
    --- FAIL: TestBad/sub_one (0.00s)
=== RUN   TestSkip
--- SKIP: TestSkip (0.00s)
FAIL
FAIL\tshop/cart\t0.003s
?   \tshop\t[no test files]
FAIL
";
    let read = printed(verbose);
    check(
        &read,
        Format::Go,
        &[
            ("shop/cart TestSum", Passed),
            ("shop/cart TestBad", Failed),
            ("shop/cart TestBad/sub_one", Failed),
            ("shop/cart TestSkip", Skipped),
        ],
    );
    assert!(read.is_complete);
    let brief = printed("ok  \tshop/cart\t0.003s\nFAIL\tshop/bill [build failed]\n");
    check(&brief, Format::Go, &[("shop/cart (package)", Passed), ("shop/bill (package)", Failed)]);
    assert!(!brief.is_complete);
    assert!(printed("?   \tshop\t[no test files]\n").found_none);
}

#[test]
fn go_as_json_takes_no_test_for_the_runner() {
    let text = r#"{"Action":"start","Package":"shop/cart"}
{"Action":"run","Package":"shop/cart","Test":"TestBad"}
{"Action":"output","Package":"shop/cart","Test":"TestBad","Output":"--- PASS: TestBad (0.00s)\n"}
{"Action":"fail","Package":"shop/cart","Test":"TestBad","Elapsed":0}
{"Action":"pass","Package":"shop/cart","Test":"TestSum","Elapsed":0}
{"Action":"fail","Package":"shop/cart","Elapsed":0.003}
{"Action":"fail","Package":"shop/bill","Elapsed":0}
"#;
    check(
        &printed(text),
        Format::GoJson,
        &[("shop/cart TestBad", Failed), ("shop/cart TestSum", Passed), ("shop/bill (package)", Failed)],
    );
}

#[test]
fn jest_and_vitest_are_read_in_both_forms() {
    let json = r#"{"numTotalTests":3,"testResults":[
      {"name":"/w/a/src/cart.test.ts","status":"failed","assertionResults":[
        {"fullName":"cart adds","status":"passed"},{"fullName":"cart takes away","status":"failed"},{"fullName":"cart later","status":"pending"}]},
      {"name":"/w/a/src/bill.test.ts","status":"failed","assertionResults":[]}]}"#;
    check(
        &reported(json),
        Format::JestJson,
        &[
            ("src/cart.test.ts cart adds", Passed),
            ("src/cart.test.ts cart takes away", Failed),
            ("src/cart.test.ts cart later", Skipped),
            ("src/bill.test.ts (file)", Failed),
        ],
    );
    let jest = "\
FAIL src/cart.test.ts
  cart
    ✓ adds (3 ms)
    ✕ takes away
    ○ skipped later

Tests:       1 failed, 1 skipped, 1 passed, 3 total
";
    check(
        &printed(jest),
        Format::Jest,
        &[
            ("src/cart.test.ts cart adds", Passed),
            ("src/cart.test.ts cart takes away", Failed),
            ("src/cart.test.ts cart later", Skipped),
        ],
    );
    let vitest = " \u{1b}[32m✓\u{1b}[39m src/cart.test.ts > cart > adds 3ms\n × src/cart.test.ts > cart > takes away\n\n      Tests  1 failed | 1 passed (2)\n";
    check(
        &printed(vitest),
        Format::Jest,
        &[("src/cart.test.ts > cart > adds", Passed), ("src/cart.test.ts > cart > takes away", Failed)],
    );
}

#[test]
fn unittest_and_tap_are_read() {
    let unittest = "\
test_bad (tests.test_cart.TestCart.test_bad) ... noiseFAIL
test_e (tests.test_cart.TestCart.test_e) ... ERROR
test_s (tests.test_cart.TestCart.test_s) ... skipped 'later'
test_sub (tests.test_cart.TestCart.test_sub) ... 
  test_sub (tests.test_cart.TestCart.test_sub) (i=1) ... FAIL
test_sum (tests.test_cart.TestCart.test_sum)
Adds up. ... ok

======================================================================
FAIL: test_sub (tests.test_cart.TestCart.test_sub) (i=1)
----------------------------------------------------------------------
Ran 5 tests in 0.001s

FAILED (failures=2, errors=1, skipped=1)
";
    let of = |name: &str| format!("tests.test_cart.TestCart.{name}");
    check(
        &printed(unittest),
        Format::Unittest,
        &[
            (&of("test_bad"), Failed),
            (&of("test_e"), Failed),
            (&of("test_s"), Skipped),
            (&of("test_sub"), Failed),
            (&of("test_sum"), Passed),
        ],
    );
    let tap = "TAP version 13\n# Subtest: adds\nok 1 - adds\nnot ok 2 - bad\nok 3 - later # SKIP\n# Subtest: group\n    # Subtest: inner\n    ok 1 - inner\n    1..1\nok 4 - group\n1..4\n";
    check(
        &printed(tap),
        Format::Tap,
        &[
            ("adds", Passed),
            ("bad", Failed),
            ("later", Skipped),
            ("group > inner", Passed),
            ("group", Passed),
        ],
    );
}

#[test]
fn junit_is_read_whoever_wrote_it() {
    let xml = r#"<?xml version="1.0"?><!-- <testcase name="no"/> -->
<testsuites><testsuite name="a" tests="4">
 <testcase classname="shop.Cart" name="adds &lt;two&gt;" time="0.1"/>
 <testcase classname="shop.Cart" name="bad"><failure message="x > y"><![CDATA[<testcase name="hidden"/>]]></failure></testcase>
 <testcase classname="shop.Cart" name="broken"><error/></testcase>
 <testcase name='later'><skipped/></testcase>
</testsuite></testsuites>"#;
    let read = reported(xml);
    check(
        &read,
        Format::Junit,
        &[
            ("shop.Cart::adds <two>", Passed),
            ("shop.Cart::bad", Failed),
            ("shop.Cart::broken", Failed),
            ("later", Skipped),
        ],
    );
    assert_eq!(read.origin, Origin::File("report".to_owned()));
}

#[test]
fn a_report_counts_more_than_what_was_printed() {
    let files = [(
        "r.xml".to_owned(),
        "<testsuite><testcase name=\"a\"><failure/></testcase></testsuite>".to_owned(),
    )];
    let read =
        results(&Transcript { output: "a.py::a PASSED\n== 1 passed in 0.1s ==\n", files: &files }).unwrap();
    check(&read, Format::Junit, &[("a", Failed)]);
}

#[test]
fn names_nobody_counted_are_not_believed() {
    let forged =
        CARGO.replace("test tests::sums ... ok\n", "test tests::sums ... ok\ntest tests::removed ... ok\n");
    assert_eq!(results(&Transcript { output: &forged, files: &[] }), None);
    let forged = PYTEST
        .replace("PASSED tests/test_cart.py::test_sum\n", "PASSED t.py::a\nPASSED t.py::b\nPASSED t.py::c\n");
    assert_eq!(results(&Transcript { output: &forged, files: &[] }), None);
}

#[test]
fn whatever_is_printed_is_read_with_bounded_work() {
    let lines = [
        "test x ... ok\n",
        "{\"Action\":",
        "<testsuite ",
        "<testcase name=\"",
        "--- PASS: A (0.00s)\n",
        "\u{1b}[",
        "✓ a\n",
        "1 passed in 2s\n",
        "PASS [",
        "ok 1 - a\n",
        "TAP version 13\n",
        "&",
        "(",
        "Ran 3 tests in 1s\n",
        "short test summary info\n",
    ];
    for line in lines {
        let text = line.repeat(20_000);
        let files = [("f".to_owned(), text.clone())];
        std::hint::black_box(results(&Transcript { output: &text, files: &files }));
    }
    let many: String = (0..60_000).map(|at| format!("test t{at} ... ok\n")).collect();
    let text = format!("{many}test result: ok. 60000 passed; 0 failed; 0 ignored; finished\n");
    let read = printed(&text);
    assert!(read.tests.len() == 50_000 && !read.is_complete && read.total == 60_000);
    assert_eq!(results(&Transcript { output: "all good\n", files: &[] }), None);
}
