//! What people ask of a run beside a check, and what they do with it afterwards.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    thread,
};

use serde_json::json;

use super::{CHECK, agent, fork, gates, git, program, repository};
use crate::support::{Ended, Glass, Terminal, promises};

promises! { [root]:
    agents_and_what_varies_come_from_a_file,
    a_judge_settles_a_close_call,
    builds_linters_and_waived_gates_count,
    a_prompt_is_text_unless_it_names_a_file,
    a_kept_attempt_says_why_it_is_kept,
    a_pull_request_is_opened_with_gh,
    what_running_leaves_behind_is_no_change,
    nothing_an_attempt_wrote_acts_on_a_terminal,
    attempts_that_live_on_have_room_or_are_refused,
    a_task_file_shapes_sandboxes_and_tells_of_the_end,
    a_run_that_cannot_begin_says_why_and_no_more,
}

const FIX: &str = "sed -i 's/a - b/a + b/' calc.py";

fn agents_and_what_varies_come_from_a_file(glass: &Glass) {
    program(glass);
    let file = glass.lent().join("agents.toml");
    fs::write(
        &file,
        "[vary]\nmodels = ['big', 'small']\n[[agents]]\nname = 'one'\nenv = { WHO = 'first' }\n\
         [[agents]]\nname = 'two'\ncommand = ['sh', '-c', 'echo own $FORK_MODEL > said']\n",
    )
    .unwrap();
    let flags =
        ["-n", "3", "--agents", file.to_str().unwrap(), "--vary", "model", "--vary", "seed", "--waive", "G5"];
    let results = fork(glass, &flags, "echo $WHO $FORK_MODEL $FORK_SEED > said", 0);
    assert_eq!(results["attempts"], 3);
    let said = |fork: &str| {
        let diff = glass.run(&["runs", "diff", "last", fork]).ok();
        diff.lines().last().unwrap().to_owned()
    };
    assert_eq!(["0", "1", "2"].map(said), ["+first big 1", "+own small", "+first big 3"]);
    glass.run(&["fork", "--vary", "hint", "--", "true"]).code(125).says("needs a list");
}

fn a_judge_settles_a_close_call(glass: &Glass) {
    repository(glass);
    let script = agent(&[FIX, &format!("{FIX}; echo '# done' >> calc.py")]);
    let judge = "python3 -c 'import json, sys; q = json.load(sys.stdin); print(json.dumps({\"winner\": \
                 max(q[\"a\"][\"fork\"], q[\"b\"][\"fork\"]), \"reason\": \"the later one\"}))'";
    let results = fork(glass, &["-n", "2", "--check", CHECK, "--judge", judge], &script, 0);
    assert_eq!(results["winner_fork"], 1, "{results:#}");
    assert!(results["reason"].as_str().unwrap().contains("the later one"), "{}", results["reason"]);
    assert!(glass.run(&["runs", "diff", "last", "0", "1"]).ok().ends_with("+# done\n"));
    let both = glass.run(&["runs", "diff", "last", "0", "1", "--three-way"]).ok();
    assert!(both.contains("calc.py: both, and they agree"), "{both}");
}

fn builds_linters_and_waived_gates_count(glass: &Glass) {
    repository(glass);
    let script = agent(&[
        &format!("{FIX}; echo 'def f(:' > more.py"),
        &format!("{FIX}; echo 'import os' > more.py"),
        FIX,
        "sed -i '/def test_add/,$d' tests/test_calc.py; echo '# x' >> calc.py",
    ]);
    let lint = "grep -n '^import os' *.py | sed 's/$/: E1 unused import/'";
    let flags = ["-n", "4", "--check", CHECK, "--build", "python3 -m compileall -q .", "--lint", lint];
    let results = fork(glass, &flags, &script, 0);
    assert_eq!(results["winner_fork"], 2, "{results:#}");
    assert!(gates(&results, 0).contains("G2"), "{}", gates(&results, 0));
    let lints = |fork: usize| results["forks"][fork]["breakdown"]["lint"]["value"].as_f64();
    assert!(lints(1) < lints(2) || lints(1).is_none(), "{results:#}");
    assert!(gates(&results, 3).contains("G4"));
    let waived = fork(glass, &[&flags[..], &["--waive", "G4", "--waive", "G5"]].concat(), &script, 0);
    assert_eq!(gates(&waived, 3), "");
    glass.run(&["fork", "--waive", "G9", "--", "true"]).code(125).says("G9");
}

fn a_prompt_is_text_unless_it_names_a_file(glass: &Glass) {
    program(glass);
    glass.write("task.md", "from the file");
    let told = |given: &str| {
        fork(glass, &["-n", "1", "-p", given], "echo \"$TASK_PROMPT\" > said", 0);
        glass.run(&["runs", "diff", "last", "0"]).ok().lines().last().unwrap().to_owned()
    };
    assert_eq!(told("task.md"), "+from the file");
    assert_eq!(told("write it into task.md.md"), "+write it into task.md.md");
    glass.run(&["fork", "-p", "missing.md", "--", "true"]).code(125).says("missing.md");
    glass.write("long.md", "x".repeat(131_009));
    glass.run(&["fork", "-p", "long.md", "--", "true"]).code(125).says("131008");
    glass.write("long.md", "x".repeat(131_008));
    let results = fork(glass, &["-n", "1", "-p", "long.md"], "printf %s \"$TASK_PROMPT\" | wc -c > said", 0);
    assert_eq!(results["winner_fork"], 0);
    assert!(glass.run(&["runs", "diff", "last", "0"]).ok().ends_with("+131008\n"));
}

fn a_kept_attempt_says_why_it_is_kept(glass: &Glass) {
    repository(glass);
    let script = agent(&[FIX, &format!("{FIX}; echo '# more' >> calc.py"), &format!("{FIX}; echo x > y")]);
    let results = fork(glass, &["--check", CHECK, "-p", "make add add"], &script, 0);
    let won = results["winner_fork"].as_u64().unwrap();
    let others: Vec<String> = (0..3).filter(|fork| *fork != won).map(|fork| fork.to_string()).collect();
    let message = |words: &[&str]| {
        let made = glass.json(&[&["runs", "apply", "last"], words, &["--branch"]].concat());
        git(glass, &["log", "-1", "--format=%B", made["branch"].as_str().unwrap()])
    };
    assert!(message(&[]).contains("wins"));
    glass.run(&["runs", "pick", "last", &others[0], "--reason", "I like its comment"]).ok();
    assert!(
        message(&[&others[0]]).contains("I like its comment") && !message(&[&others[1]]).contains("wins")
    );
}

fn a_pull_request_is_opened_with_gh(glass: &Glass) {
    repository(glass);
    let remote = glass.lent().join("remote.git");
    git(glass, &["init", "-q", "--bare", remote.to_str().unwrap()]);
    git(glass, &["remote", "add", "origin", remote.to_str().unwrap()]);
    let bin = glass.lent().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("gh"), "#!/bin/sh\n[ \"$1\" = --version ] && exit\nprintf '%s\\n' \"$@\" > \"$GH_SAID\"\necho https://forge.test/1\n")
        .unwrap();
    fs::set_permissions(bin.join("gh"), PermissionsExt::from_mode(0o755)).unwrap();
    fork(glass, &["-n", "1", "--check", CHECK, "-p", "make add add"], FIX, 0);
    let said = glass.lent().join("said");
    let mut command = glass.belljar(&["--json", "runs", "apply", "last", "--pr"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).env("GH_SAID", &said);
    let opened = Ended::of(&mut command).code(0).json();
    assert_eq!(opened["pull_request"], "https://forge.test/1");
    let branch = opened["branch"].as_str().unwrap();
    assert!(
        fs::read_to_string(said).unwrap().contains(&format!("--head\n{branch}\n--title\nmake add add\n"))
    );
    assert_eq!(git(glass, &["ls-remote", "origin", branch]).split('\t').next(), opened["commit"].as_str());
}

fn what_running_leaves_behind_is_no_change(glass: &Glass) {
    program(glass);
    let results = fork(
        glass,
        &["-n", "1"],
        &format!("{FIX}; python3 -c 'import calc'; mkdir .pytest_cache; echo x > .pytest_cache/a"),
        0,
    );
    assert_eq!(results["forks"][0]["diff_stat"]["files"], 1, "{results:#}");
}

fn nothing_an_attempt_wrote_acts_on_a_terminal(glass: &Glass) {
    program(glass);
    let script = agent(&[
        "printf 'a\\033[31mred\\n' > f; touch \"$(printf 'n\\033[2Jm')\"",
        "printf 'b\\033[32mgreen\\n' > f",
    ]);
    fork(glass, &["-n", "2"], &script, 0);
    let looks =
        [(&["0"][..], "red"), (&["0", "--stat"], "files changed"), (&["0", "1", "--three-way"], "green")];
    for (words, last) in looks {
        let mut terminal = Terminal::start(glass, &[&["runs", "diff", "last"], words].concat());
        terminal.sees(last);
        assert_eq!(terminal.code(), Some(0));
        let seen = terminal.written();
        assert!(!seen.contains("\u{1b}[31mred") && !seen.contains("\u{1b}[2J"), "{seen:?}");
    }
}

fn attempts_that_live_on_have_room_or_are_refused(glass: &Glass) {
    program(glass);
    let served = crate::support::Served::start(glass);
    let flags = ["fork", "-n", "5", "--agent", "coder", "--keep-alive", "--", "true"];
    glass.run(&flags).code(125).says("6 sandboxes at once");
    assert_eq!(served.get("/api/v1/runs")["items"], json!([]));
}

/// Takes one post and answers what was in it.
fn mailbox() -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/done", listener.local_addr().unwrap());
    let taking = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut length, mut line) = (0, String::new());
        while reader.read_line(&mut line).unwrap() > 2 {
            let lower = line.to_ascii_lowercase();
            length =
                lower.strip_prefix("content-length:").map_or(length, |rest| rest.trim().parse().unwrap());
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
        String::from_utf8(body).unwrap()
    });
    (url, taking)
}

fn a_task_file_shapes_sandboxes_and_tells_of_the_end(glass: &Glass) {
    program(glass);
    let settings = glass.home().join("belljar.toml");
    fs::write(&settings, "[webhooks]\nallow_private = true\n").unwrap();
    let (url, taken) = mailbox();
    let file = |sandbox: &str| {
        format!(
            "name = 'shaped'\nattempts = 1\ncommand = 'echo $WHO > said; cat /lent/x >> said'\nwebhook = '{url}'\n\
             [sandbox]\n{sandbox}\n"
        )
    };
    fs::write(glass.lent().join("x"), "lent\n").unwrap();
    glass.write(
        "belljar.task.toml",
        file(&format!("env = {{ WHO = 'written' }}\nmount = ['{}:/lent:ro']", glass.lent().display())),
    );
    let results = glass.json(&["fork"]);
    assert_eq!(results["winner_fork"], 0, "{results:#}");
    assert!(glass.run(&["runs", "diff", "last", "0"]).ok().ends_with("+written\n+lent\n"));
    let told: serde_json::Value = serde_json::from_str(&taken.join().unwrap()).unwrap();
    assert_eq!(
        (&told["type"], &told["run"], &told["winner_fork"]),
        (&json!("run.ended"), &results["run"], &json!(0))
    );
    glass.write("belljar.task.toml", file("memory = 'plenty'"));
    glass.run(&["fork"]).code(125).says("[sandbox]");
    glass.run(&["fork", "--webhook", "ftp://x", "--", "true"]).code(125).says("webhook");
}

fn a_run_that_cannot_begin_says_why_and_no_more(glass: &Glass) {
    program(glass);
    // There is no such place in what the sandbox starts from, and none can be made.
    let lent = format!("{}:/usr/nowhere/lent:ro", glass.lent().display());
    let ended = glass.run(&["fork", "-n", "2", "--mount", &lent, "--", "true"]).code(125);
    assert_eq!(ended.out, "", "{ended:?}");
    ended.says("belljar: could not start the sandbox");
}
