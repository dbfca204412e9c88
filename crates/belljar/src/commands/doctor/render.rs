//! The report as people read it: a line per check, remedies below what they mend, no wider than 100 columns.

use belljar_providers::doctor::{Check, Provider, Remedy, Report, Status, Verdict};

const WIDTH: usize = 100;
const NAME: usize = 25;
const STATUS: usize = 8;
/// Where findings begin: indent, status, name and the gaps between them.
const FOUND: usize = 2 + STATUS + 2 + NAME + 2;
const REMEDY: usize = 4;

pub(super) fn render(report: &Report, colour: bool) -> String {
    let mut page = Page { text: String::new(), colour, said: Vec::new() };
    page.head(report);
    let mut area = "";
    for check in &report.checks {
        if check.area != area {
            area = check.area;
            page.title(area);
        }
        page.check(check);
    }
    page.title("providers");
    for provider in &report.providers {
        page.provider(provider);
    }
    page.text.push('\n');
    let paint = match report.verdict {
        Verdict::Ready => GREEN,
        Verdict::Degraded => YELLOW,
        Verdict::Unable => RED,
    };
    page.wrapped("", 0, &report.summary, paint);
    page.text
}

const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const RED: &str = "\x1b[31m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "";

struct Page {
    text: String,
    colour: bool,
    /// Remedies printed already; the same one is not printed twice.
    said: Vec<Remedy>,
}

impl Page {
    fn head(&mut self, report: &Report) {
        let host = &report.host;
        let version = env!("CARGO_PKG_VERSION");
        let line = format!(
            "belljar {version} on {}, Linux {}, {}, as {} ({})",
            host.distribution, host.kernel, host.machine, host.user, host.uid
        );
        self.wrapped("", 0, &line, PLAIN);
    }

    fn title(&mut self, title: &str) {
        let painted = self.paint(title, BOLD);
        self.text.push_str(&format!("\n{painted}\n"));
    }

    fn check(&mut self, check: &Check) {
        let (word, paint) = match check.status {
            Status::Ok => ("ok", GREEN),
            Status::Degraded => ("degraded", YELLOW),
            Status::Missing => ("missing", RED),
        };
        let status = self.paint(&format!("{word:STATUS$}"), paint);
        let start = format!("  {status}  {:NAME$}  ", check.name);
        self.wrapped(&start, FOUND, &check.found, PLAIN);
        match &check.remedy {
            Some(remedy) if !self.said.contains(remedy) => self.remedy(remedy),
            Some(_) | None => {}
        }
    }

    fn remedy(&mut self, remedy: &Remedy) {
        let indent = " ".repeat(REMEDY);
        let mut advice = remedy.advice.clone();
        if !remedy.commands.is_empty() {
            advice.push(':');
        }
        self.wrapped(&format!("{indent}-> "), REMEDY + 3, &advice, PLAIN);
        for line in remedy.commands.iter().flat_map(|command| command.lines()) {
            let painted = self.paint(line, BOLD);
            self.text.push_str(&format!("{indent}   {painted}\n"));
        }
        self.said.push(remedy.clone());
    }

    fn provider(&mut self, provider: &Provider) {
        let start = format!("  {:STATUS$}  {:NAME$}  ", provider.name, provider.isolation.to_string());
        self.wrapped(&start, FOUND, &provider.why, PLAIN);
        for level in &provider.levels {
            let (word, paint) = if level.enforced { ("enforced", GREEN) } else { ("open", YELLOW) };
            let status = self.paint(&format!("{word:STATUS$}"), paint);
            let start = format!("  {:STATUS$}  {:NAME$}  {status}  ", "", level.promise);
            self.wrapped(&start, FOUND + STATUS + 2, &level.by, PLAIN);
        }
    }

    /// Text after a start, broken between words; following lines begin at `indent`. The start's own width is `indent`.
    fn wrapped(&mut self, start: &str, indent: usize, text: &str, paint: &str) {
        for (at, line) in lines(text, WIDTH - indent).iter().enumerate() {
            let painted = self.paint(line, paint);
            let before = if at == 0 { start.to_owned() } else { " ".repeat(indent) };
            self.text.push_str(&before);
            self.text.push_str(&painted);
            self.text.push('\n');
        }
    }

    fn paint(&self, text: &str, paint: &str) -> String {
        if self.colour && !paint.is_empty() { format!("{paint}{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Breaks a text into lines; a word longer than a line is cut.
fn lines(text: &str, width: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        while !rest.is_empty() {
            let piece: String = rest.drain(..rest.len().min(width)).collect();
            let used = all.last().map_or(0, |line| line.chars().count());
            let gap = usize::from(used > 0);
            match all.last_mut() {
                Some(line) if used + gap + piece.chars().count() <= width => {
                    line.push_str(if gap == 1 { " " } else { "" });
                    line.push_str(&piece);
                }
                Some(_) | None => all.push(piece),
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_never_run_over() {
        assert_eq!(lines("a bc def", 4), ["a bc", "def"]);
        assert_eq!(lines("abcdefgh i", 4), ["abcd", "efgh", "i"]);
        assert_eq!(lines("", 4), [""]);
    }
}
