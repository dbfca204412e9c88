//! One sentence that says why the winner won, or why nobody did.

use super::{
    gates::{Gate, GateOutcome, counted},
    judgement::{CloseCall, Standing},
    judging::JudgeAnswer,
    rules::Dimension,
};

/// What the sentence is made of.
pub(super) struct Field<'f> {
    pub(super) forks: &'f [Standing],
    pub(super) winner: Option<&'f Standing>,
    pub(super) ranking: &'f [u32],
    pub(super) close: Option<&'f CloseCall>,
    pub(super) answers: &'f [JudgeAnswer],
}

pub(super) fn of(field: &Field<'_>) -> String {
    let Some(winner) = field.winner else { return nobody(field.forks) };
    format!("{}{}", won(field, winner), doubt(winner))
}

/// What a reader must know before trusting a winner nobody tested.
fn doubt(winner: &Standing) -> String {
    let check = winner.gates.iter().find(|gate| gate.gate == Gate::Accepted);
    match check.filter(|gate| gate.result == GateOutcome::Unknown) {
        Some(gate) => format!(" Whether it works nobody can tell: {}.", short(&gate.reason)),
        None => String::new(),
    }
}

fn won(field: &Field<'_>, winner: &Standing) -> String {
    let eligible = field.forks.iter().filter(|fork| fork.eligible).count();
    let score = winner.score.unwrap_or(0.0);
    let out = field.forks.len() - eligible;
    if eligible == 1 {
        let rest = match out {
            0 => "it is the only attempt".to_owned(),
            _ => format!(
                "it is the only one of {} that passes every gate",
                counted(field.forks.len(), "attempt", "attempts")
            ),
        };
        return format!("Attempt {} wins with {score:.1} of 100: {rest}.", winner.fork);
    }
    let second = field.ranking.get(1).and_then(|second| field.forks.iter().find(|fork| fork.fork == *second));
    let Some(second) = second else { return format!("Attempt {} wins with {score:.1} of 100.", winner.fork) };
    if let Some(close) = field.close {
        return near(field, winner, second, close);
    }
    let gap = score - second.score.unwrap_or(0.0);
    format!(
        "Attempt {} wins with {score:.1} of 100, {gap:.1} ahead of attempt {}: {}.",
        winner.fork,
        second.fork,
        advantage(winner, second).unwrap_or_else(|| "it is a little better in everything".to_owned())
    )
}

fn near(field: &Field<'_>, winner: &Standing, second: &Standing, close: &CloseCall) -> String {
    let opening = format!(
        "Attempt {} wins a close call with {:.1} of 100, attempt {} has {:.1}",
        winner.fork,
        winner.score.unwrap_or(0.0),
        second.fork,
        second.score.unwrap_or(0.0)
    );
    let because = match close.decided_by.as_str() {
        "judge" => {
            let said = field.answers.iter().rev().find(|answer| answer.winner == Some(winner.fork));
            let said = said.map(|answer| answer.reason.trim()).filter(|reason| !reason.is_empty());
            format!(
                "the judge preferred it{}",
                said.map(|said| format!(" ({})", short(said))).unwrap_or_default()
            )
        }
        "pairwise" => {
            let led = leads(winner, second);
            let more =
                advantage(winner, second).map(|why| format!(", above all because {why}")).unwrap_or_default();
            format!("compared side by side it is better in {}{more}", counted(led, "respect", "respects"))
        }
        "score" => match advantage(winner, second) {
            Some(why) => format!("side by side they are even, and {why}"),
            None => "side by side they are even, and it has a little more".to_owned(),
        },
        _ => "they are equal in everything that is measured, and the first of them is taken".to_owned(),
    };
    format!("{opening}: {because}.")
}

fn leads(winner: &Standing, second: &Standing) -> usize {
    let score = |fork: &Standing, of: Dimension| {
        fork.breakdown.get(&of).filter(|part| part.weight > 0.0).and_then(|part| part.score)
    };
    let is_ahead =
        |of: &Dimension| score(winner, *of).zip(score(second, *of)).is_some_and(|(a, b)| a > b + 1e-9);
    Dimension::ALL.into_iter().filter(is_ahead).count()
}

/// Where the winner gained most on the other, in words.
fn advantage(winner: &Standing, second: &Standing) -> Option<String> {
    let gain = |of: Dimension| {
        let points = |fork: &Standing| fork.breakdown.get(&of).map_or(0.0, |part| part.points);
        points(winner) - points(second)
    };
    let best = Dimension::ALL.into_iter().max_by(|a, b| gain(*a).total_cmp(&gain(*b)).then(b.cmp(a)))?;
    if gain(best) <= 0.005 {
        return None;
    }
    let score = |fork: &Standing| fork.breakdown.get(&best).and_then(|part| part.score).unwrap_or(0.0);
    let (own, other) = (score(winner), score(second));
    let said = match best {
        Dimension::Tests => format!("more of its tests pass ({own:.0} against {other:.0} of 100)"),
        Dimension::Quality => {
            let shown = format!("({own:.0} against {other:.0}, where 50 is no difference)");
            let why = heaviest(second).map(|what| format!(", while {what}")).unwrap_or_default();
            format!("it leaves the code easier to change {shown}{why}")
        }
        Dimension::Lint => format!("the linter complains less about it ({own:.0} against {other:.0} of 100)"),
        Dimension::Scope => format!("it keeps closer to the task ({own:.0} against {other:.0} of 100)"),
        Dimension::Contributed => "it brings more tests of its own".to_owned(),
        Dimension::Agreement => "more of the other attempts made the same change".to_owned(),
        Dimension::Cost => format!("it took less time or money ({own:.0} against {other:.0} of 100)"),
    };
    Some(said)
}

/// What somebody brought that weighs most.
fn heaviest(fork: &Standing) -> Option<String> {
    let mover = fork.movers.iter().find(|mover| mover.change > 0.0)?;
    let place = mover.finding.elements.first();
    let place = place.map(|place| format!(" ({}:{})", place.file, place.line)).unwrap_or_default();
    Some(format!("in attempt {} {}{place}", fork.fork, short(&mover.finding.message)))
}

fn nobody(forks: &[Standing]) -> String {
    if forks.is_empty() {
        return "Nobody wins: there was no attempt.".to_owned();
    }
    let whys: Vec<String> = forks
        .iter()
        .take(9)
        .filter_map(|fork| why_out(fork).map(|why| format!("attempt {}: {why}", fork.fork)))
        .collect();
    let opening = match forks.len() {
        1 => "Nobody wins: the only attempt does not pass every gate".to_owned(),
        all => format!("Nobody wins: none of {all} attempts passes every gate"),
    };
    format!("{opening} ({}).", whys.join("; "))
}

/// Why an attempt may not win: how it ended if it did not end well, else the first gate that failed.
pub(super) fn why_out(fork: &Standing) -> Option<String> {
    let failed = |code: &str| {
        fork.gates.iter().find(|gate| gate.result == GateOutcome::Failed && gate.gate.code() == code)
    };
    // Tampering says more than the failing check it leads to.
    let order = ["G7", "G4", "G1", "G6", "G2", "G3", "G5"];
    order.into_iter().find_map(failed).map(|gate| short(&gate.reason))
}

fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= 160 { text } else { text.chars().take(159).collect::<String>() + "…" }
}
