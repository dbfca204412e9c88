//! Secrets go where they are sent, and into no record.

use std::fs;

use serde_json::json;

use super::program;
use crate::support::{Ended, Glass, promises};

promises! { [root]:
    secrets_reach_those_they_are_given_to_and_no_record,
}

fn digest(glass: &Glass, text: &str) -> String {
    let script = format!("printf %s '{text}' | sha256sum | cut -c1-64");
    let mut command = glass.command("sh".as_ref());
    Ended::of(command.args(["-c", &script])).ok().trim().to_owned()
}

fn secrets_reach_those_they_are_given_to_and_no_record(glass: &Glass) {
    program(glass);
    let key = format!("sk-ant-api03-{}", "Zx9_".repeat(24));
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let prompt = format!("mend it with {token}");
    let is = |variable: &str, text: &str| {
        format!("[ \"$(printf %s \"{variable}\" | sha256sum | cut -c1-64)\" = {} ]", digest(glass, text))
    };
    let agents = format!(
        "[[agents]]\nname = 'keyed'\nenv = {{ ANTHROPIC_API_KEY = '{key}' }}\ncommand = \"\"\"{} && {} && echo done > done.txt\"\"\"\n",
        is("$ANTHROPIC_API_KEY", &key),
        is("$TASK_PROMPT", &prompt),
    );
    let file = glass.lent().join("agents.toml");
    fs::write(&file, agents).unwrap();
    let setup = format!("{} && touch /tmp/set-up", is(&key, &key));
    let check = format!("test -s done.txt && {} && {}", is(&key, &key), is("$TASK_PROMPT", &prompt));
    let lint = format!("{} && echo fine", is(&token, &token));
    let flags = ["-p", &prompt, "--agents", file.to_str().unwrap(), "--setup", &setup, "--check", &check];
    let flags = [&flags[..], &["--lint", &lint, "--build", &check]].concat();
    let results = glass.run(&[&["--json", "fork"], &flags[..]].concat()).code(0).json();
    assert_eq!(
        (&results["winner_fork"], &results["forks"][0]["eligible"]),
        (&json!(0), &json!(true)),
        "{results:#}"
    );
    let shown = glass.json(&["runs", "show", "last"]).to_string();
    let report = glass.run(&["runs", "report", "last"]).ok();
    let events = glass.run(&["--json", "events", "query"]).ok();
    for said in [shown, report, events] {
        assert!(!said.contains(&key) && !said.contains(&token), "{said}");
    }
    // What goes wrong is told without them, too.
    let broken = format!("echo {key}; exit 3");
    let ended = glass.run(&["fork", "-n", "1", "--setup", &broken, "--", "true"]).code(125);
    assert!(!format!("{ended:?}").contains(&key), "{ended:?}");
}
