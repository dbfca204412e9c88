//! Signals to processes.
//!
//! Owns: which processes are meant: a number, a name, or every one. Lists of processes flow on as such, so that `kill $(pgrep x)` is
//! `pkill x`.

use super::super::call::Call;
use super::super::options::Options;
use crate::effects::act::{Act, Datum};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::{Piece, Value, Why};

/// How a list of processes is named where it is not known yet.
const NAMED: &str = "the processes named ";
const EVERY: &str = "every process";

fn signal(target: Value, own: bool) -> Act {
    let text = target.text().unwrap_or_default();
    if text.contains("belljar") {
        return Act::Tamper { how: "belljar itself would be stopped".to_owned() };
    }
    Act::Signal { target, own }
}

/// What stands for every process of the user or the machine.
fn every() -> Act {
    Act::Signal { target: Value::known("-1"), own: false }
}

/// A list that was made by `ps`, `pgrep` or `pidof`, by the words it was given.
fn meant(why: &Why) -> Option<Act> {
    if why.construct.starts_with(EVERY) {
        return Some(every());
    }
    why.construct.strip_prefix(NAMED).map(|name| signal(Value::known(name), false))
}

/// `kill`.
pub(in super::super) fn kill(call: &Call<'_>) -> Outcome {
    let mut targets = Vec::new();
    let mut args = call.args.iter();
    let mut ended = false;
    while let Some(arg) = args.next() {
        let text = arg.text().unwrap_or_default();
        match text {
            "--" => ended = true,
            "-l" | "-L" | "--list" | "--table" if !ended => return Outcome::harmless(),
            "-s" | "-n" | "--signal" | "-q" | "--queue" | "-p" if !ended && targets.is_empty() => {
                args.next();
            }
            "-u" | "-U" | "-t" | "-c" if matches!(call.name, "skill" | "snice") => {
                args.next();
                return Outcome::of([every()]);
            }
            // The first word behind a dash is a signal, unless nothing else is left to be one.
            _ if !ended && text.starts_with('-') && targets.is_empty() && !is_group(text, call) => {}
            _ => targets.push(arg.clone()),
        }
    }
    let mut outcome = Outcome::default();
    for target in &targets {
        outcome.push(killed(target));
    }
    if let Some(why) = &call.invocation.more {
        outcome.push(Act::Signal { target: Value::unknown(why.clone()), own: false });
    }
    for datum in &call.invocation.flows {
        if let Datum::Unknown(why) = datum
            && let Some(act) = meant(why)
        {
            outcome.push(act);
        }
    }
    if outcome.acts.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

/// `kill -1` alone is a signal without a target; `kill -9 -1` has one.
fn is_group(text: &str, call: &Call<'_>) -> bool {
    let seen = call.words().filter(|word| word.starts_with('-')).count();
    let first = call.words().next() == Some(text);
    seen > 1 && !first && text.trim_start_matches('-').chars().all(|digit| digit.is_ascii_digit())
}

/// A signal, or something as strong, to a process.
pub(in super::super) fn killed(target: &Value) -> Act {
    if let Some(act) = target.why().and_then(meant) {
        return act;
    }
    // What is in `/proc` is every process.
    if target.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_))) {
        return every();
    }
    match target.text() {
        Some("-1" | "-0") => every(),
        Some(text) if text.starts_with('%') => Act::Signal { target: target.clone(), own: true },
        Some(text) if text.trim_start_matches(['0', '-']) == "1" => {
            Act::Signal { target: Value::known("1"), own: false }
        }
        _ => {
            let own = target.why().is_some_and(|why| {
                ["$!", "$$", "last background", "process id"].iter().any(|own| why.construct.contains(own))
            });
            Act::Signal { target: target.clone(), own }
        }
    }
}

/// `pkill`, `killall`.
pub(in super::super) fn by_name(call: &Call<'_>) -> Outcome {
    if call.name == "killall5" {
        return Outcome::of([every()]);
    }
    if call.is_asked() || call.says(&["-l", "--list"]) {
        return Outcome::harmless();
    }
    // A signal may be written as an option: `-9`, `-KILL`.
    let args: Vec<Value> =
        call.args.iter().filter(|arg| !arg.text().is_some_and(is_signal)).cloned().collect();
    let read = Options::new("u:U:g:G:P:s:t:F:o:y:Z:n:d:", "signal= uid= euid= user= group= pgroup= parent= session= terminal= pidfile= exact full older-than= younger-than= ns= nslist= delimiter=").read(&args);
    let mut outcome = Outcome::default();
    let patterns = call.targets(&read);
    let is_pattern = call.name != "killall" || read.has("r regexp");
    if patterns.is_empty() || read.has("v") {
        let whose = call.name == "killall" || read.has("u U uid euid user s session t terminal g pgroup");
        if whose || read.has("v inverse") {
            outcome.push(every());
        }
    }
    for pattern in &patterns {
        outcome.push(if is_pattern && is_all(pattern) { every() } else { signal(pattern.clone(), false) });
    }
    if outcome.acts.is_empty() {
        outcome.push(Act::Signal { target: Value::known("children"), own: read.has("P parent") });
    }
    outcome
}

fn is_signal(arg: &str) -> bool {
    let Some(name) = arg.strip_prefix('-') else { return false };
    let name = name.strip_prefix("SIG").unwrap_or(name);
    (!name.is_empty() && name.chars().all(|digit| digit.is_ascii_digit()))
        || name.len() > 2 && name.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
}

/// Whether a pattern fits every name.
fn is_all(pattern: &Value) -> bool {
    matches!(
        pattern.text(),
        Some("." | ".*" | "" | "/" | "^" | "$" | "[a-z]" | ".+" | "[[:alpha:]]" | "\\w" | "a|e|i|o|u")
    )
}

/// `fuser -k`: whoever uses a file or a port.
pub(in super::super) fn fuser(call: &Call<'_>) -> Outcome {
    let kills = call.args.iter().any(|arg| {
        arg.text().is_some_and(|arg| {
            arg == "--kill" || arg.starts_with('-') && !arg.starts_with("--") && arg.contains('k')
        })
    });
    let read = call.read(&Options::new("n:M?", "namespace="));
    if !kills {
        return Outcome::of(read.operands.iter().map(|path| Act::Look { path: call.path(path) }));
    }
    let is_port = |target: &Value| {
        let text = target.text().unwrap_or_default();
        text.ends_with("/tcp")
            || text.ends_with("/udp")
            || !text.is_empty() && text.chars().all(|digit| digit.is_ascii_digit())
    };
    let inside = |path: &Value| {
        let workspace = call.context.workspace.as_slice();
        !workspace.is_empty() && path.prefix().starts_with(workspace) || path.prefix().starts_with(b"/tmp/")
    };
    Outcome::of(call.targets(&read).iter().map(|target| {
        if is_port(target) || inside(&call.path(target)) { signal(target.clone(), false) } else { every() }
    }))
}

/// `ps`, `pgrep`, `pidof`: a list of processes, kept as what it lists.
pub(in super::super) fn listed(call: &Call<'_>) -> Outcome {
    // `-o` is a format of ps and the oldest of pgrep.
    let letters = if call.name == "ps" { "u:U:g:G:s:t:o:p:C:" } else { "u:U:g:G:P:s:t:F:d:" };
    let read = call.read(&Options::new(letters, "pid= user= format= full exact newest oldest"));
    let what = match call.name {
        "ps" => match read.value("p pid").and_then(Value::text) {
            Some("1") => format!("{EVERY}: the first one"),
            Some(_) => String::new(),
            None if read.has("C q") => String::new(),
            None => EVERY.to_owned(),
        },
        _ => match read.operands.first() {
            Some(pattern) if is_all(pattern) || read.has("v inverse") => EVERY.to_owned(),
            Some(pattern) => format!("{NAMED}{}", pattern.text().unwrap_or_default()),
            None if read.has("u U") => EVERY.to_owned(),
            None => String::new(),
        },
    };
    // Letters without a dash are BSD's, and `e` among them shows what programs were started with.
    let shows = |word: &str| {
        !word.starts_with('-') && word.contains('e') && word.chars().all(|c| "aefjlmrsuvwxhgT".contains(c))
    };
    if call.name == "ps" && call.words().next().is_some_and(shows) {
        return Outcome::of([Act::Reveal { what: "the environment of processes".to_owned() }]);
    }
    if what.is_empty() {
        return Outcome::harmless();
    }
    let why = call.why(what);
    let text = Value { pieces: vec![Piece::Unknown(why.clone())] };
    Outcome::harmless().saying(Stream { text: Some(text), data: vec![Datum::Unknown(why)] })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn signals_say_whom_they_reach() {
        check(&[
            ("kill -9 -1", "signal -1"),
            ("kill -s 9 -- -1", "signal -1"),
            ("kill -9 1", "signal 1"),
            ("kill 1", "signal 1"),
            ("kill -9 12345", "signal 12345"),
            ("kill -l", "compute"),
            ("kill -0 99", "signal 99"),
            ("kill %1", "signal %1"),
            ("pkill -9 .", "signal -1"),
            ("pkill -u dev", "signal -1"),
            ("pkill -f vite", "signal vite"),
            ("pkill -u dev node", "signal node"),
            ("pkill belljar", "tamper belljar itself would be stopped"),
            ("killall -9 node", "signal node"),
            ("killall -u dev", "signal -1"),
            ("fuser -k 3000/tcp", "signal 3000/tcp"),
            ("fuser -km /", "signal -1"),
            ("fuser x", "look /home/dev/project/x"),
        ]);
    }
}
