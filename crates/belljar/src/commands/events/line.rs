//! One line for people: when, who, what with, on what, how it ended, how long it took, what it cost.

use std::{fmt::Write as _, time::Duration};

use serde_json::Value;

use super::source::Seen;
use crate::output::{fitted, notice, padded, plain};

/// The least width at which a line is sure to be one line.
pub(super) const NARROWEST: usize = 40;
/// Room for how long it took and for what it cost.
const TOOK: usize = 6;
const COST: usize = 8;
/// Colours agents are told apart by: those that are readable on dark and on light.
const AGENTS: [u8; 6] = [36, 35, 34, 32, 33, 31];

/// How a line is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub(super) colour: bool,
    pub(super) width: usize,
}

/// How a thing ended, as a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Good,
    Bad,
    Denied,
    Open(char),
    /// A person is asked.
    Asks(char),
    Lost,
    None,
}

/// What there is room for beside the text: a terminal beside an agent's is often half a screen.
#[derive(Debug, Clone, Copy)]
struct Columns {
    has_clock: bool,
    who: usize,
    what: usize,
}

impl Columns {
    const fn of(width: usize) -> Self {
        match width {
            90.. => Self { has_clock: true, who: 14, what: 11 },
            64.. => Self { has_clock: true, who: 4, what: 9 },
            _ => Self { has_clock: false, who: 4, what: 7 },
        }
    }

    /// Room to the left of the text, with the gaps.
    const fn left(self) -> usize {
        let clock = if self.has_clock { 10 } else { 0 };
        clock + self.who + 1 + self.what + 1
    }
}

impl Style {
    /// The line of an event that is over.
    pub(super) fn done(self, seen: &Seen) -> String {
        self.line(seen, how(seen), seen.duration_ms.map(Duration::from_millis))
    }

    /// The line of a call nobody said the end of.
    pub(super) fn lost(self, seen: &Seen) -> String {
        self.line(seen, Sign::Lost, None)
    }

    /// The line of a call under way.
    pub(super) fn open(self, seen: &Seen, spinner: char, asks: bool, lasts: Duration) -> String {
        let sign = if asks { Sign::Asks(spinner) } else { Sign::Open(spinner) };
        self.line(seen, sign, Some(lasts))
    }

    /// The line of an event as the ledger has it: its place, and what kind it is.
    pub(super) fn entry(self, seen: &Seen) -> String {
        const KIND: usize = 18;
        let tool = seen.tool.as_deref().map(|tool| format!("{} ", plain(tool))).unwrap_or_default();
        let (who, kind) =
            (padded(&fitted(&who(seen), 14), 14), padded(&fitted(&plain(&seen.kind), KIND), KIND));
        let front = format!("{:>8} {}  ", seen.seq, self.paint("2", &clock(seen)));
        let front = format!(
            "{front}{} {} ",
            self.paint(&agent_colour(seen).to_string(), &who),
            self.paint("2", &kind)
        );
        let room = self.width.saturating_sub(8 + 1 + 8 + 2 + 14 + 1 + KIND + 1 + RIGHT).max(20);
        let text = fitted(&format!("{tool}{}", text(seen)), room);
        let line = format!(
            "{front}{}{}",
            padded(&text, room),
            self.right(seen, how(seen), seen.duration_ms.map(Duration::from_millis))
        );
        line.trim_end().to_owned()
    }

    /// A line beside the others.
    pub(super) fn aside(self, text: &str) -> String {
        self.paint("2", &fitted(text, self.width.saturating_sub(1)))
    }

    fn line(self, seen: &Seen, sign: Sign, took: Option<Duration>) -> String {
        let columns = Columns::of(self.width);
        let clock =
            if columns.has_clock { format!("{}  ", self.paint("2", &clock(seen))) } else { String::new() };
        let who = if columns.who < 8 { brief_who(seen) } else { who(seen) };
        let (who, what) = (fitted(&who, columns.who), fitted(&what(seen), columns.what));
        let room = self.width.saturating_sub(columns.left() + RIGHT).max(8);
        let text = match sign {
            Sign::Asks(_) => format!("waits for a person: {}", text(seen)),
            _ => text(seen),
        };
        let colour = agent_colour(seen).to_string();
        let tool = if seen.kind.starts_with("tool.") { "1" } else { "2" };
        let line = format!(
            "{clock}{} {} {}{}",
            self.paint(&colour, &padded(&who, columns.who)),
            self.paint(tool, &padded(&what, columns.what)),
            padded(&fitted(&text, room), room),
            self.right(seen, sign, took),
        );
        line.trim_end().to_owned()
    }

    /// How it ended, how long it took, what it cost.
    fn right(self, seen: &Seen, sign: Sign, took: Option<Duration>) -> String {
        let mark = match sign {
            Sign::Good => self.paint("32", "✓"),
            Sign::Bad => self.paint("31", "✗"),
            Sign::Denied => self.paint("33", "⊘"),
            Sign::Open(spinner) => self.paint("36", &spinner.to_string()),
            Sign::Asks(spinner) => self.paint("1;33", &spinner.to_string()),
            Sign::Lost => self.paint("2", "?"),
            Sign::None => " ".to_owned(),
        };
        let took = took.map(spell).unwrap_or_default();
        let cost = seen.cost_micros.filter(|cost| *cost > 0).map(dollars).unwrap_or_default();
        let right = format!("{took:>TOOK$} {cost:>COST$}");
        format!(" {mark} {}", self.paint("2", right.trim_end()))
    }

    fn paint(self, code: &str, text: &str) -> String {
        let is_seen = self.colour && !text.trim().is_empty();
        if is_seen { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Room for everything to the right of the text: the sign, how long, how much, and the gaps.
const RIGHT: usize = 3 + TOOK + 1 + COST;

fn how(seen: &Seen) -> Sign {
    match (seen.kind.as_str(), seen.status.as_deref()) {
        (_, Some("denied")) | ("permission.denied", _) => Sign::Denied,
        _ if seen.decision.as_deref() == Some("deny") => Sign::Denied,
        (_, Some("success")) | ("turn.ended", _) => Sign::Good,
        (_, Some("failure" | "timeout" | "cancelled")) | ("turn.failed" | "tool.failed", _) => Sign::Bad,
        _ => Sign::None,
    }
}

fn clock(seen: &Seen) -> String {
    seen.time.to_string().chars().skip(11).take(8).collect()
}

/// Who did it: the agent's name, and what tells it from others of that name.
fn who(seen: &Seen) -> String {
    let name = seen.agent_name.as_deref().or(seen.agent_id.as_deref()).unwrap_or("belljar");
    let name = if name == "claude-code" { "claude" } else { name };
    let (name, tail) = (fitted(&plain(name), 9), tail(seen));
    if tail.is_empty() { name } else { format!("{name}·{tail}") }
}

/// The same in four letters.
fn brief_who(seen: &Seen) -> String {
    let tail = tail(seen);
    if tail.is_empty() { plain(seen.agent_name.as_deref().unwrap_or("belljar")) } else { tail }
}

/// What tells an agent from others.
fn tail(seen: &Seen) -> String {
    let own = seen.said("/agent_id").or(seen.session_id.as_deref()).or(seen.sandbox_id.as_deref());
    let letters = |id| plain(id).chars().filter(char::is_ascii_alphanumeric).take(4).collect();
    own.map(letters).unwrap_or_default()
}

fn agent_colour(seen: &Seen) -> u8 {
    let own = seen.said("/agent_id").or(seen.session_id.as_deref()).unwrap_or_default();
    let sum: usize = own.bytes().map(usize::from).sum();
    AGENTS.get(sum % AGENTS.len()).copied().unwrap_or(36)
}

/// What it was done with, or what kind of thing it is.
fn what(seen: &Seen) -> String {
    if let Some(tool) = &seen.tool {
        // A tool of a server elsewhere: what it is called there.
        return plain(tool.rsplit("__").next().unwrap_or(tool));
    }
    let word = match seen.kind.as_str() {
        "transcript.read" => "transcript",
        "prompt.submitted" => "prompt",
        "session.started" => "session",
        "session.ended" => "end",
        "session.archived" => "in all",
        "session.processed" => "ran",
        "model.called" | "model.failed" => "model",
        "turn.ended" => "done",
        "turn.failed" => "failed",
        "agent.started" | "agent.stopped" => "subagent",
        "agent.notified" => "notice",
        "context.compacted" => "compacted",
        "permission.asked" => "asks",
        "approval.requested" => "asks",
        "approval.answered" => "answer",
        other => other.strip_prefix("hook.").unwrap_or(other),
    };
    plain(word)
}

/// What it was about, in the fewest words that tell.
fn text(seen: &Seen) -> String {
    let input = seen.payload.get("tool_input");
    let given = |name: &str| input.and_then(|input| input.get(name)).and_then(Value::as_str);
    let about = match seen.kind.as_str() {
        "prompt.submitted" => seen.said("/prompt").map(|prompt| notice(prompt).unwrap_or(prompt).to_owned()),
        "turn.ended" | "turn.failed" | "agent.notified" | "agent.stopped" => {
            seen.said("/message").map(str::to_owned)
        }
        "agent.started" => seen.said("/agent_type").map(str::to_owned),
        "session.started" => {
            let words = [seen.said("/rest/source"), seen.said("/model"), seen.said("/cwd")];
            Some(words.into_iter().flatten().collect::<Vec<_>>().join(" · "))
        }
        // Where no person ended it there is no other word.
        "session.ended" => {
            Some(seen.said("/rest/reason").filter(|reason| *reason != "other").unwrap_or("").to_owned())
        }
        "model.called" | "model.failed" => {
            let tokens = seen.tokens.map(|tokens| format!(" · {} tokens", thousands(tokens)));
            Some(format!("{}{}", seen.said("/model").unwrap_or("?"), tokens.unwrap_or_default()))
        }
        _ => None,
    };
    let about = about.or_else(|| match seen.tool.as_deref() {
        Some("Agent" | "Task") => given("description").map(str::to_owned),
        Some("TaskUpdate") => {
            given("taskId").zip(given("status")).map(|(task, state)| format!("task {task}: {state}"))
        }
        Some("Grep" | "Glob") => {
            let place = given("path").map(|path| format!(" in {}", short(seen, path)));
            given("pattern").map(|pattern| format!("{pattern}{}", place.unwrap_or_default()))
        }
        _ => None,
    });
    let about = about.or_else(|| seen.target.as_deref().map(|target| short(seen, target)));
    let about = about.or_else(|| input.filter(|input| input.is_object()).map(Value::to_string));
    let mut text = about.unwrap_or_default();
    let is_held_up = seen.decision.as_deref().is_some_and(|decision| decision != "allow");
    let wrong = seen.error.as_deref().or(seen.reason.as_deref().filter(|_| is_held_up));
    if let Some(wrong) = wrong.and_then(|wrong| wrong.lines().find(|line| !line.trim().is_empty())) {
        let _written = write!(text, " — {wrong}");
    }
    let line: Vec<&str> = text.split_whitespace().collect();
    plain(&line.join(" "))
}

/// A path as its session sees it.
fn short(seen: &Seen, path: &str) -> String {
    let below =
        seen.said("/cwd").and_then(|cwd| path.strip_prefix(cwd)).and_then(|rest| rest.strip_prefix('/'));
    below.unwrap_or(path).to_owned()
}

/// A number people can read.
pub(super) fn thousands(number: u64) -> String {
    match number {
        0..=999 => number.to_string(),
        1000..=999_999 => format!("{}.{}k", number / 1000, number % 1000 / 100),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// How long, in as few letters as tell it.
fn spell(span: Duration) -> String {
    let (seconds, millis) = (span.as_secs(), span.subsec_millis());
    match seconds {
        0 if millis < 100 => format!("{millis}ms"),
        0 => format!("0.{}s", millis / 100),
        1..=9 => format!("{seconds}.{}s", millis / 100),
        10..=59 => format!("{seconds}s"),
        60..=3599 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Money, with as many digits as matter.
pub(super) fn dollars(micros: u64) -> String {
    let cents = micros / 10_000;
    if cents >= 100 {
        format!("${}.{:02}", cents / 100, cents % 100)
    } else {
        format!("${:.4}", micros_in_dollars(micros))
    }
}

#[expect(clippy::cast_precision_loss, reason = "less than a dollar is exact")]
fn micros_in_dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::width;
    use serde_json::json;

    const STYLE: Style = Style { colour: false, width: 100 };

    fn seen(value: &Value) -> Seen {
        let mut whole = json!({"seq": 1, "time": "2026-01-02T06:42:13.5Z", "agent_name": "claude-code", "session_id": "abcd-1"});
        whole.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        Seen::of(&whole).unwrap()
    }

    #[test]
    fn a_call_is_one_line_that_fits() {
        let call = seen(
            &json!({"kind": "tool.finished", "tool": "Bash", "target": "cargo test\n  -p x", "status": "success",
            "duration_ms": 1234, "cost_micros": 3000}),
        );
        let line = STYLE.done(&call);
        assert!(line.starts_with("06:42:13  claude·abcd    Bash        cargo test -p x"), "{line}");
        assert!(line.ends_with("✓   1.2s  $0.0030"), "{line}");
        let model = seen(&json!({"kind": "model.called", "tokens": 12_345, "cost_micros": 25_000,
            "duration_ms": 2500, "status": "success", "payload": {"source": "otlp", "model": "claude-sonnet"}}));
        let line = STYLE.done(&model);
        assert!(
            line.contains("model       claude-sonnet · 12.3k tokens") && line.ends_with("✓   2.5s  $0.0250"),
            "{line}"
        );
        let long = seen(
            &json!({"kind": "tool.failed", "tool": "mcp__srv__look", "target": "x".repeat(500), "error": "no"}),
        );
        let line = STYLE.done(&long);
        assert!(
            width(&line) <= 100 && line.contains("look ") && line.contains("…") && line.ends_with('✗'),
            "{line}"
        );
    }

    #[test]
    fn a_line_fits_whatever_is_in_it_and_however_wide_the_terminal_is() {
        for room in [NARROWEST, 60, 79, 100, 200] {
            let style = Style { colour: false, width: room };
            for target in ["x".repeat(300), "日本語".repeat(60), "👩‍💻 ".repeat(70), "\u{202e}".repeat(40)]
            {
                let call = seen(
                    &json!({"kind": "tool.finished", "tool": "mcp__言語__しらべるしらべる", "target": target,
                    "status": "success", "duration_ms": 61_000, "cost_micros": 12_340_000}),
                );
                for line in [style.done(&call), style.open(&call, '⠙', true, Duration::from_secs(9))] {
                    assert!(width(&line) <= room, "{room}: {line}");
                }
                assert!(style.done(&call).ends_with("✓  1m01s   $12.34"), "{}", style.done(&call));
            }
        }
    }

    #[test]
    fn what_an_agent_tells_itself_is_told_in_its_own_words() {
        let told =
            "<task-notification>\n<task-id>a4</task-id>\n<summary>Agent \"Do alpha\" finished</summary>\n";
        let prompt = seen(&json!({"kind": "prompt.submitted", "payload": {"prompt": told}}));
        assert!(
            STYLE.done(&prompt).ends_with("prompt      Agent \"Do alpha\" finished"),
            "{}",
            STYLE.done(&prompt)
        );
        let end = seen(&json!({"kind": "session.ended", "payload": {"rest": {"reason": "other"}}}));
        assert!(STYLE.done(&end).ends_with("end"), "{}", STYLE.done(&end));
    }

    #[test]
    fn paths_are_told_from_where_the_agent_is_and_nothing_acts_on_the_terminal() {
        let read = seen(
            &json!({"kind": "tool.finished", "tool": "Read", "target": "/w/src/a.rs", "payload": {"cwd": "/w"}}),
        );
        assert!(STYLE.done(&read).ends_with(" src/a.rs"));
        let evil = seen(&json!({"kind": "prompt.submitted", "payload": {"prompt": "\u{1b}[2Jhello"}}));
        assert!(!STYLE.done(&evil).contains('\u{1b}'));
        let denied =
            seen(&json!({"kind": "tool.failed", "tool": "Bash", "target": "rm -rf /", "status": "denied",
            "decision": "deny", "reason": "never"}));
        assert!(STYLE.done(&denied).contains("rm -rf / — never"));
        let allowed = Seen { decision: Some("allow".to_owned()), status: None, ..denied };
        assert!(!STYLE.done(&allowed).contains("never"), "nothing was wrong");
    }

    #[test]
    fn spans_and_sums_are_short() {
        for (millis, wanted) in
            [(7, "7ms"), (2500, "2.5s"), (59_000, "59s"), (61_000, "1m01s"), (7_260_000, "2h01m")]
        {
            assert_eq!(spell(Duration::from_millis(millis)), wanted);
        }
        assert_eq!((dollars(1_230_000).as_str(), dollars(1234).as_str()), ("$1.23", "$0.0012"));
    }
}
