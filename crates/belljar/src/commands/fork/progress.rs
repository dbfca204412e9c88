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
    output::{dollars, many, plain},
    terminal,
};

/// Who is shown what.
#[derive(Debug)]
pub(in crate::commands) struct Progress {
    look: Look,
    is_coloured: bool,
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
        let is_coloured = context.colour(io::stderr().is_terminal());
        Self {
            look,
            is_coloured,
            begun: Instant::now(),
            drawn: 0,
            said: BTreeMap::new(),
            state: String::new(),
        }
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
                writeln!(err, "belljar: attempt {number}: {}", Line::of(fork).said())?;
            }
        }
        Ok(())
    }

    fn draw(&mut self, run: &Value) -> io::Result<()> {
        let window = terminal::window().filter(|window| window.cols > 0 && window.rows > 0);
        let (width, height) = window.map_or((80, 24), |window| (window.cols.into(), window.rows.into()));
        let page = self.page(run, usize::max(width, 20) - 1, usize::max(height, 6) - 1);
        let mut err = io::stderr().lock();
        write!(err, "{}", self.above())?;
        for line in &page {
            writeln!(err, "{line}")?;
        }
        self.drawn = page.len();
        err.flush()
    }

    /// What fits on the screen: the run in a line, then its attempts; those at work before others.
    fn page(&self, run: &Value, width: usize, height: usize) -> Vec<String> {
        let id = short(text(run, "id"));
        let task = Some(plain(text(run, "task_id"))).filter(|task| task != id);
        let elapsed = format!("{}s", self.begun.elapsed().as_secs());
        let parts =
            [task, Some(text(run, "state").to_owned()), Some(id.to_owned()), Some(elapsed), money(run)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let mut page = vec![self.paint(BOLD, &cut(&parts.join(" · "), width))];
        let forks: Vec<Line> = items(run, "forks").map(Line::of).collect();
        let mut shown: Vec<&Line> = forks.iter().collect();
        shown.sort_by_key(|line| (!line.mood.is_at_work(), line.number));
        let room = if shown.len() < height { shown.len() } else { height.saturating_sub(2) };
        let mut hidden: BTreeMap<&str, usize> = BTreeMap::new();
        for line in shown.split_off(room) {
            *hidden.entry(&line.status).or_default() += 1;
        }
        if hidden.is_empty() {
            shown.sort_by_key(|line| line.number);
        }
        let widest = |cell: fn(&Line) -> &String| {
            shown.iter().map(|line| cell(line).chars().count()).max().unwrap_or(0)
        };
        let widths = [
            widest(|line| &line.who),
            widest(|line| &line.status),
            widest(|line| &line.took),
            widest(|line| &line.size),
        ];
        page.extend(shown.iter().map(|line| self.line(line, widths, width)));
        if !hidden.is_empty() {
            let others: Vec<String> =
                hidden.iter().map(|(status, count)| format!("{count} {status}")).collect();
            page.push(self.paint(DIM, &cut(&format!("  … and {}", others.join(", ")), width)));
        }
        page
    }

    fn line(&self, line: &Line, widths: [usize; 4], width: usize) -> String {
        let Line { mood, who, status, took, size, beside, .. } = line;
        let [of_who, of_status, of_took, of_size] = widths;
        let lead = format!("  {who:<of_who$}  ");
        let state = format!("{} {status:<of_status$}", mood.mark());
        let numbers = format!("  {took:>of_took$}  {size:<of_size$}");
        let left = lead.chars().count() + state.chars().count();
        if left >= width {
            return cut(&format!("{lead}{state}"), width);
        }
        let rest = format!("{numbers}  {beside}");
        let rest = cut(rest.trim_end(), width - left);
        format!("{lead}{}{rest}", self.paint(mood.colour(), &state))
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.is_coloured && !colour.is_empty() {
            format!("\x1b[{colour}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
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

const BOLD: &str = "1";
const DIM: &str = "2";

/// How an attempt is doing, in columns: who, status, how long, what it cost and changed; and what it is at.
struct Line {
    number: u64,
    mood: Mood,
    who: String,
    status: String,
    took: String,
    size: String,
    beside: String,
}

impl Line {
    fn of(fork: &Value) -> Self {
        let number = field(fork, "fork").as_u64().unwrap_or(0);
        let name = field(fork, "name").as_str().map(|name| format!(" {}", plain(name))).unwrap_or_default();
        let status = text(fork, "status").replace('_', " ");
        let took = field(fork, "duration_ms").as_u64().map(Span::millis);
        let took = took.or_else(|| since(text(fork, "started_at")));
        let cost = field(fork, "cost").as_f64().map(dollars);
        let size = [size(fork), cost].into_iter().flatten().collect::<Vec<_>>().join("  ");
        let took = took.map(|span| span.to_string()).unwrap_or_default();
        let beside = plain(beside(fork).unwrap_or_default());
        Self { number, mood: Mood::of(&status), who: format!("{number}{name}"), status, took, size, beside }
    }

    /// In one line of its own.
    fn said(self) -> String {
        let parts =
            [self.status, self.took, self.size, self.beside].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(" · ")
    }
}

/// What is at stake with an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    Waits,
    Works,
    Done,
    Lost,
}

impl Mood {
    fn of(status: &str) -> Self {
        match status {
            "queued" => Self::Waits,
            "starting" | "running" | "collecting" => Self::Works,
            "finished" => Self::Done,
            _ => Self::Lost,
        }
    }

    const fn is_at_work(self) -> bool {
        matches!(self, Self::Works)
    }

    const fn mark(self) -> char {
        match self {
            Self::Waits => '·',
            Self::Works => '●',
            Self::Done => '✓',
            Self::Lost => '✗',
        }
    }

    const fn colour(self) -> &'static str {
        match self {
            Self::Waits => DIM,
            Self::Works => "33",
            Self::Done => "32",
            Self::Lost => "31",
        }
    }
}

/// How much an attempt has changed.
fn size(fork: &Value) -> Option<String> {
    let files = fork.pointer("/diff_stat/files").and_then(Value::as_u64).filter(|files| *files > 0)?;
    let count = |name: &str| fork.pointer(&format!("/diff_stat/{name}")).and_then(Value::as_u64).unwrap_or(0);
    let files = many(usize::try_from(files).unwrap_or(usize::MAX), "file");
    Some(format!("{files} +{} -{}", count("added"), count("removed")))
}

/// What an attempt is at, or how it ended.
fn beside(fork: &Value) -> Option<&str> {
    let said = || field(fork, "said").as_str().filter(|said| *said != "finished");
    field(fork, "activity").as_str().or_else(said)
}

fn short(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}

/// As much of a line as there is room for; what is before it stays where it is.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn progress() -> Progress {
        Progress {
            look: Look::Screen,
            is_coloured: false,
            begun: Instant::now(),
            drawn: 0,
            said: BTreeMap::new(),
            state: String::new(),
        }
    }

    fn run(statuses: &[&str]) -> Value {
        let forks =
            statuses.iter().enumerate().map(|(fork, status)| json!({ "fork": fork, "status": status }));
        json!({ "id": "run_0123456789", "state": "running", "forks": forks.collect::<Vec<_>>() })
    }

    #[test]
    fn what_does_not_fit_is_counted_and_who_is_at_work_is_shown() {
        let mut statuses = vec!["finished"; 30];
        statuses.extend(["running", "running", "queued"]);
        let page = progress().page(&run(&statuses), 80, 8);
        assert_eq!(page.len(), 8);
        assert!(page.iter().any(|line| line.contains("30  ● running")), "{page:#?}");
        assert_eq!(page.last().map(String::as_str), Some("  … and 26 finished, 1 queued"));
        let whole = progress().page(&run(&statuses), 80, 40);
        assert_eq!(whole.len(), 34);
        assert!(whole.get(1).is_some_and(|line| line.starts_with("  0   ✓ finished")), "{whole:#?}");
    }

    #[test]
    fn no_line_is_wider_than_the_screen() {
        let mut run = run(&["running", "timed_out"]);
        if let Some(fork) = run.pointer_mut("/forks/0") {
            *fork = json!({
                "fork": 0, "status": "running", "duration_ms": 61_000, "cost": 0.25,
                "diff_stat": { "files": 2, "added": 10, "removed": 1 }, "activity": "Bash: cargo test --workspace",
            });
        }
        let page = progress().page(&run, 100, 20);
        let line = page.get(1).cloned().unwrap_or_default();
        assert!(line.ends_with("2 files +10 -1  $0.2500  Bash: cargo test --workspace"), "{line}");
        for width in [10, 25, 40, 60] {
            let page = progress().page(&run, width, 20);
            assert!(page.iter().all(|line| line.chars().count() <= width), "{width}: {page:#?}");
        }
    }
}
