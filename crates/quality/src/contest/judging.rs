//! The judgement: who may win, who does, and in which order everybody stands. The same evidence always gives the same.

use std::{cmp::Ordering, collections::BTreeMap};

use serde::{Deserialize, Serialize};

use super::{
    diff::Diff,
    evidence::Evidence,
    gates::{GateOutcome, gates},
    judgement::{CloseCall, Judgement, Mover, Part, Pick, Standing, Status},
    measures,
    reason::{self, Field},
    rules::{Dimension, Rules},
    tampering::{Trace, TraceKind},
};

/// How much better one number must be to count as better.
const HAIR: f64 = 1e-9;
/// How many findings are named as having moved a score.
const MOVERS: usize = 3;

/// A run, with everything it is judged by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contest {
    /// Its id.
    pub run: String,
    /// What the task is called elsewhere.
    pub task_id: String,
    /// What it is judged by.
    #[serde(default)]
    pub rules: Rules,
    /// What is known about each attempt.
    pub evidence: Vec<Evidence>,
    /// What a judge said of close calls.
    #[serde(default)]
    pub answers: Vec<JudgeAnswer>,
    /// What a person chose.
    #[serde(default)]
    pub picked: Option<Pick>,
}

/// Two attempts to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// One; so far ahead.
    pub a: u32,
    /// The other.
    pub b: u32,
}

/// What a judge said of two attempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeAnswer {
    /// Which two.
    pub between: Pairing,
    /// Which is better; nobody if it cannot tell.
    pub winner: Option<u32>,
    /// Why.
    #[serde(default)]
    pub reason: String,
}

impl JudgeAnswer {
    fn is_about(&self, first: u32, second: u32) -> bool {
        let Pairing { a, b } = self.between;
        (a, b) == (first, second) || (b, a) == (first, second)
    }
}

/// Judges a run.
#[must_use]
pub fn judge(contest: &Contest) -> Judgement {
    let mut evidence: Vec<&Evidence> = contest.evidence.iter().collect();
    evidence.sort_by_key(|one| one.fork);
    let mut forks: Vec<Standing> = evidence.iter().map(|one| standing(one, &contest.rules)).collect();
    let field: Vec<&Evidence> =
        evidence.iter().zip(&forks).filter(|(_, fork)| fork.eligible).map(|(one, _)| *one).collect();
    let parts = measures::parts(&field, &contest.rules.weights);
    for (one, parts) in field.iter().zip(parts) {
        if let Some(fork) = forks.iter_mut().find(|fork| fork.fork == one.fork) {
            fork.score = Some(parts.values().map(|part| part.points).sum());
            fork.breakdown = parts;
        }
    }
    count_wins(&mut forks);
    let (order, close_call, undecided) = order(&forks, contest);
    let mut ranking: Vec<u32> = order;
    let mut rest: Vec<&Standing> = forks.iter().filter(|fork| !fork.eligible).collect();
    // Who got further stands before who did not.
    rest.sort_by_key(|fork| (failures(fork), fork.fork));
    ranking.extend(rest.iter().map(|fork| fork.fork));
    for fork in &mut forks {
        fork.rank = ranking.iter().position(|of| *of == fork.fork).map_or(0, |at| at + 1);
    }
    let winner =
        ranking.first().and_then(|first| forks.iter().find(|fork| fork.fork == *first && fork.eligible));
    let reason = reason::of(&Field {
        forks: &forks,
        winner,
        ranking: &ranking,
        close: close_call.as_ref(),
        answers: &contest.answers,
    });
    let (winner_fork, winner_score) = (winner.map(|fork| fork.fork), winner.and_then(|fork| fork.score));
    for fork in &mut forks {
        round(fork);
    }
    Judgement {
        run: contest.run.clone(),
        task_id: contest.task_id.clone(),
        attempts: forks.len(),
        winner_fork,
        winner_score: winner_score.map(rounded),
        all_scores: forks.iter().map(|fork| fork.score).collect(),
        reason,
        close_call,
        undecided,
        picked: contest.picked.clone(),
        ranking,
        forks,
        weights: contest.rules.weights,
        formula: contest.rules.formula,
    }
}

fn failures(fork: &Standing) -> usize {
    fork.gates.iter().filter(|gate| gate.result == GateOutcome::Failed).count()
}

fn standing(one: &Evidence, rules: &Rules) -> Standing {
    let gates = gates(one, rules);
    let notes = one.tampering.traces.iter().filter(|trace| trace.kind == TraceKind::Touched);
    let mut notes: Vec<String> = notes.map(Trace::said).collect();
    for place in one.quality.iter().flat_map(|note| &note.suppressions) {
        notes.push(format!(
            "{}:{}: findings of {} are suppressed by a new comment",
            place.file, place.line, place.symbol
        ));
    }
    Standing {
        fork: one.fork,
        rank: 0,
        status: Status::from(&one.ending),
        status_said: one.ending.said(),
        eligible: gates.iter().all(|gate| gate.result != GateOutcome::Failed),
        gates,
        score: None,
        breakdown: BTreeMap::new(),
        diff_stat: one.diff.as_ref().map(Diff::stat).unwrap_or_default(),
        cost: one.cost,
        duration_ms: one.duration_ms,
        pairwise_wins: 0,
        movers: movers(one),
        notes,
    }
}

/// The heaviest findings that came or went.
fn movers(one: &Evidence) -> Vec<Mover> {
    let Some(note) = &one.quality else { return Vec::new() };
    let came = note.new.iter().map(|finding| Mover { change: finding.weight, finding: finding.clone() });
    let went = note.fixed.iter().map(|finding| Mover { change: -finding.weight, finding: finding.clone() });
    let mut movers: Vec<Mover> = came.chain(went).collect();
    movers.sort_by(|a, b| b.change.abs().total_cmp(&a.change.abs()));
    movers.truncate(MOVERS);
    movers
}

/// Dimension by dimension: who is better in more of them.
fn pairwise(a: &Standing, b: &Standing) -> Ordering {
    let better = |one: &Standing, other: &Standing| {
        let of = |fork: &Standing, dimension: Dimension| {
            fork.breakdown.get(&dimension).filter(|part| part.weight > 0.0).and_then(|part: &Part| part.score)
        };
        let wins = Dimension::ALL.into_iter().filter(|dimension| {
            of(one, *dimension).zip(of(other, *dimension)).is_some_and(|(one, other)| one > other + HAIR)
        });
        wins.count()
    };
    better(a, b).cmp(&better(b, a))
}

fn count_wins(forks: &mut [Standing]) {
    let wins: Vec<usize> = forks
        .iter()
        .map(|fork| {
            let others =
                forks.iter().filter(|other| other.fork != fork.fork && other.eligible && fork.eligible);
            others.filter(|other| pairwise(fork, other) == Ordering::Greater).count()
        })
        .collect();
    for (fork, wins) in forks.iter_mut().zip(wins) {
        fork.pairwise_wins = wins;
    }
}

type Order = (Vec<u32>, Option<CloseCall>, Option<Pairing>);

/// By score; those near the first by who beats whom, and the first two by a judge.
fn order(forks: &[Standing], contest: &Contest) -> Order {
    let mut field: Vec<&Standing> = forks.iter().filter(|fork| fork.eligible).collect();
    let score = |fork: &Standing| fork.score.unwrap_or(0.0);
    field.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.fork.cmp(&b.fork)));
    let best = field.first().map_or(0.0, |first| score(first));
    let near = field.iter().take_while(|fork| best - score(fork) < contest.rules.close).count();
    if near < 2 {
        return (field.iter().map(|fork| fork.fork).collect(), None, None);
    }
    let margin = field.get(1).map_or(0.0, |second| best - score(second));
    let copeland = |fork: &Standing, group: &[&Standing]| {
        let others = group.iter().filter(|other| other.fork != fork.fork);
        others.fold(0_i64, |sum, other| sum + i64::from(pairwise(fork, other) as i8))
    };
    let group: Vec<&Standing> = field.iter().take(near).copied().collect();
    let wins: BTreeMap<u32, i64> = group.iter().map(|fork| (fork.fork, copeland(fork, &group))).collect();
    let won = |fork: &Standing| wins.get(&fork.fork).copied().unwrap_or(0);
    let mut close = group.clone();
    close.sort_by(|a, b| won(b).cmp(&won(a)).then(score(b).total_cmp(&score(a))).then(a.fork.cmp(&b.fork)));
    let (Some(first), Some(second)) = (close.first().copied(), close.get(1).copied()) else {
        return (field.iter().map(|fork| fork.fork).collect(), None, None);
    };
    let mut decided_by = if won(first) > won(second) {
        "pairwise"
    } else if score(first) > score(second) + HAIR {
        "score"
    } else {
        "order"
    };
    let answer = contest.answers.iter().rev().find(|answer| answer.is_about(first.fork, second.fork));
    if let Some(winner) = answer.and_then(|answer| answer.winner) {
        decided_by = "judge";
        if winner == second.fork {
            close.swap(0, 1);
        }
    }
    let undecided = answer.is_none().then_some(Pairing { a: first.fork, b: second.fork });
    let forks: Vec<u32> = close.iter().map(|fork| fork.fork).collect();
    let rest = field.iter().skip(near).map(|fork| fork.fork);
    let order = forks.iter().copied().chain(rest).collect();
    (order, Some(CloseCall { forks, margin: rounded(margin), decided_by: decided_by.to_owned() }), undecided)
}

/// To the hundredth: the rest is noise to whoever reads it. Only after everything is decided.
fn round(fork: &mut Standing) {
    fork.score = fork.score.map(rounded);
    for part in fork.breakdown.values_mut() {
        part.score = part.score.map(rounded);
        part.weight = rounded(part.weight);
        part.points = rounded(part.points);
    }
}

fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}
