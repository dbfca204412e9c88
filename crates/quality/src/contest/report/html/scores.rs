//! What scores are made of, measure by measure, and the findings that moved them.

use std::fmt::{self, Write as _};

use super::{
    super::{
        Page,
        plain::{html as plain, prose},
    },
    ranking::bar,
};
use crate::contest::{
    judgement::{Mover, Standing},
    rules::Dimension,
};

pub(super) fn write(page: &Page, out: &mut String) -> fmt::Result {
    let field: Vec<&Standing> = page.ranked().filter(|fork| fork.eligible).collect();
    if !field.is_empty() {
        breakdown(page, &field, out)?;
    }
    movers(page, out)
}

fn breakdown(page: &Page, field: &[&Standing], out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "<h2>What the scores are made of</h2><p>Each measure is from 0 to 100. The share says how much of the score it is; what is \
         not known of everybody counts for nobody.</p>"
    )?;
    let names: String = field.iter().map(|fork| format!("<th>Attempt {}</th>", fork.fork)).collect();
    writeln!(
        out,
        "<div class=\"card\"><table><thead><tr><th>Measure</th><th class=\"r\">Share</th>{names}</tr></thead><tbody>"
    )?;
    for of in Dimension::ALL {
        let weight = field.first().and_then(|fork| fork.breakdown.get(&of)).map_or(0.0, |part| part.weight);
        let share = if weight > 0.0 { format!("{weight:.0} %") } else { "–".to_owned() };
        write!(
            out,
            "<tr><td class=\"of\"><span class=\"strong\">{}</span><div class=\"note\">{}</div></td><td class=\"r\">{share}</td>",
            of.title(),
            of.question()
        )?;
        for fork in field {
            let is_kept = page.kept() == Some(fork.fork);
            match fork.breakdown.get(&of) {
                Some(part) => {
                    let score = part.score.filter(|_| weight > 0.0);
                    let shown = score.map_or_else(String::new, |score| {
                        format!("{}<span class=\"strong\">{score:.0}</span>", bar(score, is_kept))
                    });
                    write!(out, "<td>{shown}<div class=\"note\">{}</div></td>", plain(&part.note))?;
                }
                None => write!(out, "<td></td>")?,
            }
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")
}

fn movers(page: &Page, out: &mut String) -> fmt::Result {
    let moved: Vec<&Standing> = page.ranked().filter(|fork| !fork.movers.is_empty()).collect();
    if moved.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>What makes the code harder or easier to change</h2><p>Places that must change together, such as copies and bare \
         numbers with a meaning. The heaviest of each attempt, with both ends.</p><div class=\"card\"><ul class=\"plain\">"
    )?;
    for fork in moved {
        for mover in &fork.movers {
            line(fork, mover, out)?;
        }
    }
    writeln!(out, "</ul></div>")
}

fn line(fork: &Standing, mover: &Mover, out: &mut String) -> fmt::Result {
    let (class, verb) = if mover.change > 0.0 { ("minus", "adds") } else { ("plus", "removes") };
    let places: Vec<String> = mover
        .finding
        .elements
        .iter()
        .take(4)
        .map(|place| {
            let inside =
                if place.symbol.is_empty() { String::new() } else { format!(" in {}", place.symbol) };
            plain(&format!("{}:{}{inside}", place.file, place.line))
        })
        .collect();
    writeln!(
        out,
        "<li><span class=\"strong\">Attempt {}</span> <span class=\"{class}\">{verb} {:.1} points</span>: {} <span class=\"mono\">{}</span></li>",
        fork.fork,
        mover.change.abs(),
        prose(&mover.finding.message),
        places.join(" · ")
    )
}
