//! Reports: everything a reader needs is there, and nothing an attempt wrote becomes part of the page.

use belljar_quality::contest::{AttemptPage, Contest, Page, Pick, html, judge, markdown};

use super::judging::{contest, five};

const PATCH: &str = "\
diff --git a/cart.py b/cart.py
index 1111111..2222222 100644
--- a/cart.py
+++ b/cart.py
@@ -1,2 +1,2 @@
 def total(items):
-    return 0
+    return sum(items)
--- a removed line of SQL
";

fn page(contest: &Contest) -> Page {
    Page {
        prompt: "Make total add up the prices of all items\n\nThe test is in tests/test_cart.py.".to_owned(),
        check: Some("python -m pytest".to_owned()),
        lint: None,
        decided_at: Some("2026-11-18 14:02 UTC".to_owned()),
        duration_ms: Some(61_300),
        judgement: judge(contest),
        attempts: (0..5)
            .map(|fork| AttemptPage {
                fork,
                label: format!("model {fork}"),
                patch: PATCH.to_owned(),
                check_tail: "1 failed".to_owned(),
            })
            .collect(),
        next: vec![(
            "belljar runs apply run_1".to_owned(),
            "puts the winner's changes into your files".to_owned(),
        )],
    }
}

#[test]
fn a_report_says_who_won_why_and_why_others_did_not() {
    let page = page(&contest(five()));
    for text in [html(&page), markdown(&page)] {
        for part in [
            "Make total add up",
            "easier to change",
            "breaks no test",
            "out of time after 60 s",
            "was removed from tests/test",
            "return sum(items)",
            "- a removed line of SQL",
            "belljar runs apply run",
            "1 m 01 s",
            "model 3",
            "have the same body",
        ] {
            let plain = text.replace('\\', "");
            assert!(plain.contains(part), "{part} is not in {plain}");
        }
    }
    assert!(html(&page).contains("Winner") && markdown(&page).contains("**winner**"));
}

#[test]
fn a_persons_choice_stands_above_the_judgement() {
    let mut contest = contest(five());
    contest.picked =
        Some(Pick { fork: 3, reason: "I know this code".to_owned(), by: Some("mira".to_owned()) });
    let page = page(&contest);
    assert!(html(&page).contains("mira chose attempt 3") && html(&page).contains("Best score"));
    assert!(markdown(&page).contains("A person chose attempt 3: I know this code"));
}

#[test]
fn without_a_winner_it_says_so() {
    let mut all = five();
    all.truncate(3);
    let page = page(&contest(all));
    assert!(html(&page).contains("Why nobody won") && markdown(&page).contains("**No winner.**"));
}

#[test]
fn whatever_attempts_write_stays_text() {
    let evil = "</pre><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u{202e}`</details>|\n# h\n[a](javascript:b)";
    let mut page = page(&contest(five()));
    page.prompt = evil.to_owned();
    page.check = Some(evil.to_owned());
    page.decided_at = Some(evil.to_owned());
    page.judgement.run = evil.to_owned();
    page.judgement.reason = evil.to_owned();
    page.next.push((evil.to_owned(), evil.to_owned()));
    for attempt in &mut page.attempts {
        attempt.label = evil.to_owned();
        attempt.patch = format!("diff --git a/{evil} b/{evil}\n+{evil}\n```\n````");
        attempt.check_tail = format!("```\n{evil}");
    }
    for fork in &mut page.judgement.forks {
        fork.status_said = evil.to_owned();
        fork.notes.push(evil.to_owned());
        for gate in &mut fork.gates {
            gate.reason = evil.to_owned();
        }
        for mover in &mut fork.movers {
            mover.finding.message = evil.to_owned();
            for place in &mut mover.finding.elements {
                place.file = evil.to_owned();
                place.symbol = evil.to_owned();
            }
        }
        for part in fork.breakdown.values_mut() {
            part.note = evil.to_owned();
        }
    }
    let text = html(&page);
    assert!(!text.contains("<script") && !text.contains("<img") && !text.contains('\u{202e}'));
    assert_eq!(text.matches("</pre>").count(), text.matches("<pre").count());
    assert_eq!(text.matches("<details").count(), 5);
    let text = markdown(&page);
    // Between fences everything is text; elsewhere no tag may stand.
    let mut fence: Option<String> = None;
    for line in text.lines() {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) => {
                if line.trim_end() == open {
                    fence = None;
                }
            }
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => {
                let bare = line
                    .replace("<details><summary>", "")
                    .replace("</summary>", "")
                    .replace("</details>", "");
                // In a code span angle brackets are text.
                let outside: String = bare.replace("\\`", "").split('`').step_by(2).collect();
                assert!(!outside.contains('<'), "{line}");
                assert!(!line.starts_with("# h"));
            }
        }
    }
    assert!(fence.is_none());
}

#[test]
fn long_changes_are_cut_and_it_says_so() {
    let mut page = page(&contest(five()));
    for attempt in &mut page.attempts {
        attempt.patch = "+line\n".repeat(100_000);
    }
    let (text, marked) = (html(&page), markdown(&page));
    assert!(text.contains("90000 lines more") && marked.contains("90000 lines more"));
    assert!(text.len() < 2_500_000 && marked.len() < 400_000);
}

#[test]
fn a_winner_nobody_tested_is_told_as_one() {
    let mut all = five();
    for evidence in &mut all {
        evidence.check = None;
    }
    let judgement = judge(&contest(all));
    assert!(judgement.winner_fork.is_some(), "{}", judgement.reason);
    let doubt = "Whether it works nobody can tell: the run has no check.";
    assert!(judgement.reason.ends_with(doubt), "{}", judgement.reason);
    assert!(!judge(&contest(five())).reason.contains("nobody can tell"));
    let idle = judgement.forks.iter().find(|fork| !fork.eligible && fork.diff_stat.files == 0).unwrap();
    assert!(idle.gates.iter().any(|gate| gate.reason == "there was nothing to check"), "{:?}", idle.gates);
}
