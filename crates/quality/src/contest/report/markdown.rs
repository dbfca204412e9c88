//! The report as Markdown: for a pull request, a chat, a file.

use std::fmt::Write as _;

use super::{
    LONGEST_PATCH, Page,
    amounts::{money, time},
    excerpt,
    plain::{code, fenced, markdown as plain},
};
use crate::contest::{
    evidence::FindingNote,
    gates::{Gate, GateOutcome},
    judgement::Standing,
    reason::why_out,
    rules::Dimension,
};

/// The whole report.
#[must_use]
pub fn markdown(page: &Page) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    write(page, &mut text).ok();
    text
}

fn write(page: &Page, out: &mut String) -> std::fmt::Result {
    let judgement = &page.judgement;
    writeln!(out, "# {}\n", plain(&page.title()))?;
    writeln!(out, "**{}** {}\n", headline(page), plain(&judgement.reason))?;
    if let Some(pick) = &judgement.picked {
        writeln!(out, "A person chose attempt {}: {}\n", pick.fork, plain(&pick.reason))?;
    }
    let mut facts = vec![format!("{} attempts", judgement.attempts), format!("run {}", code(&judgement.run))];
    facts.extend(page.check.as_deref().map(|check| format!("check {}", code(check))));
    facts.extend(page.duration_ms.map(time));
    facts.extend(page.cost().map(|cost| money(Some(cost))));
    facts.extend(page.decided_at.as_deref().map(plain));
    writeln!(out, "{}\n", facts.join(" · "))?;
    ranking(page, out)?;
    scores(page, out)?;
    findings(page, out)?;
    gates(page, out)?;
    if !page.next.is_empty() {
        writeln!(out, "## What now\n")?;
        for (command, word) in &page.next {
            writeln!(out, "- {}: {}", code(command), plain(word))?;
        }
        writeln!(out)?;
    }
    changes(page, out)
}

fn headline(page: &Page) -> String {
    match page.kept() {
        Some(fork) if page.judgement.picked.is_some() => format!("Attempt {fork} was chosen by a person."),
        Some(fork) if page.judgement.close_call.is_some() => format!("Attempt {fork} won, and it was close."),
        Some(fork) => format!("Attempt {fork} won."),
        None => "No winner.".to_owned(),
    }
}

fn mark(outcome: GateOutcome) -> &'static str {
    match outcome {
        GateOutcome::Passed => "✓",
        GateOutcome::Failed => "✗",
        GateOutcome::Unknown => "–",
    }
}

fn ranking(page: &Page, out: &mut String) -> std::fmt::Result {
    writeln!(out, "## Who stands where\n")?;
    writeln!(
        out,
        "An attempt must pass every gate before its score counts. – means that nobody can tell; that fails nobody.\n"
    )?;
    let titles: Vec<&str> = Gate::ALL.into_iter().map(Gate::title).collect();
    writeln!(out, "|  | attempt | score | {} | changed | time | cost |", titles.join(" | "))?;
    writeln!(out, "|--:|---|--:|{}--:|--:|--:|", ":-:|".repeat(titles.len()))?;
    for fork in page.ranked() {
        let label = page.attempt(fork.fork).map(|one| one.label.trim()).filter(|label| !label.is_empty());
        let named = label.map_or_else(String::new, |label| format!(" ({})", plain(label)));
        let crown = if page.kept() == Some(fork.fork) { " **winner**" } else { "" };
        let marks: Vec<&str> = fork.gates.iter().map(|gate| mark(gate.result)).collect();
        let score = fork.score.map_or_else(|| "out".to_owned(), |score| format!("{score:.1}"));
        let rank = if fork.eligible { fork.rank.to_string() } else { String::new() };
        let stat = fork.diff_stat;
        writeln!(
            out,
            "| {rank} | {}{named}{crown} | {score} | {} | +{} −{} | {} | {} |",
            fork.fork,
            marks.join(" | "),
            stat.added,
            stat.removed,
            time(fork.duration_ms),
            money(fork.cost)
        )?;
    }
    writeln!(out)?;
    for fork in page.ranked().filter(|fork| !fork.eligible) {
        writeln!(out, "- **Attempt {} is out:** {}", fork.fork, plain(&why_out(fork).unwrap_or_default()))?;
    }
    writeln!(out)
}

fn scores(page: &Page, out: &mut String) -> std::fmt::Result {
    let field: Vec<&Standing> = page.ranked().filter(|fork| fork.eligible).collect();
    if field.is_empty() {
        return Ok(());
    }
    writeln!(out, "## What the scores are made of\n")?;
    let names: Vec<String> = field.iter().map(|fork| format!("attempt {}", fork.fork)).collect();
    writeln!(out, "| | counts | {} |", names.join(" | "))?;
    writeln!(out, "|---|--:|{}", "---|".repeat(field.len()))?;
    for of in Dimension::ALL {
        let parts: Vec<_> = field.iter().filter_map(|fork| fork.breakdown.get(&of)).collect();
        let weight = parts.first().map_or(0.0, |part| part.weight);
        let counts = if weight > 0.0 { format!("{weight:.0} %") } else { "–".to_owned() };
        let cells = parts.iter().map(|part| match part.score {
            Some(score) => format!("**{score:.0}** {}", plain(&part.note)),
            None => plain(&part.note),
        });
        writeln!(
            out,
            "| {}: {} | {counts} | {} |",
            of.title(),
            of.question(),
            cells.collect::<Vec<_>>().join(" | ")
        )?;
    }
    writeln!(out)
}

fn findings(page: &Page, out: &mut String) -> std::fmt::Result {
    let moved: Vec<&Standing> = page.ranked().filter(|fork| !fork.movers.is_empty()).collect();
    if moved.is_empty() {
        return Ok(());
    }
    writeln!(out, "## What makes the code harder or easier to change\n")?;
    for fork in moved {
        writeln!(out, "Attempt {}:\n", fork.fork)?;
        for mover in &fork.movers {
            let verb = if mover.change > 0.0 { "adds" } else { "removes" };
            let places: Vec<String> = places(&mover.finding);
            let message = plain(&mover.finding.message);
            writeln!(out, "- {verb} {:.1} points: {message} ({})", mover.change.abs(), places.join(", "))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn places(finding: &FindingNote) -> Vec<String> {
    finding.elements.iter().take(4).map(|place| code(&format!("{}:{}", place.file, place.line))).collect()
}

fn gates(page: &Page, out: &mut String) -> std::fmt::Result {
    writeln!(out, "## What the gates said\n")?;
    for fork in page.ranked() {
        writeln!(out, "<details><summary>Attempt {} {}</summary>\n", fork.fork, plain(&fork.status_said))?;
        for gate in &fork.gates {
            writeln!(
                out,
                "- {} {} {}: {}",
                mark(gate.result),
                gate.gate.code(),
                plain(&gate.name),
                plain(&gate.reason)
            )?;
        }
        for note in &fork.notes {
            writeln!(out, "- note: {}", plain(note))?;
        }
        let tail = page.attempt(fork.fork).map(|one| one.check_tail.as_str()).unwrap_or_default();
        if !tail.trim().is_empty() {
            writeln!(out, "\nThe end of what the check printed:\n\n{}", fenced("text", tail))?;
        }
        writeln!(out, "\n</details>\n")?;
    }
    Ok(())
}

fn changes(page: &Page, out: &mut String) -> std::fmt::Result {
    writeln!(out, "## The changes\n")?;
    for fork in page.ranked() {
        let patch = page.attempt(fork.fork).map(|one| one.patch.as_str()).unwrap_or_default();
        if patch.trim().is_empty() {
            continue;
        }
        let (shown, left) = excerpt(patch, LONGEST_PATCH);
        writeln!(out, "<details><summary>Attempt {}</summary>\n\n{}", fork.fork, fenced("diff", shown))?;
        if left > 0 {
            writeln!(out, "{left} lines more.\n")?;
        }
        writeln!(out, "</details>\n")?;
    }
    Ok(())
}
