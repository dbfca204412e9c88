//! Short ways to say in a test what a line does: words split at blanks, `'…'` keeps them together, `?x` is something unknown.

use super::super::act::{Act, Code, Effort};
use super::super::context::Context;
use super::super::invocation::{Invocation, Next, Outcome, Stream};
use crate::shell::ast::Span;
use crate::shell::value::{Piece, Value, Why};

/// What a program does in `/home/dev/project`.
pub(crate) fn run(line: &str) -> Outcome {
    given(line, Stream::default())
}

/// The same with something to read.
pub(crate) fn given(line: &str, input: Stream) -> Outcome {
    let argv = words(line);
    let invocation =
        Invocation { argv, cwd: Value::known("/home/dev/project"), input, ..Invocation::default() };
    super::outcome(&invocation, &context())
}

pub(crate) fn context() -> Context {
    Context {
        cwd: b"/home/dev/project".to_vec(),
        home: b"/home/dev".to_vec(),
        user: "dev".to_owned(),
        workspace: b"/home/dev/project".to_vec(),
        ..Context::default()
    }
}

/// Compares lines with what they do.
#[track_caller]
pub(crate) fn check(cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        assert_eq!(shown(&run(line)), *expected, "{line}");
    }
}

fn words(line: &str) -> Vec<Value> {
    let (mut words, mut word, mut quoted, mut began) = (Vec::new(), String::new(), false, false);
    for letter in line.chars().chain([' ']) {
        match letter {
            '\'' => (quoted, began) = (!quoted, true),
            ' ' if !quoted => {
                if began || !word.is_empty() {
                    words.push(value(&std::mem::take(&mut word)));
                }
                began = false;
            }
            letter => word.push(letter),
        }
    }
    words
}

fn value(word: &str) -> Value {
    let word = word.strip_prefix("~/").map_or_else(|| word.to_owned(), |rest| format!("/home/dev/{rest}"));
    match word.split_once('?') {
        Some((before, name)) if name.chars().all(char::is_alphanumeric) && !name.is_empty() => {
            let mut value = Value::known(before);
            let construct = format!("the variable {name}");
            value.push(Piece::Unknown(Why { construct, span: Span::default() }));
            value
        }
        _ => Value::known(word),
    }
}

/// A value as a person reads it.
pub(crate) fn said(value: &Value) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Known(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Piece::Unknown(_) => "?".to_owned(),
        Piece::Glob(pattern) => format!("[{}]", String::from_utf8_lossy(pattern)),
    };
    value.pieces.iter().map(piece).collect()
}

/// An outcome as a person reads it.
pub(crate) fn shown(outcome: &Outcome) -> String {
    let acts = outcome.acts.iter().map(|(act, effort)| {
        let mark = if *effort == Effort::Rehearsed { "~" } else { "" };
        format!("{mark}{}", act_shown(act))
    });
    acts.chain(outcome.next.iter().map(next)).collect::<Vec<_>>().join("; ")
}

fn next(next: &Next) -> String {
    let place = |elsewhere: &Option<String>| {
        elsewhere.as_ref().map_or_else(String::new, |place| format!("@{place} "))
    };
    match next {
        Next::Program { invocation, elsewhere } => {
            let argv: Vec<String> = invocation.argv.iter().map(said).collect();
            let more = if invocation.more.is_some() { " …" } else { "" };
            format!("> {}{}{more}", place(elsewhere), argv.join(" "))
        }
        Next::Shell { text, elsewhere, .. } => format!("$ {}{}", place(elsewhere), said(text)),
    }
}

fn slash(deep: bool) -> &'static str {
    if deep { "/" } else { "" }
}

/// An act as a person reads it.
pub(crate) fn act_shown(act: &Act) -> String {
    match act {
        Act::Read { path, deep } => format!("read{} {}", slash(*deep), said(path)),
        Act::Reveal { what } => format!("reveal {what}"),
        Act::Look { path } => format!("look {}", said(path)),
        Act::Write { path, change, .. } => format!("write:{change:?} {}", said(path)),
        Act::Delete { path, deep, filtered } => {
            format!("delete{}{} {}", slash(*deep), if *filtered { "%" } else { "" }, said(path))
        }
        Act::Permit { path, deep, to } => format!("permit{} {} {}", slash(*deep), said(path), said(to)),
        Act::Disk { device } => format!("disk {}", said(device)),
        Act::Signal { target, .. } => format!("signal {}", said(target)),
        Act::Power(power) => format!("power {power:?}"),
        Act::Privilege { how } => format!("privilege {how}"),
        Act::Network { traffic, to, data } => {
            format!("{traffic:?} {}{}", said(to), data.iter().map(datum).collect::<String>()).to_lowercase()
        }
        Act::Run { code, with } => match code {
            Code::File(path) => format!("run {with} {}", said(path)),
            Code::Download(from) => format!("run {with} download {}", said(from)),
            Code::Package(name) => format!("run {with} package {name}"),
            Code::Project => format!("project {with}"),
            Code::Program(name) => format!("program {name}"),
        },
        Act::Persist { how } => format!("persist {how}"),
        Act::Git { operation, loses, .. } => format!("git{} {operation}", if *loses { "!" } else { "" }),
        Act::Infrastructure { operation, destroys } => {
            format!("infra{} {operation}", if *destroys { "!" } else { "" })
        }
        Act::Database { statement, destroys } => {
            format!("sql{} {statement}", if *destroys { "!" } else { "" })
        }
        Act::Package { manager, operation, names, global, from } => {
            let from = from.as_ref().map_or_else(String::new, |from| format!(" from {}", said(from)));
            let global = if *global { "!" } else { "" };
            format!("package{global} {manager} {operation} {}{from}", names.join(","))
        }
        Act::Spawn { agent } => format!("spawn {agent}"),
        Act::Tool { name } => format!("tool {name}"),
        Act::Tamper { how } => format!("tamper {how}"),
        Act::Compute => "compute".to_owned(),
        Act::Unknown(why) => format!("unknown {}", why.construct),
    }
}

fn datum(datum: &super::super::act::Datum) -> String {
    use super::super::act::Datum;
    match datum {
        Datum::File(path) => format!(" <{}>", said(path)),
        Datum::Download(from) => format!(" <net {}>", said(from)),
        Datum::Environment(name) => format!(" <env {}>", name.as_deref().unwrap_or("*")),
        Datum::Secret(what) => format!(" <secret {what}>"),
        Datum::Text(text) => format!(" <text {}>", said(text)),
        Datum::Unknown(_) => " <?>".to_owned(),
    }
}
