//! A plan can be read before anything is done.

use serde_json::json;

use crate::support::{Glass, promises};

promises! { [root, user]:
    a_plan_is_printed_and_nothing_is_run,
    a_plan_says_what_was_asked_for,
}

fn a_plan_is_printed_and_nothing_is_run(glass: &Glass) {
    let plan = glass.run(&["run", "--plan", "--", "touch", "f"]).code(0).json();
    assert!(plan["steps"].as_array().unwrap().len() > 20, "{plan}");
    assert_eq!(glass.names(), [""; 0]);
    assert_eq!(glass.json(&["list", "--all"]), json!([]));
    assert!(glass.watch.seen().is_empty(), "a sandbox was made");
}

fn a_plan_says_what_was_asked_for(glass: &Glass) {
    let mount = format!("{}:/srv/data:ro", glass.lent().display());
    let flags = ["run", "--plan", "--net", "open", "--ttl", "90s", "--idle", "30s", "--mount", &mount];
    let plan = glass.run(&flags).code(0).json();
    assert_eq!(plan["network"], "host");
    assert_eq!((&plan["life"]["ttl_ms"], &plan["life"]["idle_ms"]), (&json!(90_000), &json!(30_000)));
    let text = plan["steps"].to_string();
    for path in [glass.work(), glass.lent()] {
        assert!(text.contains(path.to_str().unwrap()), "{text}");
    }
    let plan = glass.run(&["run", "--plan", "--workspace", "none"]).code(0).json();
    assert_eq!(plan["network"], "loopback");
    assert!(!plan["steps"].to_string().contains(glass.work().to_str().unwrap()));
}
