//! `belljar events tail` on a terminal, beside the real Claude Code at work: what a person sees.

use std::{
    collections::BTreeSet,
    io::Read as _,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use crate::{
    scenes::{self, Scene},
    support::Machine,
    twenty::{self, Server, machine, wait},
    workbench::{BELLJAR, model::Say, require},
};

/// A terminal with the program in it, and everything that was ever written to it.
struct Terminal {
    child: Child,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn of(machine: &Machine, words: &str) -> Self {
        require("script", "bsdutils");
        let line = format!("stty cols 100 rows 40; exec '{BELLJAR}' {words}");
        let mut command = Command::new("script");
        command.args(["--quiet", "--return", "--flush", "--command", &line, "/dev/null"]);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("TERM", "xterm-256color");
        command.env("HOME", machine.path("user")).env("BELLJAR_HOME", machine.path("home"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let written = Arc::<Mutex<Vec<u8>>>::default();
        let (shared, mut output) = (Arc::clone(&written), child.stdout.take().unwrap());
        thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut part) {
                shared.lock().unwrap().extend_from_slice(&part[..count]);
            }
        });
        Self { child, written }
    }

    fn written(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    /// What stands on it, as far as the few words count that the program knows: up, erase below, colours.
    fn screen(&self) -> Vec<String> {
        let written = self.written();
        let (mut lines, mut at) = (vec![String::new()], 0);
        let mut letters = written.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\r' => {}
                '\n' => {
                    at += 1;
                    lines.resize(lines.len().max(at + 1), String::new());
                }
                '\u{1b}' => {
                    let code: String = letters.by_ref().skip(1).take_while_inclusive_letter();
                    let number = code.trim_end_matches(char::is_alphabetic).parse::<usize>().ok();
                    match code.chars().last() {
                        Some('A') => at -= number.unwrap(),
                        Some('J') => {
                            lines.truncate(at);
                            lines.push(String::new());
                        }
                        Some('m') => {}
                        other => panic!("{other:?} is not known"),
                    }
                }
                letter => lines[at].push(letter),
            }
        }
        lines
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Without its terminal the program ends.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

trait Letters {
    fn take_while_inclusive_letter(self) -> String;
}

impl<I: Iterator<Item = char>> Letters for I {
    fn take_while_inclusive_letter(self) -> String {
        let mut code = String::new();
        for letter in self {
            code.push(letter);
            if letter.is_alphabetic() {
                break;
            }
        }
        code
    }
}

/// Work with something in it that takes a while, something with wide letters, and two things at once, one of which is denied.
fn slow(machine: &Machine) -> Scene {
    let mut scene = scenes::work(machine);
    let wide = format!("touch begun; sleep 1.5; echo {}", "とても長い文字列".repeat(8));
    let both = [Say::run("echo first of two"), Say::run("rm -rf /")];
    scene.script = scene.script.first([Say::run(&wide)]).first(both).cached();
    scene
}

#[test]
fn events_tail_shows_one_line_a_call_that_ticks_with_its_cost() {
    let machine = machine();
    let server = Server::start(&machine);
    let tail = Terminal::of(&machine, "events tail -n 0");
    let mut scene = slow(&machine);
    let account = thread::scope(|scope| {
        let session = scope.spawn(|| twenty::play(&machine, &server, &mut scene));
        wait("a call is under way", || tail.screen().iter().any(|line| line.contains("1 under way")));
        session.join().unwrap()
    });
    assert_eq!(account.code, Some(0), "{account:?}");
    wait("the end is shown", || tail.screen().iter().any(|line| line.contains(" in all ")));
    let screen = tail.screen();
    let of = |words: &str| screen.iter().filter(|line| line.contains(words)).count();
    for once in
        ["first of two", "rm -rf /", "sleep 1.5", "Read ", "Edit ", "cat hello.txt", "ls /nowhere-at-all"]
    {
        assert_eq!(of(once), 1, "{once}: {screen:#?}");
    }
    let slow = screen.iter().find(|line| line.contains("sleep 1.5")).unwrap();
    assert!(slow.contains(" ✓ ") && !slow.contains("ms"), "{slow}");
    assert!(screen.iter().any(|line| line.contains("/nowhere-at-all") && line.contains('✗')), "{screen:#?}");
    assert_eq!(of("under way"), 0, "{screen:#?}");
    // It ticked while it ran, and was taken back each time.
    let written = tail.written();
    let ticks: BTreeSet<&str> = written.lines().filter(|line| line.contains("sleep 1.5")).collect();
    assert!(ticks.len() >= 4, "{ticks:#?}");
    assert!(written.contains("\u{1b}[32m✓") && written.contains("\u{1b}[31m✗"), "in colours");
    // What is denied is over at once, and told of as that.
    let denied = screen.iter().find(|line| line.contains("rm -rf /")).unwrap();
    assert!(denied.contains('⊘'), "{denied}");
    // The money: on the line of each call, and of the answer; all of it in the end, as the client reckons.
    let paid = |line: &String| line.rsplit_once('$').and_then(|(_, cost)| cost.trim().parse::<f64>().ok());
    let cost = format!("${:.4}", account.cost.unwrap());
    let all = screen.iter().find(|line| line.contains(" in all ")).unwrap();
    assert!(all.contains("7 calls, 1 failed, 1 denied") && all.contains(&cost), "{all} {cost}");
    let calls =
        screen.iter().filter(|line| line.contains(" ✓ ") || line.contains(" ✗ ") || line.contains(" ⊘ "));
    let sum: f64 = calls.map(|line| paid(line).unwrap_or_else(|| panic!("{line}: {screen:#?}"))).sum();
    assert!((sum - account.cost.unwrap()).abs() < 0.001, "{sum} is not {cost}: {screen:#?}");
    assert!(!screen.iter().any(|line| line.contains(" model ")), "shown elsewhere: {screen:#?}");
    let last = screen.iter().rfind(|line| !line.trim().is_empty()).unwrap();
    assert!(
        last.starts_with("7 calls · 1 failed · 1 denied · ") && last.trim_end().ends_with(&cost),
        "{screen:#?}"
    );
    let columns =
        |line: &str| line.chars().map(|letter| if letter > '\u{3000}' { 2 } else { 1 }).sum::<usize>();
    assert!(screen.iter().all(|line| columns(line) < 100), "{screen:#?}");
}
