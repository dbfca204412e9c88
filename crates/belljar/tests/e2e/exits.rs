//! How a run ends is told by its exit code, and what went wrong by a sentence with a way out.

use serde_json::Value;

use crate::support::{Glass, Started, promises, until};

promises! { [root, user]:
    the_commands_own_code_is_passed_on,
    signals_are_told_as_a_shell_does,
    the_clock_says_124,
    belljars_own_failures_say_125,
    a_program_that_is_not_there_says_127,
    a_program_that_cannot_be_run_says_126,
    failures_before_the_command_name_the_step,
    what_ignores_signals_and_hides_is_gone_after_the_clock,
    failures_are_json_when_asked,
    a_terminated_command_says_137,
}

fn the_commands_own_code_is_passed_on(glass: &Glass) {
    for code in [0, 1, 3, 124, 125, 126, 127, 137, 255] {
        glass.sh(&[], &format!("exit {code}")).code(code);
    }
}

fn signals_are_told_as_a_shell_does(glass: &Glass) {
    for (signal, code) in [("TERM", 143), ("KILL", 137), ("SEGV", 139), ("HUP", 129)] {
        let ended = glass.sh(&[], &format!("kill -{signal} $$")).code(code);
        assert_eq!(ended.err, "", "nobody but the command itself did it");
    }
    let ended = glass.run(&["--json", "run", "--", "sh", "-c", "kill -TERM $$"]).code(143).json();
    assert_eq!((&ended["signal"], &ended["cause"]), (&Value::from(15), &Value::Null));
}

fn the_clock_says_124(glass: &Glass) {
    glass.sh(&["--timeout", "100ms"], "sleep 1000").code(124).says("killed (timeout)").says("--timeout");
}

fn belljars_own_failures_say_125(glass: &Glass) {
    for (args, words) in [
        (&["run", "--memory", "much", "--", "true"][..], "is not a size"),
        (&["run", "--timeout", "soon", "--", "true"], "soon"),
        (&["run", "--mount", "/x", "--", "true"], "HOST:SANDBOX:ro"),
        (&["run", "--no-such-flag", "--", "true"], "--no-such-flag"),
        (&["run"], "no command was given"),
        (&["run", "--template", "/no/such/root", "--", "true"], "could not read the template source"),
        (&["run", "--template", "unheard-of", "--", "true"], "unheard-of"),
        (&["run", "--provider", "clouds", "--", "true"], "there is no provider `clouds`"),
        (&["run", "-C", "/no/such/directory", "--", "true"], "/no/such/directory"),
        (&["run", "--env", "NOT_SET_HERE", "--", "true"], "is not set in this shell"),
        (&["run", "--mount", "/no/such/thing:/srv/x:ro", "--", "true"], "/no/such/thing"),
        (&["exec", "last", "--", "true"], "there is no sandbox yet"),
        (&["inspect", "nothing-like-it"], "there is no sandbox `nothing-like-it`"),
        (&["no-such-command"], "no-such-command"),
    ] {
        glass.run(args).code(125).says(words);
    }
    assert!(glass.run(&["--help"]).ok().contains("Usage: belljar"));
    assert!(glass.run(&["--version"]).ok().starts_with("belljar "));
}

fn a_program_that_is_not_there_says_127(glass: &Glass) {
    glass
        .run(&["run", "--", "no-such-program"])
        .code(127)
        .says("could not run `no-such-program`")
        .says("hint:");
    glass.run(&["run", "--", "./no-such-file"]).code(127);
}

fn a_program_that_cannot_be_run_says_126(glass: &Glass) {
    glass.write("script", "#!/bin/sh\n");
    glass.run(&["run", "--", "./script"]).code(126).says("could not run `./script`").says("not executable");
    glass.write("garbage", [0x7f, 0, 1, 2]);
    glass.sh(&["--apply"], "chmod +x garbage").ok();
    glass.run(&["run", "--", "./garbage"]).code(126);
}

fn failures_before_the_command_name_the_step(glass: &Glass) {
    let ended = glass
        .run(&["run", "--workdir", "/no/such/place", "--", "true"])
        .says("could not enter the directory");
    assert!(matches!(ended.code, Some(125..=127)), "{ended:?}");
    ended.says("hint:");
    let lent = format!("{}:/etc/passwd/x:ro", glass.lent().display());
    glass.run(&["run", "--mount", &lent, "--", "true"]).code(125).says("could not start the sandbox");
}

fn what_ignores_signals_and_hides_is_gone_after_the_clock(glass: &Glass) {
    // Twice forked, in a session of its own, deaf to every signal it can be deaf to.
    let hide = "trap '' TERM INT HUP QUIT PIPE; (setsid sh -c 'trap \"\" TERM INT HUP QUIT; sleep 1000 & wait' &) ; \
                while :; do sleep 1000; done";
    glass.sh(&["--timeout", "500ms"], hide).code(124);
    until("nothing of it is left", || glass.watch.processes().is_empty());
}

fn failures_are_json_when_asked(glass: &Glass) {
    let ended = glass.run(&["--json", "run", "--", "no-such-program"]).code(127);
    let error: Value = serde_json::from_str(&ended.err).unwrap();
    assert_eq!(error["error"]["exit_code"], 127);
    assert!(error["error"]["hint"].is_string(), "{error}");
}

fn a_terminated_command_says_137(glass: &Glass) {
    let mut run = glass.belljar(&["run", "--", "sh", "-c", "echo ready; sleep 1000"]);
    let child = Started::of(&mut run);
    glass.run(&["terminate", "--all", "--force"]).ok();
    child.wait().code(137).says("killed (killswitch)");
}
