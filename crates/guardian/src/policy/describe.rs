//! Effects in words: what was seen, for the model and the user.

use super::matching::{power_words, shown};
use crate::effects::{Act, Change, Code, Datum, Effect, Traffic};
use crate::shell::value::Value;

/// The longest text that is repeated.
const LONG: usize = 120;

/// What an effect is, in a sentence without its full stop: `` `rm` would delete `/etc` and all below it ``.
#[must_use]
pub fn described(effect: &Effect) -> String {
    let what = act(&effect.act);
    let by = &effect.by;
    let said =
        if by.is_empty() { format!("it would {what}") } else { format!("`{}` would {what}", short(by)) };
    match unknown(&effect.act) {
        Some(construct) => format!("{said}, where {construct} is not known"),
        None => said,
    }
}

fn act(act: &Act) -> String {
    let below = |deep: bool| if deep { " and all below it" } else { "" };
    match act {
        Act::Read { path, deep } => format!("read {}{}", quoted(path), below(*deep)),
        Act::Reveal { what } => format!("show {}", short(what)),
        Act::Look { path } => format!("look at {}", quoted(path)),
        Act::Write { path, change, .. } => {
            let verb = match change {
                Change::Replace => "write",
                Change::Empty => "empty",
                Change::Append => "append to",
                Change::Edit => "change",
                Change::Make => "make",
            };
            format!("{verb} {}", quoted(path))
        }
        Act::Delete { path, deep, filtered: false } => format!("delete {}{}", quoted(path), below(*deep)),
        Act::Delete { path, filtered: true, .. } => format!("delete some of what is below {}", quoted(path)),
        Act::Permit { path, deep, to } => {
            format!("set permissions or owner of {}{} to {}", quoted(path), below(*deep), quoted(to))
        }
        Act::Disk { device } => format!("overwrite the device {}", quoted(device)),
        Act::Signal { target, own: true } => format!("signal its own process {}", quoted(target)),
        Act::Signal { target, own: false } => format!("signal the process {}", quoted(target)),
        Act::Power(power) => format!("change the machine: {}", power_words(power)),
        Act::Privilege { how } => format!("use rights that are not its own: {how}"),
        Act::Network { traffic, to, data } => network(*traffic, to, data),
        Act::Run { code, with } => run(code, with),
        Act::Persist { how } => format!("arrange a later start: {how}"),
        Act::Git { operation, loses, .. } => {
            let how = if *loses { "do what can lose work or history" } else { "work in its repository" };
            format!("{how}: `git {}`", short(operation))
        }
        Act::Infrastructure { operation, destroys } => {
            format!("run `{}`{}", short(operation), if *destroys { ", which destroys" } else { "" })
        }
        Act::Database { statement, destroys } => {
            let verb = if *destroys { "destroy in a database" } else { "tell a database" };
            format!("{verb}: `{}`", short(statement))
        }
        Act::Package { manager, operation, names, .. } => {
            format!("{operation} packages with {manager}: {}", short(&names.join(", ")))
        }
        Act::Spawn { agent } => format!("start the agent `{}`", short(agent)),
        Act::Tool { name } => format!("call the tool `{}`", short(name)),
        Act::Tamper { how } => format!("weaken the guard: {how}"),
        Act::Compute => "compute".to_owned(),
        Act::Unknown(why) => format!("do what cannot be known from its text: {}", short(&why.construct)),
    }
}

fn network(traffic: Traffic, to: &Value, data: &[Datum]) -> String {
    let to = quoted(to);
    let said = match traffic {
        Traffic::Fetch => format!("fetch from {to}"),
        Traffic::Send => format!("send to {to}"),
        Traffic::Listen => format!("let others in by {to}"),
        Traffic::Scan => format!("scan {to}"),
        Traffic::Remote => format!("run commands on {to}"),
    };
    let data: Vec<String> = data.iter().filter_map(datum).collect();
    if data.is_empty() { said } else { format!("{said} with {}", data.join(", ")) }
}

fn datum(datum: &Datum) -> Option<String> {
    match datum {
        Datum::File(path) => Some(format!("the contents of {}", quoted(path))),
        Datum::Download(from) => Some(format!("what came from {}", quoted(from))),
        Datum::Environment(None) => Some("the whole environment".to_owned()),
        Datum::Environment(Some(name)) => Some(format!("the variable {name}")),
        Datum::Secret(what) => Some(what.clone()),
        Datum::Text(_) => None,
        Datum::Unknown(why) => Some(why.construct.clone()),
    }
}

fn run(code: &Code, with: &str) -> String {
    match code {
        Code::File(path) => format!("run {}", quoted(path)),
        Code::Download(from) => format!("run what comes from {} with {with}", quoted(from)),
        Code::Package(name) => format!("fetch and run the package `{}`", short(name)),
        Code::Project => "run what the project says".to_owned(),
        Code::Program(name) => format!("run the program `{}`, of which nothing is known", short(name)),
    }
}

fn quoted(value: &Value) -> String {
    format!("`{}`", short(&shown(value)))
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONG) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// What is not known of the path or host it is about.
fn unknown(act: &Act) -> Option<&str> {
    let (Act::Read { path: value, .. }
    | Act::Look { path: value }
    | Act::Write { path: value, .. }
    | Act::Delete { path: value, .. }
    | Act::Permit { path: value, .. }
    | Act::Disk { device: value }
    | Act::Run { code: Code::File(value), .. }
    | Act::Network { to: value, .. }) = act
    else {
        return None;
    };
    value.why().map(|why| why.construct.as_str())
}
