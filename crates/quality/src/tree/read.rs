//! What nodes say, whichever language they are of: who is called, with what, what a name is bound to.

use super::{Field, Id, Kind, Tree};

/// How far a chain of names is followed: its length is in the hands of whoever wrote the file.
const DEPTH: usize = 12;

/// Who is called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Callee<'s> {
    /// What the function is taken from: an object, a module, a type.
    pub(crate) receiver: Option<Id>,
    pub(crate) name: &'s str,
}

impl<'s> Tree<'s> {
    /// Who a call, a construction or a macro names.
    pub(crate) fn callee(&self, call: Id) -> Option<Callee<'s>> {
        if self.is(call, Kind::New) {
            let made = self.child(call, Field::Function).or_else(|| self.child(call, Field::Type))?;
            let name = self.below(made).find(|id| self.is(*id, Kind::Ident)).unwrap_or(made);
            return Some(Callee { receiver: None, name: self.text(name) });
        }
        if let Some(name) = self.child(call, Field::Name) {
            return Some(Callee { receiver: self.child(call, Field::Object), name: self.text(name) });
        }
        let function = self.child(call, Field::Function)?;
        match self.kind(function) {
            Kind::Member => {
                Some(Callee { receiver: self.object(function), name: self.text(self.member(function)?) })
            }
            Kind::Ident => Some(Callee { receiver: None, name: self.text(function) }),
            _ => None,
        }
    }

    /// What a member, an index or a slice is taken of.
    pub(crate) fn object(&self, id: Id) -> Option<Id> {
        let by_role = self.child(id, Field::Object).or_else(|| self.child(id, Field::Value));
        by_role.or_else(|| self.parts(id).next())
    }

    /// The name after the dot.
    pub(crate) fn member(&self, id: Id) -> Option<Id> {
        let by_role = self.child(id, Field::Member).or_else(|| self.child(id, Field::Name));
        by_role.filter(|member| matches!(self.kind(*member), Kind::Ident | Kind::Number))
    }

    /// What an index is.
    pub(crate) fn subscript(&self, id: Id) -> Option<Id> {
        self.child(id, Field::Index).or_else(|| self.parts(id).nth(1))
    }

    /// The arguments of a call, in order.
    pub(crate) fn arguments(&self, call: Id) -> Vec<Id> {
        let list = self.children(call).find(|child| self.is(*child, Kind::Args));
        list.map(|list| self.parts(list).collect()).unwrap_or_default()
    }

    /// The name and the value of something that binds one to the other.
    pub(crate) fn binding(&self, id: Id) -> Option<(Id, Id)> {
        let target = self
            .child(id, Field::Left)
            .or_else(|| self.child(id, Field::Name))
            .or_else(|| self.child(id, Field::Pattern))
            .or_else(|| self.child(id, Field::Member))?;
        let value = self.child(id, Field::Right).or_else(|| self.child(id, Field::Value))?;
        Some((target, value))
    }

    /// Whether something assigns in place, as `+=` does.
    pub(crate) fn is_augmented(&self, id: Id) -> bool {
        self.is(id, Kind::AugAssign)
            || self.is(id, Kind::Assign)
                && self.operator(id).is_some_and(|operator| operator.len() > 1 && operator != ":=")
    }

    /// The operator of an operation, as written.
    pub(crate) fn operator(&self, id: Id) -> Option<&'s str> {
        let by_role = self.child(id, Field::Operator);
        let token = by_role.or_else(|| self.children(id).find(|child| self.is(*child, Kind::Token)));
        token.map(|token| self.text(token))
    }

    /// The two sides of a binary operation or of a comparison of two things.
    pub(crate) fn sides(&self, id: Id) -> Option<(Id, Id)> {
        match (self.child(id, Field::Left), self.child(id, Field::Right)) {
            (Some(left), Some(right)) => Some((left, right)),
            _ => {
                let mut parts = self.parts(id).filter(|part| self.field(*part) != Field::Operator);
                let found = (parts.next()?, parts.next()?);
                parts.next().is_none().then_some(found)
            }
        }
    }

    /// The elements of a list, tuple, set or array written out.
    pub(crate) fn elements(&self, id: Id) -> Vec<Id> {
        self.parts(id).filter(|part| self.field(*part) != Field::Type).collect()
    }

    /// A literal with its sign: the literal, and whether it is negative.
    pub(crate) fn signed(&self, id: Id) -> Option<(Id, bool)> {
        match self.kind(id) {
            Kind::Unary if matches!(self.operator(id), Some("-" | "+")) => {
                let inner = self.parts(id).find(|part| self.field(*part) != Field::Operator)?;
                self.is(inner, Kind::Number).then(|| (inner, self.operator(id) == Some("-")))
            }
            Kind::Number => Some((id, false)),
            _ => None,
        }
    }

    /// What an operator with one side stands before.
    pub(crate) fn operand(&self, id: Id) -> Option<Id> {
        self.parts(id).find(|part| self.field(*part) != Field::Operator)
    }

    /// The name an expression ends in: of `a.b.c` and `a.b.c()`, `c`; of `a["c"]`, `c`.
    pub(crate) fn last_name(&self, id: Id) -> Option<&'s str> {
        self.last_name_within(id, DEPTH)
    }

    fn last_name_within(&self, id: Id, depth: usize) -> Option<&'s str> {
        let depth = depth.checked_sub(1)?;
        match self.kind(id) {
            Kind::Ident => Some(self.text(id)),
            Kind::Member => self.member(id).map(|member| self.text(member)),
            Kind::Index => {
                let index = self.subscript(id)?;
                if self.is(index, Kind::Str) {
                    Some(self.string(index))
                } else {
                    self.last_name_within(self.object(id)?, depth)
                }
            }
            Kind::Call => {
                let arguments = self.arguments(id);
                let callee = self.callee(id)?;
                match (callee.name, arguments.first()) {
                    ("get" | "Get", Some(key)) if self.is(*key, Kind::Str) => Some(self.string(*key)),
                    (name, _) => Some(name),
                }
            }
            Kind::Await | Kind::Cast => self.last_name_within(self.parts(id).next()?, depth),
            _ => None,
        }
    }

    /// What stands between the quotes.
    pub(crate) fn string(&self, id: Id) -> &'s str {
        let text = self.text(id);
        let text = text.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '#');
        let text = text.trim_end_matches('#');
        for quotes in ["\"\"\"", "'''", "\"", "'", "`"] {
            let inner = text.strip_prefix(quotes).and_then(|rest| rest.strip_suffix(quotes));
            if let Some(inner) = inner {
                return inner;
            }
        }
        text
    }

    /// A chain of names as written, without what is between the dots: `self.db.cursor`.
    pub(crate) fn dotted(&self, id: Id) -> Option<String> {
        self.dotted_within(id, DEPTH)
    }

    fn dotted_within(&self, id: Id, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        match self.kind(id) {
            Kind::Ident | Kind::SelfRef => Some(self.text(id).to_owned()),
            Kind::Member => {
                let object = self.dotted_within(self.object(id)?, depth)?;
                Some(format!("{object}.{}", self.text(self.member(id)?)))
            }
            _ => None,
        }
    }
}
