//! A kept sandbox is there for further commands, whoever made it and whatever became of the maker.

use std::{fs, path::PathBuf};

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Ended, Glass, Started, promises};

promises! { [root, user]:
    further_commands_see_what_earlier_ones_did,
    it_survives_the_death_of_its_maker,
    it_holds_nothing_its_maker_had_open,
    a_daemon_of_one_command_lives_in_the_next,
    a_clock_ends_what_double_forked_and_nothing_else,
    logs_are_kept_and_can_be_followed,
    lists_can_be_filtered,
    an_agent_can_be_killed,
    what_is_over_stays_over,
    every_command_speaks_json,
}

promises! { [root, delegated]:
    a_paused_sandbox_stands_still_and_goes_on,
    a_paused_sandbox_can_be_terminated,
}

promises! { [root]: commands_can_run_as_other_users }
promises! { [user]: there_is_one_user_without_root }

fn state(glass: &Glass, id: &str) -> serde_json::Value {
    glass.json(&["inspect", id])["state"].clone()
}

fn further_commands_see_what_earlier_ones_did(glass: &Glass) {
    let id = glass.keep(&["--env", "COLOUR=green"]);
    glass.exec(&id, "echo work > f; echo home > ~/h; echo tmp > /tmp/t").ok();
    assert_eq!(glass.exec(&id, "cat f ~/h /tmp/t; echo $COLOUR").ok(), "work\nhome\ntmp\ngreen\n");
    let ended =
        glass.run(&["exec", "-e", "COLOUR=red", "-w", "/tmp", &id, "--", "sh", "-c", "echo $COLOUR; pwd"]);
    assert_eq!(ended.ok(), "red\n/tmp\n");
    glass.exec(&id, "exit 4").code(4);
    assert!(glass.run(&["diff", &id]).ok().contains("+work"), "a running sandbox can be looked at");
    assert_eq!(glass.names(), [""; 0]);
    glass.run(&["apply", &id]).ok();
    assert_eq!(glass.read("f"), "work\n");
    assert_eq!(state(glass, &id), "running", "applying does not end what runs");
}

fn it_survives_the_death_of_its_maker(glass: &Glass) {
    let maker = Started::of(&mut glass.belljar(&[
        "run",
        "--keep",
        "--",
        "sh",
        "-c",
        "echo x > f; echo ready; sleep 1000",
    ]));
    maker.signal(Signal::KILL);
    assert_eq!(maker.wait().code, None);
    let id = glass.json(&["list"])[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(glass.exec(&id, "cat f").ok(), "x\n");
    assert_eq!(state(glass, &id), "running");
}

fn it_holds_nothing_its_maker_had_open(glass: &Glass) {
    let mut shell = glass.command("sh".as_ref());
    let script = "exec \"$0\" run --keep 3>&1 4< /dev/zero > /dev/null";
    Ended::of(shell.args(["-c", script]).arg(glass.program())).ok();
    let (keeper, _) = glass.watch.keeper_and_first();
    let open = fs::read_dir(format!("/proc/{}/fd", keeper.pid)).unwrap().flatten();
    let held: Vec<_> = open.map(|entry| fs::read_link(entry.path()).unwrap_or_default()).collect();
    let foreign = |path: &&PathBuf| path.ends_with("zero") || path.to_string_lossy().starts_with("pipe:");
    assert_eq!(held.iter().find(foreign), None, "{held:?}");
}

fn a_daemon_of_one_command_lives_in_the_next(glass: &Glass) {
    let id = glass.keep(&[]);
    let pid = glass.exec(&id, "setsid sleep 4321 > /dev/null 2>&1 & echo $!").ok();
    glass.exec(&id, &format!("kill -0 {pid}")).ok();
    glass.exec(&id, &format!("kill {pid}")).ok();
}

fn a_clock_ends_what_double_forked_and_nothing_else(glass: &Glass) {
    let id = glass.keep(&[]);
    let running = |what: &str| glass.watch.processes().iter().any(|process| process.line.contains(what));
    glass.exec(&id, "setsid sleep 1111 > /dev/null 2>&1 &").ok();
    let hide = "(setsid sh -c 'trap \"\" TERM; sleep 2222 & wait' &) ; sleep 3333";
    let timed = ["exec", "--timeout", "500ms", &id, "--", "sh", "-c", hide];
    glass.run(&timed).code(124).says("killed (timeout)");
    crate::support::until("the hidden one is gone", || !running("sleep 2222") && !running("sleep 3333"));
    assert!(running("sleep 1111"), "the daemon of another command is none of the clock's business");
    assert_eq!(glass.exec(&id, "echo here").ok(), "here\n");
}

fn logs_are_kept_and_can_be_followed(glass: &Glass) {
    let id = glass.keep(&[]);
    glass.exec(&id, "echo ready; echo oops >&2").ok();
    let mut follower = Started::of(&mut glass.belljar(&["logs", "-f", &id]));
    assert_eq!(follower.line(), "oops\n");
    glass.exec(&id, "echo later").ok();
    assert_eq!(follower.line(), "later\n");
    let logs = glass.json(&["logs", &id]);
    assert_eq!(logs.as_array().unwrap().len(), 2, "{logs}");
    assert_eq!(logs[1]["output"], "later\n");
    // Nobody says yes, so it goes on.
    glass.run(&["terminate", &id]).code(1).says("--force");
    glass.run(&["terminate", "-f", &id]).ok();
    follower.wait().ok();
    assert_eq!(glass.run(&["logs", &id]).ok(), "ready\noops\nlater\n");
}

fn lists_can_be_filtered(glass: &Glass) {
    let ada = glass.keep(&["--agent", "ada", "--label", "team=red"]);
    let bob = glass.keep(&["--agent", "bob", "--label", "team=red", "--label", "job=1"]);
    let ids = |flags: &[&str]| -> Vec<String> {
        let list = glass.json(&[&["list"], flags].concat());
        list.as_array().unwrap().iter().map(|info| info["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&["--agent", "ada"]), [ada.as_str()]);
    assert_eq!(ids(&["--label", "team=red"]), [ada.as_str(), &bob]);
    assert_eq!(ids(&["--label", "team=red", "--label", "job=1"]), [bob.as_str()]);
    glass.exec(&ada, "echo x > f").ok();
    glass.run(&["terminate", "-f", &ada]).ok();
    assert_eq!(ids(&[]), [bob]);
    assert_eq!(ids(&["--all", "--agent", "ada"]), [ada]);
    let table = glass.run(&["list", "--all", "--detailed"]).ok();
    assert!(table.contains("stopped (killswitch)") && table.contains("WORKSPACE"), "{table}");
}

fn an_agent_can_be_killed(glass: &Glass) {
    let (first, second) = (glass.keep(&["--agent", "ada"]), glass.keep(&["--agent", "ada"]));
    let bystander = glass.keep(&["--agent", "bob"]);
    let busy = Started::of(&mut glass.belljar(&["exec", &first, "--", "sh", "-c", "echo ready; sleep 1000"]));
    assert_eq!(glass.json(&["kill-agent", "ada"])["terminated"], json!([first, second]));
    busy.wait().code(137).says("killed (killswitch)");
    assert_eq!(state(glass, &bystander), "running");
    assert_eq!(glass.json(&["kill-agent", "ada"])["terminated"], json!([]));
    glass.run(&["run", "--agent", "ada", "--", "true"]).code(126).says("was killed by");
    glass.run(&["kill-agent", "ada", "--release"]).ok();
    glass.run(&["run", "--agent", "ada", "--", "true"]).ok();
}

fn what_is_over_stays_over(glass: &Glass) {
    let id = glass.keep(&[]);
    glass.exec(&id, "echo x > f").ok();
    glass.run(&["terminate", "-f", &id]).ok();
    glass.run(&["terminate", "-f", &id]).ok();
    for refused in [&["exec", &id, "--", "true"][..], &["pause", &id], &["resume", &id], &["stats", &id]] {
        glass.run(refused).code(125);
    }
    assert!(glass.run(&["diff", &id]).ok().contains("+x"), "its changes are kept");
    glass.run(&["apply", &id]).ok();
    assert_eq!(glass.read("f"), "x\n");
}

fn every_command_speaks_json(glass: &Glass) {
    let id = glass.keep(&["--env", "TOKEN=secret"]);
    assert_eq!(glass.json(&["exec", &id, "--", "sh", "-c", "echo x > f"])["exit_code"], 0);
    let info = glass.json(&["inspect", &id]);
    assert!(!info.to_string().contains("secret") && info["spec"]["env"] == json!(["TOKEN"]), "{info}");
    assert_eq!(glass.json(&["list"])[0]["status"], "RUNNING");
    assert_eq!(glass.json(&["stats"])[0]["id"], id);
    assert!(glass.json(&["stats", &id])[0]["usage"].is_object());
    assert!(glass.json(&["logs", &id]).is_array());
    assert_eq!(glass.json(&["diff", &id])["totals"]["files"], 1);
    let snapshot = glass.json(&["snapshot", &id])["id"].clone();
    assert_eq!(glass.json(&["snapshot", "--list"])[0]["id"], snapshot);
    let restored = glass.json(&["restore", snapshot.as_str().unwrap()])["sandbox"].clone();
    assert_eq!(glass.json(&["terminate", restored.as_str().unwrap()])["terminated"], json!([restored]));
    assert_eq!(glass.json(&["apply", &id])["written"], json!(["f"]));
    assert_eq!(glass.json(&["terminate", "--all"])["terminated"], json!([id]));
    assert_eq!(glass.json(&["template", "list"])[0]["name"], "host");
    assert!(glass.json(&["discard", "--all"])["discarded"].is_array());
}

fn a_paused_sandbox_stands_still_and_goes_on(glass: &Glass) {
    let id = glass.keep(&[]);
    let mut busy = Started::of(&mut glass.belljar(&[
        "exec",
        &id,
        "--",
        "sh",
        "-c",
        "echo ready; while [ ! -e go ]; do echo x > ticked; sleep 0.01; done; echo went",
    ]));
    assert_eq!(glass.json(&["pause", &id])["state"], "paused");
    assert_eq!(state(glass, &id), "paused");
    glass.exec(&id, "touch go").code(125).says("belljar resume");
    glass.run(&["pause", &id]).code(125);
    assert_eq!(glass.json(&["resume", &id])["state"], "running");
    glass.run(&["resume", &id]).code(125);
    glass.exec(&id, "touch go").ok();
    assert_eq!(busy.line(), "went\n");
    busy.wait().code(0);
}

fn a_paused_sandbox_can_be_terminated(glass: &Glass) {
    let id = glass.keep(&[]);
    let busy = Started::of(&mut glass.belljar(&["exec", &id, "--", "sh", "-c", "echo ready; sleep 1000"]));
    glass.run(&["pause", &id]).ok();
    glass.run(&["terminate", "-f", &id]).ok();
    busy.wait().code(137);
    assert_eq!(state(glass, &id), "stopped");
}

fn commands_can_run_as_other_users(glass: &Glass) {
    let id = glass.keep(&[]);
    let whoami = |user: &str| {
        Ended::of(&mut glass.belljar(&["exec", "-u", user, &id, "--", "sh", "-c", "id -u; id -g"]))
    };
    assert_eq!(whoami("1234").ok(), "1234\n1234\n");
    assert_eq!(whoami("1234:77").ok(), "1234\n77\n");
    assert_eq!(whoami("nobody").ok(), "65534\n65534\n");
    whoami("no-such-user").code(125).says("there is no user `no-such-user`");
    glass.run(&["exec", "-u", "1234", &id, "--", "sh", "-c", "touch ~/x"]).code(1);
    assert_eq!(glass.run(&["run", "--user", "1234", "--", "id", "-u"]).ok(), "1234\n");
}

fn there_is_one_user_without_root(glass: &Glass) {
    assert_eq!(glass.run(&["run", "--", "id", "-u"]).ok(), format!("{}\n", glass.caller.uid()));
    glass.run(&["run", "--user", "1234", "--", "id"]).code(125).says("run belljar as root");
}
