//! The table of everybody: rank, score, gates, size, time and money, and why some are out.

use std::fmt::{self, Write as _};

use super::super::{
    Page,
    amounts::{money, time},
    plain::{html as plain, prose},
};
use crate::contest::{
    gates::{Gate, GateOutcome},
    judgement::Standing,
    reason::why_out,
};

pub(super) fn write(page: &Page, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "<h2>Who stands where</h2><p>An attempt must pass every gate before its score counts. A dash means that nobody can \
         tell, and nobody is out because of it.</p>"
    )?;
    let gates: String =
        Gate::ALL.into_iter().map(|gate| format!("<th class=\"c\">{}</th>", gate.title())).collect();
    writeln!(
        out,
        "<div class=\"card\"><table><thead><tr><th></th><th>Attempt</th><th>Score</th>{gates}<th class=\"r\">Changed</th>\
         <th class=\"r\">Time</th><th class=\"r\">Cost</th></tr></thead><tbody>"
    )?;
    for fork in page.ranked() {
        row(page, fork, out)?;
    }
    writeln!(out, "</tbody></table></div>")
}

fn row(page: &Page, fork: &Standing, out: &mut String) -> fmt::Result {
    let is_kept = page.kept() == Some(fork.fork);
    let class = match (is_kept, fork.eligible) {
        (true, _) => "kept",
        (false, false) => "out",
        _ => "",
    };
    let rank = if fork.eligible { fork.rank.to_string() } else { String::new() };
    let label = page.attempt(fork.fork).map(|one| one.label.trim()).filter(|label| !label.is_empty());
    let label = label.map_or_else(String::new, |label| format!("<div class=\"note\">{}</div>", plain(label)));
    let badge =
        match (is_kept, page.judgement.picked.is_some(), page.judgement.winner_fork == Some(fork.fork)) {
            (true, true, _) => "<span class=\"badge glass\">Chosen</span>",
            (true, false, _) => "<span class=\"badge glass\">Winner</span>",
            (false, true, true) => "<span class=\"badge\">Best score</span>",
            _ => "",
        };
    write!(
        out,
        "<tr class=\"{class}\"><td class=\"strong\">{rank}</td><td style=\"white-space:nowrap\"><span class=\"strong\">Attempt {}</span>{badge}{label}</td>",
        fork.fork
    )?;
    match fork.score {
        Some(score) => write!(
            out,
            "<td style=\"white-space:nowrap\">{}<span class=\"strong\">{score:.1}</span></td>",
            bar(score, is_kept)
        )?,
        None => {
            let why = why_out(fork).unwrap_or_else(|| fork.status_said.clone());
            write!(out, "<td class=\"why-out\">out: {}</td>", prose(&why))?;
        }
    }
    for gate in &fork.gates {
        let (class, mark) = match gate.result {
            GateOutcome::Passed => ("pass", "✓"),
            GateOutcome::Failed => ("fail", "✗"),
            GateOutcome::Unknown => ("unknown", "–"),
        };
        let said = format!("{} {}: {}", gate.gate.code(), gate.result.word(), gate.reason);
        write!(out, "<td class=\"c {class}\" title=\"{}\">{mark}</td>", plain(&said))?;
    }
    writeln!(
        out,
        "<td class=\"r\"><span class=\"plus\">+{}</span> <span class=\"minus\">−{}</span></td><td class=\"r t2\">{}</td><td class=\"r t2\">{}</td></tr>",
        fork.diff_stat.added,
        fork.diff_stat.removed,
        time(fork.duration_ms),
        money(fork.cost)
    )
}

pub(super) fn bar(score: f64, is_kept: bool) -> String {
    let class = if is_kept { "bar kept" } else { "bar" };
    format!("<span class=\"{class}\"><i style=\"width:{:.1}%\"></i></span>", score.clamp(0.0, 100.0))
}
