//! Functions of the code that are called, and names that are looked up.
//!
//! Owns: arguments and parameters, and how deep calls are followed. Refuses: what a name of a language does; verbs say that.

use std::rc::Rc;

use super::binding::plain_name;
use super::tree::{Expr, Function};
use super::verb::Verb;
use super::walk::{Args, Walk};
use super::worth::{Kind, Worth};

/// Functions within functions.
const CALLS: usize = 10;

impl Walk<'_> {
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

    pub(super) fn arguments(&mut self, args: &[Expr]) -> Args {
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

    pub(super) fn called(&mut self, callee: &Expr, args: &[Expr]) -> Worth {
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
    pub(super) fn named_alone(&mut self, name: &str) -> Worth {
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
