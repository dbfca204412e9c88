//! Code walked through: every way it can go, once or twice, with what is known of its variables.
//!
//! Owns: variables, blocks, loops, functions, and the order things happen in. Refuses: knowing what a name of a language does (verbs
//! do), and endless work: when its steps are used up it says that it cannot know.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::call::Call;
use super::language::Language;
use super::tree::{Expr, Function, Repeat};
use super::verb::Verb;
use super::worth::{Kind, Worth};
use crate::effects::act::{Act, Datum, Traffic};
use crate::effects::invocation::Outcome;
use crate::shell::value::{Value, Why};

/// Steps before it is too much.
const STEPS: u32 = 12_000;
/// How deep values may nest.
const DEPTH: u32 = 120;
/// Functions within functions.
const CALLS: usize = 10;
/// Elements of a list that are gone through one by one.
const ELEMENTS: usize = 64;

/// What is known while code is walked through.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    pub call: &'a Call<'a>,
    pub language: &'static Language,
    pub outcome: Outcome,
    /// Where it runs now.
    pub cwd: Value,
    /// What it is given behind its code.
    pub arguments: Vec<Worth>,
    /// What it has said, and whether that is all.
    pub said: Worth,
    /// The host it is connected to.
    pub connected: Option<Value>,
    /// It starts a shell, or something it was told to.
    pub shells: bool,
    pub loops: u32,
    variables: HashMap<String, Worth>,
    journal: Vec<(String, Option<Worth>)>,
    functions: HashMap<String, Rc<Function>>,
    applied: Vec<*const Function>,
    stack: Vec<*const Function>,
    returned: Option<Worth>,
    steps: u32,
    depth: u32,
}

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Args {
    pub all: Vec<Worth>,
    pub named: Vec<(String, Worth)>,
}

impl Args {
    /// One argument.
    pub(super) fn of(one: Worth) -> Self {
        Self { all: vec![one], named: Vec::new() }
    }

    pub(super) fn get(&self, place: usize) -> Worth {
        self.all.get(place).cloned().unwrap_or_default()
    }

    pub(super) fn named(&self, names: &[&str]) -> Option<Worth> {
        let found = self.named.iter().find(|(name, _)| names.contains(&name.as_str()));
        found
            .map(|(_, value)| value.clone())
            .or_else(|| self.all.iter().rev().find_map(|one| names.iter().find_map(|name| one.field(name))))
    }

    /// The argument of a place or of a name.
    pub(super) fn either(&self, place: usize, names: &[&str]) -> Worth {
        self.all.get(place).cloned().or_else(|| self.named(names)).unwrap_or_default()
    }

    pub(super) fn flows(&self) -> Vec<Datum> {
        let mut all = Worth::default();
        for one in self.all.iter().chain(self.named.iter().map(|(_, value)| value)) {
            all = all.with(&one.flows());
        }
        all.data
    }

    pub(super) fn behind(mut self, first: Worth) -> Self {
        self.all.insert(0, first);
        self
    }
}

impl<'a> Walk<'a> {
    pub(super) fn new(call: &'a Call<'a>, language: &'static Language, arguments: Vec<Worth>) -> Self {
        Self {
            call,
            language,
            outcome: Outcome::default(),
            cwd: call.invocation.cwd.clone(),
            arguments,
            said: Worth::value(Value::default()),
            connected: None,
            shells: false,
            loops: 0,
            variables: HashMap::new(),
            journal: Vec::new(),
            functions: HashMap::new(),
            applied: Vec::new(),
            stack: Vec::new(),
            returned: None,
            steps: 0,
            depth: 0,
        }
    }

    pub(super) fn why(&self, construct: impl Into<String>) -> Why {
        self.call.why(construct)
    }

    /// Notes an act, once.
    pub(super) fn push(&mut self, act: Act) {
        if !self.outcome.acts.iter().any(|(before, _)| *before == act) {
            self.outcome.push(act);
        }
    }

    /// Notes that something cannot be known.
    pub(super) fn lost(&mut self, construct: &str) {
        let act = self.call.unknown(construct);
        self.push(act);
    }

    /// Sets a variable from outside.
    pub(super) fn set(&mut self, name: &str, value: Worth) {
        self.variables.insert(name.to_owned(), value);
    }

    /// A whole program, and the functions in it nobody called.
    pub(super) fn whole(&mut self, tree: &[Expr]) {
        self.hoist(tree);
        self.all(tree);
        let mut rest: Vec<Rc<Function>> = self.functions.values().cloned().collect();
        rest.retain(|function| !self.applied.contains(&Rc::as_ptr(function)));
        rest.sort_by(|one, other| one.name.cmp(&other.name));
        for function in rest {
            self.apply(&function, &Args::default());
        }
        if let Some(to) = self.connected.clone().filter(|_| self.shells) {
            self.push(Act::Network { traffic: Traffic::Listen, to, data: Vec::new() });
        }
    }

    fn hoist(&mut self, tree: &[Expr]) {
        for expr in tree {
            match expr {
                Expr::Function(function) => self.define(function),
                Expr::Return(inner) => self.hoist(std::slice::from_ref(inner)),
                Expr::Block(inner, _) => self.hoist(inner),
                _ => {}
            }
        }
    }

    fn define(&mut self, function: &Rc<Function>) {
        if let Some(name) = &function.name {
            self.functions.insert(name.clone(), Rc::clone(function));
            self.hoist(&function.body);
        }
    }

    /// Statements in order; the value of the last.
    pub(super) fn all(&mut self, tree: &[Expr]) -> Worth {
        let mut last = Worth::default();
        for expr in tree {
            // What the shell put in between statements may be any code.
            if let Expr::Hole(why) = expr {
                self.push(Act::Unknown(why.clone()));
            }
            last = self.eval(expr);
        }
        last
    }

    pub(super) fn eval(&mut self, expr: &Expr) -> Worth {
        self.steps += 1;
        if self.steps > STEPS || self.depth > DEPTH {
            if self.steps == STEPS + 1 || self.depth > DEPTH {
                self.lost("more work than a command should be");
                self.steps = STEPS + 2;
            }
            return Worth::default();
        }
        self.depth += 1;
        let value = self.evaluated(expr);
        self.depth -= 1;
        value
    }

    fn evaluated(&mut self, expr: &Expr) -> Worth {
        match expr {
            Expr::Nothing => Worth::default(),
            Expr::Number(number) => Worth::number(*number),
            Expr::Known(bytes) => Worth::text(bytes.clone()),
            Expr::Hole(why) => Worth::unknown(why.clone()),
            Expr::Text(parts) => self.text(parts),
            Expr::Command(parts) => {
                let line = self.text(parts);
                self.perform(Verb::Shell, "`", &Args::of(line))
            }
            Expr::Name(name) => self.named_alone(name),
            Expr::Member(object, member) => {
                let object = self.eval(object);
                if self.language.grammar.members.contains(&"&.") {
                    return self.invoke_member(&object, member, Args::default());
                }
                self.member(&object, member)
            }
            Expr::Index(object, keys) => self.indexed(object, keys),
            Expr::Call(callee, args) => self.called(callee, args),
            Expr::Pair(key, value) => {
                if !matches!(**key, Expr::Name(_) | Expr::Text(_)) {
                    self.eval(key);
                }
                self.eval(value)
            }
            Expr::List(all) => self.list(all),
            Expr::Table(entries) => self.table(entries),
            Expr::Block(all, repeat) => self.block(all, *repeat),
            Expr::Operation(sign, left, right) => self.operated(sign, left, right),
            Expr::Unary(sign, inner) => {
                let value = self.eval(inner);
                match (sign.as_str(), &value.kind) {
                    ("$", _) if self.language.name == "awk" => self.field(&value),
                    ("-", Kind::Number(number)) => Worth::number(number.wrapping_neg()),
                    ("not" | "!" | "typeof" | "defined" | "~", _) => Worth::default().with(&value.data),
                    _ => value,
                }
            }
            Expr::Assign(sign, target, value) => self.assigned(sign, target, value),
            Expr::Either(yes, no) => {
                let yes = self.eval(yes);
                let no = self.eval(no);
                yes.or(no)
            }
            Expr::Function(function) => {
                self.define(function);
                Worth { kind: Kind::Function(Rc::clone(function)), data: Vec::new() }
            }
            Expr::Each(target, over, body) => self.each(target, over, body),
            Expr::Import(names) => {
                for (local, full) in names {
                    let value = self.resolve(full);
                    self.assign(local, value);
                }
                Worth::default()
            }
            Expr::Return(inner) => {
                let value = self.eval(inner);
                self.returned = Some(match self.returned.take() {
                    Some(before) => before.or(value.clone()),
                    None => value.clone(),
                });
                value
            }
        }
    }

    fn text(&mut self, parts: &[Expr]) -> Worth {
        let mut whole = Worth::value(Value::default());
        for part in parts {
            let value = self.eval(part);
            whole = self.joined(&whole, &value);
        }
        whole
    }

    fn list(&mut self, all: &[Expr]) -> Worth {
        let mut list = Vec::with_capacity(all.len());
        for one in all {
            let value = self.eval(one);
            let spread = match one {
                Expr::Unary(sign, _) => matches!(sign.as_str(), "*" | "..."),
                Expr::Each(..) => true,
                Expr::Name(name) => name.starts_with('@'),
                _ => false,
            };
            if spread {
                list.extend(value.elements());
            } else {
                list.push(value);
            }
        }
        Worth::list(list)
    }

    fn assigned(&mut self, sign: &str, target: &Expr, value: &Expr) -> Worth {
        let mut worth = self.eval(value);
        if matches!(sign, "+=" | ".=") {
            let before = self.eval(target);
            worth = self.joined(&before, &worth);
        } else if matches!(sign, "||=" | "&&=" | "??=" | "//=") {
            worth = self.eval(target).or(worth);
        }
        self.bind(target, &worth);
        worth
    }

    fn table(&mut self, entries: &[Expr]) -> Worth {
        let mut pairs = Vec::new();
        for entry in entries {
            match entry {
                Expr::Pair(key, value) => {
                    let name = match &**key {
                        Expr::Name(name) => name.clone(),
                        other => self.eval(other).str().unwrap_or_default().to_owned(),
                    };
                    let value = self.eval(value);
                    pairs.push((name, value));
                }
                Expr::Name(name) => pairs.push((name.clone(), self.eval(entry))),
                other => pairs.push((String::new(), self.eval(other))),
            }
        }
        Worth { kind: Kind::Table(pairs), data: Vec::new() }
    }

    fn block(&mut self, all: &[Expr], repeat: Repeat) -> Worth {
        let mark = self.journal.len();
        self.loops += u32::from(repeat == Repeat::Loop);
        let mut value = self.all(all);
        if repeat == Repeat::Loop {
            self.merge(mark);
            value = self.all(all);
        }
        self.loops -= u32::from(repeat == Repeat::Loop);
        self.merge(mark);
        value
    }

    /// What was set since then may have been set or not.
    fn merge(&mut self, mark: usize) {
        let changed = self.journal.split_off(mark);
        for (name, before) in changed.into_iter().rev() {
            let (Some(before), Some(now)) = (before, self.variables.get(&name).cloned()) else { continue };
            self.assign(&name, before.or(now));
        }
    }

    pub(super) fn assign(&mut self, name: &str, value: Worth) {
        let name = plain_name(name);
        let before = self.variables.insert(name.to_owned(), value);
        if self.journal.len() < 100_000 {
            self.journal.push((name.to_owned(), before));
        }
    }

    fn bind(&mut self, target: &Expr, value: &Worth) {
        match target {
            Expr::Name(name) => self.assign(name, value.clone()),
            Expr::Unary(_, inner) => self.bind(inner, value),
            Expr::List(targets) => {
                let parts = value.elements();
                for (place, target) in targets.iter().enumerate() {
                    let part = match &value.kind {
                        Kind::List(_) => parts.get(place).cloned().unwrap_or_default(),
                        _ => self.unknown_part(value),
                    };
                    self.bind(target, &part);
                }
            }
            // `const {a: b, c} = x`.
            Expr::Table(entries) => {
                for entry in entries {
                    match entry {
                        Expr::Pair(key, local) => {
                            if let Expr::Name(name) = &**key {
                                let part = self.member(value, name);
                                self.bind(local, &part);
                            }
                        }
                        Expr::Name(name) => {
                            let part = self.member(value, name);
                            self.assign(name, part);
                        }
                        _ => {}
                    }
                }
            }
            Expr::Pair(name, _) => self.bind(name, value),
            Expr::Index(object, keys) => {
                for key in keys {
                    self.eval(key);
                }
                if let Expr::Name(name) = &**object {
                    let before = self.lookup(name);
                    self.assign(name, before.with(&value.flows()));
                }
            }
            Expr::Member(object, member) => {
                let object = self.eval(object);
                if let Kind::Name(name) = &object.kind {
                    let full = format!("{name}.{member}");
                    self.assign(&full, value.clone());
                }
            }
            other => {
                self.eval(other);
            }
        }
    }

    fn unknown_part(&self, value: &Worth) -> Worth {
        match &value.kind {
            Kind::Name(name) => Worth::name(format!("{name}[]")).with(&value.data),
            _ => Worth::unknown(self.why("a part of a value")).with(&value.flows()),
        }
    }

    fn each(&mut self, target: &Expr, over: &Expr, body: &[Expr]) -> Worth {
        let over = self.eval(over);
        let mark = self.journal.len();
        let elements = match &over.kind {
            Kind::List(_) | Kind::Any(_) | Kind::Table(_) => over.elements(),
            Kind::Text(text) if text.bytes().is_some_and(|bytes| bytes.len() <= ELEMENTS) => {
                text.bytes().unwrap_or_default().iter().map(|byte| Worth::text(vec![*byte])).collect()
            }
            // Lines of an open file are made of it.
            _ => vec![self.unknown_part(&over)],
        };
        self.loops += 1;
        let mut list = Vec::new();
        for element in elements.into_iter().take(ELEMENTS) {
            self.bind(target, &element);
            list.push(self.all(body));
        }
        if list.is_empty() {
            self.bind(target, &Worth::default());
            self.all(body);
        }
        self.loops -= 1;
        self.merge(mark);
        Worth::list(list).with(&over.data)
    }

    /// Calls a function of the code.
    pub(super) fn apply(&mut self, function: &Rc<Function>, args: &Args) -> Worth {
        let pointer = Rc::as_ptr(function);
        if !self.applied.contains(&pointer) {
            self.applied.push(pointer);
        }
        if self.stack.contains(&pointer) || self.stack.len() >= CALLS {
            return Worth::unknown(self.why("what a function gives")).with(&args.flows());
        }
        self.stack.push(pointer);
        let mark = self.journal.len();
        let outer = self.returned.take();
        let mut rest = args.all.iter();
        for param in &function.params {
            let name = param_name(param);
            let given = name.and_then(|name| args.named.iter().find(|(other, _)| other == name));
            let value = match (param, given) {
                (_, Some((_, value))) => value.clone(),
                (Expr::Unary(sign, _), None) if matches!(sign.as_str(), "*" | "...") => {
                    Worth::list(rest.by_ref().cloned().collect())
                }
                (Expr::Pair(_, default), None) => match rest.next() {
                    Some(value) => value.clone(),
                    None => self.eval(default),
                },
                (_, None) => rest.next().cloned().unwrap_or_else(|| {
                    let name = name.unwrap_or("x");
                    Worth::unknown(self.why(format!("the parameter {name}")))
                }),
            };
            self.bind(param, &value);
        }
        self.assign("_args", Worth::list(args.all.clone()));
        let last = self.all(&function.body);
        let value = std::mem::replace(&mut self.returned, outer);
        self.merge(mark);
        self.stack.pop();
        match value {
            Some(value) => value.or(last),
            None => last,
        }
    }

    fn arguments(&mut self, args: &[Expr]) -> Args {
        let mut found = Args::default();
        for arg in args {
            match arg {
                Expr::Pair(key, value) => {
                    let name = match &**key {
                        Expr::Name(name) => name.clone(),
                        other => self.eval(other).str().unwrap_or_default().to_owned(),
                    };
                    let value = self.eval(value);
                    found.named.push((name, value));
                }
                Expr::Unary(sign, inner) if matches!(sign.as_str(), "*" | "...") => {
                    let value = self.eval(inner);
                    found.all.extend(value.elements());
                }
                Expr::Name(name) if name.starts_with('@') => {
                    let value = self.eval(arg);
                    found.all.extend(value.elements());
                }
                _ => {
                    let value = self.eval(arg);
                    found.all.push(value);
                }
            }
        }
        found
    }

    fn called(&mut self, callee: &Expr, args: &[Expr]) -> Worth {
        match callee {
            Expr::Member(object, member) => {
                let object = self.eval(object);
                let args = self.arguments(args);
                self.invoke_member(&object, member, args)
            }
            _ => {
                let function = match callee {
                    Expr::Name(name) => self.lookup(name),
                    other => self.eval(other),
                };
                let args = self.arguments(args);
                self.invoke(&function, &args)
            }
        }
    }

    pub(super) fn lookup(&mut self, name: &str) -> Worth {
        let plain = plain_name(name);
        if let Some(value) = self.variables.get(plain) {
            return value.clone();
        }
        if let Some(function) = self.functions.get(plain) {
            return Worth { kind: Kind::Function(Rc::clone(function)), data: Vec::new() };
        }
        // `from os import *`.
        if let Some(Worth { kind: Kind::Name(module), .. }) = self.variables.get("*") {
            let full = format!("{module}.{plain}");
            if (self.language.function)(&full).is_some() {
                return Worth::name(full);
            }
        }
        self.resolve(plain)
    }

    /// A name that is not called with parentheses; some languages call it all the same.
    fn named_alone(&mut self, name: &str) -> Worth {
        let worth = self.lookup(name);
        let Kind::Name(full) = &worth.kind else { return worth };
        let verb = (self.language.function)(full);
        let alone =
            matches!(verb, Some(Verb::Fork | Verb::Delete | Verb::Cwd | Verb::Input | Verb::Terminal));
        if alone && matches!(self.language.name, "perl" | "ruby") && !name.starts_with(['$', '@', '%']) {
            let full = full.clone();
            return self.named(&full, &Args::default());
        }
        worth
    }

    pub(super) fn function_named(&self, name: &str) -> Option<Rc<Function>> {
        self.functions.get(name).cloned()
    }

    pub(super) fn variable(&self, name: &str) -> Option<Worth> {
        self.variables.get(name).cloned()
    }
}

fn param_name(param: &Expr) -> Option<&str> {
    match param {
        Expr::Name(name) => Some(name),
        Expr::Pair(name, _) | Expr::Unary(_, name) => param_name(name),
        _ => None,
    }
}

/// A variable's name without its sigil.
fn plain_name(name: &str) -> &str {
    if name == "@_" {
        return "_args";
    }
    let plain = name.trim_start_matches(['$', '@', '%', '&']);
    if plain.is_empty() { name } else { plain }
}
