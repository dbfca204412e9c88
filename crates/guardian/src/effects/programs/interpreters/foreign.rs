//! Languages nobody here reads: their one-liners are looked through for words that reach outside.
//!
//! Owns: telling arithmetic and printing from what starts programs or touches files. Refuses: saying what those do; that is unknown.

use super::super::call::Call;
use super::super::projects::project;
use crate::effects::act::{Act, Code};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// Flags that are followed by code.
const CODE: [&str; 11] =
    ["-e", "-eval", "--eval", "--execute", "-E", "--expr", "-x", "-r", "--expression", "-c", "eval"];

/// Parts of words behind which a text is a line for a shell, or the words of a program.
const STARTS: [&str; 14] = [
    "system",
    "exec",
    "spawn",
    "popen",
    "process",
    "os:cmd",
    "shell",
    "sh ",
    "command",
    "qx",
    ".!",
    "run-program",
    "run(",
    "cmd",
];
/// Parts of words behind which a text is a path that is removed.
const TAKES: [&str; 12] = [
    "remove", "delete", "unlink", "rmdir", "rmtree", "rm_rf", "del_dir", "rm-rf", "rmrf", "deltree",
    "cleanup", "rm(",
];

/// Parts of words that start programs, remove or write files, or use the network, in one language or another.
const TELLING: [&str; 30] = [
    "system", "exec", "spawn", "popen", "process", "cmd", "shell", "sh ", "run", "remove", "delete",
    "unlink", "rmdir", "rmtree", "rm_rf", "write", "open", "file", "socket", "http", "url", "eval", "load",
    "import", "require", "getenv", "environ", "qx", "shellout", ".!",
];

/// A program of some language.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let mut outcome = Outcome::default();
    for code in codes(call) {
        let Some(text) = code.text() else {
            outcome.push(call.unknown(format!("code in {}", call.name)));
            continue;
        };
        let lower = text.to_ascii_lowercase();
        if TELLING.iter().any(|part| lower.contains(part)) {
            outcome.push(call.unknown(format!("code in {}", call.name)));
            told(call, text, &lower, &mut outcome);
        }
    }
    if let (true, Some(file)) = (outcome.acts.is_empty(), script(call)) {
        let code = Code::File(call.path(file));
        outcome.push(Act::Run { code, with: call.name.to_owned() });
    }
    if outcome.acts.is_empty() { project(call) } else { outcome }
}

/// The code it is given: behind its flags, or to read.
fn codes(call: &Call<'_>) -> Vec<Value> {
    let mut found = Vec::new();
    let mut words = call.args.iter();
    while let Some(word) = words.next() {
        if word.text().is_some_and(|word| CODE.contains(&word)) {
            found.extend(words.next().cloned());
        } else if let Some(code) = word.text().and_then(|word| word.strip_prefix("--eval:")) {
            found.push(Value::known(code));
        }
    }
    let reads = found.is_empty()
        && script(call).is_none()
        && matches!(
            call.name,
            "evcxr"
                | "ocaml"
                | "kotlin"
                | "csharp"
                | "gomacro"
                | "swift"
                | "scala"
                | "jshell"
                | "puppet"
                | "hbase"
        );
    if reads {
        found.extend(call.invocation.input.text.clone());
    }
    found
}

/// What its texts say where it starts or removes something: lines, words, paths.
fn told(call: &Call<'_>, text: &str, lower: &str, outcome: &mut Outcome) {
    let texts = texts(text);
    if TAKES.iter().any(|part| lower.contains(part)) || lower.contains("absent") {
        for path in texts.iter().filter(|text| text.starts_with(['/', '~']) && !text.contains(' ')) {
            outcome.push(call.deletes(
                &Value::known(path.replacen('~', &String::from_utf8_lossy(&call.context.home), 1)),
                true,
            ));
        }
    }
    if !STARTS.iter().any(|part| lower.contains(part)) {
        return;
    }
    let is_program = |text: &str| {
        let name = text.split_whitespace().next().unwrap_or_default();
        super::super::knows(name.rsplit('/').next().unwrap_or_default())
    };
    for (place, text) in texts.iter().enumerate().filter(|(_, text)| is_program(text)) {
        if text.contains(' ') {
            outcome.next.push(call.shell(Value::known(text.as_str())));
        } else if let Some(words @ [_, _, ..]) = texts.get(place..) {
            outcome.next.push(call.next(words.iter().map(|word| Value::known(word.as_str())).collect()));
            break;
        }
    }
}

/// What stands between quotes.
fn texts(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut letters = code.chars();
    while let Some(open) = letters.next() {
        if !matches!(open, '"' | '\'' | '`') {
            continue;
        }
        let mut text = String::new();
        while let Some(letter) = letters.next() {
            match letter {
                letter if letter == open => break,
                '\\' => text.extend(letters.next()),
                letter => text.push(letter),
            }
        }
        found.push(text);
    }
    found
}

/// The file that is run: the word behind `-jar`, or the first that looks like one.
fn script<'a>(call: &Call<'a>) -> Option<&'a Value> {
    if let Some(at) = call.args.iter().position(|arg| arg.text() == Some("-jar")) {
        return call.args.get(at + 1);
    }
    let first = call.args.first()?;
    let name = first.text()?.rsplit('/').next()?;
    let is_file = !name.starts_with('-') && name.rsplit_once('.').is_some_and(|(stem, _)| !stem.is_empty());
    is_file.then_some(first)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn what_reaches_outside_is_not_known() {
        check(&[
            ("erl -noshell -eval 'os:cmd(\"rm -rf /\"), halt().'", "unknown code in erl; $ rm -rf /"),
            ("scala -e '\"rm -rf /\".!'", "unknown code in scala; $ rm -rf /"),
            ("clojure -e '(sh \"rm\" \"-rf\" \"/opt\")'", "unknown code in clojure; > rm -rf /opt"),
            ("ghc -e 'removeDirectoryRecursive \"/opt\"'", "unknown code in ghc; delete/ /opt"),
            ("nim '--eval:removeDir(\"/opt\")'", "unknown code in nim; delete/ /opt"),
            ("swift -e 'print(1 + 1)'", "project swift"),
            ("swift build", "project swift"),
            ("java -Xmx1g -jar app.jar x", "run java /home/dev/project/app.jar"),
            ("java -cp lib Main", "project java"),
            ("runghc ./x.hs", "run runghc /home/dev/project/x.hs"),
        ]);
    }
}
