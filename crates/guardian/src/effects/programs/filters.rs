//! Lines of text that is known, chosen and cut: `head`, `tail`, `sort`, `cut`, `grep` in the middle of a pipe.
//!
//! Owns: what such a filter lets through, where it can be said for sure. Refuses: patterns and options that are more than plain; then
//! what comes out is not known.

use super::call::Call;
use super::options::{Options, Read};
use crate::shell::value::Value;

/// The longest text that is followed.
const LARGEST: usize = 64 * 1024;

/// What a filter makes of text; none where that cannot be said.
pub(super) fn passed(call: &Call<'_>, text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() <= LARGEST)?;
    let ends = text.ends_with('\n');
    let lines: Vec<&str> = text.lines().collect();
    let kept: Vec<String> = match call.name {
        "head" | "tail" => some(call, &lines)?,
        "sort" => sorted(call, &lines)?,
        "uniq" if call.args.is_empty() => {
            let mut kept = lines.clone();
            kept.dedup();
            owned(&kept)
        }
        // Without a newline at its end the last line is glued to the one before.
        "tac" if call.args.is_empty() && (ends || lines.len() < 2) => {
            lines.iter().rev().map(|line| (*line).to_owned()).collect()
        }
        // It counts bytes.
        "cut" if text.is_ascii() => lines.iter().map(|line| cut(call, line)).collect::<Option<_>>()?,
        "grep" | "egrep" | "fgrep" => chosen(call, &lines)?,
        "paste" => joined(call, &lines)?,
        _ => return None,
    };
    if kept.is_empty() {
        return Some(Vec::new());
    }
    let mut out = kept.join("\n").into_bytes();
    // Most end the last line, whether it was ended or not.
    if ends || !matches!(call.name, "head" | "tail" | "tac") {
        out.push(b'\n');
    }
    Some(out)
}

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

/// `head -n 3`, `head -3`, `tail -n +2`.
fn some(call: &Call<'_>, lines: &[&str]) -> Option<Vec<String>> {
    let short = call.args.iter().filter_map(Value::text).find_map(|arg| {
        arg.strip_prefix('-')
            .filter(|count| count.bytes().all(|byte| byte.is_ascii_digit()) && !count.is_empty())
    });
    let read = call.read(&Options::new("n:c:", "lines= bytes="));
    if read.has("c bytes z f follow F") || read.vague.is_some() {
        return None;
    }
    let count = read.value("n lines").map_or(short, Value::text);
    let count = if count.is_none() && call.args.is_empty() { "10" } else { count? };
    // All but the last few.
    if count.starts_with('-') {
        return None;
    }
    let (from_start, count) = count.strip_prefix('+').map_or((false, count), |count| (true, count));
    let count: usize = count.parse().ok()?;
    let kept = match (call.name, from_start) {
        ("head", false) => lines.get(..count.min(lines.len()))?,
        ("tail", true) => lines.get(count.saturating_sub(1).min(lines.len())..)?,
        ("tail", false) => lines.get(lines.len().saturating_sub(count)..)?,
        _ => return None,
    };
    Some(owned(kept))
}

fn sorted(call: &Call<'_>, lines: &[&str]) -> Option<Vec<String>> {
    let is_known =
        |arg: &Value| matches!(arg.text(), Some("-r" | "-u" | "-ru" | "-ur" | "--reverse" | "--unique"));
    call.args.iter().all(is_known).then_some(())?;
    let read = call.read(&Options::new("", "reverse unique"));
    let mut kept = owned(lines);
    kept.sort();
    if read.has("u unique") {
        kept.dedup();
    }
    if read.has("r reverse") {
        kept.reverse();
    }
    Some(kept)
}

/// `cut -c4-`, `cut -d: -f1,3`.
fn cut(call: &Call<'_>, line: &str) -> Option<String> {
    let read = call.read(&Options::new(
        "b:c:d:f:",
        "bytes= characters= delimiter= fields= output-delimiter= complement",
    ));
    if read.has("complement output-delimiter s") || read.vague.is_some() {
        return None;
    }
    if let Some(list) = read.value("c b characters bytes").and_then(Value::text) {
        let letters: Vec<char> = line.chars().collect();
        return Some(places(list, letters.len())?.filter_map(|place| letters.get(place)).collect());
    }
    let list = read.value("f fields").and_then(Value::text)?;
    let between = read.value("d delimiter").map_or(Some("\t"), Value::text)?;
    if !line.contains(between) {
        return Some(line.to_owned());
    }
    let fields: Vec<&str> = line.split(between).collect();
    let kept: Vec<&str> =
        places(list, fields.len())?.filter_map(|place| fields.get(place).copied()).collect();
    Some(kept.join(between))
}

/// The places a list of `cut` names: `1,3-5,7-`.
fn places(list: &str, length: usize) -> Option<impl Iterator<Item = usize> + use<>> {
    let mut wanted = vec![false; length];
    for range in list.split(',') {
        let number = |text: &str| text.parse::<usize>().ok();
        let (from, to) = match range.split_once('-') {
            Some(("", to)) => (1, number(to)?),
            Some((from, "")) => (number(from)?, length),
            Some((from, to)) => (number(from)?, number(to)?),
            None => (number(range)?, number(range)?),
        };
        for place in wanted.iter_mut().take(to).skip(from.checked_sub(1)?) {
            *place = true;
        }
    }
    Some(wanted.into_iter().enumerate().filter_map(|(place, is_wanted)| is_wanted.then_some(place)))
}

/// Lines with a plain word in them, or without it.
fn chosen(call: &Call<'_>, lines: &[&str]) -> Option<Vec<String>> {
    let read: Read = call.read(&Options::new("e:f:A:B:C:m:", "regexp= file= invert-match fixed-strings"));
    let is_known = |(name, _): &(String, Option<Value>)| {
        matches!(
            name.as_str(),
            "v" | "invert-match" | "F" | "fixed-strings" | "E" | "e" | "regexp" | "x" | "a"
        )
    };
    if !read.options.iter().all(is_known) || read.vague.is_some() {
        return None;
    }
    let pattern = read.value("e regexp").or(read.operands.first())?.text()?;
    let (begins, rest) = pattern.strip_prefix('^').map_or((false, pattern), |rest| (true, rest));
    let (ends, rest) = rest.strip_suffix('$').map_or((false, rest), |rest| (true, rest));
    let is_special = |letter: char| "\\.*[]^$+?(){}|".contains(letter);
    if rest.contains(is_special) && !read.has("F fixed-strings") {
        return None;
    }
    let (begins, ends) = if read.has("x") { (true, true) } else { (begins, ends) };
    let is_wanted = |line: &&&str| {
        let is_found = match (begins, ends) {
            (true, true) => **line == rest,
            (true, false) => line.starts_with(rest),
            (false, true) => line.ends_with(rest),
            (false, false) => line.contains(rest),
        };
        is_found != read.has("v invert-match")
    };
    Some(lines.iter().filter(is_wanted).map(|line| (*line).to_owned()).collect())
}

/// `paste -sd ' '`: all lines in one.
fn joined(call: &Call<'_>, lines: &[&str]) -> Option<Vec<String>> {
    let read = call.read(&Options::new("d:", "delimiters= serial"));
    if !read.has("s serial") || read.operands.iter().any(|file| file.text() != Some("-")) {
        return None;
    }
    let between = read.value("d delimiters").map_or(Some("\t"), Value::text)?;
    let between = if between == "\\0" { "" } else { between };
    (between.chars().count() <= 1).then(|| vec![lines.join(between)])
}

#[cfg(test)]
mod tests {
    use super::super::testing::given;
    use crate::effects::invocation::Stream;
    use crate::shell::value::Value;

    #[test]
    fn lines_that_are_known_stay_known() {
        for (line, input, text) in [
            ("head -n 1", "rm -rf /\nx\n", Some("rm -rf /\n")),
            ("head -1", "a\nb", Some("a")),
            ("tail -n +2", "a\nb\nc", Some("b\nc")),
            ("tail -1", "a\nb", Some("b")),
            ("sort -r", "a\nb", Some("b\na\n")),
            ("cut -c4-", "eE rm -rf /", Some("rm -rf /\n")),
            ("cut -d: -f2", "x:/opt:y", Some("/opt\n")),
            ("grep -v x", "x\n/opt\n", Some("/opt\n")),
            ("grep '^/o'", "x\n/opt\n", Some("/opt\n")),
            ("paste -sd' '", "rm\n-rf\n/opt\n", Some("rm -rf /opt\n")),
            ("tac", "a\nb\n", Some("b\na\n")),
            ("tac", "a\nb", None),
            ("tail -n +2", "a", Some("")),
            ("head -n -1", "a\nb\n", None),
            ("cut -c1", "é", None),
            ("cut -c2- --complement", "xrm", None),
            ("grep 'a.*'", "abc", None),
        ] {
            let outcome = given(line, Stream::text(Value::known(input)));
            assert_eq!(outcome.output.text.as_ref().and_then(Value::text), text, "{line}");
        }
    }
}
