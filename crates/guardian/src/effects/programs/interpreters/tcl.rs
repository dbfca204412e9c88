//! Tcl: lines of words, each read for what is known to act.

use super::super::call::Call;
use super::super::options::Options;
use super::super::shells;
use super::given;
use crate::effects::act::{Act, Change};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// `tclsh`.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("c:f:", "").stops());
    let mut outcome = Outcome::default();
    let code = match (read.value("c"), read.operands.first()) {
        (Some(code), _) => code.clone(),
        (None, Some(script)) if script.text() != Some("-") => return given::file(call, script),
        _ => match call.invocation.input.text.clone().filter(|text| text.bytes().is_some()) {
            Some(text) => text,
            None => return Outcome::of(shells::code(call, &call.invocation.input)),
        },
    };
    let Some(text) = code.text() else {
        return Outcome::of([call.unknown("code of which some is not known")]);
    };
    for line in text.split(['\n', ';', '[', ']', '{', '}']) {
        let words = words(line);
        let named = |from: usize| {
            words
                .get(from..)
                .unwrap_or_default()
                .iter()
                .map(|word| Value::known(word.as_str()))
                .collect::<Vec<_>>()
        };
        match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["exec" | "spawn" | "system", rest @ ..] if !rest.is_empty() => {
                if rest.iter().any(|word| word.contains('$')) {
                    outcome.push(call.unknown("a program that is put together"));
                } else {
                    outcome.next.push(call.next(named(1)));
                }
            }
            ["file", "delete", rest @ ..] => {
                for path in rest.iter().filter(|word| !word.starts_with('-')) {
                    outcome.push(call.deletes(&Value::known(*path), true));
                }
            }
            ["file", "rename" | "copy", .., from, to] => {
                outcome.push(call.deletes(&Value::known(*from), true));
                outcome.push(call.writes(&Value::known(*to), Change::Replace));
            }
            ["open", path, ..] if path.starts_with('|') => {
                outcome.next.push(call.shell(Value::known(path.trim_start_matches('|'))));
            }
            ["open", path, mode, ..] if mode.starts_with(['w', 'a']) => {
                outcome.push(call.writes(&Value::known(*path), Change::Replace));
            }
            ["open", path, ..] => outcome.push(call.reads(&Value::known(*path))),
            ["eval" | "uplevel" | "source", ..] => outcome.push(call.unknown("code that is put together")),
            _ => {}
        }
    }
    if outcome.acts.is_empty() && outcome.next.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

fn words(line: &str) -> Vec<String> {
    super::super::xargs::words(line.as_bytes())
        .into_iter()
        .map(|word| String::from_utf8_lossy(&word).into_owned())
        .collect()
}
