//! How a run is doing, while it is: a few lines redrawn on a terminal, a line for each step elsewhere.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal, Write},
    time::{Instant, SystemTime},
};

use belljar_domain::{Span, Timestamp};
use serde_json::Value;

use super::super::{
    embedded::field,
    runs::{items, text},
};
use crate::{
    context::Context,
    output::{brief_text, dollars, many, plain},
    terminal,
};

/// Who is shown what.
#[derive(Debug)]
pub(in crate::commands) struct Progress {
    look: Look,
    begun: Instant,
    /// Lines on the screen that are ours.
    drawn: usize,
    /// What was last said of each attempt.
    said: BTreeMap<u64, String>,
    state: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Nothing.
    Silent,
    /// A line for each step.
    Lines,
    /// Redrawn in place.
    Screen,
}

impl Progress {
    pub(in crate::commands) fn choose(context: &Context, quiet: bool) -> Self {
        let look = match (quiet || context.json, io::stderr().is_terminal()) {
            (true, _) => Look::Silent,
            (false, true) => Look::Screen,
            (false, false) => Look::Lines,
        };
        Self { look, begun: Instant::now(), drawn: 0, said: BTreeMap::new(), state: String::new() }
    }

    pub(super) fn show(&mut self, run: &Value) {
        // What cannot be shown is no reason to fail.
        let _unseen = match self.look {
            Look::Silent => Ok(()),
            Look::Lines => self.lines(run),
            Look::Screen => self.draw(run),
        };
    }

    /// Says something beside.
    pub(super) fn say(&mut self, what: &str) {
        if self.look != Look::Silent {
            self.drawn = 0;
            let _unheard = writeln!(io::stderr(), "belljar: {what}");
        }
    }

    /// Takes the screen's lines away: what comes now says it all.
    pub(super) fn end(&mut self) {
        if self.look == Look::Screen {
            let _unseen = write!(io::stderr(), "{}", self.above());
        }
    }

    fn lines(&mut self, run: &Value) -> io::Result<()> {
        let mut err = io::stderr().lock();
        if text(run, "state") != self.state {
            text(run, "state").clone_into(&mut self.state);
            let id = text(run, "id");
            let money = money(run).map(|money| format!(" ({money})")).unwrap_or_default();
            writeln!(err, "belljar: run {id}: {}{money}", self.state)?;
        }
        for fork in items(run, "forks") {
            let (number, status) = (field(fork, "fork").as_u64().unwrap_or(0), text(fork, "status"));
            if self.said.get(&number).is_none_or(|said| said != status) && status != "queued" {
                self.said.insert(number, status.to_owned());
                writeln!(err, "belljar: attempt {number}: {}", plain(&told(fork)))?;
            }
        }
        Ok(())
    }

    fn draw(&mut self, run: &Value) -> io::Result<()> {
        let width = terminal::window().map_or(80, |window| usize::from(window.cols).max(20));
        let elapsed = self.begun.elapsed().as_secs();
        let money = money(run).map(|money| format!(" · {money}")).unwrap_or_default();
        let mut page =
            vec![format!("{} · {} · {elapsed} s{money}", text(run, "state"), short(text(run, "id")))];
        page.extend(items(run, "forks").map(|fork| {
            let number = field(fork, "fork").as_u64().unwrap_or(0);
            let name = field(fork, "name").as_str().map(|name| format!(" {name}")).unwrap_or_default();
            format!("  {number}{name}  {}", told(fork))
        }));
        let mut err = io::stderr().lock();
        write!(err, "{}", self.above())?;
        for line in &page {
            writeln!(err, "{}", brief_text(line, width.saturating_sub(1)))?;
        }
        self.drawn = page.len();
        err.flush()
    }

    /// Back to the first of our lines, and clears from there.
    fn above(&self) -> String {
        if self.drawn == 0 { String::new() } else { format!("\x1b[{}F\x1b[J", self.drawn) }
    }
}

/// What a run costs, may cost and was reckoned to cost, as far as that is known.
fn money(run: &Value) -> Option<String> {
    let amount = |name: &str| field(run, name).as_f64().map(dollars);
    let (spent, budget, estimate) = (amount("cost_usd"), amount("budget_usd"), amount("estimate_usd"));
    let parts = [
        spent.or_else(|| budget.as_ref().map(|_| dollars(0.0))),
        budget.map(|budget| format!("of {budget}")),
        estimate.map(|estimate| format!("about {estimate} by earlier runs")),
    ];
    let said: Vec<String> = parts.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// How long ago a moment was.
fn since(moment: &str) -> Option<Span> {
    let began: Timestamp = moment.parse().ok()?;
    let micros = Timestamp::from(SystemTime::now()).as_micros() - began.as_micros();
    Some(Span::millis(u64::try_from(micros / 1_000_000).ok()? * 1000))
}

/// How an attempt is doing, in a line.
fn told(fork: &Value) -> String {
    let mut parts = vec![text(fork, "status").replace('_', " ")];
    let took = field(fork, "duration_ms").as_u64().map(Span::millis);
    parts.extend(took.or_else(|| since(text(fork, "started_at"))).map(|span| span.to_string()));
    if let Some(cost) = field(fork, "cost").as_f64() {
        parts.push(dollars(cost));
    }
    if let Some(files) = fork.pointer("/diff_stat/files").and_then(Value::as_u64) {
        let count =
            |name: &str| fork.pointer(&format!("/diff_stat/{name}")).and_then(Value::as_u64).unwrap_or(0);
        let files = many(usize::try_from(files).unwrap_or(usize::MAX), "file");
        parts.push(format!("{files} +{} -{}", count("added"), count("removed")));
    }
    let beside = field(fork, "activity")
        .as_str()
        .or_else(|| field(fork, "said").as_str().filter(|said| *said != "finished"));
    parts.extend(beside.map(str::to_owned));
    parts.join(" · ")
}

fn short(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}
