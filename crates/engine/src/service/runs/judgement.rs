//! From attempts to a judgement: evidence is gathered for each, kept, and judged.
//!
//! Refuses: to score. Whatever is decided here can be decided again from the evidence alone.

use belljar_quality::contest::{
    Boundary, Contest, Diff, Ending, Evidence, JudgeAnswer, Judgement, Pairing, inspect, judge,
};
use serde::Deserialize;
use serde_json::json;

use super::{
    super::{Service, StartExecution, Stdin},
    attempt::with,
    conduct::judges,
    evidence::{Field, breaches, restored, touched},
    live::{For, Halt, LiveRun},
    record::{Attempt, Phase, Run},
    shell,
    trial::{Signs, State},
};
use crate::changes::{Bundle, Look};

/// How often a judge is asked about one run.
const QUESTIONS: usize = 3;

impl Service {
    /// Gathers evidence for every attempt and judges it.
    pub(super) fn adjudicate(&self, run: &LiveRun) -> Result<(), Halt> {
        let view = run.view();
        // Nothing is judged by half of a command.
        run.given(For::Trial)?;
        let read: Vec<_> = view.attempts.iter().map(|attempt| self.bundle_of(attempt)).collect();
        let unread: Vec<Option<String>> =
            read.iter().map(|read| read.as_ref().err().map(ToString::to_string)).collect();
        let bundles: Vec<Option<Bundle>> = read.into_iter().map(|read| read.ok().flatten()).collect();
        let tried = |attempt: &Attempt, bundle: &Option<Bundle>| {
            ended_well(attempt) && bundle.as_ref().is_some_and(|bundle| !bundle.is_empty())
        };
        let anybody = view.attempts.iter().zip(&bundles).any(|(attempt, bundle)| tried(attempt, bundle));
        // Nobody to compare it with, nothing to learn from the base.
        let base = if anybody { self.try_out(run, &view, State::Base)? } else { Signs::default() };
        let field = Field::of(&bundles);
        let forks: Vec<u32> = view.attempts.iter().map(|attempt| attempt.fork).collect();
        self.abreast(judges(), &forks, |fork| {
            let place = usize::try_from(fork).unwrap_or(usize::MAX);
            let (Some(attempt), Some(bundle)) = (view.attempt(fork), bundles.get(place)) else {
                return Ok(());
            };
            run.show(|run| {
                with(run, fork, |one| {
                    one.phase = Phase::Judging;
                    one.activity = None;
                });
            });
            let mut evidence = look_at(self, &view, attempt, bundle.as_ref(), &field);
            evidence.conflict = unread.get(place).cloned().flatten();
            if let Some(bundle) = bundle.as_ref().filter(|_| tried(attempt, bundle)) {
                // What is wrong with one attempt is how it stands, and no reason to judge no other.
                match self.put_to_trial(run, &view, bundle, &base, &mut evidence) {
                    Err(Halt::Broken(error)) => evidence.conflict = Some(error.to_string()),
                    tried => tried?,
                }
            }
            drop(run.change(&self.0.recorder, |run| {
                with(run, fork, |one| {
                    one.evidence = Some(evidence);
                    one.phase = Phase::Over;
                    one.activity = None;
                });
            }));
            Ok(())
        })?;
        self.decide(run, &bundles)
    }

    fn put_to_trial(
        &self,
        run: &LiveRun,
        view: &Run,
        bundle: &Bundle,
        base: &Signs,
        evidence: &mut Evidence,
    ) -> Result<(), Halt> {
        let fork = evidence.fork;
        let signs = self.try_out(run, view, State::Restored(fork, bundle))?;
        evidence.own = match (&signs.check, restored(view, bundle).is_empty()) {
            // Nothing was put back: it has been tried with its own tests.
            (check, true) => check.clone(),
            (_, false) => self.try_own(run, view, fork, bundle)?,
        };
        evidence.build = Signs::beside(base.build.as_ref(), signs.build);
        evidence.check = Signs::beside(base.check.as_ref(), signs.check);
        evidence.lint = match (&base.lint, signs.lint) {
            (Some(base), Some(after)) => Some(Boundary { base: base.clone(), after }),
            _ => None,
        };
        Ok(())
    }

    /// Judges, and asks the judge about a close call as long as it helps.
    fn decide(&self, run: &LiveRun, bundles: &[Option<Bundle>]) -> Result<(), Halt> {
        let mut judgement = judge(&contest(&run.view()));
        for _question in 0..QUESTIONS {
            let view = run.view();
            let (Some(pairing), true) = (judgement.undecided, view.trial.judge.is_some()) else { break };
            let answer = self.ask_judge(run, &view, pairing, bundles, &judgement)?;
            drop(run.change(&self.0.recorder, |run| run.judged.push(answer)));
            judgement = judge(&contest(&run.view()));
        }
        run.change(&self.0.recorder, |run| run.judgement = Some(judgement)).wait()?;
        Ok(())
    }

    /// Has the judge compare two attempts: both patches go in as JSON, a number comes out.
    fn ask_judge(
        &self,
        run: &LiveRun,
        view: &Run,
        pairing: Pairing,
        bundles: &[Option<Bundle>],
        judgement: &Judgement,
    ) -> Result<JudgeAnswer, Halt> {
        let side = |fork: u32| {
            let mut patch = Vec::new();
            let bundle = usize::try_from(fork).ok().and_then(|place| bundles.get(place)?.as_ref());
            if let Some(bundle) = bundle {
                // What cannot be shown is not compared.
                let _unseen = bundle.patch(&mut patch, Look::Patch);
            }
            let standing = judgement.forks.iter().find(|standing| standing.fork == fork);
            json!({
                "fork": fork, "patch": String::from_utf8_lossy(&patch),
                "score": standing.and_then(|standing| standing.score),
                "breakdown": standing.map(|standing| &standing.breakdown),
            })
        };
        let given = run.given(For::Trial)?;
        let question = json!({ "task": given.prompt, "a": side(pairing.a), "b": side(pairing.b) });
        let id = match self.fresh_for_judge(run, view) {
            Err(Halt::Broken(error)) => {
                return Ok(unsure(pairing, format!("the judge could not be asked: {error}")));
            }
            made => made?,
        };
        let order = StartExecution {
            stdin: Stdin::Bytes(question.to_string().into_bytes()),
            ..shell::order(given.trial.judge.as_deref().unwrap_or_default(), view.trial.patience)
        };
        let said = self.see_through(run, id, order);
        let _later = self.delete(&run.who(), id);
        Ok(match said {
            Ok(done) if done.report.is_success() => understood(pairing, &done.output),
            Ok(done) => {
                unsure(pairing, format!("the judge ended with exit code {}", done.report.exit_code()))
            }
            Err(Halt::Broken(error)) => unsure(pairing, format!("the judge could not be asked: {error}")),
            Err(halt) => return Err(halt),
        })
    }
}

/// What a run is judged by.
pub(super) fn contest(view: &Run) -> Contest {
    Contest {
        run: view.id.to_string(),
        task_id: view.task.clone(),
        rules: view.trial.rules.clone(),
        evidence: view.attempts.iter().filter_map(|attempt| attempt.evidence.clone()).collect(),
        answers: view.judged.clone(),
        picked: view.pick.clone(),
    }
}

fn ended_well(attempt: &Attempt) -> bool {
    matches!(attempt.ending, Some(Ending::Exited { code: 0 }))
}

/// What an attempt's changes say by themselves.
fn look_at(
    service: &Service,
    view: &Run,
    attempt: &Attempt,
    bundle: Option<&Bundle>,
    field: &Field<'_>,
) -> Evidence {
    let ending = attempt.ending.clone().unwrap_or(Ending::Cancelled);
    let mut evidence = Evidence::new(attempt.fork, ending, attempt.duration_ms().unwrap_or(0));
    #[expect(clippy::cast_precision_loss, reason = "millionths of a dollar are fine enough")]
    let dollars = attempt.cost.map(|cost| cost.micros() as f64 / 1e6);
    evidence.cost = dollars;
    let Some(bundle) = bundle else { return evidence };
    let files = touched(bundle);
    evidence.diff = Some(Diff::of(&files));
    let others: Vec<_> = files.iter().filter(|file| !view.is_subject(file.path)).copied().collect();
    evidence.tampering = inspect(&others, &view.harness);
    evidence.breaches = breaches(bundle, &view.trial.protected, service.0.recorder.redactor());
    evidence.quality = Some(field.quality(bundle));
    evidence
}

/// What a judge says: `{"winner": 3, "reason": "…"}`, or the number alone.
#[derive(Deserialize)]
struct Said {
    winner: Option<u32>,
    #[serde(default)]
    reason: String,
}

fn understood(between: Pairing, output: &str) -> JudgeAnswer {
    let text = output.trim();
    let last = text.lines().last().unwrap_or_default().trim();
    let said = serde_json::from_str::<Said>(text).or_else(|_| serde_json::from_str::<Said>(last)).ok();
    let said = said.or_else(|| Some(Said { winner: Some(last.parse().ok()?), reason: String::new() }));
    let Some(Said { winner, reason }) = said else {
        return unsure(between, "the judge said neither a number nor {\"winner\": …}".to_owned());
    };
    let known = winner.filter(|winner| *winner == between.a || *winner == between.b);
    let reason = reason.chars().take(1000).collect();
    JudgeAnswer { between, winner: known, reason }
}

const fn unsure(between: Pairing, reason: String) -> JudgeAnswer {
    JudgeAnswer { between, winner: None, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judge_is_understood_in_the_ways_judges_speak() {
        let pairing = Pairing { a: 1, b: 4 };
        let heard = |text: &str| understood(pairing, text).winner;
        assert_eq!(heard("4\n"), Some(4));
        assert_eq!(heard("{\"winner\": 1, \"reason\": \"smaller\"}"), Some(1));
        assert_eq!(heard("thinking …\n{\"winner\": 4}"), Some(4));
        assert_eq!(heard("{\"winner\": null}"), None);
        assert_eq!(heard("7"), None);
        assert_eq!(heard("the first"), None);
    }
}
