//! The report as one HTML file: no script, no other file, both themes, and nothing in it that an attempt could have put there.

mod changes;
mod ranking;
mod scores;

use std::fmt::{self, Write as _};

use super::{
    Page,
    amounts::{money, time},
    plain::{html as plain, prose},
};

const STYLE: &str = include_str!("style.css");

/// The jar.
const JAR: &str = r#"<svg width="20" height="20" viewBox="0 0 20 20" fill="none" aria-hidden="true"><path d="M4 16.5V9a6 6 0 0 1 12 0v7.5" stroke="currentColor" stroke-width="1.6" fill="currentColor" fill-opacity=".12"/><path d="M1.8 17.2h16.4" stroke="currentColor" stroke-width="1.9" stroke-linecap="round"/><circle cx="10" cy="1.6" r="1.1" fill="currentColor"/><circle cx="10" cy="12.6" r="1.7" fill="currentColor"/></svg>"#;

/// The whole report.
#[must_use]
pub fn html(page: &Page) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    write(page, &mut text).ok();
    text
}

fn write(page: &Page, out: &mut String) -> fmt::Result {
    let title = plain(&page.title());
    writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">")?;
    writeln!(
        out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    )?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<meta name=\"color-scheme\" content=\"dark light\"><title>{title} · belljar</title>")?;
    writeln!(out, "<style>\n{STYLE}</style></head>\n<body><main>")?;
    writeln!(
        out,
        "<div class=\"brand\">{JAR}belljar <span>best of {}</span></div>",
        page.judgement.attempts
    )?;
    head(page, &title, out)?;
    why(page, out)?;
    ranking::write(page, out)?;
    scores::write(page, out)?;
    changes::write(page, out)?;
    foot(page, out)?;
    writeln!(out, "</main></body></html>")
}

fn head(page: &Page, title: &str, out: &mut String) -> fmt::Result {
    let state = page.state();
    let tone = match state {
        "no winner" => "deny",
        "close call" => "ask",
        _ => "glass",
    };
    writeln!(out, "<h1>{title}</h1><span class=\"badge {tone}\">{state}</span>")?;
    let mut facts = vec![format!("{} attempts", page.judgement.attempts)];
    facts.extend(page.check.as_deref().map(|check| format!("check <code>{}</code>", plain(check))));
    facts.extend(page.lint.as_deref().map(|lint| format!("linter <code>{}</code>", plain(lint))));
    facts.extend(page.duration_ms.map(|ms| format!("took {}", time(ms))));
    facts.extend(page.cost().map(|cost| format!("cost {}", money(Some(cost)))));
    facts.extend(page.decided_at.as_deref().map(plain));
    facts.push(format!("<code>{}</code>", plain(&page.judgement.run)));
    let facts: String = facts.iter().map(|fact| format!("<span>{fact}</span>")).collect();
    writeln!(out, "<div class=\"facts\">{facts}</div>")
}

fn why(page: &Page, out: &mut String) -> fmt::Result {
    let judgement = &page.judgement;
    let (tone, question) = match judgement.winner_fork {
        Some(fork) => ("", format!("Why attempt {fork} won")),
        None => (" none", "Why nobody won".to_owned()),
    };
    write!(out, "<div class=\"card why{tone}\">")?;
    if let Some(pick) = &judgement.picked {
        let by = pick.by.as_deref().map_or_else(|| "A person".to_owned(), plain);
        write!(out, "<h2>{by} chose attempt {}</h2><p>{}</p>", pick.fork, prose(&pick.reason))?;
        write!(out, "<p>Without that: {}</p>", prose(&judgement.reason))?;
    } else {
        write!(out, "<h2>{question}</h2><p>{}</p>", prose(&judgement.reason))?;
    }
    if let Some(close) = &judgement.close_call {
        let how = match close.decided_by.as_str() {
            "judge" => "a judge compared them",
            "pairwise" => "they were compared side by side, one measure after the other",
            "score" => "side by side they are even, so the score decided",
            _ => "they are equal, so the first was taken",
        };
        let names: Vec<String> = close.forks.iter().map(u32::to_string).collect();
        write!(
            out,
            "<p>A close call: attempts {} are {:.1} points apart or less than that matters; {how}. Have a look at both.</p>",
            names.join(" and "),
            close.margin
        )?;
    }
    writeln!(out, "</div>")
}

fn foot(page: &Page, out: &mut String) -> fmt::Result {
    if !page.next.is_empty() {
        write!(
            out,
            "<h2>What now</h2><p>Nothing was changed outside of the sandboxes so far.</p><div class=\"card\"><ul class=\"plain\">"
        )?;
        for (command, word) in &page.next {
            write!(
                out,
                "<li><code>{}</code> <span class=\"t3\">{}</span></li>",
                plain(command),
                plain(word)
            )?;
        }
        writeln!(out, "</ul></div>")?;
    }
    if page.prompt.trim().lines().count() > 1 {
        writeln!(
            out,
            "<h2>What was asked for</h2><p></p><div class=\"card\"><p class=\"prompt\">{}</p></div>",
            plain(page.prompt.trim())
        )?;
    }
    writeln!(
        out,
        "<footer>Every attempt ran in a sandbox of its own, from the same files. Checks ran afterwards in fresh sandboxes, with the \
         tests and settings as they were before. Formula {}.</footer>",
        page.judgement.formula
    )
}
