//! awk: programs on lines.
//!
//! Owns: its options, its fields, and the redirections and pipes only it has. Refuses: the rest of the language; that is read like all others.

use super::super::call::Call;
use super::super::options::{Options, split};
use super::given::{self, Given};
use super::grammar;
use super::language::Language;
use super::tree::Expr;
use super::verb::Verb;
use super::walk::{Args, Walk};
use super::worth::{Kind, Worth};
use crate::effects::act::{Act, Change, Code, Datum};
use crate::effects::invocation::{Next, Outcome, Stream};
use crate::shell::value::Value;

/// The language.
static AWK: Language = Language {
    name: "awk",
    grammar: grammar::AWK,
    function,
    method: |_| None,
    telling: |_| None,
    canonical: |name| (name == "ARGV").then_some("argv"),
};

fn function(name: &str) -> Option<Verb> {
    Some(match name {
        "system" => Verb::Shell,
        "print" | "printf" => Verb::Print,
        "ENVIRON" => Verb::Environment,
        "tolower" | "toupper" | "close" | "fflush" => Verb::Same,
        _ => return None,
    })
}

const OPTIONS: Options = Options::new(
    "F:v:f:e:i:l:E:",
    "field-separator= assign= file= source= include= load= exec= csv posix traditional sandbox version help lint? \
     dump-variables? profile? pretty-print? non-decimal-data re-interval",
)
.stops();

/// `awk`, `gawk`, `mawk`.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let read = call.read(&OPTIONS);
    if read.has("version help V W") {
        return Outcome::harmless();
    }
    let mut operands = call.targets(&read);
    let mut codes: Vec<Value> = read.values("e source").cloned().collect();
    let mut outcome = Outcome::default();
    for file in read.values("f file E exec") {
        if file.text() == Some("-") || file.bytes() == Some(b"/dev/stdin") {
            match call.invocation.input.text.clone().filter(|text| text.bytes().is_some()) {
                Some(text) => codes.push(text),
                None => super::super::shells::code(call, &call.invocation.input)
                    .into_iter()
                    .for_each(|act| outcome.push(act)),
            }
        } else {
            outcome.push(Act::Run { code: Code::File(call.path(file)), with: call.name.to_owned() });
        }
    }
    if codes.is_empty() && !read.has("f file E exec") && !operands.is_empty() {
        codes.push(operands.remove(0));
    }
    let in_place = read.values("i include").any(|library| library.text() == Some("inplace"));
    let mut line = Worth::unknown(call.why("a line that is read")).with(&call.invocation.input.data);
    let files: Vec<&Value> = operands.iter().filter(|file| split(file, b'=').is_none()).collect();
    for file in &files {
        outcome.push(call.reads(file));
        line = line.with(&[Datum::File(call.path(file))]);
        if in_place {
            outcome.push(call.writes(file, Change::Edit));
        }
    }
    if files.is_empty()
        && let Some(text) = call.invocation.input.text.as_ref().and_then(Value::text)
    {
        let mut lines = text.lines().take(8).map(Worth::text);
        let first = lines.next().unwrap_or_default();
        line = lines.fold(first, Worth::or);
    }
    if codes.is_empty() {
        return outcome;
    }
    let codes: Vec<Value> = codes.into_iter().map(spelled_out).collect();
    let mut given = Given::all(codes.iter(), &operands).with("_line", line);
    for assignment in read.values("v assign").chain(operands.iter()) {
        if let Some((name, value)) = split(assignment, b'=') {
            given = given.with(&name, Worth::value(value));
        }
    }
    let found = given::run(call, &AWK, given);
    outcome.acts.extend(found.acts);
    outcome.next.extend(found.next);
    outcome.output = found.output;
    let is_once = files.is_empty() && is_one_line(call) || codes.iter().all(is_beginning);
    if !codes.iter().all(is_whole) || !is_once {
        // awk refuses it, and says nothing; or says what nobody here can tell.
        outcome.output.text = None;
        outcome.output.data.push(Datum::Unknown(call.why("what awk makes of its code")));
    }
    outcome
}

/// Whether quotes are closed and statements stand in braces; else awk may refuse it.
fn is_whole(code: &Value) -> bool {
    code.text().is_some_and(|text| {
        let quotes = text.replace("\\\\", "").replace("\\\"", "").matches('"').count();
        let (opened, closed) = (text.matches('{').count(), text.matches('}').count());
        // What is printed into a file or a command is not printed here.
        let is_here = !text.contains("print") || !text.contains(['>', '|']);
        quotes % 2 == 0 && opened == closed && is_here && (text.contains('{') || !text.contains("print"))
    })
}

/// Whether what comes in is known to be one line: then a block is run once.
fn is_one_line(call: &Call<'_>) -> bool {
    call.invocation.input.text.as_ref().and_then(Value::text).is_some_and(|text| text.lines().count() == 1)
}

/// Whether all of it is done before anything is read.
fn is_beginning(code: &Value) -> bool {
    code.text().is_some_and(|text| text.trim_start().starts_with("BEGIN") && text.matches('{').count() == 1)
}

/// The code with `print` alone spelled out: it prints the line.
fn spelled_out(code: Value) -> Value {
    let Some(text) = code.text().filter(|text| text.contains("print")) else { return code };
    let mut spelled = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(at) = rest.find("print") {
        let (before, after) = rest.split_at(at + "print".len());
        spelled.push_str(before);
        let next = after.trim_start_matches([' ', '\t']);
        if next.is_empty() || next.starts_with(['}', ';', '\n', '>', '|']) {
            spelled.push_str(" $0 ");
        }
        rest = after;
    }
    spelled.push_str(rest);
    Value::known(spelled)
}

impl Walk<'_> {
    /// `$0`, `$1`, `$NF`.
    pub(super) fn field(&self, number: &Worth) -> Worth {
        let line = self.variable("_line").unwrap_or_default();
        let place = match number.kind {
            Kind::Number(0) => return line,
            Kind::Number(number) => usize::try_from(number).ok(),
            _ => None,
        };
        let mut found: Option<Worth> = None;
        for one in line.alternatives() {
            let part = match (one.str(), place) {
                (Some(text), Some(place)) => {
                    Worth::text(text.split_whitespace().nth(place.saturating_sub(1)).unwrap_or_default())
                }
                _ => Worth::unknown(self.why("a field of a line")).with(&one.data),
            };
            found = Some(match found {
                Some(before) => before.or(part),
                None => part,
            });
        }
        found.unwrap_or_default()
    }

    /// `print > file`, `print | command`, `command | getline`, `getline < file`.
    pub(super) fn awk_redirected(
        &mut self,
        sign: &str,
        left: &Expr,
        one: &Worth,
        right: &Expr,
        two: &Worth,
    ) -> Worth {
        let prints = matches!(left, Expr::Call(name, _) if matches!(&**name, Expr::Name(name) if name == "print" || name == "printf"));
        match sign {
            ">" | ">>" if prints => {
                let target = self.path(two);
                let content = one.as_text(&|what| self.why(what));
                if is_network(two) {
                    return self.connect(two);
                }
                self.written(
                    &target,
                    if sign == ">" { Change::Replace } else { Change::Append },
                    Some(content),
                );
                Worth::default()
            }
            "|" | "|&" if prints => {
                if is_network(two) {
                    return self.connect(two);
                }
                if self.connected.is_some() && sign == "|&" {
                    self.shells = true;
                    return Worth::default();
                }
                let text = two.as_text(&|what| self.why(what));
                if text.bytes().is_none() && text.prefix().is_empty() {
                    self.runs(two, "a command awk is told to start");
                    return Worth::default();
                }
                let input = match &one.kind {
                    Kind::Text(value) if value.bytes().is_some() => Stream::text(value.clone()),
                    _ => {
                        let mut data = one.flows();
                        data.push(Datum::Unknown(self.why("what awk prints")));
                        Stream::data(data)
                    }
                };
                let cwd = self.cwd.clone();
                self.outcome.next.push(Next::Shell {
                    text,
                    arguments: Vec::new(),
                    input,
                    cwd,
                    elsewhere: None,
                });
                Worth::default()
            }
            "|" | "|&" if is_getline(right) => {
                if is_network(one) {
                    return self.connect(one);
                }
                if self.connected.is_some() && one.known().is_none() {
                    self.shells = true;
                    return Worth::unknown(self.why("a line that is read"));
                }
                self.perform(Verb::Shell, "getline", &Args::of(one.clone()))
            }
            "<" if is_getline(left) => {
                if is_network(two) {
                    return self.connect(two);
                }
                self.perform(Verb::Read, "getline", &Args::of(two.clone()))
            }
            _ => Worth::default(),
        }
    }

    fn connect(&mut self, path: &Worth) -> Worth {
        let host = path.str().unwrap_or_default().split('/').nth(4).unwrap_or_default().to_owned();
        self.perform(Verb::Connect, "inet", &Args::of(Worth::text(host)))
    }
}

fn is_network(path: &Worth) -> bool {
    path.known().is_some_and(|text| text.starts_with(b"/inet"))
}

fn is_getline(expr: &Expr) -> bool {
    match expr {
        Expr::Name(name) => name == "getline",
        Expr::Operation(_, left, _) => is_getline(left),
        _ => false,
    }
}
