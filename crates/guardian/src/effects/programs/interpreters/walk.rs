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
    /// Blocks that are called for each of many.
    pub rows: u32,
    pub variables: HashMap<String, Worth>,
    pub journal: Vec<(String, Option<Worth>)>,
    pub functions: HashMap<String, Rc<Function>>,
    pub applied: Vec<*const Function>,
    pub stack: Vec<*const Function>,
    pub returned: Option<Worth>,
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
            rows: 0,
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

    pub(super) fn hoist(&mut self, tree: &[Expr]) {
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
    pub(super) fn merge(&mut self, mark: usize) {
        let changed = self.journal.split_off(mark);
        for (name, before) in changed.into_iter().rev() {
            let (Some(before), Some(now)) = (before, self.variables.get(&name).cloned()) else { continue };
            self.assign(&name, before.or(now));
        }
    }
}
