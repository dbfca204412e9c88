//! Names that get values: assignments in all their shapes, and loops over many.
//!
//! Owns: which variables a target names and what each of them gets. Refuses: what the values are; the walk works them out.

use super::tree::Expr;
use super::walk::Walk;
use super::worth::{Kind, Worth};

/// Elements of a list that are gone through one by one.
const ELEMENTS: usize = 64;

impl Walk<'_> {
    pub(super) fn assign(&mut self, name: &str, value: Worth) {
        let name = plain_name(name);
        let before = self.variables.insert(name.to_owned(), value);
        if self.journal.len() < 100_000 {
            self.journal.push((name.to_owned(), before));
        }
    }

    pub(super) fn bind(&mut self, target: &Expr, value: &Worth) {
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

    pub(super) fn unknown_part(&self, value: &Worth) -> Worth {
        match &value.kind {
            Kind::Name(name) => Worth::name(format!("{name}[]")).with(&value.data),
            _ => Worth::unknown(self.why("a part of a value")).with(&value.flows()),
        }
    }

    pub(super) fn each(&mut self, target: &Expr, over: &Expr, body: &[Expr]) -> Worth {
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
}

/// A variable's name without its sigil.
pub(super) fn plain_name(name: &str) -> &str {
    if name == "@_" {
        return "_args";
    }
    let plain = name.trim_start_matches(['$', '@', '%', '&']);
    if plain.is_empty() { name } else { plain }
}
