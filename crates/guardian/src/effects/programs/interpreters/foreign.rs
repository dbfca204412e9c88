//! Languages nobody here reads: their one-liners are looked through for words that reach outside.
//!
//! Owns: telling arithmetic and printing from what starts programs or touches files. Refuses: saying what those do; that is unknown.

use super::super::call::Call;
use super::super::projects::project;
use crate::effects::act::{Act, Code};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// Flags that are followed by code.
const CODE: [&str; 9] = ["-e", "-eval", "--eval", "--execute", "-E", "--expr", "-x", "-r", "--expression"];

/// Parts of words that start programs, remove or write files, or use the network, in one language or another.
const TELLING: [&str; 30] = [
    "system", "exec", "spawn", "popen", "process", "cmd", "shell", "sh ", "run", "remove", "delete",
    "unlink", "rmdir", "rmtree", "rm_rf", "write", "open", "file", "socket", "http", "url", "eval", "load",
    "import", "require", "getenv", "environ", "qx", "shellout", ".!",
];

/// A program of some language.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let mut words = call.args.iter();
    let mut outcome = Outcome::default();
    while let Some(word) = words.next() {
        if !word.text().is_some_and(|word| CODE.contains(&word)) {
            continue;
        }
        let code = words.next().and_then(Value::text).map(str::to_ascii_lowercase);
        if code.is_none_or(|code| TELLING.iter().any(|part| code.contains(part))) {
            outcome.push(call.unknown(format!("code in {}", call.name)));
        }
    }
    if let (true, Some(file)) = (outcome.acts.is_empty(), script(call)) {
        let code = Code::File(call.path(file));
        outcome.push(Act::Run { code, with: call.name.to_owned() });
    }
    if outcome.acts.is_empty() { project(call) } else { outcome }
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
            ("erl -noshell -eval 'os:cmd(\"rm -rf /\"), halt().'", "unknown code in erl"),
            ("scala -e '\"rm -rf /\".!'", "unknown code in scala"),
            ("swift -e 'print(1 + 1)'", "project swift"),
            ("swift build", "project swift"),
            ("java -Xmx1g -jar app.jar x", "run java /home/dev/project/app.jar"),
            ("java -cp lib Main", "project java"),
            ("runghc ./x.hs", "run runghc /home/dev/project/x.hs"),
        ]);
    }
}
