//! `belljar exec` with a server up: the same to whoever types it, and the server knows of it.

use std::{ops::RangeInclusive, process::Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    streams::carries_whole,
    support::{Ended, Glass, Served, Started, Terminal, promises, until},
};

promises! { [root, user]:
    flags_streams_and_codes_are_as_without_a_server,
    what_runs_is_an_execution_with_logs_and_events,
    one_that_cannot_start_says_why_and_exits_as_a_shell_would,
    megabytes_of_input_arrive_whole_however_slowly_they_are_read,
    input_and_output_come_as_they_are_written,
    signals_reach_the_command,
    the_clock_ends_it,
    a_terminal_is_a_terminal,
    it_ends_when_its_caller_is_killed,
    it_ends_when_nobody_reads_its_output,
    output_of_any_length_arrives_whole_and_waits_for_its_reader,
    a_server_that_ends_and_comes_back_is_found_again,
    what_no_log_takes_comes_from_the_next_server_too,
    ending_a_sandbox_is_the_servers_to_do,
}

promises! { [root]: users_are_chosen }

fn executions(served: &Served, id: &str) -> Vec<Value> {
    let page = served.get(&format!("/api/v1/sandboxes/{id}/executions"));
    page["items"].as_array().unwrap().clone()
}

fn flags_streams_and_codes_are_as_without_a_server(glass: &Glass) {
    let id = glass.keep(&["--env", "COLOUR=green"]);
    let script = "echo $COLOUR $SHADE; pwd; echo oops >&2; printf '\\377\\000\\n'; exit 3";
    let args = ["exec", "-e", "SHADE=dark", "-w", "/tmp", &id, "--", "sh", "-c", script];
    let alone = (glass.run(&args), glass.run(&[&["--json"], &args[..]].concat()));
    let _served = Served::start(glass);
    let with_server = (glass.run(&args), glass.run(&[&["--json"], &args[..]].concat()));
    assert_eq!(with_server.0.out, alone.0.out);
    assert_eq!(with_server.0.err, alone.0.err);
    assert_eq!((with_server.0.code, with_server.1.code), (Some(3), Some(3)));
    let fields = |ended: &Ended| {
        let mut json = ended.json();
        for changing in ["duration_ms", "usage"] {
            assert!(!json[changing].is_null(), "{changing}: {json}");
            json[changing] = Value::Null;
        }
        json
    };
    assert_eq!(fields(&with_server.1), fields(&alone.1));
}

fn what_runs_is_an_execution_with_logs_and_events(glass: &Glass) {
    let served = Served::start(glass);
    let id = glass.keep(&[]);
    glass.exec(&id, "echo seen; exit 2").code(2);
    let ran = executions(&served, &id);
    assert_eq!(ran.len(), 1, "{ran:?}");
    assert_eq!((&ran[0]["exit_code"], &ran[0]["status"]), (&json!(2), &json!("failure")));
    assert_eq!(ran[0]["command"], json!(["sh", "-c", "echo seen; exit 2"]));
    assert_eq!(glass.run(&["logs", &id]).ok(), "seen\n");
    let deeds = glass.json(&["logs", "--sandbox", &id, "--operation", "command_execute"]);
    assert_eq!(deeds[0]["status"], "failure", "{deeds}");
    glass.run(&["exec", "--direct", &id, "--", "true"]).ok();
    assert_eq!(executions(&served, &id).len(), 1, "what was run directly is not the server's");
}

fn one_that_cannot_start_says_why_and_exits_as_a_shell_would(glass: &Glass) {
    let _served = Served::start(glass);
    let id = glass.keep(&[]);
    glass.run(&["exec", &id, "--", "no-such-program"]).code(127).says("no-such-program");
    glass.run(&["exec", &id, "--", "/etc/passwd"]).code(126);
    glass.run(&["exec", "-w", "/no/such/place", &id, "--", "true"]).code(127).says("/no/such/place");
    glass.run(&["terminate", "--force", &id]).ok();
    glass.run(&["exec", &id, "--", "true"]).code(125).says("is stopped");
}

fn megabytes_of_input_arrive_whole_however_slowly_they_are_read(glass: &Glass) {
    let _served = Served::start(glass);
    let id = glass.keep(&[]);
    // Longer than the server waits for a command to read.
    carries_whole(glass, 4_000_000, &["exec", &id, "--", "sh", "-c", "sleep 3; cat | sha256sum"]);
}

fn input_and_output_come_as_they_are_written(glass: &Glass) {
    let _served = Served::start(glass);
    let id = glass.keep(&[]);
    let script = "echo ready; while read a; do echo \"got $a\"; done; echo end";
    let mut run = Started::of(glass.belljar(&["exec", &id, "--", "sh", "-c", script]).stdin(Stdio::piped()));
    for word in ["one", "two"] {
        run.write(&format!("{word}\n"));
        assert_eq!(run.line(), format!("got {word}\n"));
    }
    assert_eq!(run.wait().ok(), "end\n");
}

fn signals_reach_the_command(glass: &Glass) {
    let _served = Served::start(glass);
    let id = glass.keep(&[]);
    let listen = "for s in TERM INT HUP USR1; do trap \"echo $s\" $s; done; sleep 1000 & echo ready; \
                  while :; do wait; done";
    let mut run = Started::of(&mut glass.belljar(&["exec", &id, "--", "sh", "-c", listen]));
    for (signal, name) in
        [(Signal::TERM, "TERM\n"), (Signal::INT, "INT\n"), (Signal::HUP, "HUP\n"), (Signal::USR1, "USR1\n")]
    {
        run.signal(signal);
        assert_eq!(run.line(), name);
    }
    run.signal(Signal::KILL);
    run.wait();
    let run =
        Started::of(&mut glass.belljar(&["exec", &id, "--", "sh", "-c", "echo ready; exec sleep 1000"]));
    run.signal(Signal::INT);
    run.wait().code(130);
}

fn the_clock_ends_it(glass: &Glass) {
    let _served = Served::start(glass);
    let id = glass.keep(&[]);
    let slow = ["exec", "--timeout", "300ms", &id, "--", "sh", "-c", "echo partly; sleep 1000"];
    assert_eq!(glass.run(&slow).code(124).says("killed (timeout)").out, "partly\n");
}

fn a_terminal_is_a_terminal(glass: &Glass) {
    let _served = Served::start(glass);
    let id = glass.keep(&[]);
    let look = "trap 'stty size; echo resized' WINCH; trap 'echo caught; exit 7' INT; stty size; \
                read a; echo \"<$a>\"; sleep 1000 & echo waiting; while :; do wait; done";
    let mut terminal = Terminal::start(glass, &["exec", &id, "--", "sh", "-c", look]);
    terminal.sees("30 100\r\n");
    terminal.types("hello\r");
    terminal.sees("<hello>");
    terminal.sees("waiting");
    terminal.resize(41, 123);
    terminal.sees("41 123");
    terminal.types("\x03");
    terminal.sees("caught");
    assert_eq!(terminal.code(), Some(7));
    assert_eq!(
        glass.run(&["exec", "--tty", &id, "--", "sh", "-c", "[ -t 1 ] && stty size"]).ok(),
        "24 80\r\n"
    );
}

fn it_ends_when_its_caller_is_killed(glass: &Glass) {
    let served = Served::start(glass);
    let id = glass.keep(&[]);
    let run = Started::of(&mut glass.belljar(&["exec", &id, "--", "sh", "-c", "echo ready; sleep 1000"]));
    assert_eq!(executions(&served, &id)[0]["status"], "running");
    run.signal(Signal::KILL);
    run.wait();
    until("the command is over", || executions(&served, &id)[0]["status"] != "running");
}

fn it_ends_when_nobody_reads_its_output(glass: &Glass) {
    let _served = Served::start(glass);
    let id = glass.keep(&[]);
    let mut shell = glass.command("sh".as_ref());
    let script = "\"$0\" exec \"$1\" -- yes | head -n1";
    assert_eq!(Ended::of(shell.args(["-c", script]).arg(glass.program()).arg(&id)).ok(), "y\n");
}

/// Prints so many numbers, which is more than the server keeps and every pipe holds.
const NUMBERS: u32 = 3_000_000;

fn expect_numbers(run: &mut Started, numbers: RangeInclusive<u32>) {
    for number in numbers {
        assert_eq!(run.line().trim_end().parse(), Ok(number));
    }
}

fn output_of_any_length_arrives_whole_and_waits_for_its_reader(glass: &Glass) {
    let served = Served::start(glass);
    let id = glass.keep(&[]);
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let script = format!("echo ready; seq {NUMBERS}; echo {token}");
    let mut run = Started::of(&mut glass.belljar(&["exec", &id, "--", "sh", "-c", &script]));
    let written = || executions(&served, &id)[0]["stdout_bytes"].as_u64().unwrap();
    until("it writes what no log takes", || written() > 9_000_000);
    let ran = executions(&served, &id);
    assert!(written() < 20_000_000 && ran[0]["status"] == "running", "{ran:?}");
    expect_numbers(&mut run, 1..=NUMBERS);
    assert_eq!(run.line(), format!("{token}\n"), "it is for whoever started it alone");
    assert_eq!(run.wait().ok(), "");
    let ran = executions(&served, &id);
    assert_eq!(
        (&ran[0]["truncated"], &ran[0]["status"]),
        (&json!(true), &json!("success")),
        "the log is not whole"
    );
    let kept = glass.run(&["logs", &id]).ok();
    assert!(
        kept.starts_with("ready\n1\n2\n") && (8_000_000..9_000_000).contains(&kept.len()),
        "{}",
        kept.len()
    );
}

fn what_no_log_takes_comes_from_the_next_server_too(glass: &Glass) {
    let id = glass.keep(&[]);
    let served = Served::start(glass);
    let script = format!("echo ready; seq {NUMBERS}; exit 9");
    let mut run = Started::of(&mut glass.belljar(&["exec", &id, "--", "sh", "-c", &script]));
    expect_numbers(&mut run, 1..=1_600_000);
    served.end(Signal::KILL);
    let _served = Served::start(glass);
    expect_numbers(&mut run, 1_600_001..=NUMBERS);
    assert_eq!(run.wait().code(9).out, "");
}

fn a_server_that_ends_and_comes_back_is_found_again(glass: &Glass) {
    let id = glass.keep(&[]);
    let mut served = Served::start(glass);
    let script = "echo ready; n=0; while [ $n -lt 30 ]; do echo $n; n=$((n+1)); sleep 0.1; done; exit 9";
    let expected: String = (0..30).map(|n| format!("{n}\n")).collect();
    for signal in [Signal::KILL, Signal::TERM] {
        let run = Started::of(&mut glass.belljar(&["exec", &id, "--", "sh", "-c", script]));
        served.end(signal);
        served = Served::start(glass);
        let ended = run.wait().code(9);
        assert_eq!(ended.out, expected, "after {signal:?} nothing is lost and nothing comes twice");
    }
}

fn ending_a_sandbox_is_the_servers_to_do(glass: &Glass) {
    let served = Served::start(glass);
    let id = glass.keep(&[]);
    glass.exec(&id, "echo mine > made").ok();
    let busy = Started::of(&mut glass.belljar(&["exec", &id, "--", "sh", "-c", "echo ready; sleep 1000"]));
    glass.run(&["terminate", "--force", &id]).ok();
    busy.wait().code(137).says("killed (killswitch)");
    // The answer came when it was written down, not when somebody noticed.
    let events = served.get(&format!("/api/v1/events?sandbox_id={id}&kind=sandbox.ended"));
    assert_eq!(events["items"][0]["reason"], "killswitch", "{events}");
    assert_ne!(events["items"][0]["payload"]["by"], "belljar", "{events}");
    assert_eq!(glass.json(&["inspect", &id])["state"], "stopped");
    glass.run(&["apply", &id]).ok();
    assert_eq!(glass.read("made"), "mine\n");
}

fn users_are_chosen(glass: &Glass) {
    let _served = Served::start(glass);
    let id = glass.keep(&[]);
    assert_eq!(
        glass.run(&["exec", "-u", "1234:77", &id, "--", "sh", "-c", "id -u; id -g"]).ok(),
        "1234\n77\n"
    );
    glass.run(&["exec", "-u", "no-such-user", &id, "--", "true"]).code(125).says("there is no user");
}
