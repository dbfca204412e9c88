//! `${!x}`: parameters that are named by others, and names themselves.
//!
//! Owns: finding what is meant. Refuses: names nobody knows; their index may run commands.

use super::items::{Item, Origin, push_value};
use super::machine::Machine;
use super::parameter::{Found, Use};
use super::state::{Content, State};
use super::variables::{Index, in_bash_order, is_name, number, subscripted, variable};
use crate::shell::ast::Operation;
use crate::shell::value::{Value, Why};

impl Machine<'_> {
    /// `${!x}`: what the variable holds that `x` names.
    pub(super) fn indirect(
        &mut self,
        used: &Use<'_>,
        inner: &Operation,
        state: &mut State,
        out: &mut Vec<Item>,
    ) {
        let index = self.index(used.name, used.index, state);
        if let Some(variable) = state.variables.get(used.name)
            && variable.reference
            && let Content::Scalar(target) = &variable.content
        {
            return push_value(out, target.clone(), used.quoted);
        }
        let target = match self.find(used.name, &index, used.span, state) {
            Found::One(value) => value,
            Found::Perhaps(value) => {
                self.may_give_up(state);
                value
            }
            Found::Unset if is_name(used.name) && used.index.is_none() => {
                self.give_up(state);
                return;
            }
            Found::Unset | Found::Many { .. } | Found::Any(_) => Value::unknown(variable(used.name)),
        };
        let why = Why {
            construct: format!("the variable that {} names", String::from_utf8_lossy(used.name)),
            span: used.span,
        };
        let Some(target) = target.bytes().map(<[u8]>::to_vec) else {
            if state.variables.contains_key(used.name) {
                self.unknown(
                    "a variable named by something unknown, whose index may run commands",
                    used.span,
                );
            }
            out.push(Item::Unknown(why, if used.quoted { Origin::Quoted } else { Origin::Expanded }));
            return;
        };
        let (name, index) = match subscripted(&target) {
            Some((name, inner)) => (name, self.index_text(&inner, used.span, state)),
            None => (target.clone(), Index::None),
        };
        let is_special = matches!(name.as_slice(), [b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!']);
        if !is_name(&name) && !is_special && (name.is_empty() || !name.iter().all(u8::is_ascii_digit)) {
            return self.give_up(state);
        }
        let index = match name.as_slice() {
            b"@" => Index::All { joined: false },
            b"*" => Index::All { joined: true },
            _ => index,
        };
        let found = self.find(&name, &index, used.span, state);
        self.flows_from(state, &name);
        let used = Use { name: &name, index: None, operation: inner, ..*used };
        self.operated(&used, &index, found, state, out);
    }

    /// `${!name[@]}`: the indexes of an array; `${!name*}`: names of variables.
    pub(super) fn names(&mut self, used: &Use<'_>, state: &mut State, out: &mut Vec<Item>) {
        let index = self.index(used.name, used.index, state);
        let found = match (&index, self.content(state, used.name).0) {
            (Index::All { .. }, Content::Indexed(map))
                if used.index.is_some() && map.values().any(Value::has_glob) =>
            {
                Found::Any(number(b"of an element"))
            }
            (Index::All { joined }, Content::Indexed(map)) if used.index.is_some() => Found::Many {
                values: map.keys().map(|key| Value::known(key.to_string())).collect(),
                joined: *joined,
            },
            (Index::All { joined }, Content::Named(map)) if used.index.is_some() => Found::Many {
                values: in_bash_order(map).into_iter().map(|(key, _)| Value::known(key)).collect(),
                joined: *joined,
            },
            _ => Found::Any(Why { construct: "names of variables".to_owned(), span: used.span }),
        };
        self.emit(found, used, state, out);
    }
}
