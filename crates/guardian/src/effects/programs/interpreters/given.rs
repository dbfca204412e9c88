//! Code as interpreters are given it: on the command line, through their input, in a file.
//!
//! Owns: the way from a program's arguments to a walk through its code. Refuses: options; each language's file reads its own.

use super::super::call::Call;
use super::super::cloud::migrate;
use super::super::shells;
use super::language::Language;
use super::lexer::Source;
use super::parser::program;
use super::walk::Walk;
use super::worth::{Kind, Worth};
use crate::effects::act::{Act, Code, Datum};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::{Piece, Value};

/// Bytes of code that are read.
const LARGEST: usize = 128 * 1024;

/// Code and what stands behind it.
#[derive(Debug)]
pub(super) struct Given {
    code: Vec<Value>,
    arguments: Vec<Worth>,
    variables: Vec<(String, Worth)>,
    quiet: bool,
}

impl Given {
    pub(super) fn new(code: &Value, arguments: &[Value]) -> Self {
        Self {
            code: vec![code.clone()],
            arguments: arguments.iter().cloned().map(Worth::value).collect(),
            variables: Vec::new(),
            quiet: false,
        }
    }

    /// Several pieces of code, one behind the other.
    pub(super) fn all<'v>(code: impl Iterator<Item = &'v Value>, arguments: &[Value]) -> Self {
        let mut given = Self::new(&Value::default(), arguments);
        given.code = code.cloned().collect();
        given
    }

    /// With a word before the arguments that is counted with them.
    pub(super) fn counting(mut self, first: Value) -> Self {
        self.arguments.insert(0, Worth::value(first));
        self
    }

    /// With a variable.
    pub(super) fn with(mut self, name: &str, value: Worth) -> Self {
        self.variables.push((name.to_owned(), value));
        self
    }

    /// Its value is said.
    pub(super) fn said(mut self) -> Self {
        self.quiet = true;
        self
    }
}

/// What code does.
pub(super) fn run(call: &Call<'_>, language: &'static Language, given: Given) -> Outcome {
    let mut code = Value::default();
    for piece in &given.code {
        code.append(piece.clone());
        code.push(Piece::Known(b"\n".to_vec()));
    }
    let nothing_known = given.code.iter().all(|code| {
        !code.pieces.is_empty() && code.pieces.iter().all(|piece| matches!(piece, Piece::Unknown(_)))
    });
    if nothing_known {
        let why = given.code.first().and_then(Value::why).cloned().unwrap_or_else(|| call.why("code"));
        let mut acts = Vec::new();
        for datum in &call.invocation.flows {
            match datum {
                Datum::Download(from) => {
                    acts.push(Act::Run { code: Code::Download(from.clone()), with: call.name.to_owned() });
                }
                Datum::File(path) => {
                    acts.push(Act::Run { code: Code::File(path.clone()), with: call.name.to_owned() });
                }
                _ => {}
            }
        }
        acts.push(Act::Unknown(why));
        return Outcome::of(acts);
    }
    let source = Source::of(&code);
    if source.text.len() > LARGEST {
        return Outcome::of([call.unknown("more code than a command should hold")]);
    }
    let (tree, whole) = program(&source.text, &source, &language.grammar, 0);
    let mut walk = Walk::new(call, language, given.arguments);
    for (name, value) in given.variables {
        walk.set(&name, value);
    }
    walk.whole(&tree);
    if given.quiet {
        walk.lost_output();
    }
    if !whole {
        walk.lost("code nested too deep");
    }
    finish(walk)
}

fn finish(walk: Walk<'_>) -> Outcome {
    let mut outcome = walk.outcome;
    let mut output = Stream { text: None, data: walk.said.flows() };
    if let Kind::Text(text) = walk.said.kind
        && !text.pieces.is_empty()
        && output.data.is_empty()
        && text.why().is_none()
    {
        output.text = Some(text);
    } else {
        output.data.push(Datum::Unknown(walk.call.why(format!("the output of {}", walk.call.name))));
    }
    outcome.output = output;
    if outcome.acts.is_empty() && outcome.next.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

/// A file of code.
pub(super) fn file(call: &Call<'_>, script: &Value) -> Outcome {
    let base = script.text().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    let path = call.path(script);
    let is_url = script.prefix().windows(3).any(|window| window == b"://");
    let code = if is_url {
        Code::Download(script.clone())
    } else if matches!(
        base,
        "manage.py" | "setup.py" | "artisan" | "console" | "noxfile.py" | "conftest.py" | "wsgi.py"
    ) && script.bytes().is_some_and(|bytes| !bytes.starts_with(b"/"))
    {
        Code::Project
    } else {
        Code::File(path)
    };
    let mut outcome = Outcome::of([Act::Run { code, with: call.name.to_owned() }]);
    let verb =
        call.args.iter().skip_while(|arg| *arg != script).nth(1).and_then(Value::text).unwrap_or_default();
    let rest: &[Value] = call.args.split(|arg| arg == script).nth(1).unwrap_or_default();
    if let Some(typed) = super::consoles::typed(call, base, rest) {
        outcome.acts.extend(typed.acts);
        outcome.next.extend(typed.next);
    }
    let destroys = match base {
        "manage.py" => matches!(verb, "flush" | "reset_db" | "sqlflush" | "reset_schema"),
        "artisan" => matches!(verb, "migrate:fresh" | "migrate:reset" | "migrate:refresh" | "db:wipe"),
        _ => false,
    };
    if destroys {
        outcome.push(Act::Database { statement: verb.to_owned(), destroys });
    } else if let Some(act) = migrate::lost(base, rest) {
        outcome.push(act);
    }
    outcome
}

/// Code that is read from the standard input.
pub(super) fn input(call: &Call<'_>, language: &'static Language, arguments: &[Value]) -> Outcome {
    let input = &call.invocation.input;
    if let Some(text) =
        input.text.as_ref().filter(|text| text.pieces.iter().any(|piece| matches!(piece, Piece::Known(_))))
    {
        return run(call, language, Given::new(text, arguments).counting(Value::known("-")));
    }
    let acts = shells::code(call, input);
    if acts.is_empty() { Outcome::harmless() } else { Outcome::of(acts) }
}

impl Walk<'_> {
    /// What it says is not known any more.
    pub(super) fn lost_output(&mut self) {
        let unknown = Worth::unknown(self.why("the value of code"));
        self.said = self.joined(&self.said, &unknown);
    }
}
