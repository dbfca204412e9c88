//! Commands: waited for, left to themselves, steered, cut off.

use std::time::Duration;

use belljar_domain::{KillCause, Outcome, Span, Terminal};
use belljar_engine::service::{ServiceError, StartExecution, Stdin};
use belljar_ports::store::LogStream;

use crate::{House, shell};

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_command_answers_with_what_it_wrote_and_how_it_ended() {
    let house = House::new();
    let id = house.sandbox();
    assert_eq!(house.sh(id, "echo out; echo err >&2; exit 7"), (7, "out\n".to_owned(), "err\n".to_owned()));
    let stdin = StartExecution { stdin: Stdin::Bytes(b"from here".to_vec()), ..shell("cat") };
    assert_eq!(house.service.run(&house.who, id, stdin).unwrap().stdout, b"from here");
    let missing = StartExecution { argv: vec!["no-such-program".to_owned()], ..StartExecution::default() };
    let refused = house.service.run(&house.who, id, missing).unwrap_err();
    assert!(matches!(refused, ServiceError::Command { exit_code: 127, .. }), "{refused:?}");
    assert_eq!(house.service.executions(&house.who, id, None, 10).unwrap().len(), 2);
}

#[test]
fn a_clock_ends_a_command_and_is_named() {
    let house = House::new();
    let id = house.sandbox();
    let slow = StartExecution { timeout: Some(Span::millis(200)), ..shell("sleep 600 & sleep 600") };
    let report = house.service.run(&house.who, id, slow).unwrap().execution.report.unwrap();
    assert_eq!((report.cause, report.exit_code()), (Some(KillCause::Timeout), 124));
    assert_eq!(house.sh(id, "pgrep -c sleep").1.trim(), "0");
}

#[test]
fn one_left_to_itself_is_read_steered_and_waited_for() {
    let house = House::new();
    let id = house.sandbox();
    let talk = StartExecution {
        stdin: Stdin::Open,
        ..shell("while read line; do echo \"got $line\"; done; exit 3")
    };
    let started = house.service.start(&house.who, id, talk).unwrap();
    let mut news = house.service.watch(&house.who, started.id).unwrap();
    house.service.input(&house.who, started.id, b"one\ntwo\n").unwrap();
    let text = || {
        let page = house.service.output(&house.who, started.id, 0, 1 << 20).unwrap();
        String::from_utf8(page.chunks.concat_bytes()).unwrap()
    };
    while text() != "got one\ngot two\n" {
        assert!(!news.has_changed().is_err_and(|_| true), "{}", text());
        std::thread::yield_now();
    }
    news.mark_unchanged();
    house.service.close_input(&house.who, started.id).unwrap();
    let ended = house.service.wait(&house.who, started.id, PATIENCE).unwrap();
    assert_eq!(ended.report.unwrap().outcome, Outcome::Code(3));
    assert_eq!(ended.written.get(&LogStream::Stdout), Some(&16));
    let page = house.service.output(&house.who, started.id, 0, 1 << 20).unwrap();
    assert!(page.end, "{page:?}");
    let late = house.service.input(&house.who, started.id, b"late").unwrap_err();
    assert!(matches!(late, ServiceError::Over(_)), "{late:?}");
}

#[test]
fn signals_and_kills_reach_it_even_past_input_nobody_reads() {
    let house = House::new();
    let id = house.sandbox();
    let deaf = StartExecution {
        stdin: Stdin::Open,
        ..shell("trap 'echo heard' USR1; while :; do sleep 0.05; done")
    };
    let started = house.service.start(&house.who, id, deaf).unwrap();
    // More than every buffer between here and there holds.
    let flood = vec![b'x'; 64 * 1024];
    while house.service.input(&house.who, started.id, &flood).is_ok() {}
    house.service.kill(&house.who, started.id).unwrap();
    let ended = house.service.wait(&house.who, started.id, PATIENCE).unwrap();
    assert_eq!(ended.report.unwrap().outcome, Outcome::Signal(9));
}

#[test]
fn a_terminal_has_a_size_that_can_change() {
    let house = House::new();
    let id = house.sandbox();
    let size = Some(Terminal { rows: 11, cols: 22 });
    let script = "stty size; read _; stty size";
    let started =
        house.service.start(&house.who, id, StartExecution { terminal: size, ..shell(script) }).unwrap();
    let shown = || {
        let page = house.service.output(&house.who, started.id, 0, 1 << 20).unwrap();
        String::from_utf8(page.chunks.concat_bytes()).unwrap()
    };
    while !shown().contains("11 22") {
        std::thread::yield_now();
    }
    house.service.resize(&house.who, started.id, Terminal { rows: 33, cols: 44 }).unwrap();
    house.service.input(&house.who, started.id, b"\n").unwrap();
    let ended = house.service.wait(&house.who, started.id, PATIENCE).unwrap();
    assert_eq!(ended.report.unwrap().exit_code(), 0);
    assert!(shown().contains("33 44"), "{}", shown());
}

#[test]
fn endless_output_is_cut_and_counted() {
    let house = House::new();
    let id = house.sandbox();
    let done = house.service.run(&house.who, id, shell("head -c 30000000 /dev/zero")).unwrap();
    assert!(done.execution.truncated);
    assert_eq!(done.execution.written.get(&LogStream::Stdout), Some(&30_000_000));
    assert_eq!(done.stdout.len(), 1 << 20);
    // What it left running does not keep it from ending, nor dies of writing.
    let (code, out, _) = house.sh(id, "(while :; do echo tick; sleep 0.1; done) & echo started");
    assert!(code == 0 && out.contains("started\n"), "{out}");
    assert_eq!(house.sh(id, "sleep 0.5; pgrep -fc 'echo tick'").0, 0);
}

trait Bytes {
    fn concat_bytes(&self) -> Vec<u8>;
}

impl Bytes for Vec<belljar_engine::service::OutputChunk> {
    fn concat_bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|chunk| chunk.bytes.clone()).collect()
    }
}
