//! Whatever a command is, it is answered with bounded work, without a panic, and what was not followed is said to be unknown.
//!
//! Work is counted in the evaluator's own steps, not in time.

use belljar_guardian::effects::{Act, Context};
use belljar_guardian::shell::eval::{effects, steps};

/// Steps that are taken at most: the budget, and what the last of them may cost.
const MOST: u32 = 50_000;

fn context() -> Context {
    Context {
        cwd: b"/w".to_vec(),
        home: b"/home/me".to_vec(),
        workspace: b"/w".to_vec(),
        ..Context::default()
    }
}

/// Whether it is said what was not followed: of the whole, or of what is deleted.
fn is_unknown(script: &str) -> bool {
    effects(script.as_bytes(), &context()).iter().any(|effect| match &effect.act {
        Act::Unknown(why) => !why.construct.is_empty(),
        Act::Delete { path, .. } => path.why().is_some(),
        _ => false,
    })
}

fn deletes(script: &str) -> bool {
    effects(script.as_bytes(), &context()).iter().any(|effect| matches!(effect.act, Act::Delete { .. }))
}

/// Runs on a stack as small as a thread's usually is.
fn answered(scripts: Vec<(&'static str, String)>, check: fn(&str) -> bool) {
    let run = move || {
        for (name, script) in scripts {
            let taken = steps(script.as_bytes(), &context());
            assert!(taken <= MOST, "{name}: {taken} steps");
            assert!(check(&script), "{name}: what was left out is not said");
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(run);
    assert!(thread.is_ok_and(|thread| thread.join().is_ok()), "see above");
}

#[test]
fn a_megabyte_of_anything_is_answered() {
    let piece = |text: &str| text.repeat(1_000_000 / text.len());
    let pieces = [
        "a;",
        "a|",
        "a&&",
        "(",
        "$(",
        "${",
        "$((",
        "`",
        "{ ",
        "if ",
        "<(",
        "! ",
        "'a'\"b\"",
        "~",
        "\\",
        "[[ ( ",
        "x=$x$x;",
        "a <<E\n",
        "case x in x) ",
        "\\\n",
        "f() { ",
        "$[",
        "\"$(",
        "while :; do ",
    ];
    answered(pieces.map(|text| (text, piece(text))).to_vec(), is_unknown);
    answered(vec![("words", format!("echo {}", piece("x "))), ("NUL", piece("\0"))], is_unknown);
}

#[test]
fn what_nests_too_deep_is_said() {
    let nested =
        |open: &str, close: &str, count| format!("{}rm x{}", open.repeat(count), close.repeat(count));
    let mut evaluated = "rm x".to_owned();
    for _ in 0..12 {
        evaluated = format!("eval '{}'", evaluated.replace('\'', "'\\''"));
    }
    answered(
        vec![
            ("substitutions", nested("$(", ")", 5_000)),
            ("subshells", nested("( ", " )", 5_000)),
            ("groups", nested("{ ", "; }", 5_000)),
            ("arithmetic", nested("echo $((", "))", 5_000)),
            (
                "parentheses in arithmetic",
                format!("v='a[$(rm x)]'; echo $(({}v{}))", "(".repeat(20_000), ")".repeat(20_000)),
            ),
            ("braces", format!("echo {}{}", "{a,".repeat(20_000), "}".repeat(20_000))),
            ("wrappers", format!("{}rm x", "env ".repeat(2_000))),
            ("eval", evaluated),
            ("names that stand for each other", "declare -n a='b[1]' b='a[1]'; a=k; rm x".to_owned()),
        ],
        is_unknown,
    );
    answered(
        vec![("a few", nested("$(", ")", 20)), ("shells", "sh -c 'sh -c \"sh -c \\\"rm x\\\"\"'".to_owned())],
        deletes,
    );
}

#[test]
fn what_multiplies_is_cut_off() {
    let chain = |count: usize, line: fn(usize) -> String| (0..count).map(line).collect::<String>();
    answered(
        vec![
            ("braces", format!("rm {}", "{a,b}".repeat(40))),
            ("a range", "rm {1..1000000000}".to_owned()),
            ("ranges", format!("rm {}", "{1..1000}".repeat(5))),
            ("a variable", format!("x=aaaaaaaa;{}rm $x", "x=$x$x;".repeat(60))),
            ("a variable that is appended to", format!("x=aaaaaaaa;{}rm $x", "x+=$x$x;".repeat(60))),
            ("replacements", format!("x=aaaa;{}rm $x", "x=${x//a/aaaa};".repeat(60))),
            ("an array", format!("a=(1 2 3 4);{}rm ${{a[@]}}", "a+=(\"${a[@]}\" \"${a[@]}\");".repeat(40))),
            ("arguments", format!("set -- 1 2;{}rm $@", "set -- \"$@\" \"$@\";".repeat(60))),
            ("loops", format!("{}rm $a;{}", "for a in 1 2 3 4 5 6 7 8; do ".repeat(12), "done;".repeat(12))),
            (
                "functions",
                chain(60, |at| format!("f{at}() {{ f{0}; f{0}; }};", at + 1)) + "f60() { rm x; }; f0",
            ),
            (
                "arithmetic",
                chain(60, |at| format!("a{at}='a{0}+a{0}';", at + 1)) + "a60='b[$(rm x)]'; echo $((a0))",
            ),
            ("substitutions", format!("rm {}", "$(a)".repeat(30_000))),
        ],
        is_unknown,
    );
}

#[test]
fn what_turns_in_circles_is_left() {
    answered(
        vec![
            ("functions", "f() { g; rm x; }; g() { f; }; f".to_owned()),
            ("aliases", "shopt -s expand_aliases\nalias a='b; rm x' b=a\na\n".to_owned()),
            ("a script", "echo './s; rm x' > s; ./s".to_owned()),
            ("references", "declare -n a=b b=a; a=1; rm $a".to_owned()),
            ("arithmetic", "a=b; b=a; echo $((a)); rm x".to_owned()),
        ],
        deletes,
    );
    answered(
        vec![
            ("eval", "x='eval \"$x\"; eval \"$x\"'; eval \"$x\"".to_owned()),
            ("a sourced script", "echo '. ./s; . ./s' > s; . ./s".to_owned()),
            ("a loop", "while :; do x+=a; rm $x; done; $x".to_owned()),
        ],
        is_unknown,
    );
}
