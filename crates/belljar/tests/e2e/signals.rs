//! Signals sent to belljar are meant for the command.

use rustix::process::Signal;

use crate::support::{Glass, Started, promises};

promises! { [root, user]:
    signals_are_passed_on,
    a_signal_the_command_does_not_catch_ends_it,
    a_signal_reaches_the_whole_pipeline,
    a_further_command_gets_signals_too,
}

/// Tells each signal it gets and lives on.
const LISTEN: &str = "for s in TERM INT HUP QUIT USR1 USR2; do trap \"echo $s\" $s; done; \
                      sleep 1000 & echo ready; while :; do wait; done";

fn signals_are_passed_on(glass: &Glass) {
    let mut run = Started::of(&mut glass.belljar(&["run", "--", "sh", "-c", LISTEN]));
    for (signal, name) in [
        (Signal::TERM, "TERM\n"),
        (Signal::INT, "INT\n"),
        (Signal::HUP, "HUP\n"),
        (Signal::QUIT, "QUIT\n"),
        (Signal::USR1, "USR1\n"),
        (Signal::USR2, "USR2\n"),
    ] {
        run.signal(signal);
        assert_eq!(run.line(), name);
    }
    glass.run(&["terminate", "--all", "--force"]).ok();
    run.wait().code(137);
}

fn a_signal_the_command_does_not_catch_ends_it(glass: &Glass) {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let run = Started::of(&mut glass.belljar(&["run", "--", "sh", "-c", "echo ready; exec sleep 1000"]));
        run.signal(signal);
        run.wait().code(code);
    }
}

fn a_signal_reaches_the_whole_pipeline(glass: &Glass) {
    let run =
        Started::of(&mut glass.belljar(&["run", "--", "sh", "-c", "echo ready; sleep 1000 | sleep 1000"]));
    run.signal(Signal::TERM);
    run.wait().code(143);
}

fn a_further_command_gets_signals_too(glass: &Glass) {
    let id = glass.keep(&[]);
    let run =
        Started::of(&mut glass.belljar(&["exec", &id, "--", "sh", "-c", "echo ready; exec sleep 1000"]));
    run.signal(Signal::TERM);
    run.wait().code(143);
    assert_eq!(glass.exec(&id, "echo still here").ok(), "still here\n");
}
