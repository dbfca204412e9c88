//! Several tasks in one file.

use serde_json::json;

use super::program;
use crate::support::{Glass, promises};

promises! { [root]:
    different_tasks_run_side_by_side_and_are_told_together,
    what_is_wrong_with_one_task_is_heard_before_any_begins,
}

const FILE: &str = "\
name = 'release'

[[tasks]]
name = 'code'
prompt = 'say hello'
attempts = 2
command = 'echo $FORK_ID > said'
check = 'test -s said'

[[tasks]]
name = 'research'
attempts = 1
command = 'echo \"$TASK_ID\" > found'

[[tasks]]
name = 'review'
attempts = 1
command = 'true'
";

fn different_tasks_run_side_by_side_and_are_told_together(glass: &Glass) {
    program(glass);
    glass.write("belljar.task.toml", FILE);
    let told = glass.run(&["--json", "fork"]).code(1).json();
    assert_eq!((&told["swarm"], &told["won"]), (&json!("release"), &json!(2)), "{told:#}");
    let of = |name: &str| told["tasks"].as_array().unwrap().iter().find(|task| task["task"] == name).unwrap();
    assert_eq!(of("code")["attempts"], 2);
    assert_eq!((&of("review")["winner_fork"], &of("review")["state"]), (&json!(null), &json!("finished")));
    let research = of("research")["run"].as_str().unwrap();
    assert!(glass.run(&["runs", "diff", research, "0"]).ok().ends_with("+release/research\n"));
    let found = glass.json(&["runs", "list", "--task", "release/code"]);
    assert_eq!(found[0]["id"], of("code")["run"], "{found:#}");

    let shown = glass.run(&["fork", "--quiet"]).code(1);
    assert!(shown.out.contains("TASK") && shown.out.contains("review: Nobody wins"), "{shown:?}");
}

fn what_is_wrong_with_one_task_is_heard_before_any_begins(glass: &Glass) {
    program(glass);
    glass.write("belljar.task.toml", FILE.replace("command = 'true'", "timeout = 'soon'\ncommand = 'true'"));
    glass.run(&["fork"]).code(125).says("review");
    glass.write("belljar.task.toml", FILE.replace("'review'", "'code'"));
    glass.run(&["fork"]).code(125).says("a `name` of its own");
    assert_eq!(glass.json(&["runs", "list"]), json!([]));
}
