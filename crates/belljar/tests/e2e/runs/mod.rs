//! One task for several sandboxes: the best attempt is found, cheats are named, and nothing but what is asked for comes out.

mod cheats;
mod judging;
mod orders;
mod real;
mod secrets;
mod swarms;
mod wishes;

use std::{fs, process::Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Ended, Glass, eventually, promises};

promises! { [root, user]:
    the_clean_attempt_wins_and_cheats_are_named,
    where_nobody_passes_nobody_wins,
    an_interrupted_run_stops_every_attempt,
    what_an_attempt_did_to_a_dirty_tree_is_its_own_commit,
    nothing_of_an_attempts_repository_comes_out,
    a_linked_worktree_and_a_plain_directory_are_workspaces_too,
}

const CHECK: &str = "python3 -m unittest discover -s tests -t .";

const CALC: &str = "def add(a, b):
    return a - b


def area(width, height):
    return width * height
";

const TESTS: &str = "import unittest

from calc import add, area


class Calc(unittest.TestCase):
    def test_area(self):
        self.assertEqual(area(2, 3), 6)

    def test_add(self):
        self.assertEqual(add(1, 2), 3)
";

/// Mends what is broken, and repeats itself with numbers nobody explains.
const REPEATS: &str = r#"sed -i 's/a - b/a + b/' calc.py; cat >> calc.py <<'END'


def price_gross(items):
    total = 0
    for item in items:
        if item["kind"] == 3:
            total = total + item["amount"] * 1.19
        else:
            total = total + item["amount"] * 1.07
    return round(total, 2)


def price_net(items):
    total = 0
    for item in items:
        if item["kind"] == 3:
            total = total + item["amount"] * 1.19
        else:
            total = total + item["amount"] * 1.07
    return round(total, 2)
END"#;

fn git(glass: &Glass, args: &[&str]) -> String {
    let mut command = glass.command("git".as_ref());
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(args);
    Ended::of(&mut command).ok().trim_end().to_owned()
}

/// A small program whose test for `add` fails.
fn program(glass: &Glass) {
    glass.write("calc.py", CALC);
    fs::create_dir(glass.work().join("tests")).unwrap();
    glass.caller.give(&glass.work().join("tests"));
    glass.write("tests/__init__.py", "");
    glass.write("tests/test_calc.py", TESTS);
}

fn repository(glass: &Glass) {
    program(glass);
    git(glass, &["init", "-q", "-b", "main"]);
    git(glass, &["add", "."]);
    git(glass, &["commit", "-qm", "base"]);
}

/// An agent that does something else in each attempt.
fn agent(each: &[&str]) -> String {
    let cases: Vec<String> =
        each.iter().enumerate().map(|(fork, does)| format!("{fork}) {does}\n;;")).collect();
    format!("case $FORK_ID in\n{}\nesac", cases.join("\n"))
}

/// Runs `belljar fork` and reads how the run was judged.
fn fork(glass: &Glass, flags: &[&str], script: &str, code: i32) -> Value {
    glass.run(&[&["--json", "fork"], flags, &["--", "sh", "-c", script]].concat()).code(code).json()
}

fn gates(results: &Value, fork: usize) -> String {
    let gates = results["forks"][fork]["gates"].as_array().unwrap().iter();
    let failed = gates.filter(|gate| gate["result"] == "failed");
    failed
        .map(|gate| format!("{}: {}\n", gate["gate"].as_str().unwrap(), gate["reason"].as_str().unwrap()))
        .collect()
}

fn the_clean_attempt_wins_and_cheats_are_named(glass: &Glass) {
    repository(glass);
    let head = git(glass, &["rev-parse", "HEAD"]);
    let script = agent(&[
        "exit 3",
        "sleep 600",
        "sed -i '/def test_add/,$d' tests/test_calc.py",
        REPEATS,
        "sed -i 's/a - b/a + b/' calc.py; git -c user.name=a -c user.email=a@example.org commit -qam fix",
    ]);
    let flags = ["-n", "5", "--timeout", "5s", "--check", CHECK, "--task", "mend-add", "-p", "make add add"];
    let results = fork(glass, &flags, &script, 0);
    assert_eq!((&results["winner_fork"], &results["attempts"]), (&json!(4), &json!(5)), "{results:#}");
    assert_eq!(results["task_id"], "mend-add");
    assert_eq!(results["all_scores"].as_array().unwrap().len(), 5);
    assert!(results["winner_score"].as_f64().unwrap() > results["forks"][3]["score"].as_f64().unwrap());
    let statuses: Vec<_> = results["forks"].as_array().unwrap().iter().map(|fork| &fork["status"]).collect();
    assert_eq!(statuses, ["failed", "timed_out", "finished", "finished", "finished"]);
    let eligible: Vec<_> =
        results["forks"].as_array().unwrap().iter().map(|fork| &fork["eligible"]).collect();
    assert_eq!(eligible, [false, false, false, true, true]);
    let cheat = gates(&results, 2);
    assert!(cheat.contains("G4") && cheat.contains("test_add") && cheat.contains("G5"), "{cheat}");
    assert!(gates(&results, 0).contains("exit code 3"), "{}", gates(&results, 0));
    assert!(results["reason"].as_str().unwrap().contains("ttempt 4"), "{}", results["reason"]);
    // The base is as it was.
    assert_eq!(git(glass, &["status", "--porcelain"]), "");
    assert_eq!(
        (git(glass, &["rev-parse", "HEAD"]), git(glass, &["branch", "--list"])),
        (head, "* main".to_owned())
    );
    // A branch holds exactly the attempt's diff, and so does the working tree.
    let diff = glass.run(&["runs", "diff", "last", "4"]).ok();
    assert!(diff.contains("+    return a + b") && !diff.contains("tests/"), "{diff}");
    let branch = glass.json(&["runs", "apply", "last", "--branch"])["branch"].as_str().unwrap().to_owned();
    assert_eq!(
        git(glass, &["diff", "--stat", "main", &branch]),
        " calc.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)"
    );
    assert_eq!(git(glass, &["rev-list", "--count", &format!("main..{branch}")]), "1");
    glass.run(&["runs", "apply", "last"]).ok();
    assert_eq!(git(glass, &["diff", &branch]), "");
    assert_eq!(git(glass, &["status", "--porcelain"]), " M calc.py");
    let page = glass.lent().join("run.html");
    glass.run(&["runs", "report", "last", "-o", page.to_str().unwrap()]).ok();
    let html = fs::read_to_string(page).unwrap();
    assert!(html.contains("</html>") && html.contains("return a + b"), "{html:.200}");
    assert!(glass.run(&["runs", "report"]).ok().contains("test_add"));
    // A person has the last word.
    glass.run(&["runs", "pick", "last", "3", "--reason", "short"]).code(125).says("10 to 1000");
    glass.run(&["runs", "pick", "last", "3", "--reason", "the prices are wanted, too"]).ok();
    let shown = glass.json(&["runs", "show", "last"]);
    assert_eq!((&shown["run"]["winner_fork"], &shown["run"]["picked"]["fork"]), (&json!(3), &json!(3)));
    assert_eq!(glass.json(&["snapshot", "--list"]), json!([]));
}

fn where_nobody_passes_nobody_wins(glass: &Glass) {
    repository(glass);
    let script = agent(&["exit 1", "true", "echo x >> calc.py"]);
    let results = fork(glass, &["--check", CHECK], &script, 1);
    assert_eq!((&results["winner_fork"], &results["winner_score"]), (&Value::Null, &Value::Null));
    assert_eq!(results["all_scores"], json!([null, null, null]));
    assert!(results["reason"].as_str().unwrap().contains("obody"), "{}", results["reason"]);
    assert!(gates(&results, 1).contains("changed nothing"), "{}", gates(&results, 1));
    glass.run(&["runs", "apply", "last"]).code(125).says("has no winner");
    assert_eq!(git(glass, &["status", "--porcelain"]), "");
}

fn an_interrupted_run_stops_every_attempt(glass: &Glass) {
    program(glass);
    let mut command = glass.belljar(&["fork", "-n", "3", "--", "sleep", "600"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The caller is known by its sandboxes; somebody else's command line would need the store.
    eventually("three attempts run", || {
        let records = fs::read_dir(glass.home().join("sandboxes")).unwrap().flatten();
        let count = records.filter(|entry| entry.path().join("sandbox.json").exists()).count();
        if count == 3 { Ok(()) } else { Err(count.to_string()) }
    });
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    Ended::wait(child).code(130).says("stopping");
    let shown = glass.json(&["runs", "show", "last"]);
    assert_eq!(shown["run"]["state"], "cancelled");
    let statuses: Vec<_> =
        shown["run"]["forks"].as_array().unwrap().iter().map(|fork| &fork["status"]).collect();
    assert_eq!(statuses, ["cancelled", "cancelled", "cancelled"]);
}

fn what_an_attempt_did_to_a_dirty_tree_is_its_own_commit(glass: &Glass) {
    repository(glass);
    glass.write(".gitignore", "out/\n");
    git(glass, &["add", "."]);
    git(glass, &["commit", "-qm", "ignore"]);
    glass.write("calc.py", CALC.replace("width", "w"));
    glass.write("notes.txt", "mine\n");
    let script = "sed -i 's/a - b/a + b/' calc.py; echo theirs >> notes.txt; echo new > 'sp ace'; mkdir out; \
                  echo x > out/built; printf '\\0\\377' > bytes; ln -s calc.py link; chmod 755 tests/__init__.py";
    let results = fork(glass, &["-n", "1", "--check", CHECK], script, 0);
    assert_eq!(results["winner_fork"], 0, "{results:#}");
    let patch = glass.run(&["runs", "apply", "last", "--patch"]).ok();
    assert!(patch.contains("GIT binary patch") && !patch.contains("out/built"), "{patch}");
    glass.run(&["runs", "apply", "last", "--branch=kept"]).ok();
    // What was uncommitted is a commit of its own, so that the attempt's is its own alone.
    assert_eq!(git(glass, &["rev-list", "--count", "main..kept"]), "2");
    let names = git(glass, &["diff", "--name-status", "kept~1", "kept"]);
    assert_eq!(names, "A\tbytes\nM\tcalc.py\nA\tlink\nM\tnotes.txt\nA\tsp ace\nM\ttests/__init__.py");
    let calc = git(glass, &["diff", "--numstat", "kept~1", "kept", "--", "calc.py"]);
    assert_eq!(calc, "1\t1\tcalc.py");
    assert_eq!(git(glass, &["ls-tree", "kept", "link", "tests/__init__.py"]).matches("120000").count(), 1);
    assert!(git(glass, &["ls-tree", "kept", "tests/__init__.py"]).starts_with("100755"));
    // The user's own tree and index stay as they were.
    assert_eq!(git(glass, &["status", "--porcelain"]), " M calc.py\n?? notes.txt");
    glass.run(&["runs", "apply", "last", "--branch=kept"]).code(125).says("another name");
}

fn nothing_of_an_attempts_repository_comes_out(glass: &Glass) {
    repository(glass);
    let mark = glass.lent().join("ran");
    let hook = format!("printf '#!/bin/sh\\ntouch {}\\n'", mark.display());
    let script = format!(
        "sed -i 's/a - b/a + b/' calc.py; for h in post-checkout post-commit reference-transaction pre-push; do \
         {hook} > .git/hooks/$h; chmod +x .git/hooks/$h; done; git config core.fsmonitor 'touch {0}'; \
         git config core.hooksPath .git/hooks; git config alias.x '!touch {0}'; git -c user.name=a -c user.email=a@b commit -qam hidden; \
         git tag evil; printf '[filter \"x\"]\\n\\tclean = touch {0}\\n' >> .git/config; echo '* filter=x' > .gitattributes",
        mark.display()
    );
    let before = fs::read_to_string(glass.work().join(".git/config")).unwrap();
    fork(glass, &["-n", "1", "--check", CHECK], &script, 0);
    let tree = glass.lent().join("tree");
    glass.run(&["runs", "apply", "last", "--worktree", tree.to_str().unwrap()]).ok();
    assert_eq!(fs::read_to_string(tree.join("calc.py")).unwrap(), CALC.replace("a - b", "a + b"));
    assert!(!mark.exists(), "something of the sandbox ran on the host");
    assert_eq!(fs::read_to_string(glass.work().join(".git/config")).unwrap(), before);
    assert_eq!(git(glass, &["tag", "--list"]), "");
    assert!(!glass.work().join(".git/hooks/post-commit").exists());
    assert!(!git(glass, &["log", "--all", "--format=%s"]).contains("hidden"));
    git(glass, &["worktree", "remove", "--force", tree.to_str().unwrap()]);
}

fn a_linked_worktree_and_a_plain_directory_are_workspaces_too(glass: &Glass) {
    program(glass);
    let mend = "sed -i 's/a - b/a + b/' calc.py";
    // No repository.
    assert_eq!(fork(glass, &["-n", "1", "--check", CHECK], mend, 0)["winner_fork"], 0);
    glass.run(&["runs", "apply", "last", "--branch"]).code(125).says("no git repository");
    glass.run(&["runs", "apply", "last"]).ok();
    assert_eq!(glass.read("calc.py"), CALC.replace("a - b", "a + b"));
    // A worktree whose repository lies elsewhere: attempts can commit, and only their files come out.
    git(glass, &["init", "-q", "-b", "main"]);
    git(glass, &["add", "."]);
    git(glass, &["commit", "-qm", "base"]);
    let linked = glass.lent().join("linked");
    git(glass, &["worktree", "add", "-q", linked.to_str().unwrap(), "-b", "side"]);
    let commit = "echo '# done' >> calc.py; git add -A && git -c user.name=a -c user.email=a@b commit -qm done && git log --format=%s";
    let workspace = linked.to_str().unwrap();
    let results = fork(glass, &["-n", "1", "--check", CHECK, "-C", workspace], commit, 0);
    assert_eq!(results["winner_fork"], 0, "{results:#}");
    assert_eq!(results["forks"][0]["diff_stat"]["added"], 1);
    glass.run(&["runs", "apply", "last", "--branch=linked-result"]).ok();
    assert_eq!(git(glass, &["diff", "--numstat", "side", "linked-result"]), "1\t0\tcalc.py");
    git(glass, &["worktree", "remove", "--force", workspace]);
}
