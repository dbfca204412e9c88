//! Editors, and `sed`: files that are changed in place, and the commands they run.

use super::call::Call;
use super::decode;
use super::options::{Options, after};
use super::substitute::substituted;
use crate::effects::act::{Act, Change, Code, Datum, Effort};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::Value;

/// `sed`.
pub(super) fn sed(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new(
        "e:f:i?l:",
        "expression= file= in-place? line-length= quiet silent regexp-extended separate null-data posix sandbox debug follow-symlinks",
    ));
    if call.is_asked() {
        return Outcome::harmless();
    }
    let mut outcome = Outcome::default();
    let mut operands = call.targets(&read);
    let mut scripts: Vec<Value> = read.values("e expression").cloned().collect();
    for file in read.values("f file") {
        if matches!(file.text(), Some("-" | "/dev/stdin")) {
            outcome.acts.extend(
                super::shells::code(call, &call.invocation.input).into_iter().map(|act| (act, Effort::Done)),
            );
        } else {
            outcome.push(Act::Run { code: Code::File(call.path(file)), with: "sed".to_owned() });
        }
    }
    if scripts.is_empty() && !read.has("f file") && !operands.is_empty() {
        scripts.push(operands.remove(0));
    }
    for script in &scripts {
        super::interpreters::sed::commands(call, script, &mut outcome);
    }
    let in_place = read.has("i in-place");
    let deletes_all = scripts.iter().all(|script| matches!(script.text(), Some("d" | "1,$d" | "/./d;d")))
        && !scripts.is_empty();
    for file in &operands {
        let change = if deletes_all { Change::Empty } else { Change::Edit };
        if in_place {
            outcome.push(call.writes(file, change));
            if let Some(suffix) = read.value("i in-place") {
                outcome.push(call.writes(&kept(file, suffix), Change::Replace));
            }
        } else {
            outcome.push(call.reads(file));
            outcome.output.data.push(Datum::File(call.path(file)));
            outcome.output.data.push(Datum::Unknown(call.why("what sed makes of a file")));
        }
    }
    if operands.is_empty() {
        let text = call.invocation.input.text.as_ref().and_then(Value::text);
        let known = scripts.iter().map(Value::text).collect::<Option<Vec<_>>>();
        let known =
            text.zip(known).filter(|_| !read.has("n quiet silent E r regexp-extended z null-data f file"));
        let changed = known.and_then(|(text, scripts)| {
            scripts.iter().try_fold(text.to_owned(), |text, script| substituted(&text, script))
        });
        let is_followed = changed.is_some();
        outcome.output = decode::changed(call, &call.invocation.input, changed.map(String::into_bytes));
        if !is_followed && call.invocation.input.text.is_none() && !call.invocation.input.data.is_empty() {
            outcome.output.data.push(Datum::Unknown(call.why("what sed makes of its input")));
        }
    }
    if outcome.acts.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

/// Where `-i` keeps what a file was: a star stands for its name, anything else is put behind it.
fn kept(file: &Value, suffix: &Value) -> Value {
    let Some(pattern) = suffix.text().filter(|pattern| pattern.contains('*')) else {
        let mut whole = file.clone();
        whole.append(suffix.clone());
        return whole;
    };
    let path = file.text().unwrap_or("*");
    let (place, name) = path.rsplit_once('/').map_or(("", path), |(place, name)| (place, name));
    let name = pattern.replace('*', name);
    Value::known(if place.is_empty() || name.contains('/') { name } else { format!("{place}/{name}") })
}

/// `patch`: the file it is told, or those the patch names.
pub(super) fn patch(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new(
        "p:d:i:o:r:z:B:Y:D:F:g:V:x:",
        "strip= directory= input= output= reject-file= suffix= prefix= dry-run reverse forward batch force backup",
    ));
    let mut invocation = call.invocation.clone();
    if let Some(directory) = read.value("d directory") {
        invocation.cwd = call.path(directory);
    }
    let inside = Call { invocation: &invocation, ..*call };
    let mut outcome = Outcome::default();
    if let Some(file) = read.value("i input").or(read.operands.get(1)) {
        outcome.push(call.reads(file));
    }
    let named = call.invocation.input.text.as_ref().and_then(Value::text).unwrap_or_default();
    let strip: usize =
        read.value("p strip").and_then(Value::text).and_then(|count| count.parse().ok()).unwrap_or(0);
    let told = read.value("o output").or(read.operands.first()).cloned();
    let names = named.lines().filter_map(|line| line.strip_prefix("+++ ")).map(|name| {
        let name = name.split('\t').next().unwrap_or(name);
        Value::known(name.splitn(strip + 1, '/').last().unwrap_or(name))
    });
    for file in told.clone().into_iter().chain(names.filter(|_| told.is_none())) {
        outcome.push(inside.writes(&file, Change::Edit));
    }
    if outcome.acts.is_empty() {
        outcome.push(inside.writes(&Value::known("."), Change::Make));
    }
    outcome.rehearsed_if(read.has("dry-run"))
}

/// `shuf -o`, `logsave`, `dos2unix`: a file that is written.
pub(super) fn rewritten(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("o:i:n:", "output= input-range= head-count= random-source=").stops());
    match call.name {
        "logsave" => {
            let Some((file, command)) = read.operands.split_first() else { return Outcome::harmless() };
            Outcome::of([call.writes(file, Change::Replace)]).then(call.next(command.to_vec()))
        }
        "shuf" => {
            let mut outcome = Outcome::harmless();
            for file in read.values("o output") {
                outcome.push(call.writes(file, Change::Replace));
            }
            for file in read.operands.iter().filter(|_| !read.has("e i input-range echo")) {
                outcome.push(call.reads(file));
                outcome.output.data.push(Datum::File(call.path(file)));
            }
            outcome
        }
        _ => Outcome::of(read.operands.iter().map(|file| call.writes(file, Change::Edit))),
    }
}

/// `vim -c`, `ex`, `ed`, `emacs --eval`, `nano`.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    match call.name {
        "ed" | "red" => {
            let mut outcome = Outcome::default();
            for file in call.args.iter().filter(|arg| !arg.prefix().starts_with(b"-")) {
                outcome.push(call.writes(file, Change::Edit));
            }
            typed(call, &mut outcome);
            outcome
        }
        "emacs" | "emacsclient" => super::interpreters::lisp_outcome(call),
        "nano" | "pico" | "micro" | "hx" | "helix" | "kak" | "code" | "subl" | "gedit" | "joe" | "mcedit" => {
            let read =
                call.read(&Options::new("o:", "goto wait new-window reuse-window diff install-extension="));
            Outcome::of(read.operands.iter().map(|file| call.reads(file)).chain([Act::Compute]))
        }
        _ => vim(call),
    }
}

fn vim(call: &Call<'_>) -> Outcome {
    // `-s` is a script of vim and silence of ex.
    let letters = if call.name == "ex" || call.words().any(is_ex_mode) {
        "c:S:u:U:i:T:t:w:W:r?"
    } else {
        "c:S:s:u:U:i:T:t:w:W:r?"
    };
    let read = call.read(&Options::new(letters, "cmd= remote-expr= startuptime= listen= server="));
    let plus: Vec<Value> =
        call.args.iter().filter(|arg| arg.prefix().starts_with(b"+")).map(|arg| after(arg, 1)).collect();
    let mut outcome = Outcome::default();
    for line in read.values("c cmd").chain(plus.iter()) {
        command(call, line, &mut outcome);
    }
    for file in read.values("S s u").filter(|file| {
        !matches!(file.text(), Some("NONE" | "NORC" | "DEFAULTS" | "/dev/null" | "/dev/stdin"))
    }) {
        outcome.push(Act::Run { code: Code::File(call.path(file)), with: call.name.to_owned() });
    }
    let writes = read.values("c cmd").chain(plus.iter()).any(|line| {
        line.text().is_none_or(|line| {
            line.split('|').any(|part| {
                matches!(
                    part.trim().trim_start_matches(':'),
                    "w" | "wq" | "x" | "wq!" | "x!" | "w!" | "wqa" | "xa" | "up" | "update"
                )
            })
        })
    }) || call.invocation.input != Stream::default()
        && matches!(call.name, "ex" | "vim" | "vi" | "nvim");
    let empties = read.values("c cmd").any(|line| line.text().is_some_and(|line| line.starts_with("%d")));
    for file in read.operands.iter().filter(|file| !file.prefix().starts_with(b"+")) {
        outcome.push(match (writes, empties) {
            (true, true) => call.writes(file, Change::Empty),
            (true, false) => call.writes(file, Change::Edit),
            _ => call.reads(file),
        });
    }
    typed(call, &mut outcome);
    outcome
}

/// Whether a word makes an ex of vim: `-e` or `-E`, also among other letters, as long as none of those takes the rest.
fn is_ex_mode(word: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    letters
        .chars()
        .take_while(|letter| !"cSuUiTtwWr".contains(*letter))
        .any(|letter| matches!(letter, 'e' | 'E'))
}

/// Lines an editor reads: those behind `!` are a shell's.
fn typed(call: &Call<'_>, outcome: &mut Outcome) {
    if let Some(text) = call.invocation.input.text.as_ref().and_then(Value::text) {
        for line in text.lines() {
            command(call, &Value::known(line), outcome);
        }
    }
    if outcome.acts.is_empty() && outcome.next.is_empty() {
        outcome.push(Act::Compute);
    }
}

fn command(call: &Call<'_>, line: &Value, outcome: &mut Outcome) {
    let prefix = String::from_utf8_lossy(line.prefix()).into_owned();
    let trimmed = prefix.trim_start_matches([':', ' ', '%']);
    let skipped = prefix.len() - trimmed.len();
    // Said quietly, or put together first, it is the same command.
    let quiet = trimmed.split(['!', ' ']).next().filter(|word| word.len() > 2 && "silent".starts_with(*word));
    if let Some(word) = quiet {
        let rest = trimmed.get(word.len()..).unwrap_or_default();
        let bang = usize::from(rest.starts_with("! "));
        return command(call, &after(line, skipped + word.len() + bang), outcome);
    }
    if let Some(rest) = trimmed.strip_prefix("exe").map(|rest| rest.trim_start_matches("cute")) {
        let quote = rest.trim_start().chars().next().filter(|quote| matches!(quote, '\'' | '"'));
        if let Some(inner) = quote.and_then(|quote| rest.trim().strip_prefix(quote)?.strip_suffix(quote)) {
            return command(call, &Value::known(inner), outcome);
        }
    }
    if trimmed.starts_with('!')
        || trimmed.starts_with("r!")
        || trimmed.starts_with("r !")
        || trimmed.starts_with("w !")
    {
        let bang = trimmed.find('!').unwrap_or(0);
        outcome.next.push(call.shell(after(line, skipped + bang + 1)));
    } else if let Some(rest) = trimmed
        .strip_prefix("w ")
        .or_else(|| trimmed.strip_prefix("w! "))
        .or_else(|| trimmed.strip_prefix("write "))
        .or_else(|| trimmed.strip_prefix("sav "))
    {
        outcome.push(call.writes(&Value::known(rest.trim()), Change::Replace));
    } else if let Some(rest) = trimmed
        .strip_prefix("r ")
        .or_else(|| trimmed.strip_prefix("e "))
        .or_else(|| trimmed.strip_prefix("read "))
        .or_else(|| trimmed.strip_prefix("edit "))
    {
        outcome.push(call.reads(&Value::known(rest.trim())));
    } else if [
        "call system(",
        "call delete(",
        "python",
        "py3",
        "perl ",
        "ruby ",
        "lua ",
        "echo system(",
        "terminal ",
        "term ",
    ]
    .iter()
    .any(|start| trimmed.starts_with(start))
    {
        let quoted = trimmed.split(['\'', '"']).nth(1).unwrap_or_default();
        match trimmed {
            text if text.contains("delete(") => outcome
                .push(call.deletes(&Value::known(quoted), text.contains("'rf'") || text.contains("\"rf\""))),
            text if text.contains("system(") || text.contains("os.execute(") => {
                outcome.next.push(call.shell(Value::known(quoted)));
            }
            text if text.starts_with("term") => {
                outcome
                    .next
                    .push(call.shell(Value::known(text.split_once(' ').map_or("", |(_, rest)| rest))));
            }
            _ => outcome.push(call.unknown("code in an editor")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, given, said, shown};
    use super::*;

    #[test]
    fn edits_are_told_from_views() {
        check(&[
            ("sed -n 1,5p a", "read /home/dev/project/a"),
            ("sed '' .env", "read /home/dev/project/.env"),
            ("sed -i s/a/b/ a", "write:Edit /home/dev/project/a"),
            (
                "sed -Ei.bak -e s/a/b/ a",
                "write:Edit /home/dev/project/a; write:Replace /home/dev/project/a.bak",
            ),
            (
                "sed -i'old/*' s/a/b/ a",
                "write:Edit /home/dev/project/a; write:Replace /home/dev/project/old/a",
            ),
            ("sed -i d /etc/hosts", "write:Empty /etc/hosts"),
            ("sed '1e rm -rf /' a", "read /home/dev/project/a; $ rm -rf /"),
            ("sed 's/x/y/w /etc/out' a", "write:Replace /etc/out; read /home/dev/project/a"),
            ("sed 's/.*/rm -rf x/e' a", "read /home/dev/project/a; $ rm -rf x"),
            ("sed 's/e/w/g' a", "read /home/dev/project/a"),
            ("vim -c '!rm -rf /' -c q", "$ rm -rf /"),
            ("vim -es -c '!rm -rf /' -c q", "$ rm -rf /"),
            ("vim -s -e -c '!rm -rf /' -c q", "$ rm -rf /"),
            ("ex -sc '%d|x' /etc/passwd", "write:Empty /etc/passwd"),
            ("vim a.txt", "read /home/dev/project/a.txt"),
            ("emacs --batch --eval '(shell-command \"rm -rf /\")'", "$ rm -rf /"),
        ]);
        let text = || Stream::text(Value::known("!rm -rf /etc"));
        assert_eq!(shown(&given("ed", text())), "$ rm -rf /etc");
        let piped = given("sed s/xx/rm/", Stream::text(Value::known("xx -rf /")));
        assert_eq!(said(&piped.output.text.unwrap()), "rm -rf /");
    }
}
