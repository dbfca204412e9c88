//! Lisps: guile and emacs. Lists whose first word does something.

use super::super::call::Call;
use super::super::options::Options;
use super::given;
use crate::effects::act::{Act, Change};
use crate::effects::invocation::Outcome;
use crate::shell::value::{Piece, Value};

/// A list or a word.
#[derive(Debug)]
enum Form {
    Word(String),
    Text(Value),
    List(Vec<Self>),
}

/// `guile -c`, `emacs --batch --eval`, `sbcl --eval`.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    let options = Options::new(
        "c:e:l:L:s:f:",
        "eval= execute= load= script= directory= funcall= batch quick no-site-file version help non-interactive",
    );
    // Emacs takes its long names behind one dash, too.
    let is_long = |arg: &Value| {
        call.name.starts_with("emacs")
            && matches!(
                arg.text(),
                Some("-eval" | "-execute" | "-batch" | "-load" | "-script" | "-funcall" | "-quick")
            )
    };
    let args: Vec<Value> = call
        .args
        .iter()
        .map(|arg| match arg.text() {
            Some(text) if is_long(arg) => Value::known(format!("-{text}")),
            _ => arg.clone(),
        })
        .collect();
    let read = options.read(&args);
    let mut outcome = Outcome::default();
    for code in read.values("c e eval execute") {
        run(call, code, &mut outcome);
    }
    for script in read.values("l load s script") {
        outcome.acts.extend(given::file(call, script).acts);
    }
    let editor = call.name.starts_with("emacs");
    let script =
        read.operands.first().filter(|_| !editor && outcome.acts.is_empty() && outcome.next.is_empty());
    if let Some(script) = script {
        outcome.acts.extend(given::file(call, script).acts);
    } else if !editor && outcome.acts.is_empty() && outcome.next.is_empty() {
        match call.invocation.input.text.clone().filter(|text| text.bytes().is_some()) {
            Some(text) => run(call, &text, &mut outcome),
            None => super::super::shells::code(call, &call.invocation.input)
                .into_iter()
                .for_each(|act| outcome.push(act)),
        }
    } else if editor {
        for file in &read.operands {
            outcome.push(call.reads(file));
        }
    }
    if outcome.acts.is_empty() && outcome.next.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

fn run(call: &Call<'_>, code: &Value, outcome: &mut Outcome) {
    if code.pieces.iter().all(|piece| matches!(piece, Piece::Unknown(_))) && !code.pieces.is_empty() {
        outcome.push(call.unknown("code nobody knows"));
        return;
    }
    let bytes = code.prefix();
    let mut at = 0;
    while at < bytes.len() {
        let form = form(bytes, &mut at, 0);
        walk(call, &form, outcome, 0);
    }
    if code.why().is_some() {
        outcome.push(call.unknown("code of which some is not known"));
    }
}

fn form(bytes: &[u8], at: &mut usize, depth: u32) -> Form {
    while bytes.get(*at).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'\'') {
        *at += 1;
    }
    match bytes.get(*at) {
        Some(b'(') if depth < 60 => {
            *at += 1;
            let mut all = Vec::new();
            while let Some(byte) = bytes.get(*at) {
                if byte.is_ascii_whitespace() {
                    *at += 1;
                } else if *byte == b')' {
                    *at += 1;
                    break;
                } else {
                    all.push(form(bytes, at, depth + 1));
                }
            }
            Form::List(all)
        }
        Some(b'"') => {
            *at += 1;
            let mut text = Vec::new();
            while let Some(byte) = bytes.get(*at).filter(|byte| **byte != b'"') {
                *at += 1;
                if *byte == b'\\' {
                    text.extend(bytes.get(*at));
                    *at += 1;
                } else {
                    text.push(*byte);
                }
            }
            *at += 1;
            Form::Text(Value::known(text))
        }
        _ => {
            let begin = *at;
            *at += 1;
            while bytes.get(*at).is_some_and(|byte| !byte.is_ascii_whitespace() && !b"()\"".contains(byte)) {
                *at += 1;
            }
            Form::Word(String::from_utf8_lossy(bytes.get(begin..*at).unwrap_or_default()).into_owned())
        }
    }
}

fn walk(call: &Call<'_>, form: &Form, outcome: &mut Outcome, depth: u32) {
    let Form::List(all) = form else { return };
    if depth > 60 {
        outcome.push(call.unknown("code nested too deep"));
        return;
    }
    for inner in all {
        walk(call, inner, outcome, depth + 1);
    }
    let Some(Form::Word(name)) = all.first() else { return };
    let value = |place: usize| match all.get(place) {
        Some(Form::Text(text)) => text.clone(),
        _ => Value::unknown(call.why("a value that is computed")),
    };
    let texts = || {
        all.iter().skip(1).filter_map(|form| match form {
            Form::Text(text) => Some(text.clone()),
            _ => None,
        })
    };
    match name.as_str() {
        "system"
        | "shell-command"
        | "shell-command-to-string"
        | "async-shell-command"
        | "uiop:run-program"
        | "run-program"
        | "shell"
        | "sh" => match all.get(1) {
            Some(Form::Text(line)) => outcome.next.push(call.shell(line.clone())),
            _ => outcome.push(call.unknown("a line for a shell that is put together")),
        },
        "system*" | "call-process" | "start-process" | "process-file" | "execl" | "execlp" => {
            let skip = usize::from(name == "start-process");
            outcome.next.push(call.next(texts().skip(skip).collect()));
        }
        "delete-file" | "unlink" | "rmdir" => outcome.push(call.deletes(&value(1), false)),
        "delete-directory" | "delete-file-recursively" => {
            outcome.push(call.deletes(&value(1), all.len() > 2));
        }
        "delete-directory/files" | "delete-directory-tree" | "delete-file-tree" => {
            outcome.push(call.deletes(&value(1), true));
        }
        "write-region" => outcome.push(call.writes(&value(3), Change::Replace)),
        "write-file" | "open-output-file" | "call-with-output-file" | "with-output-to-file" | "spit" => {
            outcome.push(call.writes(&value(1), Change::Replace));
        }
        "append-to-file" => outcome.push(call.writes(&value(3), Change::Append)),
        "rename-file" => {
            outcome.push(call.deletes(&value(1), true));
            outcome.push(call.writes(&value(2), Change::Replace));
        }
        "copy-file" => outcome.push(call.writes(&value(2), Change::Replace)),
        "insert-file-contents"
        | "find-file"
        | "slurp"
        | "open-input-file"
        | "open-file"
        | "load"
        | "load-file" => {
            outcome.push(call.reads(&value(1)));
        }
        "eval" | "read" | "funcall" | "apply" | "eval-string"
            if !matches!(all.get(1), Some(Form::List(_))) =>
        {
            outcome.push(call.unknown("code that is put together"));
        }
        "url-retrieve-synchronously" | "url-retrieve" => {
            let traffic = crate::effects::act::Traffic::Fetch;
            outcome.push(Act::Network { traffic, to: value(1), data: Vec::new() });
        }
        _ => {}
    }
}
