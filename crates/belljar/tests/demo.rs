//! The demonstration, as a newcomer sees it: agents act, one waits for a person, and nothing is left afterwards.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up must fail"
)]

use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

const BELLJAR: &str = env!("CARGO_BIN_EXE_belljar");
/// How long anything may take on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(120);

/// A demonstration that runs.
struct Demo {
    child: Child,
    out: BufReader<ChildStdout>,
    home: PathBuf,
    facts: Value,
}

impl Demo {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(BELLJAR)
            .args(["--json", "demo", "--listen", "127.0.0.1:0", "--speed", "40"])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let facts = line(&mut out);
        let home = PathBuf::from(facts["home"].as_str().unwrap());
        Self { child, out, home, facts }
    }

    /// What `belljar` answers about it.
    fn ask(&self, args: &[&str]) -> Value {
        let asked =
            Command::new(BELLJAR).args(["--json", "--home"]).arg(&self.home).args(args).output().unwrap();
        assert!(asked.status.success(), "{args:?}: {}", String::from_utf8_lossy(&asked.stderr));
        serde_json::from_slice(&asked.stdout).unwrap()
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for its end; the answer is its last word.
    fn ended(mut self) -> (bool, Value, PathBuf) {
        let last = line(&mut self.out);
        let status = self.child.wait().unwrap();
        let mut errors = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert!(!errors.contains("does not play"), "{errors}");
        (status.success(), last, self.home.clone())
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.signal("TERM");
            drop(self.child.wait());
        }
    }
}

fn line(out: &mut BufReader<ChildStdout>) -> Value {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("the demonstration said `{line}`: {error}"))
}

fn eventually<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Some(found) = attempt() {
            return found;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("never happened: {what}");
}

/// Every process that has a path below this one open as its home, by what the kernel says of its command line.
fn traces(home: &Path) -> Vec<String> {
    let home = home.to_str().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    lines.chain(mounts.lines().map(str::to_owned)).filter(|line| line.contains(home)).collect()
}

fn assert_nothing_left(home: &Path) {
    assert!(!home.parent().unwrap().exists(), "{} is left", home.display());
    assert_eq!(traces(home), Vec::<String>::new());
}

#[test]
fn it_plays_once_with_a_person_and_leaves_nothing() {
    let demo = Demo::start(&["--once"]);
    assert!(demo.facts["login_url"].as_str().unwrap().contains("/login?"));
    for (who, begins) in [("sorrel", "git push --force origin main && "), ("juniper", "git tag docs-0.4")] {
        let waiting = eventually("a call waits for a person", || {
            let all = demo.ask(&["approvals", "list"]);
            all.as_array()?.iter().find(|one| one["agent_id"] == who).cloned()
        });
        assert!(waiting["input"]["command"].as_str().unwrap().starts_with(begins), "{waiting}");
        demo.ask(&["approvals", "allow", waiting["id"].as_str().unwrap()]);
    }
    let run = eventually("a run is decided", || {
        let runs = demo.ask(&["runs", "list"]);
        let runs = runs.as_array().or_else(|| runs["items"].as_array())?.clone();
        runs.into_iter().find(|run| run["state"] == "finished")
    });
    let winner = usize::try_from(run["winner_fork"].as_u64().unwrap()).unwrap();
    assert!(["hawthorn", "rowan"].contains(&run["forks"][winner]["name"].as_str().unwrap()), "{run}");
    let (went_well, told, home) = demo.ended();
    assert!(went_well);
    assert_eq!(told["sessions"], 10, "{told}");
    assert!(told["calls"].as_u64().unwrap() > 90, "{told}");
    assert_eq!(told["denied"], 3, "three calls must be denied, and no others: {told}");
    // What was allowed was made, and went well; these four are what the scripts run into.
    assert_eq!(told["failed"], 4, "{told}");
    assert!(told["cost_usd"].as_f64().unwrap() > 0.1, "{told}");
    assert_nothing_left(&home);
}

#[test]
fn an_interrupt_ends_it_at_any_time_and_leaves_nothing() {
    let demo = Demo::start(&["--only", "larch,tansy"]);
    eventually("something is done in a sandbox and on the host", || {
        let sessions = demo.ask(&["sessions", "list"]);
        let busy = |session: &&Value| session["counts"]["calls"].as_u64() > Some(0);
        (sessions.as_array()?.iter().filter(busy).count() == 2).then_some(())
    });
    demo.signal("INT");
    let (went_well, told, home) = demo.ended();
    assert!(went_well);
    assert!(told["calls"].as_u64().unwrap() > 0, "{told}");
    assert_nothing_left(&home);
}

#[test]
fn what_makes_no_sense_is_refused_with_a_word_on_it() {
    for (args, said) in [
        (["--speed", "0"], "between 0.1 and 1000"),
        (["--speed", "fast"], "no number"),
        (["--only", "heather"], "there are fern, sorrel"),
    ] {
        let refused = Command::new(BELLJAR).arg("demo").args(args).output().unwrap();
        let errors = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && errors.contains(said), "{args:?}: {errors}");
    }
}
