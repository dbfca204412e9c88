//! What people and programs read: errors with a way out, tables, JSON.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use belljar_domain::{ByteSize, EXIT_BELLJAR_FAILED, KillCause, Limits, Span, deceives};
use belljar_ports::SandboxError;
use serde_json::json;
use unicode_width::UnicodeWidthChar as _;

use crate::client::ClientError;

/// A failure of belljar itself, on its way to the user.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    code: u8,
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let sandbox = error.chain().find_map(|cause| cause.downcast_ref::<SandboxError>());
        let server = error.chain().find_map(|cause| cause.downcast_ref::<ClientError>());
        let code = match sandbox {
            Some(SandboxError::Command { exit_code, .. }) => *exit_code,
            Some(_) | None => server.and_then(ClientError::exit_code).unwrap_or(EXIT_BELLJAR_FAILED),
        };
        let hint = sandbox.and_then(SandboxError::hint).or_else(|| server.and_then(ClientError::hint));
        let hint = hint.map(str::to_owned);
        Self { message: format!("{error:#}"), hint, code }
    }
}

impl Failure {
    pub(crate) fn tell(&self, as_json: bool) -> ExitCode {
        let mut err = io::stderr().lock();
        // Nothing can be done about an error that cannot be told.
        let _told = if as_json {
            let object =
                json!({"error": {"message": self.message, "hint": self.hint, "exit_code": self.code}});
            writeln!(err, "{object}")
        } else {
            let colour = io::stderr().is_terminal();
            let (start, end) = if colour { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
            writeln!(err, "{start}belljar:{end} {}", self.message)
                .and_then(|()| self.hint.as_ref().map_or(Ok(()), |hint| writeln!(err, "  hint: {hint}")))
        };
        ExitCode::from(self.code)
    }
}

/// What a shell would say of a program that ended by SIGPIPE.
pub(crate) const EXIT_UNREAD: u8 = 141;

/// Whether all that failed is that nobody reads our output any more: `belljar list | head -1` has what it wanted.
/// What breaks elsewhere comes with a word about what was tried.
pub(crate) fn is_unread(error: &anyhow::Error) -> bool {
    let broken = error.downcast_ref::<io::Error>().map(io::Error::kind) == Some(io::ErrorKind::BrokenPipe);
    broken && error.chain().nth(1).is_none()
}

/// Prints one JSON value on a line.
pub(crate) fn print_json(value: &serde_json::Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{value}")
}

/// Prints rows in columns. Nothing but the heading when there are none.
pub(crate) fn print_table(heading: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    let room = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell));
        cells.chain([heading.get(column).map_or(0, |h| h.len())]).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..heading.len()).map(room).collect();
    let line = |cells: Vec<&str>| {
        let padded: Vec<_> = cells.iter().zip(&widths).map(|(cell, width)| padded(cell, *width)).collect();
        padded.join("  ").trim_end().to_owned()
    };
    let mut out = io::stdout().lock();
    writeln!(out, "{}", line(heading.to_vec()))?;
    for row in &rows {
        writeln!(out, "{}", line(row.iter().map(String::as_str).collect()))?;
    }
    Ok(())
}

/// Text on one line that does nothing to a terminal, and reads as what it is: whoever chose it may mean harm.
pub(crate) fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            letter if letter.is_control() => shown.push(' '),
            letter if deceives(letter) => shown.extend(format!("⟨U+{:04X}⟩", u32::from(letter)).chars()),
            letter => shown.push(letter),
        }
    }
    shown
}

/// How many columns of a terminal a text takes, at most: what is drawn as one sign by some is several to others.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

fn columns(letter: char) -> usize {
    // It makes the sign before it a picture, which is wider.
    if letter == '\u{fe0f}' { 1 } else { letter.width().unwrap_or(0) }
}

/// A text with spaces up to this many columns of a terminal.
pub(crate) fn padded(text: &str, room: usize) -> String {
    let missing = room.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

/// A text in so many columns of a terminal at most, with a mark where something is left out.
pub(crate) fn fitted(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let (mut kept, mut taken) = (String::new(), 0);
    for letter in text.chars() {
        taken += columns(letter);
        if taken >= room {
            break;
        }
        kept.push(letter);
    }
    kept.push('…');
    kept
}

/// How long ago, in one unit.
pub(crate) fn ago(time: SystemTime) -> String {
    format!("{} ago", brief(time.elapsed().unwrap_or(Duration::ZERO)))
}

/// How long, in one unit.
pub(crate) fn brief(span: Duration) -> String {
    match span.as_secs() {
        s if s < 60 => format!("{s}s"),
        s if s < 3600 => format!("{}m", s / 60),
        s if s < 86_400 => format!("{}h", s / 3600),
        s => format!("{}d", s / 86_400),
    }
}

/// An amount of bytes, in the unit that fits.
pub(crate) fn amount(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "-".to_owned(), |bytes| ByteSize::bytes(bytes).to_string())
}

/// So many of something, in words.
pub(crate) fn many(number: usize, what: &str) -> String {
    format!("{} {what}{}", count(number as u64), if number == 1 { "" } else { "s" })
}

/// A number with a comma at every thousand.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Dollars: cents where there are many, more digits where a cent is much.
pub(crate) fn dollars(amount: f64) -> String {
    if amount.abs() < 1.0 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

/// A part of a whole, in percent.
pub(crate) fn percent(part: Option<f64>) -> String {
    part.map_or_else(|| "-".to_owned(), |part| format!("{:.0}%", part * 100.0))
}

/// How long something took, or `-` if nobody told.
pub(crate) fn took(millis: Option<u64>) -> String {
    millis.map_or_else(|| "-".to_owned(), |millis| Span::millis(millis).to_string())
}

/// The beginning of a text, on one line, with a mark where something is left out.
pub(crate) fn brief_text(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    fitted(&plain(&line), most)
}

/// What a prompt says that the agent wrote to itself: that something it had begun is done.
pub(crate) fn notice(prompt: &str) -> Option<&str> {
    let told = prompt.trim_start().strip_prefix("<task-notification>")?;
    Some(told.split_once("<summary>")?.1.split_once("</summary>")?.0)
}

/// Says something beside the answer.
pub(crate) fn remark(text: &str) {
    // What cannot be said here is no reason to fail.
    let _unheard = writeln!(io::stderr(), "{text}");
}

/// RFC 3339 in UTC, to the second.
pub(crate) fn timestamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Civil date from a day count: eras of 400 years, years that begin in March.
    let z = days + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// A sentence on what killed a command, with the way to give it more.
pub(crate) fn explain(cause: KillCause, limits: &Limits) -> String {
    match cause {
        KillCause::Oom => format!("out of memory: the limit is {}; raise it with --memory", limits.memory),
        KillCause::Disk => format!(
            "disk full: the limit is {} and {} files; raise it with --disk or --inodes",
            limits.disk, limits.inodes
        ),
        KillCause::Pids => format!("too many processes: the limit is {}; raise it with --pids", limits.pids),
        KillCause::Timeout => "it took longer than --timeout allows".to_owned(),
        KillCause::Idle => "nothing ran in the sandbox for longer than --idle allows".to_owned(),
        KillCause::Ttl => "the sandbox lived longer than --ttl allows".to_owned(),
        KillCause::Killswitch => "it was terminated".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_read_well() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.0, 0.006, 1.5, 1234.0].map(dollars), ["$0.0000", "$0.0060", "$1.50", "$1234.00"]);
        assert_eq!(brief_text("a\n b\u{1b}[2J", 80), "a b [2J");
        assert_eq!(brief_text("abcdef", 4), "abc…");
        assert_eq!(plain("ok\t\u{202e}fdp.sh\u{9b}"), "ok ⟨U+202E⟩fdp.sh ");
    }

    #[test]
    fn texts_take_the_room_they_take_on_a_terminal() {
        assert_eq!(fitted("日本語です", 10), "日本語です");
        assert_eq!(fitted("日本語です", 9), "日本語で…");
        assert_eq!(fitted("日本語です", 8), "日本語…");
        assert_eq!((padded("日本", 6), padded("abc", 2)), ("日本  ".to_owned(), "abc".to_owned()));
    }

    #[test]
    fn timestamps_are_rfc_3339() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_827_696, "2000-02-29T12:34:56Z"),
            (4_102_444_799, "2099-12-31T23:59:59Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
