//! How runs are asked for, carried on, and carried out by a server.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{CHECK, fork, gates, git, program, repository};
use crate::support::{Ended, Glass, Served, eventually, promises};

promises! { [root]:
    with_a_server_a_run_is_the_same_and_outlives_it,
    a_killed_fork_is_reported_and_leaves_nothing,
    attempts_are_kept_alive_to_be_looked_at,
    a_task_file_says_it_all,
    attempts_wait_for_their_turn,
    a_servers_run_outlives_the_terminal_and_is_watched_from_another,
}

fn with_a_server_a_run_is_the_same_and_outlives_it(glass: &Glass) {
    repository(glass);
    let served = Served::start(glass);
    let go = format!("{}:/go:ro", glass.lent().display());
    let script = "until [ -e /go/now ]; do sleep 0.05; done; sed -i 's/a - b/a + b/' calc.py";
    let mut command = glass
        .belljar(&["--json", "fork", "-n", "2", "--check", CHECK, "--mount", &go, "--", "sh", "-c", script]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = eventually("both attempts run", || {
        let runs = served.get("/api/v1/runs");
        let run = runs["items"].get(0).cloned().unwrap_or_default();
        let forks = run["forks"].as_array().cloned().unwrap_or_default();
        let running = forks.iter().filter(|fork| fork["status"] == "running").count();
        if running == 2 { Ok(run["id"].as_str().unwrap().to_owned()) } else { Err(run.to_string()) }
    });
    served.end(Signal::KILL);
    // Whoever watched is told that nobody answers any more.
    assert_ne!(Ended::wait(child).code, Some(0));
    fs::write(glass.lent().join("now"), "").unwrap();
    let served = Served::start(glass);
    let run = eventually("the run is over", || {
        let run = served.get(&format!("/api/v1/sandboxes/fork/{id}"));
        if run["state"] == "finished" { Ok(run) } else { Err(run.to_string()) }
    });
    assert!(run["winner_fork"].is_u64(), "{run:#}");
    let results = served.get(&format!("/api/v1/runs/{id}/results"));
    assert_eq!(results["winner_fork"], run["winner_fork"]);
    // By its other name it is the same.
    assert_eq!(served.get(&format!("/api/v1/sandboxes/fork/{id}/results")), results);
    assert_eq!(served.get("/api/v1/sandboxes/fork/history"), served.get("/api/v1/runs"));
    assert_eq!(served.get("/api/v1/sandboxes/fork/stats")["finished"], 1);
    let events = served.get("/api/v1/events?limit=1000");
    let kinds: Vec<_> = events["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["run_id"] == *id)
        .map(|event| event["kind"].clone())
        .collect();
    for kind in ["run.started", "agent.started", "agent.stopped", "bestofn.selected", "run.ended"] {
        assert!(kinds.contains(&json!(kind)), "{kind} in {kinds:?}");
    }
    let stats = served.get("/api/v1/runs/stats");
    assert_eq!((&stats["runs"], &stats["with_winner"]), (&json!(1), &json!(1)));
    assert_eq!(git(glass, &["status", "--porcelain"]), "");
}

fn a_killed_fork_is_reported_and_leaves_nothing(glass: &Glass) {
    program(glass);
    let mut command = glass.belljar(&["fork", "-n", "2", "--", "sleep", "600"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("two attempts run", || {
        let records = fs::read_dir(glass.home().join("sandboxes")).unwrap().flatten();
        let count = records.filter(|entry| entry.path().join("sandbox.json").exists()).count();
        if count == 2 { Ok(()) } else { Err(count.to_string()) }
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let shown = glass.json(&["runs", "show", "last"]);
    assert_eq!(shown["run"]["state"], "interrupted", "{shown:#}");
    assert_eq!(shown["results"]["winner_fork"], Value::Null);
    assert_eq!(glass.json(&["list"]), json!([]));
    assert_eq!(glass.json(&["snapshot", "--list"]), json!([]));
}

fn attempts_are_kept_alive_to_be_looked_at(glass: &Glass) {
    repository(glass);
    glass.run(&["fork", "--keep-alive", "--", "true"]).code(125).says("needs a server");
    let served = Served::start(glass);
    let serve = "--keep-alive=exec python3 -m http.server 8000";
    let said =
        glass.run(&["fork", "-n", "2", serve, "--", "sh", "-c", "echo \"made by $FORK_ID\" > page.txt"]).ok();
    assert!(said.contains("attempt 1:"), "{said}");
    let run = served.get("/api/v1/runs")["items"][0].clone();
    for fork in [0, 1] {
        let id = run["forks"][fork]["sandbox_id"].as_str().unwrap();
        let url = eventually("it serves", || {
            let ports = served.get(&format!("/api/v1/sandboxes/{id}/ports"));
            ports["items"][0]["url"].as_str().map(str::to_owned).ok_or_else(|| ports.to_string())
        });
        assert!(url.contains(&format!("8000-{id}")), "{url}");
        let page = served.get(&format!("/api/v1/sandboxes/{id}"));
        assert_eq!(page["state"], "running");
        glass.run(&["terminate", "--force", id]).ok();
    }
    let said = glass.run(&["fork", "-n", "1", "--keep-alive=exec no-such-server", "--", "touch", "x"]).ok();
    assert!(said.contains("attempt 0: is not served: its command exited with 127"), "{said}");
    let run = served.get("/api/v1/runs")["items"][0].clone();
    glass.run(&["terminate", "--force", run["forks"][0]["sandbox_id"].as_str().unwrap()]).ok();
}

fn a_task_file_says_it_all(glass: &Glass) {
    repository(glass);
    glass.write("task.md", "make add add\n");
    glass.write(
        "belljar.task.toml",
        format!(
            "name = 'mend'\nprompt_file = 'task.md'\nattempts = 2\ncheck = '{CHECK}'\nartifacts = ['*.log']\n\
             protected = ['secret/*']\n[[agents]]\nname = 'one'\ncommand = 'echo \"$TASK_PROMPT\" > said.log; \
             sed -i \"s/a - b/a + b/\" calc.py'\n[[agents]]\nname = 'two'\ncommand = 'mkdir secret; echo x > secret/x'\n"
        ),
    );
    let results = glass.json(&["fork"]);
    assert_eq!((&results["task_id"], &results["winner_fork"]), (&json!("mend"), &json!(0)), "{results:#}");
    assert!(gates(&results, 1).contains("protected"), "{}", gates(&results, 1));
    assert!(glass.run(&["runs", "diff", "last", "0"]).ok().contains("+make add add"));
    glass.write("belljar.task.toml", "promt = 'x'\n");
    glass.run(&["fork"]).code(125).says("promt");
    let odd = fs::metadata(glass.work().join("calc.py")).unwrap().permissions().mode();
    assert_eq!(odd & 0o111, 0);
}

/// What is on its own until somebody lets it go on.
fn lingering(glass: &Glass, flags: &[&str]) -> std::process::Command {
    let go = format!("{}:/go:ro", glass.lent().display());
    let script = "until [ -e /go/now ]; do sleep 0.05; done; echo x > made";
    let mut words = vec!["fork", "-n", "1", "--mount", &go];
    words.extend(flags);
    words.extend(["--", "sh", "-c", script]);
    glass.belljar(&words)
}

fn running(served: &Served) -> String {
    eventually("it runs", || {
        let run = served.get("/api/v1/runs")["items"].get(0).cloned().unwrap_or_default();
        let runs = run["state"] == "running" && run["forks"][0]["status"] == "running";
        if runs { Ok(run["id"].as_str().unwrap().to_owned()) } else { Err(run.to_string()) }
    })
}

fn a_servers_run_outlives_the_terminal_and_is_watched_from_another(glass: &Glass) {
    program(glass);
    glass.run(&["fork", "--detach", "--", "true"]).code(125).says("needs a server");
    let served = Served::start(glass);
    let mut command = lingering(glass, &[]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = running(&served);
    kill_process(Pid::from_child(&child), Signal::HUP).unwrap();
    Ended::wait(child).code(129).says("goes on");
    // Whoever only watched leaves it going, too.
    let mut command = glass.belljar(&["runs", "attach", &id]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0];
    std::io::Read::read_exact(child.stderr.as_mut().unwrap(), &mut first).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    Ended::wait(child).code(0).says("goes on");
    assert_eq!(served.get(&format!("/api/v1/runs/{id}"))["state"], "running");
    fs::write(glass.lent().join("now"), "").unwrap();
    let results = glass.run(&["--json", "runs", "wait", &id]).code(0).json();
    assert_eq!((&results["run"], &results["winner_fork"]), (&json!(id), &json!(0)), "{results:#}");
    let mut command = lingering(glass, &["--detach"]);
    let begun = Ended::of(&mut command).ok().trim().to_owned();
    glass.run(&["runs", "wait", &begun]).code(0);
    glass.run(&["runs", "attach", &begun]).code(0);
}

fn attempts_wait_for_their_turn(glass: &Glass) {
    program(glass);
    // With one at a time, each sees what the one before wrote outside.
    let out = format!("{}:/out:rw", glass.lent().display());
    let script =
        "ls /out | wc -l > seen; [ ! -e /out/busy ] && touch /out/busy /out/$FORK_ID && rm /out/busy";
    let results = fork(glass, &["-n", "4", "-j", "1", "--mount", &out], script, 0);
    assert_eq!(
        results["forks"].as_array().unwrap().iter().filter(|fork| fork["status"] == "finished").count(),
        4
    );
    let seen: Vec<String> = (0..4)
        .map(|fork| {
            let diff = glass.run(&["runs", "diff", "last", &fork.to_string()]).ok();
            diff.lines().find(|line| line.starts_with('+') && !line.starts_with("+++")).unwrap().to_owned()
        })
        .collect();
    assert_eq!(seen, ["+0", "+1", "+2", "+3"]);
    glass.run(&["fork", "-n", "11", "--", "true"]).code(125).says("--max-forks");
    glass.run(&["fork", "-n", "2"]).code(125).says("no command was given");
}
