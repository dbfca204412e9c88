//! Who may win and who does: gates, scores, close calls, and the sentence that says why.

use belljar_quality::{
    Source,
    contest::{
        Breach, Check, CheckEnd, Contest, Diff, Dimension, Ending, Evidence, Format, Gate, GateOutcome,
        JudgeAnswer, Lint, LintLevel, Lints, Origin, Outcome, Pairing, QualityNote, Results, Rules, Touched,
        Trial, gates, inspect, judge,
    },
    delta,
};

const BASE: &str = "def total(items):\n    return 0\n";
const CLEAN: &str = "def total(items):\n    return sum(items)\n";
const CLUMSY: &str = "\
def total(items):
    result = 0
    for item in items:
        if item > 4711:
            result = result + item * 37
        else:
            result = result + item
    return result

def grand_total(items):
    result = 0
    for item in items:
        if item > 4711:
            result = result + item * 37
        else:
            result = result + item
    return result
";

fn tests(all: &[(&str, Outcome)]) -> Results {
    Results {
        format: Format::Junit,
        origin: Origin::File("report.xml".to_owned()),
        tests: all.iter().map(|(id, outcome)| ((*id).to_owned(), *outcome)).collect(),
        is_complete: true,
        total: all.len(),
        found_none: false,
    }
}

fn check(code: i32, results: &[(&str, Outcome)]) -> Check {
    Check { tests: Some(tests(results)), ..Check::exited(code) }
}

fn before() -> Check {
    check(1, &[("adds", Outcome::Failed), ("empty", Outcome::Passed)])
}

fn passing() -> Check {
    check(0, &[("adds", Outcome::Passed), ("empty", Outcome::Passed)])
}

fn attempt(fork: u32, code: &str) -> Evidence {
    let files = [Touched { path: "cart.py", base: Some(BASE), after: Some(code), is_binary: false }];
    let mut evidence = Evidence::new(fork, Ending::Exited { code: 0 }, 5_000);
    evidence.cost = Some(0.10);
    evidence.diff = Some(Diff::of(&files));
    evidence.tampering = inspect(&files, &[]);
    evidence.check = Some(Trial { base: before(), after: passing() });
    let source = |text| [Source { path: "cart.py", text }];
    evidence.quality = Some(QualityNote::from(&delta(&source(BASE), &source(code))));
    evidence
}

pub(crate) fn contest(evidence: Vec<Evidence>) -> Contest {
    Contest {
        run: "run_1".to_owned(),
        task_id: "task".to_owned(),
        rules: Rules::default(),
        evidence,
        answers: Vec::new(),
        picked: None,
    }
}

fn result(evidence: &Evidence, gate: Gate) -> (GateOutcome, String) {
    let all = gates(evidence, &Rules::default());
    all.into_iter().find(|one| one.gate == gate).map(|one| (one.result, one.reason)).unwrap()
}

pub(crate) fn five() -> Vec<Evidence> {
    let mut crash = Evidence::new(0, Ending::Exited { code: 1 }, 100);
    crash.diff = Some(Diff::default());
    let late = Evidence { ending: Ending::TimedOut { after_ms: 60_000 }, ..attempt(1, CLEAN) };
    let mut cheat = attempt(2, BASE);
    let test = "def test_adds():\n    assert total([1]) == 1\n";
    let files = [Touched { path: "tests/test_cart.py", base: Some(test), after: None, is_binary: false }];
    cheat.diff = Some(Diff::of(&files));
    cheat.tampering = inspect(&files, &[]);
    cheat.check = Some(Trial { base: before(), after: before() });
    vec![crash, late, cheat, attempt(3, CLUMSY), attempt(4, CLEAN)]
}

#[test]
fn of_a_crash_a_timeout_a_cheat_and_two_that_pass_the_clean_one_wins() {
    let judged = judge(&contest(five()));
    assert_eq!(judged.winner_fork, Some(4));
    assert_eq!(judged.ranking.first(), Some(&4));
    assert_eq!(judged.ranking.get(1), Some(&3));
    let eligible: Vec<bool> = judged.forks.iter().map(|fork| fork.eligible).collect();
    assert_eq!(eligible, [false, false, false, true, true]);
    assert!(judged.reason.starts_with("Attempt 4 wins with"), "{}", judged.reason);
    assert!(
        judged.reason.contains("easier to change") && judged.reason.contains("while in attempt 3 `"),
        "{}",
        judged.reason
    );
    let cheat = &judged.forks[2];
    let why = cheat.gates.iter().find(|gate| gate.gate == Gate::NothingRemoved).unwrap();
    assert!(why.reason.contains("test `test_adds` was removed from tests/test_cart.py"), "{}", why.reason);
    assert!(
        judged.forks[3].movers.iter().any(|mover| mover.finding.rule == "clone"),
        "{:?}",
        judged.forks[3].movers
    );
    assert_eq!(judged.all_scores.iter().filter(|score| score.is_some()).count(), 2);
}

#[test]
fn nobody_wins_if_all_fail() {
    let mut all = five();
    all.truncate(3);
    let judged = judge(&contest(all));
    assert_eq!((judged.winner_fork, judged.winner_score), (None, None));
    assert_eq!(judged.all_scores, [None, None, None]);
    for part in [
        "Nobody wins: none of 3 attempts",
        "attempt 0: it ended with exit code 1",
        "attempt 1: it ran out of time after 60 s",
        "attempt 2: test `test_adds` was removed",
    ] {
        assert!(judged.reason.contains(part), "{}", judged.reason);
    }
    assert!(judge(&contest(Vec::new())).reason.contains("no attempt"));
}

#[test]
fn the_answer_has_the_shape_programs_read() {
    let value = serde_json::to_value(judge(&contest(five()))).unwrap();
    for key in ["run", "task_id", "attempts", "winner_fork", "winner_score", "all_scores", "reason", "forks"]
    {
        assert!(value.get(key).is_some(), "{key}");
    }
    let fork = &value["forks"][4];
    for key in
        ["fork", "status", "eligible", "gates", "score", "breakdown", "diff_stat", "cost", "duration_ms"]
    {
        assert!(fork.get(key).is_some(), "{key}");
    }
    assert_eq!(fork["gates"][0]["gate"], "G1");
    assert_eq!(fork["gates"][0]["result"], "passed");
    assert!(fork["breakdown"]["quality"]["score"].is_f64());
    assert_eq!(value["forks"][1]["status"], "timed_out");
}

#[test]
fn what_is_stored_gives_the_same_judgement_again() {
    let contest = contest(five());
    let judged = judge(&contest);
    let stored = serde_json::to_string(&contest).unwrap();
    let again: Contest = serde_json::from_str(&stored).unwrap();
    assert_eq!(again, contest);
    assert_eq!(judge(&again), judged);
    let mut turned = contest;
    turned.evidence.reverse();
    assert_eq!(judge(&turned), judged);
}

#[test]
fn no_change_of_quality_is_fifty() {
    let mut same = attempt(0, CLEAN);
    let source = [Source { path: "a.py", text: CLUMSY }];
    same.quality = Some(QualityNote::from(&delta(&source, &source)));
    let judged = judge(&contest(vec![same]));
    assert_eq!(judged.forks[0].breakdown[&Dimension::Quality].score, Some(50.0));
}

#[test]
fn unknown_is_not_failed() {
    let missing = Check::exited(127);
    let mut one = attempt(0, CLEAN);
    one.check = Some(Trial { base: missing.clone(), after: missing.clone() });
    for gate in [Gate::NothingBroken, Gate::Accepted] {
        let (result, reason) = result(&one, gate);
        assert_eq!(result, GateOutcome::Unknown, "{reason}");
        assert!(reason.contains("127"), "{reason}");
    }
    let judged = judge(&contest(vec![one.clone()]));
    assert_eq!(judged.winner_fork, Some(0));
    assert_eq!(judged.forks[0].breakdown[&Dimension::Tests].score, None);
    // What worked on the base and does not any more is the attempt's doing.
    one.check = Some(Trial { base: passing(), after: missing });
    assert_eq!(result(&one, Gate::Accepted).0, GateOutcome::Failed);
    let mut none = tests(&[]);
    none.found_none = true;
    let none = Check { tests: Some(none), ..Check::exited(5) };
    one.check = Some(Trial { base: none.clone(), after: none.clone() });
    assert_eq!(result(&one, Gate::Accepted).0, GateOutcome::Unknown);
    one.check = Some(Trial { base: none, after: passing() });
    assert_eq!(result(&one, Gate::Accepted).0, GateOutcome::Passed);
    one.check = None;
    assert_eq!(result(&one, Gate::NothingBroken).0, GateOutcome::Unknown);
    one.build = Some(Trial { base: Check::exited(2), after: Check::exited(2) });
    assert_eq!(result(&one, Gate::Build).0, GateOutcome::Unknown);
    one.build = Some(Trial { base: Check::exited(0), after: Check::exited(2) });
    assert_eq!(result(&one, Gate::Build).0, GateOutcome::Failed);
}

#[test]
fn each_gate_says_why() {
    let one = attempt(0, CLEAN);
    for gate in Gate::ALL.into_iter().filter(|gate| *gate != Gate::Build) {
        assert_eq!(result(&one, gate).0, GateOutcome::Passed, "{gate}: {}", result(&one, gate).1);
    }
    let with = |change: &dyn Fn(&mut Evidence)| {
        let mut one = attempt(0, CLEAN);
        change(&mut one);
        one
    };
    let after = |check: Check| {
        move |one: &mut Evidence| one.check = Some(Trial { base: before(), after: check.clone() })
    };
    let cases: Vec<(Evidence, Gate, &str)> = vec![
        (with(&|one| one.diff = Some(Diff::default())), Gate::Change, "it changed nothing"),
        (with(&|one| one.conflict = Some("cart.py is gone".into())), Gate::Change, "cart.py is gone"),
        (
            with(&after(check(1, &[("adds", Outcome::Passed), ("empty", Outcome::Failed)]))),
            Gate::NothingBroken,
            "1 test fails that passed before: empty",
        ),
        (
            with(&after(check(0, &[("adds", Outcome::Passed)]))),
            Gate::NothingRemoved,
            "1 test is not run any more: empty",
        ),
        (
            with(&after(check(0, &[("adds", Outcome::Passed), ("empty", Outcome::Skipped)]))),
            Gate::NothingRemoved,
            "skipped now: empty",
        ),
        (
            with(&after(check(1, &[("adds", Outcome::Failed), ("empty", Outcome::Passed)]))),
            Gate::Accepted,
            "exit code 1: adds",
        ),
        (
            with(&after(check(0, &[("adds", Outcome::Failed), ("empty", Outcome::Passed)]))),
            Gate::Accepted,
            "ended with 0 and yet 1 test failed: adds",
        ),
        (
            with(&after(Check { end: CheckEnd::TimedOut, ..Check::exited(0) })),
            Gate::Accepted,
            "did not end in time",
        ),
        (
            with(&|one| one.breaches.push(Breach { path: ".env".into(), what: "a secret".into() })),
            Gate::Policy,
            ".env: a secret",
        ),
        (
            with(&|one| one.ending = Ending::OverBudget { why: "$1.00 of $0.50".into() }),
            Gate::Budget,
            "ran out of money",
        ),
        (
            with(&|one| one.ending = Ending::Denied { why: "rm -rf /".into() }),
            Gate::Budget,
            "refused: rm -rf /",
        ),
    ];
    for (one, gate, words) in cases {
        let (result, reason) = result(&one, gate);
        assert_eq!(result, GateOutcome::Failed, "{gate}: {reason}");
        assert!(reason.contains(words), "{gate}: {reason}");
        assert_eq!(judge(&contest(vec![one.clone()])).winner_fork, None);
        let mut rules = Rules::default();
        rules.waive.insert(gate);
        assert!(
            gates(&one, &rules).iter().any(|said| said.gate == gate && said.result == GateOutcome::Unknown)
        );
    }
}

/// Numbers that look like chance and are always the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn number(&mut self, most: u32) -> f64 {
        f64::from(u32::try_from(self.below(u64::from(most))).unwrap())
    }
}

fn anybody(fork: u32, dice: &mut Dice) -> Evidence {
    let code = [
        "def total(items):\n    return sum(items)\n",
        CLUMSY,
        CLEAN,
        "def total(i):\n    a = 0\n    for x in i:\n        a += x\n    return a\n",
    ];
    let mut one = attempt(fork, code[usize::try_from(dice.below(4)).unwrap()]);
    one.quality = Some(QualityNote { change: dice.number(40) - 20.0, ..QualityNote::default() });
    one.cost = Some(dice.number(100) / 50.0);
    one.duration_ms = dice.below(90_000);
    let problem = |at: u64| Lint { level: LintLevel::Error, file: "a.py".into(), text: at.to_string() };
    let lints = |count: u64| Lints { exit: Some(1), problems: Some((0..count).map(problem).collect()) };
    one.lint = Some(belljar_quality::contest::Boundary { base: lints(3), after: lints(dice.below(9)) });
    one.tampering.test_files = usize::try_from(dice.below(4)).unwrap();
    one.tampering.tests_added = one.tampering.test_files;
    one
}

#[test]
fn who_is_better_in_something_and_worse_in_nothing_never_stands_behind() {
    let mut dice = Dice(1);
    for _ in 0..400 {
        let count = 2 + u32::try_from(dice.below(5)).unwrap();
        let mut all: Vec<Evidence> = (0..count).map(|fork| anybody(fork, &mut dice)).collect();
        let worse = all[0].clone();
        let mut better = Evidence { fork: count, ..worse.clone() };
        match dice.below(5) {
            0 => {
                better.quality = better
                    .quality
                    .map(|note| QualityNote { change: note.change - 1.0 - dice.number(9), ..note });
            }
            1 => better.cost = Some(0.0),
            2 => better.duration_ms /= 2,
            3 => better.tampering.test_files = 3,
            _ => {
                better.lint = better.lint.map(|mut both| {
                    both.after.problems = Some(Vec::new());
                    both
                });
            }
        }
        all.push(better);
        let judged = judge(&contest(all));
        let place = |fork: u32| judged.ranking.iter().position(|of| *of == fork).unwrap();
        let equal = judged.forks[0].score == judged.forks.last().unwrap().score;
        assert!(place(count) < place(0) || equal, "{:#?}", judged.ranking);
        assert!(judged.forks.last().unwrap().score >= judged.forks[0].score);
    }
}

#[test]
fn scores_are_shares_of_a_hundred_whatever_is_known() {
    let mut dice = Dice(7);
    for _ in 0..100 {
        let mut all: Vec<Evidence> = (0..4).map(|fork| anybody(fork, &mut dice)).collect();
        if dice.below(2) == 0 {
            all[1].lint = None;
        }
        if dice.below(2) == 0 {
            all[2].check = None;
        }
        let judged = judge(&contest(all));
        for fork in &judged.forks {
            let weights: f64 = fork.breakdown.values().map(|part| part.weight).sum();
            let points: f64 = fork.breakdown.values().map(|part| part.points).sum();
            assert!((weights - 100.0).abs() < 0.1, "{weights}");
            assert!((points - fork.score.unwrap()).abs() < 0.1);
            assert!((0.0..=100.0).contains(&fork.score.unwrap()));
        }
    }
}

#[test]
fn a_close_call_is_said_and_broken_side_by_side_or_by_a_judge() {
    let mut first = attempt(0, CLEAN);
    first.quality = Some(QualityNote { change: 0.0, ..QualityNote::default() });
    let mut second = Evidence { fork: 1, ..first.clone() };
    // A little ahead in one thing, behind in two.
    second.quality = Some(QualityNote { change: -1.0, ..QualityNote::default() });
    second.cost = Some(0.12);
    first.tampering.test_files = 0;
    let judged = judge(&contest(vec![first.clone(), second.clone()]));
    let close = judged.close_call.clone().expect("a close call");
    assert!(close.margin < 3.0);
    assert!(judged.reason.contains("close call"), "{}", judged.reason);
    assert_eq!(judged.undecided, Some(Pairing { a: close.forks[0], b: close.forks[1] }));
    let loser = close.forks[1];
    let mut asked = contest(vec![first.clone(), second]);
    asked.answers.push(JudgeAnswer {
        between: judged.undecided.unwrap(),
        winner: Some(loser),
        reason: "reads better".into(),
    });
    let judged = judge(&asked);
    assert_eq!(judged.winner_fork, Some(loser));
    assert!(judged.undecided.is_none());
    assert!(judged.reason.contains("the judge preferred it (reads better)"), "{}", judged.reason);
    let twins = judge(&contest(vec![Evidence { fork: 1, ..first.clone() }, first]));
    assert_eq!(twins.winner_fork, Some(0));
    assert!(twins.reason.contains("equal in everything"), "{}", twins.reason);
}

#[test]
fn weights_are_the_users_choice_and_are_checked() {
    let mut cheap = attempt(0, CLUMSY);
    cheap.cost = Some(0.0);
    let clean = attempt(1, CLEAN);
    let mut both = contest(vec![cheap, clean]);
    assert_eq!(judge(&both).winner_fork, Some(1));
    both.rules = serde_json::from_str(r#"{"weights":{"quality":0,"scope":0,"cost":90}}"#).unwrap();
    assert_eq!(both.rules.check(), Ok(()));
    assert_eq!(judge(&both).winner_fork, Some(0));
    both.rules.weights.tests = -1.0;
    assert!(both.rules.check().unwrap_err().contains("weight of tests"));
    assert!(serde_json::from_str::<Rules>(r#"{"wieghts":{}}"#).is_err());
}
