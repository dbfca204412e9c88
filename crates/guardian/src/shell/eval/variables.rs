//! Variables: what they hold, whether the script has set them or not, and what setting them does.
//!
//! Owns: looking up and assigning. Refuses: the belief that a variable nobody set is empty; the environment may have it.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::machine::Machine;
use super::state::{Content, Letters, State, Variable};
use crate::effects::Datum;
use crate::shell::ast::Span;
use crate::shell::value::{Piece, Value, Why};

/// Variables bash itself keeps changing: what a script puts there does not stay.
const DYNAMIC: [&[u8]; 14] = [
    b"RANDOM",
    b"SRANDOM",
    b"SECONDS",
    b"LINENO",
    b"BASHPID",
    b"EPOCHSECONDS",
    b"EPOCHREALTIME",
    b"UID",
    b"EUID",
    b"PPID",
    b"GROUPS",
    b"BASH_SUBSHELL",
    b"HISTCMD",
    b"COLUMNS",
];

/// Variables that say nothing secret.
const OPEN: [&[u8]; 14] = [
    b"HOME",
    b"PWD",
    b"OLDPWD",
    b"USER",
    b"LOGNAME",
    b"IFS",
    b"PATH",
    b"SHELL",
    b"TMPDIR",
    b"BASH",
    b"OSTYPE",
    b"HOSTNAME",
    b"LANG",
    b"TERM",
];

/// How indexes are written: `a[i]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Index {
    /// `a`
    None,
    /// `a[@]` and `a[*]`
    All { joined: bool },
    /// `a[word]`
    At(Value),
}

/// The pairs of an array with names, in the order bash gives them: that of its table, whose places are picked by this sum.
pub(super) fn in_bash_order(map: BTreeMap<Vec<u8>, Value>) -> Vec<(Vec<u8>, Value)> {
    let place = |key: &[u8]| {
        let sum = key.iter().fold(0x811c_9dc5_u32, |sum, byte| {
            sum.wrapping_mul(0x0100_0193) ^ i32::from(byte.cast_signed()).cast_unsigned()
        });
        sum & 1023
    };
    let mut pairs: Vec<(Vec<u8>, Value)> = map.into_iter().collect();
    pairs.sort_by_key(|(key, _)| place(key));
    pairs
}

impl Machine<'_> {
    /// What a variable holds, and whether the script itself decided that.
    pub(super) fn content(&self, state: &State, name: &[u8]) -> (Content, bool) {
        let name = Self::referred(state, name);
        if DYNAMIC.contains(&name.as_slice()) {
            return (Content::Scalar(Value::unknown(number(&name))), true);
        }
        if let Some(variable) = state.variables.get(&name) {
            return (variable.content.clone(), true);
        }
        (self.inherited(state, &name), false)
    }

    /// What the environment holds under a name.
    fn inherited(&self, state: &State, name: &[u8]) -> Content {
        if self.elsewhere.is_none() {
            let given = match name {
                b"PWD" => return Content::Scalar(Value::clone(&state.cwd)),
                b"HOME" if !self.context.home.is_empty() => Some(self.context.home.clone()),
                b"USER" | b"LOGNAME" if !self.context.user.is_empty() => {
                    Some(self.context.user.clone().into_bytes())
                }
                _ => self.context.environment.get(name).cloned(),
            };
            if let Some(bytes) = given {
                return Content::Scalar(Value::known(bytes));
            }
        }
        match name {
            b"IFS" => Content::Scalar(Value::known(" \t\n")),
            b"OPTIND" => Content::Scalar(Value::known("1")),
            b"PATH" => {
                Content::Scalar(Value::known("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"))
            }
            b"SHELL" | b"BASH" => Content::Scalar(Value::known("/bin/bash")),
            b"OSTYPE" => Content::Scalar(Value::known("linux-gnu")),
            _ => Content::Scalar(Value::unknown(variable(name))),
        }
    }

    /// What a variable is where one value is wanted; nothing when it is unset.
    pub(super) fn scalar(&self, state: &State, name: &[u8]) -> Option<Value> {
        scalar_of(self.content(state, name).0)
    }

    /// Says that a variable's value flows into the command at hand.
    pub(super) fn flows_from(&mut self, state: &State, name: &[u8]) {
        let name = Self::referred(state, name);
        let data = match state.variables.get(&name) {
            Some(variable) => variable.data.clone(),
            None if OPEN.contains(&name.as_slice()) || DYNAMIC.contains(&name.as_slice()) => return,
            None => vec![Datum::Environment(Some(String::from_utf8_lossy(&name).into_owned()))],
        };
        for datum in data {
            if !self.flows.contains(&datum) {
                self.flows.push(datum);
            }
        }
    }

    /// The name a name stands for: `declare -n`.
    pub(super) fn referred(state: &State, name: &[u8]) -> Vec<u8> {
        let mut name = name.to_vec();
        for _ in 0..8 {
            match state.variables.get(&name) {
                Some(Variable { reference: true, content: Content::Scalar(target), .. }) => {
                    match target.bytes() {
                        Some(bytes) if !bytes.is_empty() => name = bytes.to_vec(),
                        _ => break,
                    }
                }
                _ => break,
            }
        }
        name
    }

    /// Whether a variable keeps what it has, whatever is assigned to it.
    pub(super) fn keeps(&self, state: &State, name: &[u8]) -> bool {
        state.variables.get(&Self::referred(state, name)).is_some_and(|variable| variable.readonly)
    }

    /// `name=value`, `name+=value`, `name[i]=value`. A readonly variable keeps what it has. Says whether bash takes it.
    pub(super) fn assign(
        &mut self,
        state: &mut State,
        name: &[u8],
        index: &Index,
        value: Value,
        append: bool,
        span: Span,
    ) -> bool {
        let name = Self::referred(state, name);
        if DYNAMIC.contains(&name.as_slice()) {
            return true;
        }
        if let Some((base, inner)) = subscripted(&name) {
            // `declare -n r='a[i]'`
            let index = Index::At(Value::known(inner));
            // Two of them may stand for each other.
            let taken =
                self.deeper(span, |machine| machine.assign(state, &base, &index, value, append, span));
            return taken.unwrap_or(false);
        }
        self.rename(state, &name, index, &value, span);
        let is_off = match name.as_slice() {
            b"HISTFILE" => matches!(value.bytes(), Some(b"" | b"/dev/null")),
            b"HISTSIZE" | b"HISTFILESIZE" => value.bytes() == Some(b"0"),
            _ => false,
        };
        if is_off {
            self.forgets(span);
        }
        let (content, _) = self.content(state, &name);
        let mut variable = state.variables.get(&name).cloned().unwrap_or_default();
        if variable.readonly {
            state.status = Some(1);
            return false;
        }
        let known_before = state.variables.contains_key(&name);
        let value = self.converted(&variable, &content, index, value, append, span, state);
        if !known_before && append {
            variable.content = content;
        }
        let added = append && !variable.integer;
        let is_taken = self.store(&mut variable, index, value, added, span, state);
        // What was exported before the script began stays exported.
        variable.exported |=
            state.options.allexport || (!known_before && self.context.environment.contains_key(&name));
        let mut data = std::mem::take(&mut variable.data);
        if !append && *index == Index::None {
            data.clear();
        }
        for datum in &self.flows {
            if !data.contains(datum) {
                data.push(datum.clone());
            }
        }
        variable.data = data;
        state.set(&name, variable);
        is_taken
    }

    /// Two arrays are what `hash -p` and `alias` keep.
    fn rename(&mut self, state: &mut State, name: &[u8], index: &Index, value: &Value, span: Span) {
        if !matches!(name, b"BASH_CMDS" | b"BASH_ALIASES") {
            return;
        }
        let Index::At(key) = index else { return };
        match (name, key.bytes().map(<[u8]>::to_vec), value.bytes()) {
            (b"BASH_CMDS", Some(key), _) => {
                Rc::make_mut(&mut state.hashed).insert(key, value.clone());
            }
            (_, Some(key), Some(text)) => {
                Rc::make_mut(&mut state.aliases).insert(key, text.to_vec());
            }
            _ => self.unknown("a name that is given to another program", span),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "an assignment is all of these at once")]
    fn converted(
        &mut self,
        variable: &Variable,
        before: &Content,
        index: &Index,
        value: Value,
        append: bool,
        span: Span,
        state: &mut State,
    ) -> Value {
        let mut value = value;
        if variable.integer {
            let added = self.number(&value, span, state);
            let base = if append { self.number(&at(before, index), span, state) } else { Some(0) };
            value = match (base, added) {
                (Some(base), Some(added)) => Value::known(base.wrapping_add(added).to_string()),
                _ => Value::unknown(number(b"a declared number")),
            };
        }
        match (variable.letters, value.bytes()) {
            (None, _) => value,
            (Some(Letters::Lower), Some(bytes)) => Value::known(bytes.to_ascii_lowercase()),
            (Some(Letters::Upper), Some(bytes)) => Value::known(bytes.to_ascii_uppercase()),
            (Some(_), None) => Value::unknown(Why { construct: "letters that are changed".to_owned(), span }),
        }
    }

    fn store(
        &mut self,
        variable: &mut Variable,
        index: &Index,
        value: Value,
        append: bool,
        span: Span,
        state: &mut State,
    ) -> bool {
        let key = match index {
            Index::None if matches!(variable.content, Content::Indexed(_)) => Some(Value::known("0")),
            Index::None if matches!(variable.content, Content::Named(_)) => Some(Value::known("0")),
            Index::None => None,
            Index::All { .. } => Some(Value::unknown(Why { construct: "an index".to_owned(), span })),
            Index::At(key) => Some(key.clone()),
        };
        let Some(key) = key else {
            if let (true, Content::Scalar(before)) = (append, &mut variable.content) {
                before.append(value);
            } else if !matches!((append, &variable.content), (true, Content::Any(_))) {
                variable.content = Content::Scalar(value);
            }
            return true;
        };
        // Neither kind of array has a place of this name.
        if key.bytes() == Some(b"") {
            return false;
        }
        if variable.named || matches!(variable.content, Content::Named(_)) {
            let mut map = match std::mem::take(&mut variable.content) {
                Content::Named(map) => map,
                Content::Any(why) => {
                    variable.content = Content::Any(why);
                    return true;
                }
                Content::Unset | Content::Scalar(_) | Content::Indexed(_) => BTreeMap::new(),
            };
            variable.content = match key.bytes() {
                Some(bytes) => {
                    put(map.entry(bytes.to_vec()).or_default(), value, append);
                    Content::Named(map)
                }
                None => Content::Any(Why { construct: "an array with an unknown key".to_owned(), span }),
            };
            return true;
        }
        let place = self.number(&key, span, state);
        let mut map = match std::mem::take(&mut variable.content) {
            Content::Indexed(map) => map,
            Content::Any(why) => {
                variable.content = Content::Any(why);
                return true;
            }
            Content::Scalar(value) => BTreeMap::from([(0, value)]),
            Content::Unset | Content::Named(_) => BTreeMap::new(),
        };
        let mut is_taken = true;
        variable.content = match place {
            Some(place) => {
                let last = map.keys().next_back().copied().unwrap_or(-1);
                let place = if place < 0 { last.saturating_add(1).saturating_add(place) } else { place };
                // From the end backwards nothing stands before the first.
                is_taken = place >= 0;
                if is_taken {
                    put(map.entry(place).or_default(), value, append);
                }
                Content::Indexed(map)
            }
            None => Content::Any(Why { construct: "an array with an unknown index".to_owned(), span }),
        };
        is_taken
    }

    /// `unset name`
    pub(super) fn unset(&mut self, state: &mut State, name: &[u8], index: &Index, span: Span) {
        let name = Self::referred(state, name);
        let mut variable = state.variables.get(&name).cloned().unwrap_or_default();
        if variable.readonly {
            return;
        }
        match (index, &mut variable.content) {
            (Index::At(key), Content::Named(map)) => {
                if let Some(key) = key.bytes() {
                    map.remove(key);
                }
            }
            (Index::At(key), Content::Indexed(_)) => {
                let place = self.number(key, span, state);
                if let (Some(place), Content::Indexed(map)) = (place, &mut variable.content) {
                    map.remove(&place);
                }
            }
            (Index::At(_) | Index::All { .. }, Content::Any(_)) => {}
            _ => variable = Variable::default(),
        }
        Rc::make_mut(&mut state.variables).insert(name, variable);
    }
}

fn put(place: &mut Value, value: Value, append: bool) {
    if append { place.append(value) } else { *place = value }
}

fn at(content: &Content, index: &Index) -> Value {
    match (content, index) {
        (Content::Named(map), Index::At(key)) => {
            key.bytes().and_then(|key| map.get(key)).cloned().unwrap_or_default()
        }
        (Content::Indexed(map), Index::At(key)) => key
            .text()
            .and_then(|key| key.parse().ok())
            .and_then(|key: i64| map.get(&key))
            .cloned()
            .unwrap_or_default(),
        (content, _) => scalar_of(content.clone()).unwrap_or_default(),
    }
}

/// The one value of a content: of an array its first.
pub(super) fn scalar_of(content: Content) -> Option<Value> {
    match content {
        Content::Unset => None,
        Content::Scalar(value) => Some(value),
        Content::Indexed(map) => map.get(&0).cloned(),
        Content::Named(map) => map.get(b"0".as_slice()).cloned(),
        Content::Any(why) => Some(Value::unknown(why)),
    }
}

/// Why a variable nobody set is not known.
pub(super) fn variable(name: &[u8]) -> Why {
    Why { construct: format!("the variable {}", String::from_utf8_lossy(name)), span: Span::default() }
}

/// Why a number is not known.
pub(super) fn number(name: &[u8]) -> Why {
    Why { construct: format!("a number, {}", String::from_utf8_lossy(name)), span: Span::default() }
}

/// `a[i]` as a name and what stands in its brackets.
pub(super) fn subscripted(written: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let open = written.iter().position(|byte| *byte == b'[')?;
    let (name, rest) = written.split_at(open);
    let inner = rest.strip_prefix(b"[")?.strip_suffix(b"]")?;
    is_name(name).then(|| (name.to_vec(), inner.to_vec()))
}

/// Whether a variable can have this name.
pub(super) fn is_name(name: &[u8]) -> bool {
    name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Whether nothing at all is known of a value.
pub(super) fn is_opaque(value: &Value) -> bool {
    !value.pieces.is_empty() && value.pieces.iter().all(|piece| matches!(piece, Piece::Unknown(_)))
}
