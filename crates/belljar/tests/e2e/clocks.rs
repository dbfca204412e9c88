//! A sandbox ends when its time is over, or when nobody needed it for too long, and the list says which.

use serde_json::Value;

use crate::support::{Glass, eventually, promises};

promises! { [root, user]:
    a_life_that_is_over_is_named,
    a_sandbox_nobody_uses_is_ended_and_named,
    a_command_keeps_its_sandbox_from_being_idle,
    a_life_ends_in_the_middle_of_a_command,
    what_was_changed_outlives_the_clock,
}

fn ended(glass: &Glass, id: &str) -> Value {
    eventually("the sandbox ends", || {
        let info = glass.json(&["inspect", id]);
        let over = info["status"] == "TERMINATED" && info["state"] != "stopping";
        if over { Ok(info) } else { Err(info.to_string()) }
    })
}

fn a_life_that_is_over_is_named(glass: &Glass) {
    let id = glass.keep(&["--ttl", "300ms"]);
    let info = ended(glass, &id);
    assert_eq!((&info["state"], &info["cause"]), (&Value::from("stopped"), &Value::from("ttl")));
    assert!(glass.run(&["list", "--all"]).ok().contains("stopped (ttl)"));
    glass.exec(&id, "true").code(125);
}

fn a_sandbox_nobody_uses_is_ended_and_named(glass: &Glass) {
    let id = glass.keep(&["--idle", "300ms"]);
    assert_eq!(ended(glass, &id)["cause"], "idle");
    assert!(glass.run(&["list", "--all"]).ok().contains("stopped (idle)"));
}

fn a_command_keeps_its_sandbox_from_being_idle(glass: &Glass) {
    // Much longer than the idle clock; were it counted, the command would be killed.
    glass.sh(&["--idle", "100ms"], "sleep 1; exit 6").code(6);
}

fn a_life_ends_in_the_middle_of_a_command(glass: &Glass) {
    glass.sh(&["--ttl", "500ms"], "sleep 1000").code(124).says("killed (ttl)").says("--ttl");
}

fn what_was_changed_outlives_the_clock(glass: &Glass) {
    let id = glass.keep(&["--ttl", "3s"]);
    glass.exec(&id, "echo x > f").ok();
    ended(glass, &id);
    assert!(glass.run(&["diff", &id]).ok().contains("+x"));
}
