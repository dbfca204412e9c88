//! Managed hooks as a guard: what a rule denies does not happen, and without belljar nothing does.

use std::fs;

use crate::{
    agent::{self, Account},
    support::Machine,
    twenty::Server,
    workbench::{BELLJAR, claude, model::Model},
};

const ARGS: [&str; 6] =
    ["--print", "--verbose", "--output-format", "stream-json", "--dangerously-skip-permissions", "Do it."];

/// A session in which the model wants a file to be made, begun by these words.
fn session(machine: &Machine, words: &[&str]) -> (Model, Account) {
    agent::settled(machine);
    let model = Model::asking_for("echo made > made.txt");
    let program = claude();
    let words = [words, &[program.to_str().unwrap()], &ARGS].concat();
    let account = agent::talk(agent::managed(machine, &model, &[], &words), &[]);
    (model, account)
}

#[test]
fn a_rule_denies_a_call_of_claude_code_with_managed_hooks() {
    let machine = Machine::new();
    let rule = "[[rule]]\nname = \"no-making\"\nmatch = \"Bash(echo made:*)\"\nverdict = \"deny\"\nreason = \"nothing is made here\"\n";
    fs::write(machine.path("home/guardian.toml"), rule).unwrap();
    let mut server = Server::start(&machine);
    for is_up in [true, false] {
        let (model, account) = session(&machine, &[]);
        assert_eq!(account.code, Some(0), "{account:?}");
        assert!(
            model.results().iter().any(|said| said.contains("nothing is made here")),
            "{is_up}: {account:?}"
        );
        assert!(!machine.path("project/made.txt").exists(), "{is_up}");
        if is_up {
            server.kill();
        }
    }
}

#[test]
fn claude_code_does_nothing_where_managed_hooks_cannot_be_run() {
    let machine = Machine::new();
    let (model, account) = session(&machine, &[]);
    assert!(machine.path("project/made.txt").exists(), "{account:?}");
    assert_eq!(model.results().len(), 1);
    fs::remove_file(machine.path("project/made.txt")).unwrap();
    // Somebody took the program away after it was installed.
    let gone = format!(
        "sed -i 's,{BELLJAR},/nowhere/belljar,' /etc/claude-code/managed-settings.d/50-belljar.json && exec \"$@\""
    );
    let (model, account) = session(&machine, &["sh", "-c", &gone, "sh"]);
    assert!(!machine.path("project/made.txt").exists(), "{account:?}");
    assert_eq!(model.results().len(), 0, "{account:?}");
}
