//! The real client in every attempt: each is told by a model of its own what to do, and heard without anything installed.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{CHECK, REPEATS, gates, git, repository};
use crate::{
    support::{Glass, promises},
    workbench::{
        claude,
        model::{Model, Say, Script},
    },
};

promises! { [root]:
    of_five_real_agents_the_clean_one_wins,
    a_run_of_real_agents_stops_at_its_budget,
}

/// What the client is told beside its model, so that it asks nobody else.
const QUIET: [&str; 4] = [
    "ANTHROPIC_API_KEY=sk-ant-none",
    "IS_SANDBOX=1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
    "DISABLE_AUTOUPDATER=1",
];

fn doing(said: Vec<Say>) -> Model {
    let script = said.into_iter().fold(Script::default(), |script, say| script.turn([say]));
    Model::playing((0..4).fold(script, |script, _| script.turn([Say::text("all done")])))
}

/// Agents for `--agents`, each with its own model.
fn agents(models: &[(&str, Model)]) -> String {
    models.iter().fold(String::new(), |mut file, (name, model)| {
        write!(file, "[[agents]]\nname = '{name}'\nenv = {{ ANTHROPIC_BASE_URL = '{}' }}\n", model.url())
            .unwrap();
        file
    })
}

fn fork(glass: &Glass, models: &[(&str, Model)], flags: &[&str], code: i32) -> Value {
    let file = glass.lent().join("agents.toml");
    std::fs::write(&file, agents(models)).unwrap();
    let lent = format!("{}:/srv/claude:ro", claude().parent().unwrap().display());
    let mut words = vec!["--json", "fork", "--agents", file.to_str().unwrap(), "--mount", &lent];
    words.extend(["--net", "open", "--memory", "4G", "--pids", "512", "-p", "make add add"]);
    words.extend(QUIET.iter().flat_map(|silent| ["--env", silent]));
    words.extend(flags);
    words.extend(["--", "/srv/claude/claude", "--print", "Mend it.", "--dangerously-skip-permissions"]);
    glass.run(&words).code(code).json()
}

fn of_five_real_agents_the_clean_one_wins(glass: &Glass) {
    repository(glass);
    let head = git(glass, &["rev-parse", "HEAD"]);
    let calc = glass.work().join("calc.py");
    let models = [
        // What it cost so far is told every second.
        ("crash", doing(vec![Say::run("sleep 3; kill -9 $PPID")])),
        ("slow", doing(vec![Say::run("tail -f /dev/null")])),
        ("cheat", doing(vec![Say::run("sed -i '/def test_add/,$d' tests/test_calc.py")])),
        ("repeats", doing(vec![Say::run(REPEATS)])),
        (
            "clean",
            doing(vec![
                Say::call("Read", json!({"file_path": calc})),
                Say::call(
                    "Edit",
                    json!({"file_path": calc, "old_string": "return a - b", "new_string": "return a + b"}),
                ),
            ]),
        ),
    ];
    let results = fork(glass, &models, &["--check", CHECK, "--timeout", "45s"], 0);
    let forks = results["forks"].as_array().unwrap();
    let each = |name: &str| forks.iter().map(|fork| fork[name].clone()).collect::<Vec<_>>();
    assert_eq!(results["winner_fork"], 4, "{results:#}");
    assert_eq!(each("status"), ["killed", "timed_out", "finished", "finished", "finished"], "{results:#}");
    assert_eq!(each("eligible"), [false, false, false, true, true]);
    assert!(gates(&results, 2).contains("test_add"), "{}", gates(&results, 2));
    assert!(forks.iter().all(|fork| fork["cost"].as_f64().is_some_and(|cost| cost > 0.0)), "{results:#}");
    // What each of them did is in the records, as theirs.
    let shown = glass.json(&["runs", "show", "last"]);
    assert!(shown["run"]["cost"].as_f64().is_none_or(|cost| cost > 0.0), "{shown:#}");
    assert_eq!(
        (git(glass, &["rev-parse", "HEAD"]), git(glass, &["status", "--porcelain"])),
        (head, String::new())
    );
    glass.run(&["runs", "apply", "last"]).ok();
    assert_eq!(
        git(glass, &["diff", "--unified=0", "--no-prefix"]).lines().skip(2).collect::<Vec<_>>(),
        [
            "--- calc.py",
            "+++ calc.py",
            "@@ -2 +2 @@ def add(a, b):",
            "-    return a - b",
            "+    return a + b"
        ]
    );
    assert_eq!(glass.json(&["list"]), json!([]));
    assert_eq!(glass.json(&["snapshot", "--list"]), json!([]));
}

fn a_run_of_real_agents_stops_at_its_budget(glass: &Glass) {
    repository(glass);
    let models = [
        ("one", doing(vec![Say::run("tail -f /dev/null")])),
        ("two", doing(vec![Say::run("tail -f /dev/null")])),
    ];
    let results = fork(glass, &models, &["--budget", "0.000001"], 1);
    let forks = results["forks"].as_array().unwrap();
    assert!(forks.iter().all(|fork| fork["status"] == "over_budget"), "{results:#}");
    assert!(gates(&results, 0).contains("G7"), "{}", gates(&results, 0));
}
